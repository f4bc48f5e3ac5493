//! The facade of Rethread: one service per kind of work. Owns the configuration, the clock and the order of the stages.
//!
//! It reads neither the process environment nor the terminal: the caller passes in an [`Environment`] and prints the
//! results.
//!
//! ```
//! use rethread_engine::{Engine, Environment, SyncRequest};
//!
//! let folder = tempfile::tempdir()?;
//! let transcripts = folder.path().join(".claude/projects/-app");
//! std::fs::create_dir_all(&transcripts)?;
//! std::fs::write(
//!     transcripts.join("9a9eadc8-c1f1-493e-a0f1-884aa996b05b.jsonl"),
//!     "{\"type\":\"user\",\"uuid\":\"u1\",\"cwd\":\"/app\",\"message\":{\"role\":\"user\",\"content\":\"fix the parser\"}}\n",
//! )?;
//! let engine = Engine::open(Environment::for_home(folder.path()))?;
//! let report = engine.sync().run(&SyncRequest::default(), &mut |_| {})?;
//! assert_eq!(report.agents[0].entries, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod awareness;
mod cards;
mod clock;
mod config;
mod detached;
mod embeddings;
mod enrichment;
mod environment;
mod error;
mod facts;
mod fold_cache;
mod forget;
mod home;
mod hook;
mod index;
mod install;
mod journal;
mod lifecycle;
mod maintenance;
mod members;
mod models;
mod naming;
mod paging;
mod questions;
mod reports;
mod search;
mod server;
mod services;
mod sessions;
mod sync;
mod threads;
mod transfer;

use rethread_store::{ReadStore, Store, Threads, WaitBudget};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use config::LiveConfig;
use fold_cache::FoldCaches;
use index::SharedSnapshot;
use search::OpenStores;
use services::{EmbeddingService, IndexService, ModelService};

pub use awareness::{AskingSession, InjectionExplanation, LiveActivity, SessionSummary};
pub use cards::{CardPlan, CardRefresh, CardRefreshOutcome, SessionCard};
pub use config::{
    Config, ConfigError, ConfigLayer, ConfigProblem, ConfigReload, SETTING_KEYS, ServeSettings, Setting, SettingKey,
    SettingValue, Settings,
};
pub use embeddings::EmbeddingReport;
pub use enrichment::{
    EnrichFailure, EnrichOutcome, EnrichPlan, EnrichReport, EnrichStop, EnrichedSession, EnrichmentEstimate,
    EnrichmentStatus, PlannedEnrichment,
};
pub use environment::{Clock, Environment, SharedStore};
pub use error::EngineError;
pub use facts::{
    DecisionRequest, ErrorsReport, ErrorsRequest, FactsReport, FactsRequest, FileHistory, FileRequest, FileRule,
    FixChange, FixReport, FixRequest, WorkflowRequest,
};
pub use forget::{ForgetReport, ForgetTarget, RemovedCount};
pub use hook::{DeliveryNotes, HOSTS, HostProtocol};
pub use index::{IndexOutcome, IndexReport, expects_panic};
pub use install::{
    DiffLine, FileChange, HostInstaller, INSTALLERS, InstallError, InstallLocation, InstallPlan, InstallScope,
    ProgramCopy,
};
pub use lifecycle::{
    ChangedTags, CloseAction, EndedSession, EventOrigin, InvalidTag, MaintenanceReport, SessionChange, SessionEvents,
    TaskAndNotes, TierStatus,
};
pub use maintenance::{CarryOverReport, PurgeReport, PurgedItem, RebuildReport, StoreCopyRequest, VerifyReport};
pub use members::{NewMember, RetentionReport, TokenRequest};
pub use models::{BudgetStatus, ModelError};
pub use paging::{ListPage, PageRequest};
pub use questions::{
    AnsweredProjectQuestion, AnsweredQuestion, AskError, AskPlan, AskRequest, HandoffReport, ProjectAskPlan,
    ResolvedReferences,
};
pub use reports::{
    AgentCoverage, Diagnosis, EngineStatus, Finding, FindingLevel, FoundAgent, OwnUsage, SessionRank, SessionType,
    SessionTypeReduction, SessionUsage, TopSessions, UsageDetails, UsageGroup, UsageGrouping, UsageOfDay, UsageReport,
    UsageRequest, UsageTotals,
};
pub use rethread_index::{IndexError, IndexLag, IndexProblem};
pub use rethread_ingest::agents::{AgentFormat, Reads, Retention, format_of};
pub use rethread_ingest::source::{LiveStatus, SourceConfig};
pub use rethread_ingest::{
    DiffHunk, DiffKind, DiffRow, DiffSign, FileDiff, OriginalArgument, OriginalCall, OriginalEntry,
};
pub use rethread_llm::{BudgetRefusal, ChatError, NanoUsd, PRICES_AS_OF, ToolDefinition};
pub use rethread_recall::{
    ActivityBlock, AnswerItem, AnswerSentence, Citation, CommandStats, Confidence, Decision, EntityGraph, FactSource,
    FeatureWeights, FileAction, FileTouch, Fix, GraphEdge, GraphItem, GraphNode, HitKind, InjectionSection,
    KNOWLEDGE_PREDICATES, KnownError, MemoryKind, ProjectAnswer, ReferenceCandidate, ReferenceOutcome,
    ReferencedSession, SearchHit, SentenceSource, SourcePlace, StepSequence, Workflow, slug, wrap_for_model,
};
pub use rethread_store::{
    AuditEvent, AuditFilter, AuditRow, AuthorizedSpace, MemberError, MemberLimits, MemberRow, NewToken, SignInError,
    SignedIn, SpaceRow, TokenProblem, TokenRow,
};
pub use rethread_store::{
    CitusTable, DistributeError, InvalidStoreUrl, PoolStatus, StoreLocation, TablePlacement, lease_takeovers,
};
pub use rethread_store::{CopiedSpace, CopiedTable, CopyEnd, CopyError, CopyReport};
pub use rethread_store::{
    EntityFacts, EntryPage, EntryRange, EpisodePrompt, FactRow, FoundEntry, InjectionRow, LedgerTotal, LifecycleEvent,
    MemoryTiers, SessionScope, StoreError, ThreadError, ThreadLineProblem,
};
pub use search::{HitWithExchange, SearchReport, SearchRequest, SimilarWork};
pub use server::{ChangeReport, ChangeWatcher, ServerLock, random_secret};
pub use services::{
    AwarenessService, CardService, ConversationService, EnrichmentService, FactService, ForgetService, HookService,
    InstallService, JournalService, LifecycleService, MaintenanceService, MemberService, QuestionService,
    ReportService, SearchService, ServerService, SessionService, SyncService, ThreadService, TransferService,
    TurnService,
};
pub use sessions::{
    AgentCommand, Board, BoardColumn, BoardOrder, BoardRequest, BoardSession, ChangedFile, EntryOriginal, EpisodeText,
    FoundInSession, ListRange, ListedSession, LogProfile, OriginalProblem, ProjectFilter, SessionListRequest,
    SessionLog, SessionPage, SessionPageRequest, ShowRequest, StateCounts, Timeline, TimelineEpisode, TimelineRequest,
};
pub use sync::{
    AgentSyncPlan, AgentSyncReport, ReadProgress, SyncReport, SyncRequest, UnreadTranscript, UnsyncedContent,
    WatchEvent, WatchMode, WatchRequest,
};
pub use threads::{
    CompactReport, CompactRequest, Conversation, ImportRequest, ImportedThread, InvalidMessageContent, InvalidNote,
    InvalidThreadLog, NewMessage, NewNote, NewThread, OpenThread, PendingTurn, PlannedCost, SavedNote, SendPlan,
    SendRequest, Summarizer, ThreadCatchUp, ThreadContext, ThreadList, ThreadLogPage, TurnEvent, TurnReport,
    parse_content,
};
pub use transfer::{ExportReport, ImportError, ImportMode, ImportProblem, ImportReport, ReadableSession};

/// Everything Rethread can do, for one user on one machine. Each command is one method of a service.
#[derive(Debug)]
pub struct Engine {
    environment: Environment,
    config: LiveConfig,
    /// Where our own files are. For a store on a server, a folder for this store below [`Engine::home`].
    folder: PathBuf,
    /// Where the configuration is.
    home: PathBuf,
    threads: Threads,
    /// Whose rows of the store are read and written.
    space: AuthorizedSpace,
    /// Stores that searches have opened, for the next ones.
    open_stores: OpenStores,
    /// The index as the last search saw it.
    shared_snapshot: SharedSnapshot,
    /// Folds over the whole store, for the next ones who ask.
    folds: FoldCaches,
    /// How long to wait for the store's lock. `None` means the default of [`Store`].
    store_timeout: Option<Duration>,
    /// A store replaced after this time was replaced by another process.
    opened_at: std::time::SystemTime,
    /// Whether the store of this machine was there at any time since this was opened.
    has_seen_store: AtomicBool,
    /// Set in a hook: how much longer it may wait for other processes in total.
    hook_wait: Option<WaitBudget>,
}

impl Engine {
    /// Reads the configuration. Creates nothing: the first command that writes does.
    pub fn open(environment: Environment) -> Result<Self, EngineError> {
        let home = environment.rethread_folder();
        let config = LiveConfig::new(Config::load(&environment, &home)?, &environment);
        let shared = environment.store.clone();
        let folder = shared.as_ref().map_or_else(|| home.clone(), |shared| home.join(shared.space_folder_name()));
        let space = shared.as_ref().map_or_else(AuthorizedSpace::local, |shared| shared.space.clone());
        let threads = match shared {
            Some(shared) => Threads::in_database(shared.location, shared.space, folder.join("threads")),
            None => Threads::in_folder(folder.join("threads")),
        };
        let engine = Self {
            environment,
            config,
            folder,
            space,
            threads,
            home,
            open_stores: OpenStores::default(),
            shared_snapshot: SharedSnapshot::default(),
            folds: FoldCaches::default(),
            store_timeout: None,
            opened_at: std::time::SystemTime::now(),
            has_seen_store: AtomicBool::default(),
            hook_wait: None,
        };
        engine.is_memory_deleted();
        Ok(engine)
    }

    /// Works in another space than that of a single machine.
    #[must_use]
    pub fn with_space(mut self, space: AuthorizedSpace) -> Self {
        if let Some(shared) = &mut self.environment.store {
            shared.space = space.clone();
            self.folder = self.home.join(shared.space_folder_name());
            let copies = self.folder.join("threads");
            self.threads = Threads::in_database(shared.location.clone(), space.clone(), copies);
        }
        Self { space, ..self }
    }

    /// Limits how long other processes are waited for in total, and waits neither for the disk nor for checkpoints. For
    /// hooks, which must return quickly.
    #[must_use]
    pub fn with_hook_timeout(self, timeout: Duration) -> Self {
        Self { store_timeout: Some(timeout), hook_wait: Some(WaitBudget::new(timeout)), ..self }
    }

    /// Limits the wait for another process that is writing. For callers that retry later.
    #[must_use]
    pub fn with_store_timeout(self, timeout: Duration) -> Self {
        Self { store_timeout: Some(timeout), ..self }
    }

    /// Applies changed configuration files, if their content is valid; otherwise the last valid one still applies.
    /// Called regularly by processes that run for long.
    pub fn reload_config(&self) -> ConfigReload {
        let reload = self.config.reload(&self.environment, &self.home);
        match &reload {
            ConfigReload::Unchanged => {}
            ConfigReload::Reloaded => self.journal().event("config_reloaded", None, &[]),
            ConfigReload::Rejected(reason) => {
                self.journal().event("config_rejected", None, &[("reason", reason.as_str().into())]);
            }
        }
        reload
    }

    /// The resolved configuration, all layers merged.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The value of every setting.
    pub fn settings(&self) -> &Settings {
        self.config.settings()
    }

    /// The directory that holds all of Rethread's own files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The directory that holds the files of a server: of all spaces, if the store has several.
    fn server_folder(&self) -> PathBuf {
        let shared = self.environment.store.as_ref();
        shared.map_or_else(|| self.folder.clone(), |shared| self.home.join(shared.folder_name()))
    }

    /// The space whose rows it reads and writes.
    pub fn space(&self) -> &rethread_model::Space {
        self.space.space()
    }

    /// Whether it works in that space.
    pub fn is_in_space(&self, space: &AuthorizedSpace) -> bool {
        self.space == *space
    }

    /// The environment it was opened with.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Whether a store exists, which means that something was synced here before.
    pub fn has_store(&self) -> bool {
        self.location().exists()
    }

    /// Whether the memory was deleted since it was used here: nothing that still runs may bring it back. A store that is
    /// being replaced is set aside, so it does not count.
    pub fn is_memory_deleted(&self) -> bool {
        if self.environment.store.is_some() {
            return false;
        }
        if self.has_store() {
            self.has_seen_store.store(true, Ordering::Relaxed);
            return false;
        }
        self.has_seen_store.load(Ordering::Relaxed) && !self.maintenance().has_set_aside_folder()
    }

    /// Whether new transcripts may be read now without an explicit `sync`. Before the first one the user decides.
    pub fn syncs_unasked(&self) -> bool {
        self.environment.syncs_unasked && self.has_store()
    }

    /// Where the store is, or will be.
    pub fn location(&self) -> StoreLocation {
        match &self.environment.store {
            Some(shared) => shared.location.clone(),
            None => StoreLocation::in_folder(&self.folder),
        }
    }

    /// The logs of threads.
    fn thread_store(&self) -> &Threads {
        &self.threads
    }

    /// The current working directory, if it is valid text. Members of a team do not work in that of a node.
    fn cwd_text(&self) -> Option<String> {
        let cwd = (!self.environment.reads_only_threads).then_some(&self.environment.cwd);
        cwd?.to_str().map(str::to_owned)
    }

    /// Opens the store for reading. `None` if there is none yet: reading neither creates nor changes it.
    fn reader(&self) -> Result<Option<ReadStore>, EngineError> {
        Ok(ReadStore::open(&self.location(), &self.space, self.store_timeout)?)
    }

    /// Opens the store to read a session that a user names. Without a store, every session is unknown.
    fn reader_for(&self, reference: &str) -> Result<ReadStore, EngineError> {
        self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))
    }

    /// Opens the store for writing and creates it if there is none. Delivers the hook events that wait.
    fn writer(&self) -> Result<Store, EngineError> {
        self.ensure_home()?;
        let (location, space) = (self.location(), self.space.clone());
        let mut store = match (&self.hook_wait, self.store_timeout) {
            (Some(budget), _) => Store::open_low_latency(&location, space, budget.clone())?,
            (None, Some(timeout)) => Store::open_with_timeout(&location, space, timeout)?,
            (None, None) => Store::open(&location, space)?,
        };
        self.has_seen_store.store(true, Ordering::Relaxed);
        if self.environment.store.is_none() && self.space != AuthorizedSpace::local() {
            // The spaces of a file share its folder, and the events in it belong to the local one.
            return Ok(store);
        }
        match self.hooks().deliver_spooled(&mut store) {
            // Its own event must not be stored before those that wait.
            Err(error) if self.hook_wait.is_some() && error.is_locked() => return Err(error),
            Err(error) => self.journal().error("spool", &error),
            Ok(()) => {}
        }
        Ok(store)
    }

    /// Opens the store for writing. `None` if there is none yet.
    fn existing_writer(&self) -> Result<Option<Store>, EngineError> {
        if self.has_store() { self.writer().map(Some) } else { Ok(None) }
    }

    /// Opens the store for a reader that syncs new transcript lines first. If it cannot be written, what is stored must
    /// do.
    fn syncing_reader(&self) -> Result<Option<SyncingReader>, EngineError> {
        match self.existing_writer() {
            Err(EngineError::Store(StoreError::Disk { .. } | StoreError::Create { .. })) => {
                Ok(self.reader()?.map(SyncingReader::ReadOnly))
            }
            other => Ok(other?.map(SyncingReader::Writable)),
        }
    }

    /// Where to look for transcripts, including the paths from the configuration.
    fn source_config(&self) -> SourceConfig {
        let mut source_config = SourceConfig {
            home: self.environment.home.clone(),
            env_vars: self.environment.variables.clone(),
            threads_dir: self.folder.join("threads"),
            extra_roots: Vec::new(),
            work_dirs: vec![self.environment.cwd.clone()],
        };
        // A relative path means the same wherever a command is run.
        let below_home = |path: &str| self.environment.home.join(source_config.expand_home(path));
        let extra = self.settings().sources.iter();
        source_config.extra_roots = extra.map(|(agent, path)| (agent, below_home(path))).collect();
        source_config
    }

    /// The same with the directories in which known sessions worked.
    fn source_config_with(&self, work_dirs: &[PathBuf]) -> SourceConfig {
        let mut source_config = self.source_config();
        source_config.work_dirs.extend(work_dirs.iter().filter(|path| **path != self.environment.cwd).cloned());
        source_config
    }
}

/// A store for a reader that syncs first, if it can be written.
#[derive(Debug)]
enum SyncingReader {
    Writable(Store),
    ReadOnly(ReadStore),
}

impl SyncingReader {
    fn writer(&mut self) -> Option<&mut Store> {
        match self {
            SyncingReader::Writable(store) => Some(store),
            SyncingReader::ReadOnly(_) => None,
        }
    }
}

impl std::ops::Deref for SyncingReader {
    type Target = ReadStore;

    fn deref(&self) -> &ReadStore {
        match self {
            SyncingReader::Writable(store) => store,
            SyncingReader::ReadOnly(store) => store,
        }
    }
}
