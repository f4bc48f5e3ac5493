//! Tests of copies with rows in every table, and of the comparison at the end.

use rethread_testing::{TestPostgres, new_space_name};

use super::tables::COPY_RULES;
use super::*;
use crate::sql::{CatalogColumn, SqlValue};

/// Rows of each table.
const ROWS: i64 = 450;

fn end(location: &StoreLocation, space: &Space) -> CopyEnd {
    CopyEnd { location: location.clone(), space: Some(space.clone()), thread_files: None }
}

fn space(name: &str) -> Space {
    name.parse().unwrap()
}

fn open(end: &CopyEnd) -> Store {
    Store::open(&end.location, AuthorizedSpace::operator(end.space.clone().unwrap())).unwrap()
}

/// A value that differs from row to row, and is null in some rows where it may be.
fn value(column: &CatalogColumn, row: i64) -> (SqlValue<'static>, String) {
    let is_null = !column.is_required && column.key_place == 0 && row % 3 == 1;
    let text = format!("{} {row} é\n\"quoted\"\\", column.name);
    match column.kind.as_str() {
        _ if is_null && !column.name.starts_with("is_") && !has_default(&column.name) => {
            (SqlValue::Null(crate::sql::ValueKind::Unknown), text)
        }
        "INTEGER" if column.name.starts_with("is_") || column.name.starts_with("has_") => {
            (SqlValue::Int(row % 2), text)
        }
        "INTEGER" if row == 0 => (SqlValue::Int(i64::MIN), text),
        "INTEGER" => (SqlValue::Int(row * 7_919), text),
        "BLOB" => (SqlValue::Bytes(&[0, 255, 10]), text),
        _ => (SqlValue::Null(crate::sql::ValueKind::Text), text),
    }
}

/// Columns that are never null although rows need not give them.
fn has_default(name: &str) -> bool {
    let counts = ["prompts", "messages", "tool_calls", "tool_errors", "files_edited", "episodes", "raw_bytes"];
    let others = ["kept_tokens", "rebuilt_at_change", "fact_rules_version", "generation", "events_before_period"];
    let texts = ["prompt_entities", "recent_files", "recent_tools"];
    name.ends_with("_tokens") || [&counts[..], &others, &texts].concat().contains(&name)
}

/// Adds rows to every table that is copied.
fn fill(store: SpaceSql<'_>) {
    for (table, _) in COPY_RULES.into_iter().filter(|(_, rule)| *rule != CopyRule::Never) {
        let mut columns = store.sql().catalog(table).unwrap();
        columns.retain(|column| column.name != "space");
        let rows = if columns.iter().any(|column| column.key_place > 0) { ROWS } else { 1 };
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let loaded = store.load::<StoreError>(table, &names, |add| {
            (0..rows).try_for_each(|row| {
                let values: Vec<(SqlValue<'_>, String)> = columns.iter().map(|column| value(column, row)).collect();
                let values: Vec<SqlValue<'_>> = values
                    .iter()
                    .map(|(value, text)| match value {
                        SqlValue::Null(crate::sql::ValueKind::Text) => SqlValue::Text(text),
                        other => *other,
                    })
                    .collect();
                add(&values)
            })
        });
        loaded.unwrap_or_else(|error| panic!("{table}: {error:?}"));
    }
}

fn fill_in_transaction(end: &CopyEnd) {
    let store = open(end);
    let transaction = store.sql.begin().unwrap();
    fill(store.sql.in_space(end.space.as_ref().unwrap()));
    transaction.commit().unwrap();
}

fn copied(from: &CopyEnd, to: &CopyEnd) -> Vec<CopiedTable> {
    let mut report = copy_store(from, to, &mut |_| {}).unwrap();
    assert_eq!(report.spaces.len(), 1);
    report.spaces.remove(0).tables
}

/// Copies from end to end, and expects the same rows everywhere.
fn copy_along(ends: &[CopyEnd]) {
    fill_in_transaction(&ends[0]);
    let mut known: Option<Vec<CopiedTable>> = None;
    for pair in ends.windows(2) {
        let tables = copied(&pair[0], &pair[1]);
        let is_expected =
            |one: &&(&str, CopyRule)| matches!(one.1, CopyRule::Rows | CopyRule::Counters | CopyRule::Threads);
        assert_eq!(tables.len(), COPY_RULES.iter().filter(is_expected).count());
        assert!(tables.iter().all(|one| one.rows == if one.table == "tombstone_salt" { 1 } else { ROWS as u64 }));
        assert!(known.is_none_or(|known| known == tables), "the rows are the same in every store");
        known = Some(tables);
    }
}

#[test]
fn every_row_of_every_table_is_copied_between_files() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let ends = folders.each_ref().map(|folder| end(&StoreLocation::in_folder(folder.path()), &space("acme")));
    copy_along(&ends);
}

#[test]
fn every_row_of_every_table_is_copied_to_a_server_and_back() {
    let Some(server) = TestPostgres::shared() else { return };
    server.location();
    let location = StoreLocation::at_url(server.url(), None, Some(8)).unwrap();
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [first, last] = folders.each_ref().map(|folder| end(&StoreLocation::in_folder(folder.path()), &space("acme")));
    let servers = [(); 2].map(|()| end(&location, &space(&new_space_name())));
    let [there, renamed] = servers;
    copy_along(&[first, there, renamed, last]);
}

#[test]
fn rows_that_differ_are_found() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [from, to] = folders.each_ref().map(|folder| end(&StoreLocation::in_folder(folder.path()), &space("acme")));
    fill_in_transaction(&from);
    let report = copy_store(&from, &to, &mut |_| {}).unwrap();
    let (source, target) = (open(&from), open(&to));
    let pair = (space("acme"), space("acme"));
    let copy = SpaceCopy::new(&from, &to, &pair, &source.sql, &target.sql);
    copy.compare(&report.spaces[0]).unwrap();
    target.sql.run("UPDATE fact SET quote = 'other' WHERE space = ?1 AND quote IS NULL", &[]).unwrap();
    let error = copy.compare(&report.spaces[0]).unwrap_err();
    assert!(matches!(error, CopyError::Different { table: "fact", .. }), "{error}");
}
