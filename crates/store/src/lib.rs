//! Storage: sessions, entries, episodes and facts in one SQLite file, threads in log files. The only crate with SQL.
//!
//! [`Store`] reads. All writing goes through a [`Batch`], whose changes become visible together or not at all.
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

mod batch;
mod board_rows;
mod cached_answers;
mod cards;
mod changes;
mod compact;
mod embeddings;
mod enrichment;
mod entity_lookup;
mod entries;
mod entry_outlines;
mod entry_pages;
mod error;
mod facts;
mod feed;
mod forgetting;
mod hot_memory;
mod ledger;
mod lifecycle;
mod lookup;
mod other_sessions;
mod pending_archives;
mod quantized_vector;
mod schema;
mod sessions;
mod statistics;
mod threads;
mod timeline;
mod transcripts;
mod usage;
mod watermarks;
mod work_counts;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rethread_model::Space;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

pub use batch::{Batch, OpenedSession, SessionNumber, SessionUpdate};
pub use board_rows::{BoardRow, SessionTail};
pub use cached_answers::SessionQuestion;
pub use cards::CardRow;
pub use changes::ChangedSession;
pub use embeddings::{EmbeddableEntry, PendingEmbeddings};
pub use enrichment::{EnrichmentBreaker, EnrichmentRow, MAX_QUEUED_ENRICHMENTS, UnshownEntries};
pub use entity_lookup::{EntityFacts, EntityQuery};
pub use entries::EntryFilter;
pub use entry_outlines::EntryOutlines;
pub use entry_pages::{EntryPage, EntryRange, EpisodePrompt};
pub use error::StoreError;
pub use facts::{FactQuery, FactRow, FactSpan};
pub use feed::{EpisodeKey, FeedCursor, FeedEntry, FeedItem, StoreHead};
pub use forgetting::{MentionMatcher, RowCounts, TextMatcher, TextMentions};
pub use hot_memory::{HotMemoryRow, MemoryTiers};
pub use ledger::{LedgerTotal, ModelSpending, PlannedRequest, SettledRequest};
pub use lifecycle::{CloseKind, InjectionRow, LifecycleEvent, LifecycleRow, SessionKey};
pub use other_sessions::{ActiveSession, EntriesSince, SessionPart};
pub use pending_archives::PendingArchive;
pub use quantized_vector::QuantizedVector;
pub use sessions::{SessionFilter, SessionScope};
pub use statistics::{FailedCheck, StoreStatistics, TranscriptProblem};
pub use threads::{
    MAX_RECORD_BYTES, PartialAnswer, ThreadError, ThreadLineProblem, ThreadLog, ThreadRecords, ThreadTurn, Threads,
    TurnTicket,
};
pub use timeline::EpisodeWindow;
pub use transcripts::{FileFingerprint, ReadCursor, TranscriptNumber, TranscriptRow};
pub use usage::{UsageFilter, UsageGrain, UsageTotal};
pub use watermarks::{Watermark, WatermarkMove};
pub use work_counts::WorkCounts;

/// How long a process waits for the write lock of another one.
const BUSY_TIMEOUT: Duration = Duration::from_mins(1);
/// Page cache in KiB; bounded so that a first sync does not use much memory.
const CACHE_KIB: i64 = 32 * 1024;
/// Pages in the write-ahead log before a checkpoint, together 256 MiB. A first sync changes the same index pages again
/// and again; rare checkpoints write them to the database once instead of many times.
const CHECKPOINT_PAGES: i64 = 32 * 1024;
/// The same for a store opened by a caller in a hurry. Small, because the next process to open the database has to
/// read the whole log first.
const SHORT_LOG_PAGES: i64 = 40;

/// One open memory database.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    space: Space,
    path: PathBuf,
    /// How long to wait for the write lock of another process.
    timeout: Duration,
}

impl Store {
    /// Opens the database and creates it if there is none. Waits up to a minute for another process that is writing.
    pub fn open(path: &Path, space: Space) -> Result<Self, StoreError> {
        Self::open_with_timeout(path, space, BUSY_TIMEOUT)
    }

    /// Opens the database for a caller in a hurry, such as a hook: waits at most `timeout` for another process that is
    /// writing, and leaves the checkpoint on close to the next process that has time.
    pub fn open_low_latency(path: &Path, space: Space, timeout: Duration) -> Result<Self, StoreError> {
        let store = Self::open_with_timeout(path, space, timeout)?;
        store.skip_checkpoint_on_close().map_err(|cause| store.err(cause))?;
        Ok(store)
    }

    /// Opens the database and waits at most `timeout` for another process that is writing, here and in later calls.
    pub fn open_with_timeout(path: &Path, space: Space, timeout: Duration) -> Result<Self, StoreError> {
        create_private(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|cause| StoreError::at(path, cause))?;
        let mut store = Self { connection, space, path: path.to_owned(), timeout };
        store.prepare_with_retries()?;
        Ok(store)
    }

    /// SQLite ignores the busy timeout while the journal mode of a new file changes and fails at once, so this retries.
    fn prepare_with_retries(&mut self) -> Result<(), StoreError> {
        let start = Instant::now();
        loop {
            let prepared = self.prepare().map_err(|cause| StoreError::at(&self.path, cause));
            match prepared.and_then(|()| schema::create_or_check(&mut self.connection, &self.path)) {
                Err(StoreError::Locked { .. }) if start.elapsed() < self.timeout => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                result => return result,
            }
        }
    }

    /// Starts a write transaction, once no other process is writing. Nothing is stored unless the batch is committed.
    pub fn begin(&mut self) -> Result<Batch<'_>, StoreError> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(|cause| StoreError::at(&self.path, cause))?;
        Batch::new(transaction, &self.space, &self.path)
    }

    /// Starts a write transaction in which the bytes of deleted rows are overwritten, for text that must not be
    /// recoverable from the file.
    pub fn begin_secure_delete(&mut self) -> Result<Batch<'_>, StoreError> {
        self.connection
            .execute_batch("PRAGMA secure_delete = ON;")
            .map_err(|cause| StoreError::at(&self.path, cause))?;
        self.begin()
    }

    fn prepare(&self) -> rusqlite::Result<()> {
        self.connection.busy_timeout(self.timeout)?;
        self.connection.set_prepared_statement_cache_capacity(64);
        // Without this, SQLite plans a statement again for every new set of values, which costs more than running it.
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        // Almost everything here can be read again from the transcripts, so a power cut may cost the last seconds.
        self.connection.execute_batch(&format!(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
             PRAGMA cache_size = -{CACHE_KIB}; PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES};
             PRAGMA temp_store = MEMORY;"
        ))
    }

    fn skip_checkpoint_on_close(&self) -> rusqlite::Result<()> {
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        self.connection.execute_batch(&format!("PRAGMA wal_autocheckpoint = {SHORT_LOG_PAGES};"))
    }

    fn err(&self, cause: rusqlite::Error) -> StoreError {
        StoreError::at(&self.path, cause)
    }
}

/// SQLite gives its side files the permissions of the main file, so that one is created first, for the owner only.
fn create_private(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::OpenOptionsExt;
    let created = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match created {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(cause) => Err(StoreError::Create { path: path.to_owned(), cause }),
    }
}
