//! Writes the portable rows of a session into a store, in one transaction per session.
//!
//! A session that the store does not have gets all rows. Of one that it has, only entries and usage that are missing are
//! added; its labels, card and state stay as they are. Nothing forgotten comes back.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rethread_model::{Agent, NativeKey, SessionId, Timestamp};
use serde_json::Value;

use super::{PortableColumns, PortableKey, is_portable, portable_table};
use crate::batch::{KnownRow, insert_sql};
use crate::sql::{CatalogColumn, Column, Sql, SqlValue, values};
use crate::{Batch, EntryContent, SessionKey, SessionNumber, StoreError};

/// Counts, sizes, tokens and costs of one row stay far below.
const MAX_COUNT: i64 = 1 << 44;

/// A session that is being imported.
#[derive(Debug)]
pub struct SessionImport {
    /// The session in this store.
    pub number: SessionNumber,
    agent: Agent,
    external_id: String,
    /// Whether the store had nothing of it before.
    is_new: bool,
    entries: u64,
    /// Whether a row before an entry is missing.
    has_gap: bool,
    /// Sessions with a higher number are new.
    last_known: i64,
    catalogs: TableCatalogs,
}

/// The columns of the tables that were looked up, because a server is asked for them over the network.
#[derive(Debug, Default)]
struct TableCatalogs(HashMap<&'static str, Vec<CatalogColumn>>);

impl TableCatalogs {
    fn of(&mut self, sql: &Sql, table: &'static str) -> Result<&[CatalogColumn], StoreError> {
        Ok(match self.0.entry(table) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(sql.catalog(table)?),
        })
    }
}

/// What has to be done with a session after its last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportedSession {
    /// Derive its episodes from its entries.
    Derive,
    /// Restore the entries that are set aside, which also derives its episodes.
    Restore,
    /// Nothing: it has no entries.
    Done,
}

impl SessionImport {
    /// Whether the store had nothing of the session before.
    pub const fn is_new(&self) -> bool {
        self.is_new
    }
}

impl Batch<'_> {
    /// Begins to import a session. `None` if it was forgotten, or is one of ours. `last_known` is the last number of a
    /// session before the import.
    pub fn begin_import(
        &mut self,
        key: SessionKey<'_>,
        last_known: SessionNumber,
    ) -> Result<Option<SessionImport>, StoreError> {
        // A thread is its log, and this is none.
        if key.agent == Agent::Native || self.is_forgotten(key)? {
            return Ok(None);
        }
        let found = self.open_session(key.agent, key.external_id)?;
        let is_new = found.assembler_state.is_none() && !self.has_entries(found.number)?;
        Ok(Some(SessionImport {
            number: found.number,
            agent: key.agent,
            external_id: key.external_id.to_owned(),
            is_new,
            entries: 0,
            has_gap: false,
            last_known: last_known.0,
            catalogs: TableCatalogs::default(),
        }))
    }

    /// Adds a row. Returns whether the store did not have it, or why it is not a row.
    pub fn import_row(
        &mut self,
        session: &mut SessionImport,
        table: &str,
        row: &PortableColumns,
    ) -> Result<Result<bool, String>, StoreError> {
        let Some((table, key)) = portable_table(table) else { return Ok(Err(format!("unknown table {table:?}"))) };
        match (table, key) {
            ("session", _) => self.import_session_row(session, row),
            ("entry", _) => self.import_entry(session, row),
            // A session of before the import keeps its own.
            (_, PortableKey::ExternalId) if !session.is_new && session.number.0 <= session.last_known => Ok(Ok(false)),
            ("card", _) if !is_whole_card(row) => {
                Ok(Err("a card needs model, created_at, updated_at and leaf_id".to_owned()))
            }
            (_, PortableKey::ExternalId) => {
                let (agent, external_id) = (session.agent, session.external_id.clone());
                let keys =
                    [("agent", SqlValue::Text(agent.as_str())), ("external_id", SqlValue::Text(external_id.as_str()))];
                self.insert_portable(session, table, &keys, row)
            }
            _ => {
                let owner = [("session", SqlValue::Int(session.number.0))];
                self.insert_portable(session, table, &owner, row)
            }
        }
    }

    /// Ends the import of a session: sums up its usage.
    pub fn end_import(&mut self, session: &SessionImport) -> Result<ImportedSession, StoreError> {
        self.sql.run(
            "UPDATE session SET (input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_nanos) =
             (SELECT coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
              coalesce(sum(cache_read_tokens), 0), coalesce(sum(cache_write_tokens), 0), sum(cost_nanos)
              FROM usage WHERE space = ?1 AND session = ?2) WHERE space = ?1 AND number = ?2",
            values![session.number],
        )?;
        if !session.is_new {
            return Ok(if self.is_set_aside(session.number)? {
                ImportedSession::Restore
            } else {
                ImportedSession::Done
            });
        }
        if session.has_gap {
            self.set_session_aside(session.number, &[])?;
            return Ok(ImportedSession::Restore);
        }
        let has_state = self.session_with_state(session.number)?.is_some_and(|(_, state)| state.is_some());
        Ok(if has_state || session.entries > 0 { ImportedSession::Derive } else { ImportedSession::Done })
    }

    /// Removes the steps and nodes of a session that came from an import, before its transcript is read: it has them.
    pub fn clear_imported_steps(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        for table in ["queue_step", "tree_node"] {
            let sql = format!("DELETE FROM {table} WHERE space = ?1 AND session = ?2 AND transcript IS NULL");
            self.sql.run(&sql, values![session])?;
        }
        Ok(())
    }

    /// Whether a session was imported, and nothing of it was read from a transcript.
    pub fn is_only_imported(&self, session: SessionNumber) -> Result<bool, StoreError> {
        let state = "SELECT 1 FROM session WHERE space = ?1 AND number = ?2 AND assembler_state IS NOT NULL";
        let read = "SELECT 1 FROM entry WHERE space = ?1 AND session = ?2 AND transcript IS NOT NULL
             UNION ALL SELECT 1 FROM transcript WHERE space = ?1 AND session = ?2 LIMIT 1";
        Ok(self.sql.exists(state, values![session])? && !self.sql.exists(read, values![session])?)
    }

    /// The number of the newest session.
    pub fn last_session_number(&self) -> Result<SessionNumber, StoreError> {
        Ok(SessionNumber(self.next_number("session")? - 1))
    }

    fn has_entries(&self, session: SessionNumber) -> Result<bool, StoreError> {
        self.sql.exists("SELECT 1 FROM entry WHERE space = ?1 AND session = ?2 LIMIT 1", values![session])
    }

    /// The columns of a session, unless the store knows it already.
    fn import_session_row(
        &mut self,
        session: &mut SessionImport,
        row: &PortableColumns,
    ) -> Result<Result<bool, String>, StoreError> {
        if !session.is_new {
            return Ok(Ok(false));
        }
        let mut row = row.clone();
        if let Some(reason) = self.fit_unique_columns(session, &mut row)? {
            return Ok(Err(reason));
        }
        let columns = match Self::typed_columns(session.catalogs.of(&self.sql, "session")?, "session", &row) {
            Ok(columns) => columns,
            Err(reason) => return Ok(Err(reason)),
        };
        let sets: Vec<String> =
            columns.iter().zip(4..).map(|((name, _), at)| format!(", \"{name}\" = ?{at}")).collect();
        let sql = format!("UPDATE session SET change = ?3{} WHERE space = ?1 AND number = ?2", sets.concat());
        let own = [SqlValue::Int(session.number.0), SqlValue::Int(self.next_change())].into_iter();
        let values: Vec<SqlValue<'_>> = own.chain(columns.iter().map(|(_, value)| *value)).collect();
        self.sql.run(&sql, &values)?;
        Ok(Ok(true))
    }

    /// Drops an id or alias that another session has. Returns why the row is not one of a session.
    fn fit_unique_columns(
        &self,
        session: &SessionImport,
        row: &mut PortableColumns,
    ) -> Result<Option<String>, StoreError> {
        if !matches!(row.get("kind").and_then(Value::as_str), Some("main" | "child")) {
            return Ok(Some("a session needs the kind main or child".to_owned()));
        }
        for name in ["id", "alias"] {
            let Some(text) = row.get(name).and_then(Value::as_str) else { continue };
            // Another id might be the one that a transcript gets later.
            let is_own = |id: SessionId| id.is_derived_from(session.agent, &session.external_id);
            let is_possible = name != "id" || text.parse().is_ok_and(is_own);
            let sql = format!("SELECT 1 FROM session WHERE space = ?1 AND {name} = ?2 AND number <> ?3");
            if !is_possible || self.sql.exists(&sql, values![text, session.number])? {
                row.remove(name);
            }
        }
        Ok(None)
    }

    fn import_entry(
        &mut self,
        session: &mut SessionImport,
        row: &PortableColumns,
    ) -> Result<Result<bool, String>, StoreError> {
        let (Some(key), Some(seq), Some(text)) = (
            row.get("native_key").and_then(integer),
            row.get("seq").and_then(integer),
            row.get("text").and_then(Value::as_str),
        ) else {
            return Ok(Err("an entry needs native_key, seq and text".to_owned()));
        };
        let arguments = row.get("arguments").and_then(Value::as_str).unwrap_or_default();
        let at = row.get("at").and_then(integer).map(Timestamp::from_millis);
        let content = EntryContent { agent: session.agent, at, text, arguments };
        let is_refused = self.has_forgotten(NativeKey::from_stored(key))?
            || self.has_forgotten_content(content)?
            || self.is_entry_elsewhere(session, key)?;
        session.has_gap |= is_refused || seq != session.entries as i64;
        if is_refused {
            return Ok(Ok(false));
        }
        let owner = [("session", SqlValue::Int(session.number.0))];
        let is_known = "SELECT 1 FROM entry WHERE space = ?1 AND session = ?2 AND native_key = ?3";
        if session.is_new {
            session.entries += 1;
            let mut inserted = self.insert_portable(session, "entry", &owner, row)?;
            if inserted == Ok(false) && !self.sql.exists(is_known, values![session.number, key])? {
                inserted = Err(format!("another entry has the seq {seq}"));
            }
            session.has_gap |= inserted.is_err();
            return Ok(inserted);
        }
        let is_known = self.sql.exists(is_known, values![session.number, key])?;
        self.begin_set_aside(session.number, None)?;
        // Known entries too: they say where the others belong.
        let inserted = self.insert_portable(session, "set_aside_entry", &owner, row)?;
        Ok(inserted.map(|inserted| inserted && !is_known))
    }

    /// Whether a session of before the import has the entry: the imported one is a copy of it.
    fn is_entry_elsewhere(&self, session: &SessionImport, key: i64) -> Result<bool, StoreError> {
        let sql = format!(
            "SELECT 1 FROM entry {} WHERE space = ?1 AND native_key = ?2 AND session <> ?3 AND session <= ?4",
            self.sql.index("entry_by_native_key")
        );
        self.sql.exists(&sql, values![key, session.number, session.last_known])
    }

    /// Inserts a row unless there is one with its key.
    fn insert_portable(
        &mut self,
        session: &mut SessionImport,
        table: &'static str,
        keys: &[Column<'_>],
        row: &PortableColumns,
    ) -> Result<Result<bool, String>, StoreError> {
        let catalog = session.catalogs.of(&self.sql, table)?;
        let columns = match Self::typed_columns(catalog, table, row) {
            Ok(columns) => columns,
            Err(reason) => return Ok(Err(reason)),
        };
        let missing = catalog.iter().find(|column| {
            let is_given = |columns: &[Column<'_>]| columns.iter().any(|(name, _)| *name == column.name);
            column.is_required && column.name != "space" && !is_given(keys) && !is_given(&columns)
        });
        if let Some(column) = missing {
            return Ok(Err(format!("{table} needs {}", column.name)));
        }
        let all: Vec<Column<'_>> = keys.iter().copied().chain(columns).collect();
        if self.refuses(table, all.iter().copied())? {
            return Ok(Ok(false));
        }
        let values: Vec<SqlValue<'_>> = all.iter().map(|(_, value)| *value).collect();
        let sql = insert_sql(table, &[], &all, KnownRow::Keep);
        Ok(Ok(self.sql.change(&sql, &values)? > 0))
    }

    /// The portable columns of a row that the table has, or why a value does not fit. Columns of a newer version are
    /// left out.
    fn typed_columns<'r>(
        catalog: &[CatalogColumn],
        table: &str,
        row: &'r PortableColumns,
    ) -> Result<Vec<Column<'r>>, String> {
        let mut columns = Vec::new();
        for (name, value) in row.iter().filter(|(name, value)| is_portable(table, name) && !value.is_null()) {
            let Some(column) = catalog.iter().find(|column| column.name == *name) else { continue };
            let typed = match (column.kind.as_str(), value) {
                ("TEXT", Value::String(text)) => Some(SqlValue::Text(text)),
                ("TEXT", _) => None,
                _ if name.starts_with("is_") => integer(value).map(|flag| SqlValue::Bool(flag != 0)),
                _ => integer(value).filter(|number| is_possible(name, *number)).map(SqlValue::Int),
            };
            match typed {
                Some(typed) => columns.push((name.as_str(), typed)),
                None => return Err(format!("{table} has an invalid {name}")),
            }
        }
        Ok(columns)
    }
}

/// Whether a card has what its readers need together: all of it, or nothing yet.
fn is_whole_card(row: &PortableColumns) -> bool {
    let has = |name: &&str| row.get(*name).is_some_and(|value| !value.is_null());
    !has(&"fields") || ["model", "created_at", "updated_at", "leaf_id"].iter().all(has)
}

/// Whether a column can have a number: sums and differences of such numbers are numbers.
fn is_possible(column: &str, number: i64) -> bool {
    match column {
        _ if column.ends_with("_key") || column == "checksum" => true,
        "exit_code" => i32::try_from(number).is_ok(),
        _ if column == "at" || column.ends_with("_at") => Timestamp::from_millis(number).is_plausible(),
        _ => (0..=MAX_COUNT).contains(&number),
    }
}

/// A number, or a text with one, as large numbers are written.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}
