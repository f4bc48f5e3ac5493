//! Reads what is new in all transcripts: plan, read in parallel, write in order.

mod aliases;
mod facts;
mod kept_entries;
mod plan;
mod read;
mod session_writer;
mod shared_files;
mod sync_if_small;
mod watch;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Instant;

use rethread_model::{Agent, Timestamp, Warning};
use rethread_store::{ReadStore, SessionNumber, Store};

use crate::{CarryOverReport, EmbeddingReport, EngineError, EnrichmentEstimate, IndexReport, SyncService};

pub(crate) use aliases::save_aliases;
use kept_entries::restore_sessions;
pub(crate) use kept_entries::{restore_all_set_aside, restore_set_aside};
pub(crate) use plan::{JobStart, SyncPlan, TranscriptJob, fingerprint, read_position, thread_of_log};
pub(crate) use session_writer::reread_kind;
use shared_files::remember_settled;
pub use sync_if_small::UnsyncedContent;
pub use watch::{WatchEvent, WatchMode, WatchRequest};
pub(crate) use write::run_plan;

/// How often a sync is run because it loses the connection to the store.
const MAX_ATTEMPTS: usize = 30;
/// How often a sync repeats because another process or a rewritten file interfered.
const MAX_PASSES: usize = 4;

/// From this many bytes on, the index is updated while the sync runs.
const LONG_SYNC_BYTES: u64 = 50_000_000;

/// Which transcripts to read.
#[derive(Clone, Debug, Default)]
pub struct SyncRequest {
    /// Only transcripts of this agent.
    pub agent: Option<Agent>,
    /// Only transcripts at these paths, files or directories. They need not be in a known location.
    pub paths: Vec<PathBuf>,
    /// Only transcripts modified since this time.
    pub since: Option<Timestamp>,
}

/// Progress of a sync, for progress bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadProgress {
    /// Bytes read so far.
    pub bytes: u64,
    /// Bytes to read in total.
    pub total_bytes: u64,
    /// Files finished.
    pub files: u64,
    /// Files to read in total.
    pub total_files: u64,
}

/// The results of a sync.
#[derive(Clone, Debug, Default)]
pub struct SyncReport {
    /// By agent, in the order of their names.
    pub agents: Vec<AgentSyncReport>,
    /// What happened to the search index.
    pub index: IndexReport,
    /// What happened to the embeddings. `None` if no embedding model is configured.
    pub embeddings: Option<EmbeddingReport>,
    /// What was carried over from stores that had to be replaced.
    pub carried_over: Vec<CarryOverReport>,
    /// Entries of sessions that were read again, kept although no transcript has them any more.
    pub kept_entries: u64,
    /// How long it took.
    pub seconds: f64,
}

/// The results of a sync for one agent.
#[derive(Clone, Debug)]
pub struct AgentSyncReport {
    /// The agent whose transcripts were read.
    pub agent: Agent,
    /// Transcripts found.
    pub files: u64,
    /// Transcripts with new content.
    pub files_changed: u64,
    /// Sessions in the store, old and new.
    pub sessions: u64,
    /// New entries.
    pub entries: u64,
    /// New episodes.
    pub episodes: u64,
    /// New facts.
    pub facts: u64,
    /// Bytes of new lines.
    pub bytes_read: u64,
    /// Secrets removed.
    pub redactions: u64,
    /// Files and lines that could not be read.
    pub warnings: Vec<Warning>,
}

/// What a sync would read for one agent.
#[derive(Clone, Debug)]
pub struct AgentSyncPlan {
    /// The agent whose transcripts would be read.
    pub agent: Agent,
    /// Transcripts found.
    pub files: u64,
    /// Transcripts that would be read.
    pub files_changed: u64,
    /// Bytes that would be read, without those of sessions in databases: their size is not known before.
    pub bytes: u64,
    /// Transcripts skipped because they are excluded.
    pub excluded: u64,
    /// The transcripts that would be read, in reading order.
    pub unread: Vec<UnreadTranscript>,
}

/// A transcript that has something new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadTranscript {
    /// Path of the transcript.
    pub path: PathBuf,
    /// Bytes that would be read; 0 if that is not known.
    pub bytes: u64,
}

impl SyncService<'_> {
    /// Reads what is new in the transcripts and stores it. An unusable store is replaced first.
    pub fn run(self, request: &SyncRequest, progress: &mut dyn FnMut(ReadProgress)) -> Result<SyncReport, EngineError> {
        self.reconnecting(&mut || self.engine.maintenance().with_usable_store(&mut || self.read_new(request, progress)))
    }

    /// Runs a sync again if the connection to the store is lost, such as in a failover: what is stored already is not
    /// read again, so that each attempt gets further.
    pub(crate) fn reconnecting<T>(self, sync: &mut dyn FnMut() -> Result<T, EngineError>) -> Result<T, EngineError> {
        let mut attempts = 1;
        loop {
            match sync() {
                Err(error) if error.is_lost_connection() && attempts < MAX_ATTEMPTS && self.engine.writer().is_ok() => {
                    attempts += 1;
                }
                done => return done,
            }
        }
    }

    fn read_new(
        self,
        request: &SyncRequest,
        progress: &mut dyn FnMut(ReadProgress),
    ) -> Result<SyncReport, EngineError> {
        let start = Instant::now();
        let mut store = self.engine.writer()?;
        let carried_over = self.engine.maintenance().carry_over_stores(&mut store)?;
        self.engine.threads().finish_deletions(&mut store)?;
        self.engine.thread_store().update_log_files()?;
        self.engine.forget().finish_wipe(&mut store)?;
        let mut tally = SyncTotals::default();
        let mut index = None;
        for pass in 0..MAX_PASSES {
            let mut plan = SyncPlan::build(self.engine, Some(&store), request)?;
            if self.engine.threads().recover(plan.thread_ids())? {
                plan = SyncPlan::build(self.engine, Some(&store), request)?;
            }
            if pass == 0 {
                tally.add_plan(&plan);
                remember_settled(&mut store, &plan.settled)?;
            }
            let is_long = plan.jobs.iter().map(TranscriptJob::bytes_to_read).sum::<u64>() > LONG_SYNC_BYTES;
            let work = || -> Result<bool, EngineError> {
                Ok(plan.jobs.is_empty() || !run_plan(self.engine, &mut store, &plan, &mut tally, progress)?)
            };
            let (finished, indexed) = self.engine.index().update_alongside(is_long, work);
            index = indexed.or(index);
            if finished? {
                break;
            }
        }
        restore_all_set_aside(&mut store, &mut tally)?;
        write::deliver_titles(&mut store)?;
        self.extract_outdated_facts(&mut store)?;
        let work_dirs = store.work_dirs()?;
        save_aliases(&mut store, &self.alias_folders(&work_dirs))?;
        if let Err(error) = self.engine.lifecycle().maintain_store(&mut store) {
            self.engine.journal().error("upkeep", &error);
        }
        let kept_entries = tally.kept_entries;
        let agents = tally.into_reports(&store)?;
        let index = index.unwrap_or_else(|| self.engine.index().update(&store));
        let embeddings = self.engine.embeddings().update(&mut store);
        if let Err(error) = self.engine.enrichment().start_if_due(&mut store) {
            self.engine.journal().error("enrichment", &error);
        }
        Ok(SyncReport { agents, index, embeddings, carried_over, kept_entries, seconds: start.elapsed().as_secs_f64() })
    }

    /// Reads what is new in these transcripts. Leaves index and embeddings to the next sync, so that it is quick enough
    /// for a waiting caller.
    pub(crate) fn files_with(self, store: &mut Store, agent: Agent, paths: &[PathBuf]) -> Result<(), EngineError> {
        let mut tally = SyncTotals::default();
        for _ in 0..MAX_PASSES {
            let plan = SyncPlan::for_files(self.engine, store, agent, paths)?;
            if plan.jobs.is_empty() || !run_plan(self.engine, store, &plan, &mut tally, &mut |_| {})? {
                break;
            }
        }
        let sessions: Vec<SessionNumber> = tally.set_aside.iter().copied().collect();
        restore_sessions(store, &sessions, &mut tally)
    }

    /// What a sync would read. Writes nothing, not even an empty store.
    pub fn plan(self, request: &SyncRequest) -> Result<Vec<AgentSyncPlan>, EngineError> {
        Ok(plan_by_agent(&SyncPlan::build(self.engine, self.engine.reader()?.as_ref(), request)?))
    }

    /// The same, with the cost of extracting facts by the model. `None` if no model can be used.
    pub fn plan_with_costs(
        self,
        request: &SyncRequest,
    ) -> Result<(Vec<AgentSyncPlan>, Option<Vec<EnrichmentEstimate>>), EngineError> {
        let store = self.engine.reader()?;
        let plan = SyncPlan::build(self.engine, store.as_ref(), request)?;
        let estimates = self.engine.enrichment().estimates(store.as_ref(), &plan.jobs)?;
        Ok((plan_by_agent(&plan), estimates))
    }
}

/// What a plan would read, by agent.
fn plan_by_agent(plan: &SyncPlan) -> Vec<AgentSyncPlan> {
    let mut agents: BTreeMap<Agent, AgentSyncPlan> = BTreeMap::new();
    for (agent, files) in &plan.files {
        let run =
            AgentSyncPlan { agent: *agent, files: *files, files_changed: 0, bytes: 0, excluded: 0, unread: Vec::new() };
        agents.insert(*agent, run);
    }
    for job in &plan.jobs {
        if let Some(run) = agents.get_mut(&job.agent) {
            run.files_changed += 1;
            let bytes = if job.stamp.has_known_size() { job.bytes_to_read() } else { 0 };
            run.bytes += bytes;
            run.unread.push(UnreadTranscript { path: job.path.clone(), bytes });
        }
    }
    for (agent, excluded) in &plan.excluded {
        if let Some(run) = agents.get_mut(agent) {
            run.excluded = *excluded;
        }
    }
    agents.into_values().collect()
}

/// Sums the results of all passes of a sync.
#[derive(Debug, Default)]
pub(crate) struct SyncTotals {
    agents: BTreeMap<Agent, AgentSyncReport>,
    /// Sessions whose entries were set aside because their transcripts are read again.
    set_aside: BTreeSet<SessionNumber>,
    /// Entries that stay although no transcript has them any more.
    kept_entries: u64,
}

impl SyncTotals {
    pub(crate) fn add_set_aside(&mut self, session: SessionNumber) {
        self.set_aside.insert(session);
    }

    pub(crate) fn agent_report(&mut self, agent: Agent) -> &mut AgentSyncReport {
        self.agents.entry(agent).or_insert_with(|| AgentSyncReport {
            agent,
            files: 0,
            files_changed: 0,
            sessions: 0,
            entries: 0,
            episodes: 0,
            facts: 0,
            bytes_read: 0,
            redactions: 0,
            warnings: Vec::new(),
        })
    }

    pub(crate) fn add_plan(&mut self, plan: &SyncPlan) {
        for (agent, files) in &plan.files {
            self.agent_report(*agent).files = *files;
        }
        for (agent, warning) in &plan.warnings {
            self.agent_report(*agent).warnings.push(warning.clone());
        }
    }

    pub(crate) fn into_reports(mut self, store: &ReadStore) -> Result<Vec<AgentSyncReport>, EngineError> {
        for (agent, count) in store.session_counts_by_agent()? {
            self.agent_report(agent).sessions = count;
        }
        Ok(self.agents.into_values().collect())
    }
}
