//! Storage: sessions, entries, episodes and facts in one SQLite file, threads in log files. The only crate with SQL.
//!
//! [`ReadStore`] reads; [`Snapshot`] is one that does not see later changes. [`Store`] can also write: through a
//! [`Batch`], whose changes become visible together or not at all.
//!
//! ```
//! use rethread_store::{AuthorizedSpace, SessionFilter, Store, StoreLocation};
//!
//! let folder = tempfile::tempdir()?;
//! let store = Store::open(&StoreLocation::in_folder(folder.path()), AuthorizedSpace::local())?;
//! assert!(store.sessions(&SessionFilter::default())?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batch;
mod board_rows;
mod cached_answers;
mod cards;
mod changes;
mod copy;
mod distribution;
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
mod hook_sessions;
mod hot_memory;
mod ledger;
mod lifecycle;
mod location;
mod lookup;
mod members;
mod open;
mod other_sessions;
mod pending_archives;
mod portable;
mod private_files;
mod quantized_vector;
mod salvage;
mod session_labels;
mod session_reading;
mod sessions;
mod shown_names;
mod spooled_events;
mod sql;
mod statistics;
mod threads;
mod timeline;
mod transcripts;
mod usage;
mod watermarks;
mod work_counts;

use std::ops::Deref;

use open::{Durability, LockPatience};
use sql::{Sql, Transaction};

pub use batch::{
    Batch, EntryContent, OpenedSession, RereadKind, RestoredEntries, SessionNumber, SessionUpdate, TextsOf,
};
pub use board_rows::{BoardRow, SessionTail};
pub use cached_answers::{PROJECT_QUESTION_MARK, SessionQuestion};
pub use cards::CardRow;
pub use changes::ChangedSession;
pub use copy::{CopiedSpace, CopiedTable, CopyEnd, CopyError, CopyReport, copy_store};
pub use distribution::DistributeError;
pub use embeddings::{EmbeddableEntry, PendingEmbeddings};
pub use enrichment::{EnrichmentBreaker, EnrichmentRow, MAX_QUEUED_ENRICHMENTS, UnshownEntries};
pub use entity_lookup::{EntityFacts, EntityQuery};
pub use entries::EntryFilter;
pub use entry_outlines::EntryOutlines;
pub use entry_pages::{ChangedPath, EntryPage, EntryRange, EpisodePrompt, ToolTotal};
pub use error::StoreError;
pub use facts::{FactQuery, FactRow, FactSpan};
pub use feed::{EpisodeKey, FeedCursor, FeedEntry, FeedItem, StoreHead};
pub use forgetting::{MentionMatcher, RowCounts, TextMatcher, TextMentions};
pub use hook_sessions::HookSession;
pub use hot_memory::{HotMemoryRow, MemoryTiers};
pub use ledger::{LedgerTotal, ModelSpending, PlannedRequest, SettledRequest};
pub use lifecycle::{CloseKind, InjectionRow, LifecycleEvent, LifecycleRow, SessionKey};
pub use location::StoreLocation;
pub use members::{
    AuditEvent, AuditFilter, AuditRow, AuthorizedSpace, InvalidToken, MemberError, MemberLimits, MemberRow, NewToken,
    SignInError, SignedIn, SpaceRow, TokenProblem, TokenRow, TokenTerms, TokenText,
};
pub use open::WaitBudget;
pub use other_sessions::{ActiveSession, EntriesSince, SessionPart};
pub use pending_archives::PendingArchive;
pub use portable::{ImportedSession, PortableColumns, PortableRow, SessionImport};
pub use private_files::{OWNER_ONLY, OWNER_ONLY_FOLDER, PrivateFolder, create_folders, remove_file, replace_file};
pub use quantized_vector::QuantizedVector;
pub use salvage::{CarriedOver, RereadDecision};
pub use session_labels::{PinAndTags, SessionLabels};
pub use session_reading::{FoundEntry, StoredChange};
pub use sessions::{NamedSession, SessionFilter, SessionScope};
pub use sql::postgres::{CitusTable, InvalidStoreUrl, PoolStatus, PostgresError, TablePlacement};
pub use sql::{DriverError, on_new_statement};
pub use statistics::{FailedCheck, StoreStatistics, TranscriptProblem};
pub use threads::{
    MAX_RECORD_BYTES, PartialAnswer, ThreadError, ThreadLineProblem, ThreadLog, ThreadRecords, ThreadSummaries,
    ThreadTurn, Threads, TurnTicket, lease_takeovers,
};
pub use timeline::EpisodeWindow;
pub use transcripts::{FileFingerprint, ReadCursor, TranscriptNumber, TranscriptRow};
pub use usage::{SessionPlace, UsageFilter, UsageGrain, UsageTotal};
pub use watermarks::{Watermark, WatermarkMove};
pub use work_counts::WorkCounts;

/// A store that is open for reading.
#[derive(Debug)]
pub struct ReadStore {
    sql: Sql,
}

/// A store that is open for reading and writing.
#[derive(Debug)]
pub struct Store {
    reader: ReadStore,
    /// How long to wait for the write lock of another process.
    patience: LockPatience,
    /// What [`Store::begin`] promises.
    durability: Durability,
    /// What the connection is set to.
    current: Durability,
}

/// The state of a store at one moment: all reads see it, whatever other processes write meanwhile.
#[derive(Debug)]
pub struct Snapshot<'s> {
    store: &'s ReadStore,
    /// None within another snapshot or a batch, whose transaction it shares.
    _transaction: Option<Transaction<'s>>,
}

impl ReadStore {
    /// Holds the state of the store for several reads. Not meant to be kept while waiting: the write-ahead log cannot
    /// be emptied meanwhile.
    pub fn snapshot(&self) -> Result<Snapshot<'_>, StoreError> {
        Ok(Snapshot { store: self, _transaction: self.sql.begin_reading()? })
    }

    /// A number that changes when another connection commits. Only comparable while this store is open.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        self.sql.data_version()
    }
}

impl Store {
    /// Gives back the disk space that removed rows leave behind, if there is much. A store in use by another process
    /// stays as it is: its pages are used again.
    pub fn compact(&self) -> Result<(), StoreError> {
        match self.sql.compact() {
            Err(StoreError::Locked { .. }) => Ok(()),
            done => done,
        }
    }
}

impl Deref for Store {
    type Target = ReadStore;

    fn deref(&self) -> &ReadStore {
        &self.reader
    }
}

impl Deref for Snapshot<'_> {
    type Target = ReadStore;

    fn deref(&self) -> &ReadStore {
        self.store
    }
}
