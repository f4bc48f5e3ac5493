//! Checks that new rows belong to the space, and that a conflict is one with a row of the space.

use sqlparser::ast::{
    ConflictTarget, Expr, Insert, OnConflict, OnConflictAction, OnInsert, Query, SelectItem, SetExpr, TableObject,
};

use super::TABLES_OF_ALL_SPACES;
use super::scope::{SPACE, Scope, is_space_column};

/// The scope of the target, if its rows get the space.
pub(super) fn check_insert(insert: &Insert, named_queries: &[String]) -> Result<Scope, String> {
    let TableObject::TableName(table) = &insert.table else { return Err("it inserts into no table".to_owned()) };
    let table = table.to_string();
    if TABLES_OF_ALL_SPACES.contains(&table.as_str()) {
        return Ok(Scope::of_target(table));
    }
    let place = insert.columns.iter().position(is_space_column);
    let place = place.ok_or_else(|| format!("new rows of `{table}` have no space"))?;
    let source = insert.source.as_deref().ok_or("it inserts no rows")?;
    if !gives_space(&source.body, place, &with_names(source, named_queries)) {
        return Err(format!("new rows of `{table}` may have another space"));
    }
    if let Some(OnInsert::OnConflict(conflict)) = &insert.on {
        check_conflict(conflict)?;
    }
    Ok(Scope::of_target(table))
}

fn with_names(query: &Query, named_queries: &[String]) -> Vec<String> {
    let own = query.with.iter().flat_map(|with| &with.cte_tables).map(|named| named.alias.name.value.clone());
    named_queries.iter().cloned().chain(own).collect()
}

/// Whether the column at this place of every row is the space.
fn gives_space(rows: &SetExpr, place: usize, named_queries: &[String]) -> bool {
    let nothing = Scope::default();
    match rows {
        SetExpr::Values(values) => {
            values.rows.iter().all(|row| row.content.get(place).is_some_and(|value| nothing.is_space(value)))
        }
        SetExpr::Select(select) => {
            let mut scope = Scope::of_select(select, named_queries);
            scope.restrict(&[]);
            let column: Option<&Expr> = match select.projection.get(place) {
                Some(SelectItem::UnnamedExpr(column) | SelectItem::ExprWithAlias { expr: column, .. }) => Some(column),
                _ => None,
            };
            column.is_some_and(|column| scope.is_space(column))
        }
        SetExpr::Query(query) => gives_space(&query.body, place, &with_names(query, named_queries)),
        SetExpr::SetOperation { left, right, .. } => {
            gives_space(left, place, named_queries) && gives_space(right, place, named_queries)
        }
        _ => false,
    }
}

/// A row that is updated instead must have the same space.
fn check_conflict(conflict: &OnConflict) -> Result<(), String> {
    let has_space = match &conflict.conflict_target {
        Some(ConflictTarget::Columns(columns)) => columns.iter().any(|column| column.value == SPACE),
        _ => false,
    };
    if has_space || matches!(conflict.action, OnConflictAction::DoNothing) && conflict.conflict_target.is_none() {
        return Ok(());
    }
    Err("its conflict is with rows of any space".to_owned())
}
