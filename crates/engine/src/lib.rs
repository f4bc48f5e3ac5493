//! The façade of Rethread: one function per verb. Owns configuration, clock and the order of the stages.
//!
//! It reads neither the environment nor the terminal: the caller passes an [`Environment`] in and prints what comes out.
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
//! let report = engine.sync(&SyncRequest::default(), &mut |_| {})?;
//! assert_eq!(report.agents[0].entries, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod awareness;
mod board;
mod cards;
mod config;
mod detached;
mod doctor;
mod enrichment;
mod environment;
mod episodes;
mod error;
mod facts;
mod forget;
mod home;
mod hook;
mod indexing;
mod install;
mod journal;
mod kept;
mod maintain;
mod meaning;
mod model;
mod notes;
mod paging;
mod pulse;
mod questions;
mod reading;
mod references;
mod search;
mod serving;
mod sessions;
mod show;
mod spending;
mod status;
mod sync;
mod threads;
mod timeline;
mod token;
mod usage;
mod warm;
mod watch;

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::tz::TimeZone;
use rethread_ingest::source::Surroundings;
use rethread_model::{Agent, Space, Timestamp};
use rethread_store::Store;

use warm::Warm;

pub use awareness::{
    AtHand, Closing, Ended, Explained, LiveActivity, SessionChange, SessionSummary, TierStatus, Upkeep,
};
pub use board::{Board, BoardProject, BoardRequest, OfProject, OnBoard, Portion, StateCounts};
pub use cards::{Card, CardPlan, Refresh, Refreshed};
pub use config::{Config, ConfigError, ConfigProblem, KEYS, Key, Layer, Setting, Value};
pub use doctor::{Diagnosis, Finding, Health};
pub use enrichment::{
    EnrichFailure, EnrichOutcome, EnrichPlan, EnrichReport, EnrichStop, EnrichedSession, EnrichmentEstimate,
    EnrichmentStatus, PlannedEnrichment,
};
pub use environment::{Clock, Environment};
pub use episodes::EpisodeText;
pub use error::EngineError;
pub use facts::{
    DecisionRequest, ErrorsReport, ErrorsRequest, FactsReport, FactsRequest, FileHistory, FileRequest, FixReport,
    FixRequest, KnownError, WorkflowRequest,
};
pub use forget::{ForgetTarget, Forgotten, Removed};
pub use indexing::{IndexReport, Indexed};
pub use install::{DiffLine, FileChange, InstallError, Place, Plan, SettingsOf};
pub use kept::{Kept, WorkKind};
pub use maintain::{RebuildReport, VerifyReport};
pub use meaning::EmbeddingReport;
pub use model::ModelError;
pub use notes::{BadNote, NewNote, Noted};
pub use paging::{Page, Paged};
pub use pulse::{News, Pulse};
pub use questions::{AskError, AskPlan, AskRequest, Asked, HandedOff};
pub use reading::{ChangedFile, Reading, ReadingRequest};
pub use references::ResolvedReferences;
pub use rethread_index::{IndexError, Lag as IndexLag, Unusable};
pub use rethread_llm::{ChatError, NanoUsd, PRICES_AS_OF, Refusal, Tool};
pub use rethread_recall::{
    Activity, Answer, Candidate, CardFields, Citation, CommandUse, Composed, Confidence, Decision, Deed, Edge, Fix,
    Fixes, Graph, Hit, Kind, Node, Outcome, Part, PartKind, Pattern, Reference, Referenced, Snippet, Source, Thing,
    Touch, Weights, Why, Workflow, told,
};
pub use rethread_store::{
    Injected, KnownFact, KnownThing, LedgerSum, LineProblem, Piece, PieceOfSession, Prompted, Scope, Spending,
    Statistics, StoreError, ThreadError, Tiers,
};
pub use search::{Recalled, SearchReport, SearchRequest, expects_panic};
pub use serving::Served;
pub use sessions::{ListRequest, Listed};
pub use show::{Profile, ShowRequest, Shown};
pub use spending::BudgetStatus;
pub use status::Status;
pub use sync::{AgentReport, DryRun, Progress, SyncReport, SyncRequest};
pub use threads::{
    BadContent, CompactReport, CompactRequest, Conversation, NewMessage, NewThread, OpenThread, PlannedCost, SendPlan,
    SendRequest, Summariser, ThreadContext, ThreadList, ThreadPage, TurnEvent, TurnReport, WaitingTurn, content_of,
};
pub use timeline::{Happened, Timeline, TimelineRequest};
pub use token::secret;
pub use usage::{OwnUsage, UsageBy, UsageGroup, UsageReport, UsageRequest, Used};
pub use watch::{WatchMode, WatchNews, WatchRequest};

/// How many times longer than for an answer is waited for another process, to note what happened.
const PATIENCE_TO_NOTE: u32 = 5;

/// Everything Rethread can do, for one user on one machine.
#[derive(Debug)]
pub struct Engine {
    environment: Environment,
    config: Config,
    folder: PathBuf,
    /// What the last search had open, for the next one.
    warm: Warm,
    /// How long the store is waited for, where somebody cannot wait as long as usual.
    patience: Option<Duration>,
    /// Whether what is written is left to be folded back by others.
    is_in_a_hurry: bool,
}

impl Engine {
    /// Reads the configuration. Nothing is created before the first verb that writes.
    pub fn open(environment: Environment) -> Result<Self, EngineError> {
        let folder = environment.rethread_folder();
        let config = Config::load(&environment, &folder)?;
        Ok(Self { environment, config, folder, warm: Warm::default(), patience: None, is_in_a_hurry: false })
    }

    /// The same for somebody who cannot wait for another process that is writing.
    #[must_use]
    pub fn within(self, patience: Duration) -> Self {
        Self { patience: Some(patience), is_in_a_hurry: true, ..self }
    }

    /// The same for somebody who tries again later, and has time for all else.
    #[must_use]
    pub fn waiting_at_most(self, patience: Duration) -> Self {
        Self { patience: Some(patience), ..self }
    }

    /// The resolved configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The directory that holds everything of ours.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The moment it is now.
    pub fn now(&self) -> Timestamp {
        self.environment.clock.now()
    }

    /// Whether anything was ever read here.
    pub fn is_begun(&self) -> bool {
        self.database().exists()
    }

    /// Where the user's days begin and end.
    pub fn zone(&self) -> &TimeZone {
        &self.environment.zone
    }

    fn database(&self) -> PathBuf {
        self.folder.join("memory.db")
    }

    /// The store for reading; nothing if there is none yet, because reading never creates it.
    fn reader(&self) -> Result<Option<Store>, EngineError> {
        if !self.is_begun() {
            return Ok(None);
        }
        self.writer().map(Some)
    }

    fn writer(&self) -> Result<Store, EngineError> {
        home::prepare(&self.folder)?;
        Ok(match self.patience {
            Some(patience) if self.is_in_a_hurry => Store::open_within(&self.database(), Space::local(), patience)?,
            Some(patience) => Store::open_waiting(&self.database(), Space::local(), patience)?,
            None => Store::open(&self.database(), Space::local())?,
        })
    }

    /// The same for somebody who only notes what happened: nobody waits for an answer, and it would be lost.
    fn recorder(&self) -> Result<Store, EngineError> {
        home::prepare(&self.folder)?;
        Ok(match self.patience {
            Some(patience) => Store::open_within(&self.database(), Space::local(), patience * PATIENCE_TO_NOTE)?,
            None => Store::open(&self.database(), Space::local())?,
        })
    }

    /// Where agents' files are looked for, with what the configuration adds.
    fn surroundings(&self) -> Surroundings {
        let extra = Agent::OTHERS.iter().flat_map(|agent| {
            let key = format!("sources.{agent}");
            self.config.list(&key).into_iter().map(move |path| (*agent, path))
        });
        let mut surroundings = Surroundings {
            home: self.environment.home.clone(),
            variables: self.environment.variables.clone(),
            threads: Some(self.folder.join("threads")),
            extra_roots: Vec::new(),
        };
        surroundings.extra_roots = extra.map(|(agent, path)| (agent, surroundings.expand(&path))).collect();
        surroundings
    }
}
