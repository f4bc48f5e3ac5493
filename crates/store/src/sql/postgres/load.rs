//! Adds many rows to a table at once, with COPY.

use postgres::binary_copy::BinaryCopyInWriter;
use postgres::types::{ToSql, Type};

use super::error::PostgresError;
use super::session::PostgresSession;
use crate::sql::SqlValue;
use crate::sql::in_space::with_space;

/// Sends a row.
type SendRow<'a> = dyn FnMut(&[SqlValue<'_>]) -> Result<(), PostgresError> + 'a;

impl PostgresSession {
    /// Adds rows of a space in the open transaction. `feed` gets a function that sends one, with the values of these
    /// columns.
    pub(crate) fn load<E: From<PostgresError>>(
        &self,
        space: &str,
        table: &str,
        columns: &[&str],
        feed: impl FnOnce(&mut SendRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.flush()?;
        let mut held = self.held.borrow_mut();
        let client = &mut held.as_mut().ok_or(PostgresError::MissingRow)?.0.client;
        let names = with_space(columns);
        let shape = client.prepare(&format!("SELECT {names} FROM {table} LIMIT 0")).map_err(PostgresError::from)?;
        let types: Vec<Type> = shape.columns().iter().map(|column| column.type_().clone()).collect();
        let copy = client.copy_in(&format!("COPY {table} ({names}) FROM STDIN BINARY"));
        let mut writer = BinaryCopyInWriter::new(copy.map_err(PostgresError::from)?, &types);
        let space = SqlValue::Text(space);
        feed(&mut |values| {
            let row: Vec<&(dyn ToSql + Sync)> = std::iter::once(&space).chain(values).map(|value| value as _).collect();
            Ok(writer.write(&row)?)
        })?;
        writer.finish().map_err(PostgresError::from)?;
        Ok(())
    }
}
