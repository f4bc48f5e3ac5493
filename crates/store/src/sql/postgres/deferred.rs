//! Rows that wait to be inserted together: one statement for many rows saves round trips. They are sent before anything
//! else on the connection, so that every statement sees them.

use super::error::PostgresError;
use super::pool::PooledClient;
use super::session::PostgresSession;
use super::statements::Arguments;
use crate::sql::{Column, SqlValue, ValueKind};

/// Rows that are sent at once. Few sizes, because each is a statement to prepare.
const ROWS_AT_ONCE: [usize; 3] = [32, 8, 1];
/// More text than this is sent at once.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// Rows for the same columns of a table.
#[derive(Debug, Default)]
pub(super) struct DeferredRows {
    space: String,
    /// The statement up to its rows, and after them.
    head: String,
    tail: &'static str,
    columns: usize,
    values: Vec<WaitingValue>,
    bytes: usize,
}

#[derive(Debug)]
enum WaitingValue {
    Null(ValueKind),
    Int(i64),
    Bool(bool),
    Text(String),
    Bytes(Vec<u8>),
}

impl PostgresSession {
    /// Inserts a row before the next statement or the commit. `tail` is the end of the statement.
    pub(crate) fn insert_later(
        &self,
        space: &str,
        head: String,
        columns: &[Column<'_>],
        tail: &'static str,
    ) -> Result<(), PostgresError> {
        let mut waiting = self.deferred.borrow_mut();
        let is_same = waiting.head == head && waiting.tail == tail && waiting.space == space;
        if !waiting.values.is_empty() && (!is_same || waiting.bytes > MAX_WAITING_BYTES) {
            drop(waiting);
            self.flush()?;
            waiting = self.deferred.borrow_mut();
        }
        if waiting.values.is_empty() {
            *waiting =
                DeferredRows { space: space.to_owned(), head, tail, columns: columns.len(), ..DeferredRows::default() };
        }
        waiting.values.extend(columns.iter().map(|(_, value)| WaitingValue::from(*value)));
        waiting.bytes += columns.iter().map(|(_, value)| size(*value)).sum::<usize>();
        Ok(())
    }

    /// Sends the rows that wait.
    pub(super) fn flush(&self) -> Result<(), PostgresError> {
        if self.deferred.borrow().values.is_empty() {
            return Ok(());
        }
        let rows = self.deferred.take();
        let mut held = self.held.borrow_mut();
        held.as_mut().map_or(Err(PostgresError::MissingRow), |held| rows.send(&mut held.0))
    }
}

impl DeferredRows {
    fn send(&self, client: &mut PooledClient) -> Result<(), PostgresError> {
        let mut rest: Vec<SqlValue<'_>> = self.values.iter().map(WaitingValue::as_value).collect();
        while !rest.is_empty() {
            let waiting = rest.len() / self.columns;
            let rows = ROWS_AT_ONCE.into_iter().find(|rows| *rows <= waiting).unwrap_or(1);
            let later = rest.split_off(rows * self.columns);
            client.execute(&self.statement(rows), &Arguments::new(&self.space, &rest))?;
            rest = later;
        }
        Ok(())
    }

    fn statement(&self, rows: usize) -> String {
        let row = |at: usize| {
            let first = 2 + at * self.columns;
            let marks: Vec<String> = (first..first + self.columns).map(|at| format!("?{at}")).collect();
            format!("(?1, {})", marks.join(", "))
        };
        let rows: Vec<String> = (0..rows).map(row).collect();
        format!("{}{}{}", self.head, rows.join(", "), self.tail)
    }
}

impl WaitingValue {
    fn as_value(&self) -> SqlValue<'_> {
        match self {
            Self::Null(kind) => SqlValue::Null(*kind),
            Self::Int(number) => SqlValue::Int(*number),
            Self::Bool(flag) => SqlValue::Bool(*flag),
            Self::Text(text) => SqlValue::Text(text),
            Self::Bytes(bytes) => SqlValue::Bytes(bytes),
        }
    }
}

impl From<SqlValue<'_>> for WaitingValue {
    fn from(value: SqlValue<'_>) -> Self {
        match value {
            SqlValue::Null(kind) => Self::Null(kind),
            SqlValue::Int(number) => Self::Int(number),
            SqlValue::Bool(flag) => Self::Bool(flag),
            SqlValue::Text(text) => Self::Text(text.to_owned()),
            SqlValue::Bytes(bytes) => Self::Bytes(bytes.to_vec()),
        }
    }
}

fn size(value: SqlValue<'_>) -> usize {
    match value {
        SqlValue::Text(text) => text.len(),
        SqlValue::Bytes(bytes) => bytes.len(),
        _ => 8,
    }
}
