//! Which transcripts have something new, and in which order they are read.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use rethread_ingest::source::exclude::Excludes;
use rethread_ingest::source::file::{self, Hashes, Stamp};
use rethread_ingest::source::{self, Found, Identity, Peek, named};
use rethread_model::thread::ThreadId;
use rethread_model::{Agent, Timestamp, Warning};
use rethread_store::{Cursor, Fingerprint, SessionNumber, Store, TranscriptRow};

use super::SyncRequest;
use crate::{Engine, EngineError};

/// What is to be read.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    /// In the order of reading, which decides who owns lines that several files share.
    pub(crate) jobs: Vec<Job>,
    /// Transcripts found, by agent.
    pub(crate) files: BTreeMap<Agent, u64>,
    /// Transcripts left alone, by agent.
    pub(crate) excluded: BTreeMap<Agent, u64>,
    /// What looks like a transcript and is none.
    pub(crate) warnings: Vec<(Agent, Warning)>,
}

/// One transcript to read.
#[derive(Debug, Clone)]
pub(crate) struct Job {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
    pub(crate) stamp: Stamp,
    pub(crate) start: Start,
}

/// Where reading begins.
#[derive(Debug, Clone)]
pub(crate) enum Start {
    /// A file met for the first time.
    New(Identity),
    /// A file read before, from where it was left; from the beginning if it was rewritten.
    Known(Box<TranscriptRow>),
    /// A file read before that must be read anew.
    Again(Box<TranscriptRow>),
}

impl Job {
    pub(crate) fn bytes_to_read(&self) -> u64 {
        match &self.start {
            Start::Known(row) if row.cursor.offset <= self.stamp.size => self.stamp.size - row.cursor.offset,
            _ => self.stamp.size,
        }
    }

    /// Whether it is a new file of a session that somebody wants forgotten, or of a sub-agent of one.
    fn is_forgotten(&self, forgotten: &HashSet<(Agent, String)>) -> bool {
        let Start::New(identity) = &self.start else { return false };
        let ids = [Some(&identity.external_id), identity.parent.as_ref()];
        ids.into_iter().flatten().any(|id| forgotten.contains(&(self.agent, id.clone())))
    }

    /// The row and cursor this job builds on.
    pub(crate) fn row(&self) -> Option<&TranscriptRow> {
        match &self.start {
            Start::New(_) => None,
            Start::Known(row) | Start::Again(row) => Some(row),
        }
    }
}

impl Plan {
    /// Looks at all transcripts and compares them with what was read.
    pub(crate) fn make(engine: &Engine, store: Option<&Store>, request: &SyncRequest) -> Result<Self, EngineError> {
        engine.config.must_be_usable()?;
        let mut plan = Plan::default();
        let found = plan.discover(engine, request)?;
        let known: HashMap<String, TranscriptRow> = match store {
            Some(store) => store.transcripts()?.into_iter().map(|row| (row.path.clone(), row)).collect(),
            None => HashMap::new(),
        };
        let forgotten = store.map(Store::tombstones).transpose()?.unwrap_or_default();
        let mut excludes = engine.excludes()?;
        let mut new = Vec::new();
        for found in found {
            match known.get(found.path.to_string_lossy().as_ref()) {
                Some(row) if row.fingerprint == fingerprint(found.stamp) => {}
                // An empty file is about to be written; what it held before stays until then.
                _ if found.stamp.size == 0 => {}
                // The session of some files cannot be told before they grow.
                Some(TranscriptRow { session: Some(session), .. })
                    if plan.is_excluded(&found, *session, store, &mut excludes)? => {}
                Some(row) if row.session.is_some() => plan.jobs.push(known_job(found, row.clone())),
                _ => new.extend(plan.look_at(found, &mut excludes)),
            }
        }
        new.retain(|(job, _)| !job.is_forgotten(&forgotten));
        plan.jobs.sort_by_key(|job| job.row().map(|row| row.number));
        plan.jobs.extend(in_order(new));
        Ok(plan)
    }

    /// The threads of ours that have something new.
    pub(crate) fn threads(&self) -> impl Iterator<Item = ThreadId> {
        let own = self.jobs.iter().filter(|job| job.agent == Agent::Native);
        own.filter_map(|job| job.path.parent()?.file_name()?.to_str()?.parse().ok())
    }

    /// These files and no others, whether or not they look as if they had grown: what beside them says of them may
    /// have changed.
    pub(crate) fn of_files(
        engine: &Engine,
        store: &Store,
        agent: Agent,
        paths: &[PathBuf],
    ) -> Result<Self, EngineError> {
        engine.config.must_be_usable()?;
        let mut plan = Plan::default();
        if !engine.wanted_agents(None)?.contains(&agent) {
            return Ok(plan);
        }
        let mut excludes = engine.excludes()?;
        for path in paths {
            let Ok((file, stamp)) = file::open(path) else { continue };
            let found = Found { agent, path: path.clone(), stamp };
            let known = store.transcript(&path.to_string_lossy())?;
            match known {
                // A thread's name stands beside its log, which need not have changed for it.
                Some(row) if agent != Agent::Native && row.fingerprint == fingerprint(stamp) => {}
                Some(row) if row.session.is_some() => {
                    let cwd = row.session.map(|session| store.cwd(session)).transpose()?.flatten();
                    if !excludes.covers(path, cwd.as_deref()) {
                        plan.jobs.push(known_job(found, row));
                    }
                }
                _ => {
                    let peek = source::peek(&file, stamp.size);
                    if !excludes.covers(path, peek.cwd.as_deref()) {
                        let identity = source::identify(&found, &peek);
                        let new = |identity| Job { agent, path: path.clone(), stamp, start: Start::New(identity) };
                        plan.jobs.extend(identity.map(new));
                    }
                }
            }
        }
        let forgotten = store.tombstones()?;
        plan.jobs.retain(|job| !job.is_forgotten(&forgotten));
        Ok(plan)
    }

    fn discover(&mut self, engine: &Engine, request: &SyncRequest) -> Result<Vec<Found>, EngineError> {
        let mut all = Vec::new();
        let mut take = |plan: &mut Plan, agent: Option<Agent>, (found, warnings): (Vec<Found>, Vec<Warning>)| {
            all.extend(found);
            plan.warnings.extend(warnings.into_iter().map(|warning| (agent.unwrap_or(Agent::ClaudeCode), warning)));
        };
        if request.paths.is_empty() {
            let surroundings = engine.surroundings();
            for agent in engine.wanted_agents(request.agent)? {
                for root in source::roots(agent, &surroundings) {
                    take(self, Some(agent), source::discover(&root));
                }
            }
            if let Some(folder) = named::transcripts_folder(&engine.environment.cwd) {
                take(self, None, source::discover_path(&folder));
            }
        }
        for path in &request.paths {
            let path = engine.environment.cwd.join(path);
            if !path.exists() {
                return Err(EngineError::NothingThere(path));
            }
            take(self, None, source::discover_path(&path.canonicalize().unwrap_or(path)));
        }
        let since = request.since.map(|since| since.as_millis().saturating_mul(1_000_000));
        all.retain(|found| {
            request.agent.is_none_or(|agent| found.agent == agent)
                && since.is_none_or(|since| found.stamp.mtime >= since)
        });
        // Roots may overlap, by links or by configuration.
        let mut seen = HashSet::new();
        all.retain(|found| seen.insert((found.stamp.device, found.stamp.inode)));
        for found in &all {
            *self.files.entry(found.agent).or_default() += 1;
        }
        Ok(all)
    }

    /// Whether a file read before has been excluded since.
    fn is_excluded(
        &mut self,
        found: &Found,
        session: SessionNumber,
        store: Option<&Store>,
        excludes: &mut Excludes,
    ) -> Result<bool, EngineError> {
        let cwd = store.map(|store| store.cwd(session)).transpose()?.flatten();
        let excluded = excludes.covers(&found.path, cwd.as_deref());
        *self.excluded.entry(found.agent).or_default() += u64::from(excluded);
        Ok(excluded)
    }

    /// Opens a file met for the first time to see which session it belongs to.
    fn look_at(&mut self, found: Found, excludes: &mut Excludes) -> Option<(Job, Peek)> {
        let (file, stamp) = match file::open(&found.path) {
            Ok(opened) => opened,
            Err(error) => {
                let message = format!("cannot be opened ({error}); skipped");
                let warning = Warning { file: found.path.display().to_string(), line: None, message };
                self.warnings.push((found.agent, warning));
                return None;
            }
        };
        let peek = source::peek(&file, stamp.size);
        if excludes.covers(&found.path, peek.cwd.as_deref()) {
            *self.excluded.entry(found.agent).or_default() += 1;
            return None;
        }
        let identity = source::identify(&found, &peek)?;
        Some((Job { agent: found.agent, path: found.path, stamp, start: Start::New(identity) }, peek))
    }
}

/// New files by their first time, those that say they are copies last. Files that begin alike are an original and its
/// copies: the one that ended first is taken as the original.
fn in_order(new: Vec<(Job, Peek)>) -> impl Iterator<Item = Job> {
    let mut beginnings: HashMap<Option<Timestamp>, u32> = HashMap::new();
    for (_, peek) in &new {
        *beginnings.entry(peek.first_at).or_default() += 1;
    }
    let keyed = new.into_iter().map(|(job, peek)| {
        let is_alone = beginnings.get(&peek.first_at) == Some(&1);
        let opened = if is_alone { None } else { file::open(&job.path).ok() };
        let last_at = opened.and_then(|(file, stamp)| source::last_time(&file, stamp.size));
        ((peek.is_copy, peek.first_at, last_at), job)
    });
    let mut keyed: Vec<_> = keyed.collect();
    keyed.sort_by(|(a, job_a), (b, job_b)| a.cmp(b).then_with(|| job_a.path.cmp(&job_b.path)));
    keyed.into_iter().map(|(_, job)| job)
}

fn known_job(found: Found, row: TranscriptRow) -> Job {
    Job { agent: found.agent, path: found.path, stamp: found.stamp, start: Start::Known(Box::new(row)) }
}

pub(crate) fn fingerprint(stamp: Stamp) -> Fingerprint {
    Fingerprint { device: stamp.device, inode: stamp.inode, size: stamp.size, mtime: stamp.mtime }
}

pub(crate) fn hashes_of(cursor: &Cursor) -> Hashes {
    Hashes { head: cursor.head_hash, tail: cursor.tail_hash }
}

impl Engine {
    /// What must not be read.
    pub(crate) fn excludes(&self) -> Result<Excludes, EngineError> {
        Ok(Excludes::new(&self.config.list("intake.exclude"), &self.environment.home)?)
    }

    /// The agents to read, as configured and asked for.
    pub(crate) fn wanted_agents(&self, only: Option<Agent>) -> Result<Vec<Agent>, EngineError> {
        if let Some(agent) = only {
            return Ok(vec![agent]);
        }
        if !self.config.flag("intake.enabled") {
            return Ok(Vec::new());
        }
        let named = self.config.list("intake.agents");
        let named = named.iter().map(|name| name.parse::<Agent>().map_err(EngineError::from));
        // What we keep ourselves is always known.
        let own = std::iter::once(Ok(Agent::Native));
        let mut agents: Vec<Agent> = named.chain(own).collect::<Result<_, _>>()?;
        agents.dedup();
        Ok(agents)
    }
}
