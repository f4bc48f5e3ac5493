//! Proves of a statement that it reads and writes rows of one space only.
//!
//! The store shows each statement that it prepares to [`check_statements`]' check, so every test that uses the store
//! checks the statements it causes, on both databases. On Citus, a statement that names one space runs on one node.

mod insert;
mod scope;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::sync::Once;

use sqlparser::ast::{Expr, Query, Select, Statement, Visit, Visitor};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

use insert::check_insert;
use scope::Scope;

/// Tables without a space: what they hold is about the whole database.
const TABLES_OF_ALL_SPACES: [&str; 2] = ["schema_version", "store_identity"];

/// Statements that are not about one space, by the name that they carry in a comment, each with the reason.
const OPERATOR_STATEMENTS: [(&str, &str); 1] = [("all_spaces", "operators list the spaces of their database")];

/// Functions that Citus refuses in an UPDATE or DELETE, because each node would get another result.
const VOLATILE_FUNCTIONS: [&str; 4] = ["clock_timestamp", "gen_random_uuid", "nextval", "random"];

/// Checks every statement that this process prepares from now on. A statement that may reach another space panics.
pub fn check_statements() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        rethread_store::on_new_statement(|sql| {
            if let Err(problem) = names_one_space(sql) {
                panic!("{problem}: {sql}");
            }
        });
    });
}

/// Whether every table of a statement is restricted to the space in `?1`, in every part of it, and Citus can run it.
pub fn names_one_space(sql: &str) -> Result<(), String> {
    if operator_statement(sql).is_some() {
        return Ok(());
    }
    let statements = Parser::parse_sql(&PostgreSqlDialect {}, &in_common_syntax(sql));
    let statements = statements.map_err(|error| format!("it cannot be parsed ({error})"))?;
    let [statement] = &statements[..] else { return Err("it is not one statement".to_owned()) };
    let mut check = SpaceCheck::default();
    match statement.visit(&mut check) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(problem) => Err(problem),
    }
}

/// The name of a statement that is declared as one about all spaces.
pub fn operator_statement(sql: &str) -> Option<&'static str> {
    let declared = sql.strip_prefix("/* operator: ")?.split_once(" */")?.0;
    OPERATOR_STATEMENTS.iter().map(|(name, _)| *name).find(|name| *name == declared)
}

/// Without what only one database knows and has no influence on which rows are meant.
fn in_common_syntax(sql: &str) -> String {
    // SQLite takes it as an order, and allows a condition.
    let sql = sql.replace('?', "$").replace(" CROSS JOIN ", " JOIN ");
    let sql = sql.split_once(" CURSOR FOR ").map_or(sql.as_str(), |(_, query)| query);
    let mut parts = sql.split(" INDEXED BY ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_'));
    }
    out
}

/// The scopes around the part that is being visited, and the names of common table expressions.
#[derive(Default)]
struct SpaceCheck {
    scopes: Vec<Scope>,
    named_queries: Vec<String>,
    /// An UPDATE or DELETE.
    is_change: bool,
}

impl SpaceCheck {
    fn enter(&mut self, mut scope: Scope) -> ControlFlow<String> {
        scope.restrict(&self.scopes);
        if let Some(table) = scope.unrestricted() {
            return ControlFlow::Break(format!("`{table}` is not restricted to the space"));
        }
        self.scopes.push(scope);
        ControlFlow::Continue(())
    }
}

impl Visitor for SpaceCheck {
    type Break = String;

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<String> {
        self.is_change = matches!(statement, Statement::Update(_) | Statement::Delete(_));
        match statement {
            Statement::Query(_) => ControlFlow::Continue(()),
            Statement::Update(update) => self.enter(Scope::of_update(update, &self.named_queries)),
            Statement::Delete(delete) => self.enter(Scope::of_delete(delete, &self.named_queries)),
            Statement::Insert(insert) => {
                check_insert(insert, &self.named_queries).map_or_else(ControlFlow::Break, |scope| self.enter(scope))
            }
            _ => ControlFlow::Break("it is neither a query nor a change of rows".to_owned()),
        }
    }

    fn pre_visit_expr(&mut self, expression: &Expr) -> ControlFlow<String> {
        match expression {
            Expr::Function(call) if self.is_change && VOLATILE_FUNCTIONS.contains(&call.name.to_string().as_str()) => {
                ControlFlow::Break(format!("`{}` is volatile", call.name))
            }
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<String> {
        let named = query.with.iter().flat_map(|with| &with.cte_tables);
        self.named_queries.extend(named.map(|named| named.alias.name.value.clone()));
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<String> {
        self.enter(Scope::of_select(select, &self.named_queries))
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<String> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }
}
