//! Reads what is new in all transcripts: plan, read in parallel, write in order.

mod facts;
mod plan;
mod read;
mod tell;
mod write;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;

use rethread_ingest::source::named;
use rethread_model::{Agent, Timestamp, Warning};
use rethread_store::Store;

use crate::{EmbeddingReport, Engine, EngineError, EnrichmentEstimate, IndexReport};

pub(crate) use plan::{Job, Plan, Start, hashes_of};
pub(crate) use write::carry_out;

/// How often a sync starts over because another process or a rewritten file got in its way.
const PASSES: usize = 4;

/// From so many bytes on, the index is brought up while the sync goes on.
const LONG: u64 = 50_000_000;

/// What to read.
#[derive(Clone, Debug, Default)]
pub struct SyncRequest {
    /// Only transcripts of this agent.
    pub agent: Option<Agent>,
    /// Only transcripts at these paths, wherever they lie.
    pub paths: Vec<PathBuf>,
    /// Only transcripts written since this moment.
    pub since: Option<Timestamp>,
}

/// How far a sync is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read.
    pub bytes: u64,
    /// Bytes there are to read.
    pub of_bytes: u64,
    /// Files done.
    pub files: u64,
    /// Files there are to read.
    pub of_files: u64,
}

/// What a sync did.
#[derive(Clone, Debug, Default)]
pub struct SyncReport {
    /// By agent, in the order of their names.
    pub agents: Vec<AgentReport>,
    /// What became of the search index.
    pub index: IndexReport,
    /// What became of the meanings; nothing where no embedding model is configured.
    pub embeddings: Option<EmbeddingReport>,
    /// How long it took.
    pub seconds: f64,
}

/// What a sync did for one agent.
#[derive(Clone, Debug)]
pub struct AgentReport {
    /// The agent.
    pub agent: Agent,
    /// Transcripts found.
    pub files: u64,
    /// Transcripts that had something new.
    pub files_changed: u64,
    /// Sessions known.
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
    /// What could not be read.
    pub warnings: Vec<Warning>,
}

/// What a sync would do.
#[derive(Clone, Debug)]
pub struct DryRun {
    /// The agent.
    pub agent: Agent,
    /// Transcripts found.
    pub files: u64,
    /// Transcripts that would be read.
    pub files_changed: u64,
    /// Bytes that would be read.
    pub bytes: u64,
    /// Transcripts left alone because they are excluded.
    pub excluded: u64,
}

impl Engine {
    /// Reads what is new and stores it.
    pub fn sync(&self, request: &SyncRequest, progress: &mut dyn FnMut(Progress)) -> Result<SyncReport, EngineError> {
        let start = Instant::now();
        let mut store = self.writer()?;
        self.sweep_threads(&mut store)?;
        self.finish_forgetting(&mut store)?;
        let mut tally = Tally::default();
        let mut index = None;
        for pass in 0..PASSES {
            let mut plan = Plan::make(self, Some(&store), request)?;
            if self.recover_threads(plan.threads())? {
                plan = Plan::make(self, Some(&store), request)?;
            }
            if pass == 0 {
                tally.note_plan(&plan);
            }
            let is_long = plan.jobs.iter().map(Job::bytes_to_read).sum::<u64>() > LONG;
            let work = || -> Result<bool, EngineError> {
                Ok(plan.jobs.is_empty() || !carry_out(self, &mut store, &plan, &mut tally, progress)?)
            };
            let (finished, indexed) = self.index_beside(is_long, work);
            index = indexed.or(index);
            if finished? {
                break;
            }
        }
        self.draw_older_facts(&mut store)?;
        self.give_aliases(&mut store)?;
        if let Err(error) = self.maintain_in(&mut store) {
            self.note_trouble("upkeep", &error);
        }
        let agents = tally.into_reports(&store)?;
        let index = index.unwrap_or_else(|| self.follow_store(&store));
        let embeddings = self.embed_new(&mut store);
        if let Err(error) = self.enrich_later(&mut store) {
            self.note_trouble("enrichment", &error);
        }
        Ok(SyncReport { agents, index, embeddings, seconds: start.elapsed().as_secs_f64() })
    }

    /// Reads what is new in these transcripts, and leaves index and meanings to the next sync. Quick enough for
    /// somebody who waits.
    pub(crate) fn take_in(&self, agent: Agent, paths: &[PathBuf]) -> Result<(), EngineError> {
        self.take_in_with(&mut self.writer()?, agent, paths)
    }

    /// The same with a store that is open already.
    pub(crate) fn take_in_with(&self, store: &mut Store, agent: Agent, paths: &[PathBuf]) -> Result<(), EngineError> {
        for _ in 0..PASSES {
            let plan = Plan::of_files(self, store, agent, paths)?;
            if plan.jobs.is_empty() || !carry_out(self, store, &plan, &mut Tally::default(), &mut |_| {})? {
                break;
            }
        }
        Ok(())
    }

    /// What a sync would read. Writes nothing, not even an empty store.
    pub fn sync_dry_run(&self, request: &SyncRequest) -> Result<Vec<DryRun>, EngineError> {
        Ok(would_read(&Plan::make(self, self.reader()?.as_ref(), request)?))
    }

    /// The same, with what it would cost to have the model add facts to that; nothing where no model can be asked.
    pub fn sync_dry_run_with_costs(
        &self,
        request: &SyncRequest,
    ) -> Result<(Vec<DryRun>, Option<Vec<EnrichmentEstimate>>), EngineError> {
        let store = self.reader()?;
        let plan = Plan::make(self, store.as_ref(), request)?;
        let estimates = self.enrichment_estimates(store.as_ref(), &plan.jobs)?;
        Ok((would_read(&plan), estimates))
    }

    /// Short names from the current project's id files.
    fn give_aliases(&self, store: &mut Store) -> Result<(), EngineError> {
        let names = named::named_sessions(&self.environment.cwd);
        if names.is_empty() {
            return Ok(());
        }
        let mut batch = store.begin()?;
        for name in names {
            batch.set_alias(name.agent, &name.external_id, &name.alias)?;
        }
        Ok(batch.commit()?)
    }
}

/// What a plan would read, by agent.
fn would_read(plan: &Plan) -> Vec<DryRun> {
    let mut agents: BTreeMap<Agent, DryRun> = BTreeMap::new();
    for (agent, files) in &plan.files {
        let run = DryRun { agent: *agent, files: *files, files_changed: 0, bytes: 0, excluded: 0 };
        agents.insert(*agent, run);
    }
    for job in &plan.jobs {
        if let Some(run) = agents.get_mut(&job.agent) {
            run.files_changed += 1;
            run.bytes += job.bytes_to_read();
        }
    }
    for (agent, excluded) in &plan.excluded {
        if let Some(run) = agents.get_mut(agent) {
            run.excluded = *excluded;
        }
    }
    agents.into_values().collect()
}

/// Adds up what the passes of a sync did.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    agents: BTreeMap<Agent, AgentReport>,
}

impl Tally {
    pub(crate) fn of(&mut self, agent: Agent) -> &mut AgentReport {
        self.agents.entry(agent).or_insert_with(|| AgentReport {
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

    pub(crate) fn note_plan(&mut self, plan: &Plan) {
        for (agent, files) in &plan.files {
            self.of(*agent).files = *files;
        }
        for (agent, warning) in &plan.warnings {
            self.of(*agent).warnings.push(warning.clone());
        }
    }

    pub(crate) fn into_reports(mut self, store: &Store) -> Result<Vec<AgentReport>, EngineError> {
        for (agent, count) in store.sessions_by_agent()? {
            self.of(agent).sessions = count;
        }
        Ok(self.agents.into_values().collect())
    }
}
