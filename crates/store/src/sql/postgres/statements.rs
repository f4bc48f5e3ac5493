//! Prepared statements: placeholders and the types of values.

use postgres::types::{ToSql, Type};
use postgres::{Row, Statement};

use super::error::PostgresError;
use super::pool::PooledClient;
use super::values::type_of;
use crate::sql::SqlValue;
use crate::sql::statement_check::note_statement;

/// More prepared statements than the product has; queries that are put together from parts could add up.
const MAX_STATEMENTS: usize = 800;

/// A statement with the types of its values: a null has another type than a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct StatementKey {
    sql: String,
    types: Vec<u8>,
}

/// The space and the values of a statement, as one list.
pub(crate) struct Arguments<'a> {
    values: Vec<SqlValue<'a>>,
}

impl<'a> Arguments<'a> {
    pub(crate) fn new(space: &'a str, values: &[SqlValue<'a>]) -> Self {
        let values = std::iter::once(SqlValue::Text(space)).chain(values.iter().copied()).collect();
        Self { values }
    }

    fn key(&self, sql: &str) -> StatementKey {
        let types = self.values.iter().map(|value| value.kind() as u8);
        StatementKey { sql: sql.to_owned(), types: types.collect() }
    }

    fn types(&self) -> Vec<Type> {
        self.values.iter().map(|value| type_of(*value)).collect()
    }
}

impl PooledClient {
    /// Runs a statement and returns how many rows it changed.
    pub(super) fn execute(&mut self, sql: &str, arguments: &Arguments<'_>) -> Result<u64, PostgresError> {
        let statement = self.prepare(sql, arguments)?;
        let values: Vec<&(dyn ToSql + Sync)> = arguments.values.iter().map(|value| value as _).collect();
        Ok(self.client.execute(&statement, &values)?)
    }

    /// All rows of a query.
    pub(super) fn query(&mut self, sql: &str, arguments: &Arguments<'_>) -> Result<Vec<Row>, PostgresError> {
        let statement = self.prepare(sql, arguments)?;
        let values: Vec<&(dyn ToSql + Sync)> = arguments.values.iter().map(|value| value as _).collect();
        Ok(self.client.query(&statement, &values)?)
    }

    fn prepare(&mut self, sql: &str, arguments: &Arguments<'_>) -> Result<Statement, PostgresError> {
        let key = arguments.key(sql);
        if let Some(known) = self.statements.get(&key) {
            return Ok(known.clone());
        }
        note_statement(sql);
        let prepared = self.client.prepare_typed(&with_dollar_placeholders(sql), &arguments.types())?;
        if self.statements.len() >= MAX_STATEMENTS {
            self.statements.clear();
        }
        self.statements.insert(key, prepared.clone());
        Ok(prepared)
    }
}

/// `?2` becomes `$2`. Our statements have no other question marks.
pub(super) fn with_dollar_placeholders(sql: &str) -> String {
    sql.replace('?', "$")
}
