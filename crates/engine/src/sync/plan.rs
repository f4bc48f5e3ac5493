//! Decides which transcripts to read and in which order.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use rethread_ingest::agents::SessionIdentity;
use rethread_ingest::source::exclude::ExcludeRules;
use rethread_ingest::source::file::{self, FileStamp, PrefixHashes};
use rethread_ingest::source::{
    self, KnownSessions, ReadPosition, TranscriptFile, TranscriptPeek, TranscriptRoot, aliases,
};
use rethread_model::thread::ThreadId;
use rethread_model::{Agent, Timestamp, Warning};
use rethread_store::{FileFingerprint, ReadCursor, ReadStore, SessionKey, SessionNumber, Threads, TranscriptRow};

use super::SyncRequest;
use super::shared_files::{KnownTranscripts, SettledFile, SharedFiles};
use crate::{Engine, EngineError, SyncService};

const DAY_MILLIS: u64 = 24 * 60 * 60 * 1000;

/// An agent finishes writing a document in this time.
const MAX_WRITE_MILLIS: i64 = 10_000;

/// The transcripts to read.
#[derive(Debug, Default)]
pub(crate) struct SyncPlan {
    /// In reading order, which decides which session owns lines that several files share.
    pub(crate) jobs: Vec<TranscriptJob>,
    /// Transcripts found, by agent.
    pub(crate) files: BTreeMap<Agent, u64>,
    /// Transcripts skipped because they are excluded, by agent.
    pub(crate) excluded: BTreeMap<Agent, u64>,
    /// The sessions of new transcripts that are excluded.
    excluded_sessions: HashSet<(Agent, String)>,
    /// Files that look like transcripts but cannot be read.
    pub(crate) warnings: Vec<(Agent, Warning)>,
    /// Files with several sessions that have nothing new, to be remembered.
    pub(crate) settled: Vec<SettledFile>,
}

#[derive(Debug, Clone)]
pub(crate) struct TranscriptJob {
    pub(crate) agent: Agent,
    pub(crate) path: PathBuf,
    /// The path in the store.
    pub(crate) stored_path: String,
    pub(crate) stamp: FileStamp,
    pub(crate) start: JobStart,
}

/// Where reading starts.
#[derive(Debug, Clone)]
pub(crate) enum JobStart {
    /// A file that was never read.
    New(SessionIdentity),
    /// A known file, read from the stored position, or from the start if it was rewritten.
    Known(Box<TranscriptRow>),
    /// A known file that must be read again from the start.
    Reread(Box<TranscriptRow>),
}

impl TranscriptJob {
    pub(crate) fn bytes_to_read(&self) -> u64 {
        match &self.start {
            JobStart::Known(row) if row.cursor.offset <= self.stamp.size => self.stamp.size - row.cursor.offset,
            _ => self.stamp.size,
        }
    }

    /// Whether it is a new file of a forgotten session, or of a subagent of one.
    fn is_forgotten(&self, forgotten: &HashSet<(Agent, String)>) -> bool {
        let JobStart::New(identity) = &self.start else { return false };
        let ids = [Some(&identity.external_id), identity.parent_external_id.as_ref()];
        ids.into_iter().flatten().any(|id| forgotten.contains(&(self.agent, id.clone())))
    }

    /// Whether it is a new file of a subagent of one of these sessions.
    fn is_subagent_of(&self, sessions: &HashSet<(Agent, String)>) -> bool {
        let JobStart::New(identity) = &self.start else { return false };
        identity.parent_external_id.as_ref().is_some_and(|id| sessions.contains(&(self.agent, id.clone())))
    }

    /// The stored row this job continues.
    pub(crate) fn row(&self) -> Option<&TranscriptRow> {
        match &self.start {
            JobStart::New(_) => None,
            JobStart::Known(row) | JobStart::Reread(row) => Some(row),
        }
    }
}

impl SyncPlan {
    /// Finds all transcripts and compares them with the stored positions.
    pub(crate) fn build(
        engine: &Engine,
        store: Option<&ReadStore>,
        request: &SyncRequest,
    ) -> Result<Self, EngineError> {
        engine.config.ensure_usable()?;
        let mut plan = SyncPlan::default();
        let work_dirs = store.map(ReadStore::work_dirs).transpose()?.unwrap_or_default();
        let known: KnownTranscripts = match store {
            Some(store) => store.transcripts()?.into_iter().map(|row| (row.path.clone(), row)).collect(),
            None => HashMap::new(),
        };
        let found = plan.discover(engine, request, &work_dirs, &known)?;
        let mut sessions = KnownSessions::default();
        for row in known.values() {
            sessions.add_read(row.agent, Path::new(&row.path));
        }
        let found = sessions.retain_best(found);
        let forgotten = store.map(ReadStore::forgotten_sessions).transpose()?.unwrap_or_default();
        let rewritten = store.map(ReadStore::rewritten_sessions).transpose()?.unwrap_or_default();
        let mut excludes = engine.sync().exclude_rules()?;
        let mut new = Vec::new();
        for found in found {
            match known.get(stored_path(engine, &found).as_ref()) {
                Some(row) if row.fingerprint == fingerprint(found.stamp) => {}
                // An empty file is about to be written. Its old content stays stored until then.
                _ if found.stamp.size == 0 => {}
                Some(row) if is_outdated_copy(engine, &found, row) => {}
                // Some files cannot be assigned to a session before they grow.
                Some(TranscriptRow { session: Some(session), .. })
                    if plan.is_excluded(&found, *session, store, &mut excludes)? => {}
                // Lines that a rewrite dropped may return with the growth, so the whole file counts. A row that returns
                // is noticed as a change.
                Some(row)
                    if row.session.is_some_and(|session| rewritten.contains(&session))
                        && !source::is_in_database(found.agent, &found.path) =>
                {
                    let job = known_job(found, row.clone());
                    plan.jobs.push(TranscriptJob { start: JobStart::Reread(Box::new(row.clone())), ..job });
                }
                Some(row) if row.session.is_some() => plan.jobs.push(known_job(found, row.clone())),
                _ => new.extend(plan.identify_new(engine, found, &mut excludes)),
            }
        }
        new.retain(|(job, _)| !job.is_forgotten(&forgotten));
        plan.drop_excluded_subagents(&mut new);
        plan.jobs.sort_by_key(|job| job.row().map(|row| row.number));
        plan.jobs.extend(in_reading_order(new));
        Ok(plan)
    }

    /// The threads with new records.
    pub(crate) fn thread_ids(&self) -> impl Iterator<Item = ThreadId> {
        let own = self.jobs.iter().filter(|job| job.agent == Agent::Native);
        own.filter_map(|job| thread_of_log(&job.path))
    }

    /// Exactly these files, even if they have not grown: data stored beside a file, such as a thread's name, may have
    /// changed.
    pub(crate) fn for_files(
        engine: &Engine,
        store: &ReadStore,
        agent: Agent,
        paths: &[PathBuf],
    ) -> Result<Self, EngineError> {
        engine.config.ensure_usable()?;
        let mut plan = SyncPlan::default();
        if !engine.sync().agents_to_read(None).contains(&agent) {
            return Ok(plan);
        }
        let mut excludes = engine.sync().exclude_rules()?;
        let mut new = Vec::new();
        for path in paths {
            let Some(stamp) = source::stamp(agent, path) else { continue };
            let found = TranscriptFile { agent, path: path.clone(), stamp };
            let Some(found) = without_repeated(store, found)? else { continue };
            match store.transcript(&stored_path(engine, &found))? {
                // A thread's name is stored beside its log, so it can change without the log.
                Some(row) if agent != Agent::Native && row.fingerprint == fingerprint(stamp) => {}
                Some(row) if is_outdated_copy(engine, &found, &row) => {}
                Some(row) if row.session.is_some() => {
                    let cwd = row.session.map(|session| store.session_cwd(session)).transpose()?.flatten();
                    if !excludes.is_excluded(path, cwd.as_deref()) {
                        plan.jobs.push(known_job(found, row));
                    }
                }
                _ => new.extend(plan.identify_new(engine, found, &mut excludes)),
            }
        }
        plan.drop_excluded_subagents(&mut new);
        plan.jobs.extend(in_reading_order(new));
        let forgotten = store.forgotten_sessions()?;
        plan.jobs.retain(|job| !job.is_forgotten(&forgotten));
        Ok(plan)
    }

    fn discover(
        &mut self,
        engine: &Engine,
        request: &SyncRequest,
        work_dirs: &[PathBuf],
        known: &KnownTranscripts,
    ) -> Result<Vec<TranscriptFile>, EngineError> {
        let mut all = Vec::new();
        let stores = SharedFiles::new(known);
        let mut take = |plan: &mut SyncPlan, agent: Agent, (found, warnings): (Vec<TranscriptFile>, Vec<Warning>)| {
            all.extend(found);
            plan.warnings.extend(warnings.into_iter().map(|warning| (agent, warning)));
        };
        let source_config = engine.source_config_with(work_dirs);
        let agents = engine.sync().agents_to_read(request.agent).into_iter();
        let roots: Vec<TranscriptRoot> = agents.flat_map(|agent| source::roots(agent, &source_config)).collect();
        if request.paths.is_empty() {
            for root in &roots {
                let is_settled = |path: &Path, stamp| stores.is_settled(root.agent, path, stamp);
                take(self, root.agent, source::discover(root, &is_settled));
            }
            for folder in engine.sync().alias_folders(work_dirs) {
                if let Some((agent, folder)) = aliases::transcripts_folder(&folder) {
                    take(self, agent, source::discover_path(&folder, &roots));
                }
            }
        }
        for path in &request.paths {
            let path = engine.environment.cwd.join(path);
            if !path.exists() {
                return Err(EngineError::PathNotFound(path));
            }
            // No agent is known for a file that cannot be read; the report of the first one lists it.
            take(self, Agent::ALL[0], source::discover_path(&path.canonicalize().unwrap_or(path), &roots));
        }
        self.settled = stores.settled(&all, engine.now());
        for (agent, sessions) in stores.skipped_sessions() {
            *self.files.entry(agent).or_default() += sessions;
        }
        let since = request.since.or_else(|| engine.sync().oldest_to_read().filter(|_| request.paths.is_empty()));
        let since = since.map(|since| since.as_millis().saturating_mul(1_000_000));
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

    /// Whether a known file has been excluded since it was read.
    fn is_excluded(
        &mut self,
        found: &TranscriptFile,
        session: SessionNumber,
        store: Option<&ReadStore>,
        excludes: &mut ExcludeRules,
    ) -> Result<bool, EngineError> {
        let cwd = store.map(|store| store.session_cwd(session)).transpose()?.flatten();
        let excluded = excludes.is_excluded(&found.path, cwd.as_deref());
        *self.excluded.entry(found.agent).or_default() += u64::from(excluded);
        Ok(excluded)
    }

    /// Drops sub-agents of excluded sessions. One that names no directory works in that of its session.
    fn drop_excluded_subagents(&self, new: &mut Vec<(TranscriptJob, TranscriptPeek)>) {
        new.retain(|(job, peek)| peek.cwd.is_some() || !job.is_subagent_of(&self.excluded_sessions));
    }

    /// Opens a new file to find out which session it belongs to.
    fn identify_new(
        &mut self,
        engine: &Engine,
        found: TranscriptFile,
        excludes: &mut ExcludeRules,
    ) -> Option<(TranscriptJob, TranscriptPeek)> {
        let (stamp, peek) = match source::peek(found.agent, &found.path) {
            Ok(peeked) => peeked,
            Err(error) if is_torn(&error, found.stamp, engine.now()) => return None,
            Err(error) => {
                let message = format!("cannot be opened ({error}); skipped");
                let warning = Warning { file: found.path.display().to_string(), line: None, message };
                self.warnings.push((found.agent, warning));
                return None;
            }
        };
        if excludes.is_excluded(&found.path, peek.cwd.as_deref()) {
            *self.excluded.entry(found.agent).or_default() += 1;
            let identity = source::identify(&found, &peek);
            self.excluded_sessions.extend(identity.map(|identity| (found.agent, identity.external_id)));
            return None;
        }
        let identity = source::identify(&found, &peek)?;
        let (stored_path, start) = (stored_path(engine, &found).into_owned(), JobStart::New(identity));
        Some((TranscriptJob { agent: found.agent, path: found.path, stored_path, stamp, start }, peek))
    }
}

/// Sorts new files by their first time, declared copies last. Files with the same first time are an original and its
/// copies: the one that ended first counts as the original.
fn in_reading_order(new: Vec<(TranscriptJob, TranscriptPeek)>) -> impl Iterator<Item = TranscriptJob> {
    let mut beginnings: HashMap<Option<Timestamp>, u32> = HashMap::new();
    for (_, peek) in &new {
        *beginnings.entry(peek.first_at).or_default() += 1;
    }
    let keyed = new.into_iter().map(|(job, peek)| {
        let is_alone = beginnings.get(&peek.first_at) == Some(&1);
        let opened = if is_alone { None } else { file::open(&job.path).ok() };
        let last_at = opened.and_then(|(file, stamp)| source::last_timestamp(&file, stamp.size));
        ((peek.is_copy, peek.first_at, last_at), job)
    });
    let mut keyed: Vec<_> = keyed.collect();
    keyed.sort_by(|(a, job_a), (b, job_b)| a.cmp(b).then_with(|| job_a.path.cmp(&job_b.path)));
    keyed.into_iter().map(|(_, job)| job)
}

/// The file, unless its session was read from a better place.
fn without_repeated(store: &ReadStore, found: TranscriptFile) -> Result<Option<TranscriptFile>, EngineError> {
    let mut sessions = KnownSessions::default();
    if let Some(id) = source::session_in_path(found.agent, &found.path) {
        let key = SessionKey { agent: found.agent, external_id: &id };
        if let Some((session, _)) = store.session_by_external_id(key)? {
            for row in store.session_transcripts(session)? {
                sessions.add_read(row.agent, Path::new(&row.path));
            }
        }
    }
    Ok(sessions.retain_best(vec![found]).pop())
}

fn known_job(found: TranscriptFile, row: TranscriptRow) -> TranscriptJob {
    let (stored_path, start) = (row.path.clone(), JobStart::Known(Box::new(row)));
    TranscriptJob { agent: found.agent, path: found.path, stored_path, stamp: found.stamp, start }
}

/// The path of a transcript in the store. A thread in a database has one that is the same on all nodes, so that they
/// store it once.
fn stored_path<'f>(engine: &Engine, found: &'f TranscriptFile) -> Cow<'f, str> {
    if found.agent == Agent::Native
        && engine.thread_store().is_in_database()
        && let Some(thread) = thread_of_log(&found.path)
    {
        return Threads::stored_log_path(thread).into();
    }
    found.path.to_string_lossy()
}

/// The thread whose log has that path, which may be that of a copy or one in the store.
pub(crate) fn thread_of_log(path: &Path) -> Option<ThreadId> {
    path.parent()?.file_name()?.to_str()?.parse().ok()
}

/// Whether another node has read more of a thread in a database than the copy of its log on this node has.
fn is_outdated_copy(engine: &Engine, found: &TranscriptFile, row: &TranscriptRow) -> bool {
    found.agent == Agent::Native && engine.thread_store().is_in_database() && found.stamp.size < row.cursor.offset
}

/// Whether a file is invalid because its agent is writing it right now. The next sync reads it.
pub(super) fn is_torn(error: &std::io::Error, stamp: FileStamp, now: Timestamp) -> bool {
    let age = now.as_millis().saturating_sub(stamp.mtime / 1_000_000);
    error.kind() == std::io::ErrorKind::InvalidData && age.abs() < MAX_WRITE_MILLIS
}

pub(crate) fn fingerprint(stamp: FileStamp) -> FileFingerprint {
    FileFingerprint { device: stamp.device, inode: stamp.inode, size: stamp.size, mtime: stamp.mtime }
}

pub(crate) fn read_position(cursor: &ReadCursor) -> ReadPosition {
    let hashes = PrefixHashes { head: cursor.head_hash, tail: cursor.tail_hash };
    ReadPosition { offset: cursor.offset, lines: cursor.lines, hashes }
}

impl SyncService<'_> {
    /// The exclude patterns from the configuration.
    pub(crate) fn exclude_rules(self) -> Result<ExcludeRules, EngineError> {
        let patterns = &self.engine.settings().intake.exclude;
        let source_config = self.engine.source_config();
        let roots = Agent::EXTERNAL.iter().flat_map(|agent| source::roots(*agent, &source_config));
        let roots: Vec<PathBuf> = if patterns.is_empty() { Vec::new() } else { roots.map(|root| root.path).collect() };
        Ok(ExcludeRules::new(patterns, &self.engine.environment.home, &roots)?)
    }

    /// The time before which transcripts are not read, if the configuration limits their age.
    fn oldest_to_read(self) -> Option<Timestamp> {
        let days = self.engine.settings().intake.max_age_days;
        let age = i64::try_from(days.saturating_mul(DAY_MILLIS)).unwrap_or(i64::MAX);
        (days > 0).then(|| Timestamp::from_millis(self.engine.now().as_millis().saturating_sub(age)))
    }

    /// The agents to read, from the request or the configuration.
    pub(crate) fn agents_to_read(self, only: Option<Agent>) -> Vec<Agent> {
        if let Some(agent) = only {
            return vec![agent];
        }
        if self.engine.environment.reads_only_threads {
            return vec![Agent::Native];
        }
        if !self.engine.settings().intake.enabled {
            return Vec::new();
        }
        // Our own threads are always read.
        let mut agents = self.engine.settings().intake.agents.clone();
        agents.push(Agent::Native);
        agents.dedup();
        agents
    }
}
