//! Copies a store, or one space of it, into another store: between files and servers, in both directions.
//!
//! The rows of a source are read in one transaction, as of one moment, and written in one transaction, so that an
//! interrupted copy leaves no rows behind. Before that transaction ends, all rows are read again and compared.

mod error;
mod rows;
mod tables;
#[cfg(test)]
mod tests;
mod threads;

use std::path::{Path, PathBuf};

use rethread_model::Space;

use crate::sql::{SpaceSql, Sql};
use crate::{AuthorizedSpace, ReadStore, Store, StoreError, StoreLocation};
pub use error::CopyError;
use rows::{CopiedColumns, MovedPaths, RowDigest};
use tables::{CopyRule, tables_with};
use threads::ThreadSide;

/// One of the two stores of a copy.
#[derive(Clone, Debug)]
pub struct CopyEnd {
    /// Where it is.
    pub location: StoreLocation,
    /// The space; `None` for all of the source, or for the one that users of the target expect.
    pub space: Option<Space>,
    /// Where the space `local` has its threads as files; `None` on a server.
    pub thread_files: Option<PathBuf>,
}

impl CopyEnd {
    /// A store on this machine: the folder of a home, or the file of a database in one.
    pub fn at_path(path: &Path, space: Option<Space>) -> Self {
        let is_file = path.is_file() || path.extension().is_some_and(|extension| extension == "db");
        let location = if is_file { StoreLocation::at_path(path) } else { StoreLocation::in_folder(path) };
        let thread_files = location.path().parent().map(|folder| folder.join("threads"));
        Self { location, space, thread_files }
    }

    /// A store on a server.
    pub fn on_server(location: StoreLocation, space: Option<Space>) -> Self {
        Self { location, space, thread_files: None }
    }
}

/// What was copied.
#[derive(Clone, Debug)]
pub struct CopyReport {
    /// The spaces, by the name that they had.
    pub spaces: Vec<CopiedSpace>,
}

/// A space that was copied.
#[derive(Clone, Debug)]
pub struct CopiedSpace {
    /// Its name in the source.
    pub from: Space,
    /// Its name in the target.
    pub to: Space,
    /// The tables, each with the rows that both stores have.
    pub tables: Vec<CopiedTable>,
    /// Whether the source has members that were not copied.
    pub has_left_members: bool,
}

/// A table of both stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedTable {
    /// Its name.
    pub table: &'static str,
    /// Number of rows. Of threads as files, each counts as one row.
    pub rows: u64,
    /// SHA-256 of the rows, in hexadecimal. The same for all databases.
    pub sha256: String,
}

/// Copies a store. `progress` is called with each table that was written.
pub fn copy_store(
    from: &CopyEnd,
    to: &CopyEnd,
    progress: &mut dyn FnMut(&CopiedTable),
) -> Result<CopyReport, CopyError> {
    let source = open_source(from)?;
    let snapshot = source.snapshot()?;
    let pairs = pairs(&source, from, to)?;
    let (_, first) = &pairs[0];
    let target = Store::open(&to.location, AuthorizedSpace::operator(first.clone()))?;
    let transaction = target.sql.begin()?;
    let copies: Vec<SpaceCopy<'_>> =
        pairs.iter().map(|pair| SpaceCopy::new(from, to, pair, &source.sql, &target.sql)).collect();
    for copy in &copies {
        if copy.to != first {
            copy.target.lock()?;
        }
        copy.require_empty_target(to.location.path())?;
    }
    let mut spaces = Vec::with_capacity(copies.len());
    for copy in &copies {
        spaces.push(copy.copy_rows(progress)?);
    }
    // A server ends transactions that wait for long, and comparing takes its time.
    drop(snapshot);
    for (copy, space) in copies.iter().zip(&spaces) {
        copy.compare(space)?;
    }
    transaction.commit().map_err(|cause| target.sql.error(cause))?;
    Ok(CopyReport { spaces })
}

fn open_source(from: &CopyEnd) -> Result<ReadStore, CopyError> {
    let missing = || CopyError::NoStore(from.location.path().to_owned());
    let source = ReadStore::open(&from.location, &AuthorizedSpace::local(), None)?.ok_or_else(missing)?;
    let (found, known) = (source.sql.schema_version()?, crate::sql::schema::SCHEMA_VERSION);
    if found != known {
        return Err(CopyError::OutdatedSource { path: from.location.path().to_owned(), found, known });
    }
    Ok(source)
}

/// The spaces to copy: their names in the source and in the target.
fn pairs(source: &ReadStore, from: &CopyEnd, to: &CopyEnd) -> Result<Vec<(Space, Space)>, CopyError> {
    let path = || from.location.path().to_owned();
    let mut spaces = source.spaces_with_rows()?;
    let has_thread_files = from.thread_files.as_ref().is_some_and(|folder| folder.exists());
    if has_thread_files && !spaces.contains(&Space::local()) {
        spaces.push(Space::local());
    }
    if let Some(space) = &from.space {
        spaces.retain(|other| other == space);
        if spaces.is_empty() {
            return Err(CopyError::UnknownSpace { path: path(), space: space.clone() });
        }
    }
    let pairs: Vec<(Space, Space)> = match (&to.space, spaces.len()) {
        (_, 0) => return Err(CopyError::NoStore(path())),
        (Some(space), 1) => spaces.into_iter().map(|from| (from, space.clone())).collect(),
        (Some(space), count) => return Err(CopyError::SeveralSpaces { path: path(), count, space: space.clone() }),
        // Commands that open a file use this space.
        (None, 1) if !to.location.is_on_server() => spaces.into_iter().map(|from| (from, Space::local())).collect(),
        (None, _) => spaces.into_iter().map(|space| (space.clone(), space)).collect(),
    };
    match pairs.iter().find(|(old, new)| old == new) {
        Some((space, _)) if from.location == to.location => Err(CopyError::SameSpace(space.clone())),
        _ => Ok(pairs),
    }
}

/// The copy of one space.
#[derive(Debug)]
struct SpaceCopy<'s> {
    from: &'s Space,
    to: &'s Space,
    source: SpaceSql<'s>,
    target: SpaceSql<'s>,
    /// The threads, unless both stores have them as rows.
    threads: Option<(ThreadSide<'s>, ThreadSide<'s>)>,
    moved_paths: Option<MovedPaths>,
    is_between_servers: bool,
}

impl<'s> SpaceCopy<'s> {
    fn new(from: &CopyEnd, to: &CopyEnd, pair: &'s (Space, Space), source: &'s Sql, target: &'s Sql) -> Self {
        let (old, new) = pair;
        let (source, target) = (source.in_space(old), target.in_space(new));
        let files = |end: &'_ CopyEnd, space: &Space| end.thread_files.clone().filter(|_| *space == Space::local());
        let (from_files, to_files) = (files(from, old), files(to, new));
        let has_files = from_files.is_some() || to_files.is_some();
        let sides = (ThreadSide::new(from_files.as_deref(), source), ThreadSide::new(to_files.as_deref(), target));
        let paths = |files: &Option<PathBuf>| {
            files.as_ref().map_or("threads/".to_owned(), |path| format!("{}/", path.display()))
        };
        let moved_paths = has_files.then(|| MovedPaths { from: paths(&from_files), to: paths(&to_files) });
        let is_between_servers = from.location.is_on_server() && to.location.is_on_server();
        Self {
            from: old,
            to: new,
            source,
            target,
            threads: has_files.then_some(sides),
            moved_paths,
            is_between_servers,
        }
    }

    /// Fails if the target has rows that a copy would mix with others.
    fn require_empty_target(&self, path: &Path) -> Result<(), CopyError> {
        let not_empty = |table| CopyError::NotEmpty { path: path.to_owned(), space: self.to.clone(), table };
        let rows = tables_with(CopyRule::Rows);
        for table in rows.chain(tables_with(CopyRule::Threads).filter(|_| !self.writes_thread_files())) {
            if has_rows(self.target, table)? {
                return Err(not_empty(table));
            }
        }
        match &self.threads {
            // Files of an interrupted copy of the same threads do not matter.
            Some((source, target)) if target.has_other_threads(source)? => Err(not_empty("thread")),
            _ => Ok(()),
        }
    }

    fn writes_thread_files(&self) -> bool {
        matches!(self.threads, Some((_, ThreadSide::Files(_))))
    }

    fn copy_rows(&self, progress: &mut dyn FnMut(&CopiedTable)) -> Result<CopiedSpace, CopyError> {
        let mut tables = Vec::new();
        let mut add = |table, digest: RowDigest| {
            let copied = CopiedTable { table, rows: digest.rows, sha256: digest.sha256 };
            progress(&copied);
            tables.push(copied);
        };
        let copies_members = self.copies_members()?;
        for columns in self.columns(copies_members)? {
            add(columns.table, columns.copy(self.source, self.target)?);
        }
        if let Some((source, target)) = &self.threads {
            add("thread", source.copy_to(target)?);
        }
        let has_left_members = !copies_members && has_rows(self.source, "member")?;
        Ok(CopiedSpace { from: self.from.clone(), to: self.to.clone(), tables, has_left_members })
    }

    /// Fails unless the target has the same rows.
    fn compare(&self, copied: &CopiedSpace) -> Result<(), CopyError> {
        let check = |table, found: RowDigest| match copied.tables.iter().find(|one| one.table == table) {
            Some(expected) if expected.rows != found.rows || expected.sha256 != found.sha256 => {
                Err(CopyError::Different { space: self.to.clone(), table, expected: expected.rows, found: found.rows })
            }
            _ => Ok(()),
        };
        for columns in self.columns(true)? {
            if copied.tables.iter().any(|one| one.table == columns.table) {
                check(columns.table, columns.digest(self.target)?)?;
            }
        }
        self.threads.as_ref().map_or(Ok(()), |(_, target)| check("thread", target.digest()?))
    }

    /// The tables whose rows are copied as they are.
    fn columns(&self, with_members: bool) -> Result<Vec<CopiedColumns>, StoreError> {
        let is_copied = |rule| match rule {
            CopyRule::Rows | CopyRule::Counters => true,
            CopyRule::Members => with_members,
            CopyRule::Threads => self.threads.is_none(),
            CopyRule::Never => false,
        };
        let copied = tables::COPY_RULES.into_iter().filter(|(_, rule)| is_copied(*rule));
        let columns = copied.map(|(table, rule)| CopiedColumns::of(self.target, table, rule));
        columns.map(|columns| Ok(columns?.with_moved_paths(self.moved_paths.as_ref()))).collect()
    }

    /// Tokens contain the name of their space, and a space that has members keeps them.
    fn copies_members(&self) -> Result<bool, StoreError> {
        let may_copy = self.is_between_servers && self.from == self.to;
        Ok(may_copy && !has_rows(self.target, "member")?)
    }
}

fn has_rows(store: SpaceSql<'_>, table: &str) -> Result<bool, StoreError> {
    store.exists(&format!("SELECT 1 FROM {table} WHERE space = ?1 LIMIT 1"))
}
