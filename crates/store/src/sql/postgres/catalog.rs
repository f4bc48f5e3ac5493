//! Reads which columns tables have.

use super::error::PostgresError;
use super::session::PostgresSession;
use crate::sql::CatalogColumn;

const COLUMNS: &str = "SELECT a.attname::text AS name,
    CASE format_type(a.atttypid, NULL) WHEN 'bigint' THEN 'INTEGER' WHEN 'boolean' THEN 'INTEGER' WHEN 'bytea' THEN 'BLOB' ELSE 'TEXT' END AS kind,
    a.attnotnull AND NOT a.atthasdef AS is_required,
    coalesce(array_position(i.indkey::smallint[], a.attnum), -1)::bigint AS key_place
    FROM pg_attribute a LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
    WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum";

impl PostgresSession {
    /// The columns of a table, in order.
    pub(crate) fn catalog(&self, table: &str) -> Result<Vec<CatalogColumn>, PostgresError> {
        let read = |client: &mut super::pool::PooledClient| Ok(client.client.query(COLUMNS, &[&table])?);
        let is_held = self.held.borrow().is_some();
        let rows = if is_held { self.in_transaction(read) } else { self.retrying(read) }?;
        let columns = rows.iter().map(|row| {
            Ok(CatalogColumn {
                name: row.try_get("name")?,
                kind: row.try_get("kind")?,
                is_required: row.try_get("is_required")?,
                // `indkey` counts from 0.
                key_place: row.try_get::<_, i64>("key_place")? + 1,
            })
        });
        columns.collect()
    }
}
