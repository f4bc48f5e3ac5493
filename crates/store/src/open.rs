//! Opens a store: to write, to write without delaying an agent, or only to read.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::private_files::{OWNER_ONLY, PrivateFolder};
use crate::sql::{Sql, Transaction};
use crate::{AuthorizedSpace, Batch, ReadStore, Store, StoreError, StoreLocation};

/// How long a process waits for the write lock of another one.
const BUSY_TIMEOUT: Duration = Duration::from_mins(1);
/// How often a caller with a wait budget tries to get the lock. SQLite itself waits up to 100 ms between two attempts
/// and would miss the moment in which a sync releases it.
const LOCK_POLL: Duration = Duration::from_millis(1);
/// Pages in the write-ahead log before a caller in a hurry moves it into the database. Small, because the next process
/// to open the database has to read the whole log first.
const SHORT_LOG_PAGES: u32 = 40;
/// A log this long that was written this recently belongs to a running sync, which does the checkpoint itself.
const SYNC_LOG_BYTES: u64 = 8 << 20;
const SYNC_LOG_AGE: Duration = Duration::from_secs(5);

/// How much longer a caller in a hurry waits for other processes. Clones share what is left, so that several stores
/// opened one after the other do not add up their waits.
#[derive(Clone, Debug)]
pub struct WaitBudget {
    micros_left: Arc<AtomicU64>,
}

impl WaitBudget {
    /// A budget of this much waiting in total.
    pub fn new(total: Duration) -> Self {
        Self { micros_left: Arc::new(AtomicU64::new(total.as_micros() as u64)) }
    }

    /// Whether there is nothing left to wait.
    pub fn is_spent(&self) -> bool {
        self.left() == Duration::ZERO
    }

    /// Waits for something other than the store.
    pub fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
        self.spend(time);
    }

    fn left(&self) -> Duration {
        Duration::from_micros(self.micros_left.load(Ordering::Relaxed))
    }

    fn spend(&self, waited: Duration) {
        let left = self.left().saturating_sub(waited);
        self.micros_left.store(left.as_micros() as u64, Ordering::Relaxed);
    }
}

/// How long a store waits for the write lock of another process.
#[derive(Clone, Debug)]
pub(crate) enum LockPatience {
    /// At most this long, each time.
    EachTime(Duration),
    /// No longer than what is left of a budget.
    Total(WaitBudget),
}

impl LockPatience {
    fn left(&self) -> Duration {
        match self {
            Self::EachTime(timeout) => *timeout,
            Self::Total(budget) => budget.left(),
        }
    }

    fn spend(&self, waited: Duration) {
        if let Self::Total(budget) = self {
            budget.spend(waited);
        }
    }
}

/// What a power cut may undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Nothing that was committed.
    Flushed,
    /// The last commits, but never an earlier one without the later ones.
    Ordered,
}

impl Store {
    /// Opens the database and creates it if there is none. Waits up to a minute for another process that is writing.
    /// What is committed survives a power cut.
    pub fn open(location: &StoreLocation, space: AuthorizedSpace) -> Result<Self, StoreError> {
        Self::open_with_timeout(location, space, BUSY_TIMEOUT)
    }

    /// Opens the database and waits at most `timeout` for another process that is writing, here and in later calls.
    pub fn open_with_timeout(
        location: &StoreLocation,
        space: AuthorizedSpace,
        timeout: Duration,
    ) -> Result<Self, StoreError> {
        Self::open_for_writing(location, space, LockPatience::EachTime(timeout), Durability::Flushed)
    }

    /// Opens the database for a caller in a hurry, such as a hook: waits for other processes no longer than the budget
    /// allows, does not wait for the disk, and leaves checkpoints to processes that have time. A power cut may undo the
    /// last commits.
    pub fn open_low_latency(
        location: &StoreLocation,
        space: AuthorizedSpace,
        budget: WaitBudget,
    ) -> Result<Self, StoreError> {
        let store = Self::open_for_writing(location, space, LockPatience::Total(budget), Durability::Ordered)?;
        let pages = if has_running_sync(location) { 0 } else { SHORT_LOG_PAGES };
        store.sql.delay_checkpoints(pages)?;
        Ok(store)
    }

    fn open_for_writing(
        location: &StoreLocation,
        space: AuthorizedSpace,
        patience: LockPatience,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        if !location.is_on_server() {
            create_private(location.path())?;
        }
        let reader = ReadStore { sql: Sql::open(location, space.into_space(), patience.left())? };
        let store = Self { reader, patience, durability, current: durability };
        store.prepare_with_retries()?;
        Ok(store)
    }

    /// SQLite ignores the busy timeout while the journal mode of a new file changes and fails at once, so this retries.
    fn prepare_with_retries(&self) -> Result<(), StoreError> {
        let start = Instant::now();
        let patience = self.patience.left();
        let result = loop {
            let prepared = self.sql.prepare_to_write(self.patience.left(), self.durability);
            match prepared.and_then(|()| self.sql.migrate()) {
                Err(StoreError::Locked { .. }) if start.elapsed() < patience => std::thread::sleep(5 * LOCK_POLL),
                result => break result,
            }
        };
        if start.elapsed() > 5 * LOCK_POLL {
            self.patience.spend(start.elapsed());
        }
        result
    }

    /// Starts a write transaction, once no other process is writing. Nothing is stored unless the batch is committed;
    /// then it survives a power cut, unless the store was opened for low latency.
    pub fn begin(&mut self) -> Result<Batch<'_>, StoreError> {
        self.begin_with(self.durability)
    }

    /// Starts a write transaction whose commit does not wait for the disk, for rows that are derived from transcripts
    /// and for hook events. A power cut may undo the last such commits; the next sync derives the rows again.
    pub fn begin_unflushed(&mut self) -> Result<Batch<'_>, StoreError> {
        self.begin_with(Durability::Ordered)
    }

    /// Starts a write transaction in which the bytes of deleted rows are overwritten, for text that must not be
    /// recoverable from the file.
    pub fn begin_secure_delete(&mut self) -> Result<Batch<'_>, StoreError> {
        self.sql.set_secure_delete()?;
        self.begin()
    }

    fn begin_with(&mut self, durability: Durability) -> Result<Batch<'_>, StoreError> {
        if self.current != durability {
            self.sql.set_durability(durability)?;
            self.current = durability;
        }
        Batch::new(&self.reader, self.lock_for_writing()?)
    }

    fn lock_for_writing(&self) -> Result<Transaction<'_>, StoreError> {
        let LockPatience::Total(budget) = &self.patience else { return self.sql.begin() };
        self.sql.set_timeout(Duration::ZERO)?;
        let (start, patience) = (Instant::now(), budget.left());
        let result = loop {
            match self.sql.begin() {
                Err(StoreError::Locked { .. }) if start.elapsed() < patience => std::thread::sleep(LOCK_POLL),
                result => break result,
            }
        };
        budget.spend(start.elapsed());
        self.sql.set_timeout(budget.left())?;
        result
    }
}

impl ReadStore {
    /// Opens an existing store to read it: changes neither content nor schema, also not on close. `None` if there is
    /// none, or one that is not set up yet.
    pub fn open(
        location: &StoreLocation,
        space: &AuthorizedSpace,
        timeout: Option<Duration>,
    ) -> Result<Option<Self>, StoreError> {
        if !location.exists() {
            return Ok(None);
        }
        let sql = Sql::open_read_only(location, space.space(), timeout.unwrap_or(BUSY_TIMEOUT))?;
        Ok(sql.map(|sql| Self { sql }))
    }
}

/// SQLite gives its side files the permissions of the main file, so that one is created first, for the owner only.
fn create_private(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::OpenOptionsExt;
    let created = std::fs::OpenOptions::new().write(true).create_new(true).mode(OWNER_ONLY).open(path);
    let flushed = created.and_then(|_| match path.parent() {
        Some(folder) => PrivateFolder::open_following_links(folder)?.sync(),
        None => Ok(()),
    });
    match flushed {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(cause) => Err(StoreError::Create { path: path.to_owned(), cause }),
    }
}

fn has_running_sync(location: &StoreLocation) -> bool {
    let Ok(log) = std::fs::metadata(location.log()) else { return false };
    let age = log.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    log.len() > SYNC_LOG_BYTES && age.is_none_or(|age| age < SYNC_LOG_AGE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SessionKey;
    use rethread_model::{Agent, Timestamp};

    const KEY: SessionKey<'static> = SessionKey { agent: Agent::Pi, external_id: "x" };

    fn synchronous(batch: &Batch<'_>) -> i64 {
        batch.sql.on_sqlite(|file| file.query_row("PRAGMA synchronous", [], |row| row.get(0))).unwrap().unwrap()
    }

    fn add_session(store: &mut Store, now: i64) {
        let mut batch = store.begin().unwrap();
        batch.save_lifecycle(KEY, &crate::LifecycleRow::new(Timestamp::from_millis(now))).unwrap();
        batch.commit().unwrap();
    }

    #[test]
    fn what_only_we_know_is_flushed_with_every_commit() {
        // D62
        let folder = tempfile::tempdir().unwrap();
        let path = StoreLocation::in_folder(folder.path());
        let mut store = Store::open(&path, AuthorizedSpace::local()).unwrap();
        assert_eq!(synchronous(&store.begin_unflushed().unwrap()), 1);
        assert_eq!(synchronous(&store.begin().unwrap()), 2);
        let mut hook = Store::open_low_latency(&path, AuthorizedSpace::local(), WaitBudget::new(BUSY_TIMEOUT)).unwrap();
        assert_eq!(synchronous(&hook.begin().unwrap()), 1, "a hook does not wait for the disk");
    }

    #[test]
    fn the_waits_of_a_hook_do_not_add_up() {
        // D34
        let folder = tempfile::tempdir().unwrap();
        let path = StoreLocation::in_folder(folder.path());
        let mut writing = Store::open(&path, AuthorizedSpace::local()).unwrap();
        let budget = WaitBudget::new(Duration::from_millis(30));
        let mut stores: Vec<Store> =
            (0..3).map(|_| Store::open_low_latency(&path, AuthorizedSpace::local(), budget.clone()).unwrap()).collect();
        let lock = writing.begin().unwrap();
        for store in &mut stores {
            assert!(matches!(store.begin(), Err(StoreError::Locked { .. })));
            assert_eq!(budget.left(), Duration::ZERO, "the first wait used up the budget of all");
        }
        drop(lock);
        assert!(stores[0].begin().is_ok(), "a free lock needs no wait");
    }

    #[test]
    fn a_reader_writes_nothing_and_creates_no_schema() {
        // D57
        let folder = tempfile::tempdir().unwrap();
        let path = StoreLocation::in_folder(folder.path());
        let read = || ReadStore::open(&path, &AuthorizedSpace::local(), None).unwrap();
        assert!(read().is_none() && !path.exists());
        std::fs::write(path.path(), "").unwrap();
        assert!(read().is_none(), "an empty file is not set up");
        assert_eq!(std::fs::metadata(path.path()).unwrap().len(), 0);
        let mut store = Store::open(&path, AuthorizedSpace::local()).unwrap();
        add_session(&mut store, 1);
        let reader = read().unwrap();
        assert!(reader.lifecycle(KEY).unwrap().is_some());
        assert!(reader.sql.run("DELETE FROM lifecycle WHERE space = ?1", &[]).is_err(), "it cannot write");
        // The last connection to close would otherwise move the log into the database.
        store.sql.delay_checkpoints(1_000).unwrap();
        drop(reader);
        drop(store);
        let before = (std::fs::read(path.path()).unwrap(), std::fs::read(path.log()).unwrap());
        assert!(read().unwrap().lifecycle(KEY).unwrap().is_some());
        assert!(before == (std::fs::read(path.path()).unwrap(), std::fs::read(path.log()).unwrap()));
    }
}
