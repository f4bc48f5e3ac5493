//! Reads the portable rows of a session.

use rethread_model::Session;
use serde_json::Value;

use super::{MAX_JSON_INTEGER, PORTABLE_TABLES, PortableColumns, PortableKey, is_portable};
use crate::sql::{CatalogColumn, OwnedValue, Row, SqlValue, values};
use crate::{ReadStore, SessionNumber, StoreError};

/// A row of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct PortableRow {
    /// Its table.
    pub table: &'static str,
    /// Its columns.
    pub columns: PortableColumns,
}

impl ReadStore {
    /// Calls `each` with every portable row of a session: its own first, then its entries in their order.
    pub fn each_portable_row<E: From<StoreError>>(
        &self,
        number: SessionNumber,
        session: &Session,
        each: &mut dyn FnMut(PortableRow) -> Result<(), E>,
    ) -> Result<(), E> {
        for (table, key, order) in PORTABLE_TABLES {
            let columns: Vec<CatalogColumn> =
                self.sql.catalog(table)?.into_iter().filter(|column| is_portable(table, &column.name)).collect();
            let names: Vec<String> = columns.iter().map(|column| format!("\"{}\"", column.name)).collect();
            let condition = match key {
                PortableKey::Session => "number = ?2",
                PortableKey::Number => "session = ?2",
                PortableKey::ExternalId => "agent = ?2 AND external_id = ?3",
            };
            let sql =
                format!("SELECT {} FROM {table} WHERE space = ?1 AND {condition} ORDER BY {order}", names.join(", "));
            let (of_agent, of_number) = (values![session.agent, session.external_id], values![number]);
            let values: &[SqlValue<'_>] = if key == PortableKey::ExternalId { of_agent } else { of_number };
            self.sql
                .stream(&sql, values, |row| each(PortableRow { table, columns: portable_columns(row, &columns)? }))?;
        }
        Ok(())
    }
}

fn portable_columns(row: &Row<'_>, columns: &[CatalogColumn]) -> Result<PortableColumns, StoreError> {
    let mut out = PortableColumns::new();
    for (at, column) in columns.iter().enumerate() {
        let value = match row.owned(at)? {
            OwnedValue::Int(number) if number.unsigned_abs() > MAX_JSON_INTEGER => Value::from(number.to_string()),
            OwnedValue::Int(number) => Value::from(number),
            OwnedValue::Text(text) => Value::from(text),
            // No portable table has a column of bytes.
            OwnedValue::Null | OwnedValue::Bytes(_) => continue,
        };
        out.insert(column.name.clone(), value);
    }
    Ok(out)
}
