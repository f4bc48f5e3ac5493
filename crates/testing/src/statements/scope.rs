//! The tables of one part of a statement, and what restricts them to the space.

use sqlparser::ast::{
    BinaryOperator, Delete, Expr, FromTable, Join, JoinConstraint, JoinOperator, ObjectName, Select, TableFactor,
    TableWithJoins, Update, UpdateTableFromKind, Value,
};

use super::TABLES_OF_ALL_SPACES;

/// The column of the space, and the parameter that holds it.
pub(super) const SPACE: &str = "space";
const SPACE_PARAMETER: &str = "$1";

/// A table of a part of a statement.
#[derive(Debug)]
struct ScopeTable {
    /// The name under which the part refers to it.
    alias: String,
    /// What is joined from the left only may have its condition there.
    is_outer_joined: bool,
    is_restricted: bool,
}

/// Two places that must be the same: a column `space` of a table, or of the only table, or the parameter.
#[derive(Debug)]
struct SpaceEquality {
    sides: [SpaceSource; 2],
    /// Of an outer join, whose condition restricts only the table that is joined.
    only_restricts: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
enum SpaceSource {
    Parameter,
    Column(Option<String>),
}

/// The tables of a part of a statement.
#[derive(Debug, Default)]
pub(super) struct Scope {
    tables: Vec<ScopeTable>,
    equalities: Vec<SpaceEquality>,
}

impl Scope {
    pub(super) fn of_select(select: &Select, named_queries: &[String]) -> Self {
        let mut scope = Self::default();
        scope.add_all(&select.from, named_queries);
        scope.add_conditions(select.selection.as_ref(), None);
        scope
    }

    pub(super) fn of_update(update: &Update, named_queries: &[String]) -> Self {
        let mut scope = Self::default();
        scope.add_all(std::slice::from_ref(&update.table), named_queries);
        if let Some(UpdateTableFromKind::BeforeSet(from) | UpdateTableFromKind::AfterSet(from)) = &update.from {
            scope.add_all(from, named_queries);
        }
        scope.add_conditions(update.selection.as_ref(), None);
        scope
    }

    pub(super) fn of_delete(delete: &Delete, named_queries: &[String]) -> Self {
        let mut scope = Self::default();
        let (FromTable::WithFromKeyword(from) | FromTable::WithoutKeyword(from)) = &delete.from;
        scope.add_all(from, named_queries);
        scope.add_all(delete.using.as_deref().unwrap_or_default(), named_queries);
        scope.add_conditions(delete.selection.as_ref(), None);
        scope
    }

    /// The target of an INSERT, whose rows have the space in their values.
    pub(super) fn of_target(table: String) -> Self {
        let table = ScopeTable { alias: table, is_outer_joined: false, is_restricted: true };
        Self { tables: vec![table], equalities: Vec::new() }
    }

    /// Marks what is restricted: directly, or by being equal to what is restricted here or around.
    pub(super) fn restrict(&mut self, around: &[Self]) {
        loop {
            let found = self.equalities.iter().find_map(|equality| {
                let [left, right] = &equality.sides;
                [(left, right), (right, left)].into_iter().find_map(|(known, unknown)| {
                    let at = self.position(unknown)?;
                    let may = equality.only_restricts.as_ref().is_none_or(|only| *only == self.tables[at].alias)
                        && (equality.only_restricts.is_some() || !self.tables[at].is_outer_joined);
                    (may && !self.tables[at].is_restricted && self.is_known(known, around)).then_some(at)
                })
            });
            let Some(at) = found else { return };
            self.tables[at].is_restricted = true;
        }
    }

    /// A table that may have rows of any space.
    pub(super) fn unrestricted(&self) -> Option<&str> {
        self.tables.iter().find(|table| !table.is_restricted).map(|table| table.alias.as_str())
    }

    /// Whether an expression is the space: the parameter, or the column of a restricted table.
    pub(super) fn is_space(&self, expression: &Expr) -> bool {
        source(expression).is_some_and(|source| self.is_known(&source, &[]))
    }

    fn is_known(&self, source: &SpaceSource, around: &[Self]) -> bool {
        let is_restricted = |scope: &Self| scope.position(source).is_some_and(|at| scope.tables[at].is_restricted);
        *source == SpaceSource::Parameter || is_restricted(self) || around.iter().any(is_restricted)
    }

    /// The table of a column. A column without a table belongs to the only one.
    fn position(&self, source: &SpaceSource) -> Option<usize> {
        match source {
            SpaceSource::Parameter => None,
            SpaceSource::Column(Some(alias)) => self.tables.iter().position(|table| table.alias == *alias),
            SpaceSource::Column(None) => (self.tables.len() == 1).then_some(0),
        }
    }

    fn add_all(&mut self, from: &[TableWithJoins], named_queries: &[String]) {
        for tables in from {
            self.add_table(&tables.relation, false, named_queries);
            for join in &tables.joins {
                self.add_join(join, named_queries);
            }
        }
    }

    fn add_join(&mut self, join: &Join, named_queries: &[String]) {
        let left_alias = self.tables.last().map(|table| table.alias.clone());
        let (constraint, is_outer) = match &join.join_operator {
            JoinOperator::Join(constraint) | JoinOperator::Inner(constraint) | JoinOperator::CrossJoin(constraint) => {
                (constraint, false)
            }
            JoinOperator::Left(constraint) | JoinOperator::LeftOuter(constraint) => (constraint, true),
            // Without a condition that counts, its tables are reported.
            _ => (&JoinConstraint::None, true),
        };
        self.add_table(&join.relation, is_outer, named_queries);
        let joined = self.tables.last().map(|table| table.alias.clone());
        match constraint {
            JoinConstraint::On(condition) => self.add_conditions(Some(condition), joined.filter(|_| is_outer)),
            JoinConstraint::Using(columns) if columns.iter().any(is_space_column) => {
                let sides = [left_alias, joined.clone()].map(SpaceSource::Column);
                self.equalities.push(SpaceEquality { sides, only_restricts: joined.filter(|_| is_outer) });
            }
            _ => {}
        }
    }

    fn add_table(&mut self, table: &TableFactor, is_outer_joined: bool, named_queries: &[String]) {
        let (alias, is_restricted) = match table {
            TableFactor::Table { name, alias, .. } => {
                let name = name.to_string();
                let alias = alias.as_ref().map_or_else(|| name.clone(), |alias| alias.name.value.clone());
                // A query with a name is checked where it is defined.
                (alias, named_queries.contains(&name) || TABLES_OF_ALL_SPACES.contains(&name.as_str()))
            }
            // Checked when it is visited.
            TableFactor::Derived { alias, .. } => {
                (alias.as_ref().map(|alias| alias.name.value.clone()).unwrap_or_default(), true)
            }
            TableFactor::NestedJoin { table_with_joins, .. } => {
                return self.add_all(std::slice::from_ref(table_with_joins), named_queries);
            }
            other => (other.to_string(), false),
        };
        self.tables.push(ScopeTable { alias, is_outer_joined, is_restricted });
    }

    /// The conditions that all rows fulfill. One beside an OR restricts nothing.
    fn add_conditions(&mut self, condition: Option<&Expr>, only_restricts: Option<String>) {
        match condition {
            Some(Expr::Nested(inner)) => self.add_conditions(Some(inner), only_restricts),
            Some(Expr::BinaryOp { left, op: BinaryOperator::And, right }) => {
                self.add_conditions(Some(left), only_restricts.clone());
                self.add_conditions(Some(right), only_restricts);
            }
            Some(Expr::BinaryOp { left, op: BinaryOperator::Eq, right }) => {
                if let (Some(left), Some(right)) = (source(left), source(right)) {
                    self.equalities.push(SpaceEquality { sides: [left, right], only_restricts });
                }
            }
            _ => {}
        }
    }
}

/// Whether this is the column of the space, quoted or not.
pub(super) fn is_space_column(name: &ObjectName) -> bool {
    matches!(&name.0[..], [part] if part.as_ident().is_some_and(|name| name.value == SPACE))
}

fn source(expression: &Expr) -> Option<SpaceSource> {
    match expression {
        Expr::Value(value) => matches!(&value.value, Value::Placeholder(name) if name == SPACE_PARAMETER)
            .then_some(SpaceSource::Parameter),
        Expr::Identifier(name) => (name.value == SPACE).then_some(SpaceSource::Column(None)),
        Expr::CompoundIdentifier(parts) => match &parts[..] {
            [table, column] if column.value == SPACE => Some(SpaceSource::Column(Some(table.value.clone()))),
            _ => None,
        },
        _ => None,
    }
}
