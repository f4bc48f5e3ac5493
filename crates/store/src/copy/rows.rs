//! Copies the rows of one table, and counts and hashes them on both sides.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::tables::CopyRule;
use crate::StoreError;
use crate::sql::{SpaceSql, SqlValue, text_without_nul};

/// Rows that a server sends at a time. Few, because a row can be long.
const ROWS_AT_A_TIME: usize = 200;

/// All counters but those of the database: its commits, who made them, and its audit.
const COPIED_COUNTERS: &str = " AND name <> 'commit' AND name <> 'audit' AND substr(name, 1, 7) <> 'writer '";

/// Where paths of transcripts are. Logs of threads are transcripts too.
const PATH_COLUMNS: [(&str, &str); 2] = [("transcript", "path"), ("session", "transcript_path")];

/// How many rows there are, and a hash of them all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowDigest {
    pub(super) rows: u64,
    pub(super) sha256: String,
}

/// A table and the columns to copy: all but the space.
#[derive(Debug)]
pub(super) struct CopiedColumns {
    pub(super) table: &'static str,
    rule: CopyRule,
    names: Vec<String>,
    select: String,
    moved: Option<MovedPaths>,
}

/// Paths of logs of threads, which the target has elsewhere.
#[derive(Clone, Debug)]
pub(super) struct MovedPaths {
    /// What they start with in the source and in the target.
    pub(super) from: String,
    pub(super) to: String,
}

/// Counts and hashes rows.
#[derive(Default)]
pub(super) struct RowHasher {
    rows: u64,
    hash: Sha256,
}

impl CopiedColumns {
    /// The columns of a table, as the source has them.
    pub(super) fn of(source: SpaceSql<'_>, table: &'static str, rule: CopyRule) -> Result<Self, StoreError> {
        let catalog = source.sql().catalog(table)?;
        let names: Vec<String> = catalog.into_iter().map(|column| column.name).filter(|name| name != "space").collect();
        let quoted = |names: &[String]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let mut key = source.sql().primary_key(table)?;
        key.retain(|name| name != "space");
        let (columns, key) = (quoted(&names), if key.is_empty() { "\"space\"".to_owned() } else { quoted(&key) });
        let condition = if rule == CopyRule::Counters { COPIED_COUNTERS } else { "" };
        let select = format!("SELECT {columns} FROM {table} WHERE space = ?1{condition} ORDER BY {key}");
        Ok(Self { table, rule, names, select, moved: None })
    }

    /// Changes the paths of the logs of threads while they are copied.
    pub(super) fn with_moved_paths(mut self, paths: Option<&MovedPaths>) -> Self {
        self.moved = paths.cloned();
        self
    }

    /// Copies all rows of a space.
    pub(super) fn copy(&self, source: SpaceSql<'_>, target: SpaceSql<'_>) -> Result<RowDigest, StoreError> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        // A space that was only created has a row and counters.
        match self.rule {
            CopyRule::Counters => target.run(&format!("DELETE FROM counter WHERE space = ?1{COPIED_COUNTERS}"), &[])?,
            CopyRule::Members => target.run(&format!("DELETE FROM {} WHERE space = ?1", self.table), &[])?,
            _ => {}
        }
        let mut hasher = RowHasher::default();
        target.load(self.table, &names, |add| {
            self.each(source, |values| {
                let moved = self.moved_path(values);
                let mut values = values.to_vec();
                if let Some((at, path)) = &moved {
                    values[*at] = SqlValue::Text(path);
                }
                hasher.add(&values);
                add(&values)
            })
        })?;
        Ok(hasher.finish())
    }

    /// Counts and hashes all rows of a space.
    pub(super) fn digest(&self, store: SpaceSql<'_>) -> Result<RowDigest, StoreError> {
        let mut hasher = RowHasher::default();
        self.each(store, |values| {
            hasher.add(values);
            Ok(())
        })?;
        Ok(hasher.finish())
    }

    /// The column with a path that the target has elsewhere, and the path there.
    fn moved_path(&self, values: &[SqlValue<'_>]) -> Option<(usize, String)> {
        let moved = self.moved.as_ref()?;
        let (_, column) = PATH_COLUMNS.iter().find(|(table, _)| *table == self.table)?;
        let at = self.names.iter().position(|name| name == column)?;
        let SqlValue::Text(path) = values[at] else { return None };
        let rest = path.strip_prefix(&moved.from).filter(|rest| rest.ends_with("/session.jsonl"))?;
        Some((at, format!("{}{rest}", moved.to)))
    }

    fn each(
        &self,
        store: SpaceSql<'_>,
        mut each: impl FnMut(&[SqlValue<'_>]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        store.stream(&self.select, ROWS_AT_A_TIME, |row| {
            let values: Result<Vec<SqlValue<'_>>, StoreError> = (0..self.names.len()).map(|at| row.value(at)).collect();
            each(&values?)
        })
    }
}

impl RowHasher {
    /// Adds a row. Equal rows of all databases have the same hash: flags are numbers, and NUL characters, which only old
    /// files have, are left out.
    pub(super) fn add(&mut self, values: &[SqlValue<'_>]) {
        self.rows += 1;
        for value in values {
            match *value {
                SqlValue::Null(_) => self.hash.update([0]),
                SqlValue::Int(number) => self.add_bytes(1, &number.to_le_bytes()),
                SqlValue::Bool(flag) => self.add_bytes(1, &i64::from(flag).to_le_bytes()),
                SqlValue::Text(text) => self.add_bytes(2, text_without_nul(text).as_bytes()),
                SqlValue::Bytes(bytes) => self.add_bytes(3, bytes),
            }
        }
    }

    pub(super) fn finish(self) -> RowDigest {
        let mut sha256 = String::with_capacity(64);
        for byte in self.hash.finalize() {
            // Writing to a string cannot fail.
            let _ = write!(sha256, "{byte:02x}");
        }
        RowDigest { rows: self.rows, sha256 }
    }

    fn add_bytes(&mut self, kind: u8, bytes: &[u8]) {
        self.hash.update([kind]);
        self.hash.update((bytes.len() as u64).to_le_bytes());
        self.hash.update(bytes);
    }
}
