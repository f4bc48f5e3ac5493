//! Writes single rows. The only way to add a row to a table keyed by agent and external id: rows of forgotten sessions
//! are refused here.

use std::fmt::Write;

use super::Batch;
use crate::StoreError;
use crate::forgetting::EXTERNAL_ID_TABLES;
use crate::sql::{Column, SqlValue, ValueKind};

/// What happens if there is a row with the same key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KnownRow {
    Fail,
    Keep,
    Update,
}

impl Batch<'_> {
    /// Adds a row that is new.
    pub(crate) fn insert(&self, table: &str, columns: &[Column<'_>]) -> Result<(), StoreError> {
        self.write_row_unseen(table, columns, KnownRow::Fail)
    }

    /// Adds a row unless there is one with its key, for callers that need not know.
    pub(crate) fn insert_unless_known(&self, table: &str, columns: &[Column<'_>]) -> Result<(), StoreError> {
        self.write_row_unseen(table, columns, KnownRow::Keep)
    }

    /// Adds a row unless there is one with its key. Returns whether it was added.
    pub(crate) fn insert_new(&self, table: &str, columns: &[Column<'_>]) -> Result<bool, StoreError> {
        self.write_row(table, &[], columns, KnownRow::Keep)
    }

    /// Adds a row, or changes these columns of the row with this key.
    pub(crate) fn upsert(&self, table: &str, key: &[Column<'_>], columns: &[Column<'_>]) -> Result<(), StoreError> {
        self.write_row(table, key, columns, KnownRow::Update).map(drop)
    }

    /// Writes a row without a result, which a server gets together with others.
    fn write_row_unseen(&self, table: &str, columns: &[Column<'_>], known: KnownRow) -> Result<(), StoreError> {
        let is_guarded = EXTERNAL_ID_TABLES.contains(&table);
        if !is_guarded && self.sql.insert_later(table, columns, known == KnownRow::Keep)? {
            return Ok(());
        }
        self.write_row(table, &[], columns, known).map(drop)
    }

    fn write_row(
        &self,
        table: &str,
        key: &[Column<'_>],
        columns: &[Column<'_>],
        known: KnownRow,
    ) -> Result<bool, StoreError> {
        if self.refuses(table, key.iter().chain(columns).copied())? {
            return Ok(false);
        }
        let sql = insert_sql(table, key, columns, known);
        let values: Vec<SqlValue<'_>> = key.iter().chain(columns).map(|(_, value)| *value).collect();
        Ok(self.sql.change(&sql, &values)? > 0)
    }

    /// Whether a row belongs to a forgotten session. Checked with every row, because a hook may be in the middle of its
    /// work while the session is forgotten.
    pub(crate) fn refuses<'a>(
        &self,
        table: &str,
        columns: impl IntoIterator<Item = Column<'a>>,
    ) -> Result<bool, StoreError> {
        if !EXTERNAL_ID_TABLES.contains(&table) {
            return Ok(false);
        }
        let (mut agent, mut external_id) = (SqlValue::Null(ValueKind::Text), SqlValue::Null(ValueKind::Text));
        for (name, value) in columns {
            match name {
                "agent" => agent = value,
                "external_id" => external_id = value,
                _ => {}
            }
        }
        let sql = "SELECT 1 FROM forgotten_session WHERE space = ?1 AND agent = ?2 AND external_id = ?3";
        self.sql.exists(sql, &[agent, external_id])
    }
}

pub(crate) fn insert_sql(table: &str, key: &[Column<'_>], columns: &[Column<'_>], known: KnownRow) -> String {
    let (mut sql, mut marks) = (format!("INSERT INTO {table} (space"), String::from("?1"));
    for ((name, _), at) in key.iter().chain(columns).zip(2..) {
        // Quoted, because databases reserve different words.
        sql.extend([", \"", name, "\""]);
        // Writing to a string cannot fail.
        let _ = write!(marks, ", ?{at}");
    }
    sql.extend([") VALUES (", &marks, ")"]);
    match known {
        KnownRow::Fail => return sql,
        KnownRow::Keep => return sql + " ON CONFLICT DO NOTHING",
        KnownRow::Update => sql.push_str(" ON CONFLICT (space"),
    }
    sql.extend(key.iter().flat_map(|(name, _)| [", ", name]));
    for ((name, _), start) in columns.iter().zip([") DO UPDATE SET "].into_iter().chain(std::iter::repeat(", "))) {
        sql.extend([start, "\"", name, "\" = excluded.\"", name, "\""]);
    }
    sql
}
