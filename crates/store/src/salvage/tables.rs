//! Reads the rows of one table of a damaged or outdated store, by column name.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use rethread_model::Agent;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use super::pages::PageFile;
use crate::sql::{OwnedValue, schema};

/// Earlier than any time we store; smaller numbers are not times.
const EARLIEST_MILLIS: i64 = 100_000_000_000;

/// A row by column names.
pub(super) type NamedRow = BTreeMap<String, OwnedValue>;

/// A store that cannot be opened as usual, read table by table.
pub(super) struct OldStore {
    connection: Option<Connection>,
    objects: Vec<StoredObject>,
    pages: Option<PageFile>,
    /// Pages of trees whose root is known.
    owned: HashSet<u32>,
}

/// A table or an index: the columns of its records, in the order in which they are stored.
struct StoredObject {
    name: String,
    root: Option<u32>,
    columns: Vec<StoredColumn>,
}

struct StoredColumn {
    name: String,
    kind: String,
    may_be_null: bool,
}

impl OldStore {
    pub(super) fn open(path: &Path) -> Self {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).ok();
        let stored = connection.as_ref().and_then(|connection| stored_objects(connection).ok());
        // Without a readable schema the file is taken for one of this version.
        let objects = stored.filter(|objects| !objects.is_empty()).unwrap_or_else(default_objects);
        let pages = PageFile::open(path).ok();
        let roots = objects.iter().filter_map(|object| object.root);
        let owned = pages.as_ref().map(|pages| roots.flat_map(|root| pages.tree(root)).collect()).unwrap_or_default();
        Self { connection, objects, pages, owned }
    }

    /// Calls `each` with every row of a table that can be read, some of them twice. Returns whether all could be.
    pub(super) fn rows(&self, table: &str, each: &mut dyn FnMut(NamedRow)) -> bool {
        if self.objects.iter().all(|object| object.name != table) {
            return true;
        }
        let read = self.connection.as_ref().map(|connection| select_all(connection, table, each));
        if matches!(read, Some(Ok(()))) {
            return true;
        }
        self.scan(table, each);
        false
    }

    /// Reads the rows of a table from all pages that are its own, or that can only be its own.
    fn scan(&self, table: &str, each: &mut dyn FnMut(NamedRow)) {
        let (Some(pages), Some(object)) = (&self.pages, self.objects.iter().find(|object| object.name == table)) else {
            return;
        };
        let own = object.root.map(|root| pages.tree(root)).unwrap_or_default();
        let free = pages.free_pages();
        for number in pages.page_numbers() {
            let is_own = own.contains(&number);
            // Free pages hold what was deleted, perhaps on the user's order.
            if !is_own && (self.owned.contains(&number) || free.contains(&number)) {
                continue;
            }
            let Some(page) = pages.records(number) else { continue };
            let belongs = |record: &&Vec<OwnedValue>| object.fits(record) && (is_own || self.is_only(object, record));
            for record in page.records.iter().filter(belongs) {
                let names = object.columns.iter().map(|column| column.name.clone());
                each(names.zip(record.iter().cloned()).collect());
            }
        }
    }

    /// Whether a record fits no other table or index.
    fn is_only(&self, object: &StoredObject, record: &[OwnedValue]) -> bool {
        let others = self.objects.iter().filter(|other| other.name != object.name);
        // Entries that are set aside are entries, too.
        let mut others = others.filter(|other| !(object.name == "entry" && other.name == "set_aside_entry"));
        !others.any(|other| other.fits(record))
    }
}

impl StoredObject {
    fn fits(&self, record: &[OwnedValue]) -> bool {
        record.len() == self.columns.len() && self.columns.iter().zip(record).all(|(column, value)| column.fits(value))
    }
}

impl StoredColumn {
    fn fits(&self, value: &OwnedValue) -> bool {
        match value {
            OwnedValue::Null => self.may_be_null,
            OwnedValue::Int(number) => {
                let is_time = self.name == "at" || self.name.ends_with("_at");
                let is_flag = self.name.starts_with("is_");
                self.kind == "INTEGER"
                    && (!is_time || *number >= EARLIEST_MILLIS)
                    && (!is_flag || (0..=1).contains(number))
            }
            OwnedValue::Text(text) => self.kind == "TEXT" && (self.name != "agent" || text.parse::<Agent>().is_ok()),
            OwnedValue::Bytes(_) => self.kind == "BLOB",
        }
    }
}

fn select_all(connection: &Connection, table: &str, each: &mut dyn FnMut(NamedRow)) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("SELECT * FROM {table} NOT INDEXED"))?;
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut values = NamedRow::new();
        for (at, name) in names.iter().enumerate() {
            values.insert(name.clone(), lossy(row.get_ref(at)?));
        }
        each(values);
    }
    Ok(())
}

/// Damaged text is still worth reading.
fn lossy(value: ValueRef<'_>) -> OwnedValue {
    match value {
        ValueRef::Null => OwnedValue::Null,
        ValueRef::Integer(number) => OwnedValue::Int(number),
        ValueRef::Real(number) => OwnedValue::Int(number as i64),
        ValueRef::Text(bytes) => OwnedValue::Text(String::from_utf8_lossy(bytes).into_owned()),
        ValueRef::Blob(bytes) => OwnedValue::Bytes(bytes.to_vec()),
    }
}

fn stored_objects(connection: &Connection) -> rusqlite::Result<Vec<StoredObject>> {
    let sql = "SELECT name, tbl_name, type, rootpage FROM sqlite_schema WHERE type IN ('table', 'index')";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?, row.get::<_, u32>(3).ok()))
    })?;
    let mut objects = Vec::new();
    for row in rows {
        let (name, table, kind, root) = row?;
        let columns =
            if kind == "table" { table_columns(connection, &name)? } else { index_columns(connection, &name, &table)? };
        objects.push(StoredObject { name, root, columns });
    }
    Ok(objects)
}

/// The columns of a table without row ids: the primary key comes first.
fn table_columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<StoredColumn>> {
    let sql = "SELECT name, type, \"notnull\" FROM pragma_table_info(?1) ORDER BY pk = 0, pk, cid";
    let mut statement = connection.prepare(sql)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(StoredColumn { name: row.get(0)?, kind: row.get(1)?, may_be_null: !row.get::<_, bool>(2)? })
    };
    statement.query_map([table], read)?.collect()
}

/// The columns of an index: its own, then those of the primary key.
fn index_columns(connection: &Connection, index: &str, table: &str) -> rusqlite::Result<Vec<StoredColumn>> {
    let sql = "SELECT t.name, t.type, t.\"notnull\" FROM pragma_index_xinfo(?1) AS x
         JOIN pragma_table_info(?2) AS t ON t.cid = x.cid ORDER BY x.seqno";
    let mut statement = connection.prepare(sql)?;
    let read = |row: &rusqlite::Row<'_>| {
        Ok(StoredColumn { name: row.get(0)?, kind: row.get(1)?, may_be_null: !row.get::<_, bool>(2)? })
    };
    statement.query_map([index, table], read)?.collect()
}

/// The objects of a store of this version, without their pages.
fn default_objects() -> Vec<StoredObject> {
    let read = || -> rusqlite::Result<Vec<StoredObject>> {
        let connection = Connection::open_in_memory()?;
        schema::create(&connection)?;
        let mut objects = stored_objects(&connection)?;
        for object in &mut objects {
            object.root = None;
        }
        Ok(objects)
    };
    read().unwrap_or_default()
}
