//! The truth: sessions, entries and episodes in one SQLite file, threads in logs of their own. The only crate with SQL.
//!
//! Readers use [`Store`]; whoever writes takes a [`Batch`], whose changes become visible together or not at all.
//!
//! ```
//! use rethread_store::{SessionFilter, Store};
//! use rethread_model::Space;
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(&folder.path().join("memory.db"), Space::local())?;
//! assert!(store.sessions(&SessionFilter::default())?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archives;
mod batch;
mod cards;
mod enrichment;
mod entries;
mod error;
mod fact_lookup;
mod facts;
mod feed;
mod forgetting;
mod found;
mod glances;
mod hot;
mod ledger;
mod life;
mod migrations;
mod neighbours;
mod news;
mod numbers;
mod pieces;
mod questions;
mod sessions;
mod skeletons;
mod statistics;
mod threads;
mod timeline;
mod transcripts;
mod usage;
mod vectors;
mod work;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rethread_model::Space;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

pub use archives::Unarchived;
pub use batch::{Batch, OpenedSession, SessionNumber, SessionUpdate};
pub use cards::StoredCard;
pub use enrichment::{Breaker, Enrichment, MOST_WAITING, Unshown};
pub use entries::EntryFilter;
pub use error::StoreError;
pub use fact_lookup::{KnownThing, ThingQuery};
pub use facts::{FactQuery, KnownFact, Stretch};
pub use feed::{EpisodeKey, Feed, FeedEntry, Head, Since};
pub use forgetting::{Marks, Mentions, Needle, Places};
pub use glances::{Glance, LastWords};
pub use hot::{Hot, Tiers};
pub use ledger::{LedgerSum, PlannedRequest, SettledRequest, Spending};
pub use life::{Closed, Injected, Life, LifeEvent, SessionKey, Watermark};
pub use neighbours::Deeds;
pub use news::ChangedSession;
pub use numbers::Numbers;
pub use pieces::{Piece, PieceOfSession, Prompted};
pub use questions::AskedOf;
pub use sessions::{Scope, SessionFilter};
pub use skeletons::Skeletons;
pub use statistics::{Damage, Problem, Statistics};
pub use threads::{LONGEST_RECORD, LineProblem, LoggedRecords, Spoken, ThreadError, ThreadLog, Threads, Ticket, Turn};
pub use timeline::EpisodeWindow;
pub use transcripts::{Cursor, Fingerprint, TranscriptNumber, TranscriptRow};
pub use usage::{UsageFilter, UsageGrain, UsageSlice};
pub use vectors::{Unembedded, Wordy};
pub use work::SessionWork;

/// How long a process waits for another one that is writing.
const BUSY_TIMEOUT: Duration = Duration::from_mins(1);
/// Page cache in KiB; bounded so that a first sync stays small.
const CACHE_KIB: i64 = 32 * 1024;
/// Pages in the write-ahead log before it is folded back: 128 MiB. A first sync touches the same index pages again
/// and again; folding back seldom writes them once instead of many times.
const CHECKPOINT_PAGES: i64 = 32 * 1024;
/// Pages after which those fold it back who otherwise leave it: whoever comes next reads all of it first.
const SHORT_LOG_PAGES: i64 = 40;

/// One open memory database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    space: Space,
    path: PathBuf,
    /// How long another process that is writing is waited for.
    patience: Duration,
}

impl Store {
    /// Opens the database, makes it if there is none, and brings its schema up to date.
    pub fn open(path: &Path, space: Space) -> Result<Self, StoreError> {
        Self::open_waiting(path, space, BUSY_TIMEOUT)
    }

    /// The same for somebody who cannot wait: not longer than this for another process that is writing, nor until
    /// what was written is folded back into the database. The next one who is not in a hurry does that.
    pub fn open_within(path: &Path, space: Space, patience: Duration) -> Result<Self, StoreError> {
        let store = Self::open_waiting(path, space, patience)?;
        store.leave_the_log().map_err(|cause| store.err(cause))?;
        Ok(store)
    }

    /// Opens it, and waits not longer than this for another process that is writing.
    pub fn open_waiting(path: &Path, space: Space, patience: Duration) -> Result<Self, StoreError> {
        create_private(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|cause| StoreError::at(path, cause))?;
        let mut store = Self { connection, space, path: path.to_owned(), patience };
        store.prepare_patiently()?;
        Ok(store)
    }

    /// Changing the journal of a new file does not wait for others who do the same: SQLite fails at once instead.
    fn prepare_patiently(&mut self) -> Result<(), StoreError> {
        let start = Instant::now();
        loop {
            let prepared = self.prepare().map_err(|cause| StoreError::at(&self.path, cause));
            match prepared.and_then(|()| migrations::apply(&mut self.connection, &self.path)) {
                Err(StoreError::Locked { .. }) if start.elapsed() < self.patience => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                done => return done,
            }
        }
    }

    /// Begins writing. Waits for another writer; nothing is kept unless the batch is committed.
    pub fn begin(&mut self) -> Result<Batch<'_>, StoreError> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|cause| StoreError::at(&self.path, cause))?;
        Batch::new(transaction, &self.space, &self.path)
    }

    /// The same for deleting what must not be found in the file either: its bytes are overwritten.
    pub fn begin_forgetting(&mut self) -> Result<Batch<'_>, StoreError> {
        self.connection
            .execute_batch("PRAGMA secure_delete = ON;")
            .map_err(|cause| StoreError::at(&self.path, cause))?;
        self.begin()
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(self.patience)?;
        self.connection.set_prepared_statement_cache_capacity(64);
        // Without this, statements are planned anew when other values are bound, which costs more than running them.
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // Everything here can be read again from the transcripts, so a power cut may cost the last seconds.
        self.connection.execute_batch(&format!(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
             PRAGMA cache_size = -{CACHE_KIB}; PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};
             PRAGMA temp_store = MEMORY;"
        ))
    }

    /// Leaves what is written in the write-ahead log. Whoever opens the database next reads the log, so that stays short.
    fn leave_the_log(&self) -> rusqlite::Result<()> {
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        self.connection.execute_batch(&format!("PRAGMA wal_autocheckpoint = {SHORT_LOG_PAGES};"))
    }

    fn err(&self, cause: rusqlite::Error) -> StoreError {
        StoreError::at(&self.path, cause)
    }
}

/// SQLite gives its side files the permissions of the main one, so that is made first and for the owner only.
fn create_private(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::OpenOptionsExt;
    let made = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(cause) => Err(StoreError::File { path: path.to_owned(), cause }),
    }
}
