//! Rebuilds everything derived from transcripts, and checks that the stored data is consistent.

mod own_files;
mod purge;
mod replaced_store;
mod store_copy;

use std::collections::HashSet;
use std::time::Instant;

use rethread_index::{IndexError, IndexLag, IndexProblem, index_lag};
use rethread_ingest::source;
use rethread_ingest::{KeptEntries, SessionAssembler, rebuild_episodes};
use rethread_model::thread::ThreadRecord;
use rethread_model::{Session, SessionCounts};
use rethread_store::{Batch, FailedCheck, ReadStore, SessionFilter, SessionNumber, SessionUpdate, Store};

use crate::sync::{JobStart, ReadProgress, SyncPlan, SyncReport, SyncRequest, SyncTotals, TranscriptJob, run_plan};
use crate::{Engine, EngineError, MaintenanceService};

pub use purge::{PurgeReport, PurgedItem};
pub use replaced_store::CarryOverReport;
pub use store_copy::StoreCopyRequest;

/// What a rebuild did.
#[derive(Clone, Debug)]
pub struct RebuildReport {
    /// What was read from transcripts.
    pub sync: SyncReport,
    /// Number of sessions without a transcript, rebuilt from their stored entries.
    pub rebuilt_from_store: u64,
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct VerifyReport {
    /// The checks that were made, in plain words.
    pub checks: Vec<&'static str>,
    /// Inconsistencies found.
    pub damage: Vec<FailedCheck>,
    /// Number of sessions checked.
    pub sessions: u64,
}

const THREADS_CHECK: &str = "every line of a thread is a record, and record numbers have no gaps";
const INDEX_CHECK: &str = "the search index matches the store";
const ERASED_CHECK: &str = "forgotten text is erased from the files";
const REBUILD_CHECK: &str = "rebuilding a session gives the same counts and episodes";

impl MaintenanceService<'_> {
    /// Rebuilds everything from the transcripts, or from the stored entries where a transcript is gone. A store whose
    /// file is damaged is replaced first.
    pub fn rebuild(self, progress: &mut dyn FnMut(ReadProgress)) -> Result<RebuildReport, EngineError> {
        self.engine.config.ensure_usable()?;
        if self.engine.has_store() && self.engine.location().is_damaged() {
            self.replace_store("the file fails its check")?;
        }
        self.with_usable_store(&mut || self.rebuild_once(progress))
    }

    fn rebuild_once(self, progress: &mut dyn FnMut(ReadProgress)) -> Result<RebuildReport, EngineError> {
        let start = Instant::now();
        let mut store = self.engine.writer()?;
        let carried_over = self.carry_over_stores(&mut store)?;
        let mut batch = store.begin()?;
        batch.clear_redactions()?;
        batch.commit()?;
        let (plan, rebuilt_from_store) = plan_rebuild(self.engine, &mut store)?;
        let mut tally = SyncTotals::default();
        run_plan(self.engine, &mut store, &plan, &mut tally, progress)?;
        drop(store);
        // Transcripts that are new or were locked are read by a normal sync.
        let rest = self.engine.sync().run(&SyncRequest::default(), progress)?;
        let store = self.engine.writer()?;
        for report in &rest.agents {
            let total = tally.agent_report(report.agent);
            total.files = report.files;
            total.files_changed += report.files_changed;
            total.entries += report.entries;
            total.episodes += report.episodes;
            total.facts += report.facts;
            total.bytes_read += report.bytes_read;
            total.redactions += report.redactions;
            total.warnings.extend(report.warnings.iter().cloned());
        }
        let agents = tally.into_reports(&store)?;
        // Every row was written again, which leaves as many unused pages.
        store.compact()?;
        Ok(RebuildReport {
            sync: SyncReport { agents, carried_over, seconds: start.elapsed().as_secs_f64(), ..rest },
            rebuilt_from_store,
        })
    }

    /// Checks the database file, the consistency of its tables, and that each session rebuilds to the same result.
    pub fn verify(self) -> Result<VerifyReport, EngineError> {
        let checks =
            ReadStore::check_names().chain([REBUILD_CHECK, INDEX_CHECK, THREADS_CHECK, ERASED_CHECK]).collect();
        let mut damage = self.verify_threads()?;
        let Some(store) = self.engine.reader()? else {
            return Ok(VerifyReport { checks, damage, sessions: 0 });
        };
        damage.extend(store.verify()?);
        if store.needs_wipe()? {
            let found = "the files still contain forgotten bytes; the next sync erases them".to_owned();
            damage.push(FailedCheck { check: ERASED_CHECK, detail: found });
        }
        let filter = SessionFilter { include_children: true, include_empty: true, ..SessionFilter::default() };
        // A sync that runs meanwhile must not look like damage.
        let snapshot = store.snapshot()?;
        let sessions = snapshot.sessions(&filter)?;
        for session in &sessions {
            let number = snapshot.session_number(session.id)?;
            let (entries, nodes) =
                number.map(|number| snapshot.entry_outlines(number)).transpose()?.unwrap_or_default();
            let memory = snapshot.assembler_state(session.id)?;
            if memory.is_none() && entries.is_empty() {
                // Only hooks have reported it: its transcript was not read yet.
                continue;
            }
            let memory = memory.unwrap_or_default();
            let Ok(mut assembler) = SessionAssembler::resume(session.agent, &session.external_id, &memory) else {
                let found = format!("session {}: its state cannot be read", session.id);
                damage.push(FailedCheck { check: REBUILD_CHECK, detail: found });
                continue;
            };
            let rebuilt = rebuild_episodes(&entries, &nodes, assembler.leaf());
            assembler.continue_from(&rebuilt);
            let counts = assembler.counts(session.kind);
            let episodes = snapshot.episodes(session.id)?;
            if counts != session.counts || episodes != rebuilt.episodes {
                let found = format!("session {}: {}", session.id, describe_difference(counts, session.counts));
                damage.push(FailedCheck { check: REBUILD_CHECK, detail: found });
            }
        }
        drop(snapshot);
        damage.extend(self.verify_index(&store)?);
        Ok(VerifyReport { checks, damage, sessions: sessions.len() as u64 })
    }

    /// Checks that every line of every log is an undamaged record and that record numbers have no gaps. An incomplete
    /// line is fine: a killed process left it, it was never acknowledged, and readers skip it.
    fn verify_threads(self) -> Result<Vec<FailedCheck>, EngineError> {
        let threads = self.engine.thread_store();
        let mut damage = Vec::new();
        for id in threads.ids()? {
            let mut found = |what: String| {
                damage.push(FailedCheck { check: THREADS_CHECK, detail: format!("thread {id}: {what}") });
            };
            let logged = match threads.read(id) {
                Ok(logged) => logged,
                Err(error) => {
                    found(error.to_string());
                    continue;
                }
            };
            if threads.has_damaged_metadata(id) {
                found("its metadata cannot be read; the next append rebuilds them from the log".to_owned());
            }
            let damaged: Vec<_> = logged.problems.iter().filter(|problem| problem.is_damage).collect();
            for problem in &damaged {
                found(format!("line {} is damaged and skipped: {}", problem.line, problem.reason));
            }
            if !damaged.is_empty() {
                // Their numbers are missing.
                continue;
            }
            for (expected, seq) in (1..).zip(logged.records.iter().filter_map(ThreadRecord::seq)) {
                if seq != expected {
                    found(format!("record {expected} has the number {seq}"));
                    break;
                }
            }
        }
        Ok(damage)
    }

    /// A missing index is fine: it is created when it is needed.
    fn verify_index(self, store: &ReadStore) -> Result<Vec<FailedCheck>, EngineError> {
        let folder = self.engine.index().folder();
        if index_lag(&folder, store, 0)? == IndexLag::Unusable(IndexProblem::Missing) {
            return Ok(Vec::new());
        }
        let wrong = match rethread_index::verify_index(&folder, store) {
            Ok(wrong) => wrong,
            Err(IndexError::Damaged(cause)) => vec![format!("the index cannot be read: {cause}")],
            Err(error) => return Err(error.into()),
        };
        Ok(wrong.into_iter().map(|found| FailedCheck { check: INDEX_CHECK, detail: found }).collect())
    }
}

/// Plans to reread all transcripts that can be read, in their old order. Sessions without one are rebuilt right here.
fn plan_rebuild(engine: &Engine, store: &mut Store) -> Result<(SyncPlan, u64), EngineError> {
    let mut plan = SyncPlan::default();
    let mut read = HashSet::new();
    let mut excludes = engine.sync().exclude_rules()?;
    let agents = engine.sync().agents_to_read(None);
    for row in store.transcripts()? {
        let Some(session) = row.session else { continue };
        let path = std::path::PathBuf::from(&row.path);
        let cwd = store.session_cwd(session)?;
        if !agents.contains(&row.agent) || excludes.is_excluded(&path, cwd.as_deref()) {
            continue;
        }
        let Some(stamp) = source::stamp(row.agent, &path).filter(|stamp| stamp.size > 0) else { continue };
        read.insert(session);
        let (agent, stored_path) = (row.agent, row.path.clone());
        plan.jobs.push(TranscriptJob { agent, path, stored_path, stamp, start: JobStart::Reread(Box::new(row)) });
    }
    let rebuilt = sessions_without(store, &read)?;
    for session in &rebuilt {
        rebuild_stored_session(store, *session)?;
    }
    Ok((plan, rebuilt.len() as u64))
}

/// The sessions that are not read from one of these sessions' transcripts.
fn sessions_without(store: &ReadStore, read: &HashSet<SessionNumber>) -> Result<Vec<SessionNumber>, EngineError> {
    let filter = SessionFilter { include_children: true, include_empty: true, ..SessionFilter::default() };
    let mut others = Vec::new();
    for session in store.sessions(&filter)? {
        let number = store.session_number(session.id)?;
        // Sub-agents inside a transcript are read with it.
        let parent = session.parent.filter(|_| session.external_id.contains('/'));
        let parent = parent.map(|parent| store.session_number(parent)).transpose()?.flatten();
        let is_read = |number: Option<SessionNumber>| number.is_some_and(|number| read.contains(&number));
        if !is_read(number) && !is_read(parent) {
            others.extend(number);
        }
    }
    Ok(others)
}

/// Rebuilds a session from its stored entries. A state that cannot be read is derived again from them.
fn rebuild_stored_session(store: &mut Store, number: SessionNumber) -> Result<(), EngineError> {
    let mut batch = store.begin()?;
    rebuild_in_batch(&mut batch, number)?;
    Ok(batch.commit()?)
}

/// The same within a transaction.
pub(crate) fn rebuild_in_batch(batch: &mut Batch<'_>, number: SessionNumber) -> Result<(), EngineError> {
    let Some((session, state)) = batch.session_with_state(number)? else { return Ok(()) };
    let resumed = state.and_then(|state| SessionAssembler::resume(session.agent, &session.external_id, &state).ok());
    let assembler = match resumed {
        Some(assembler) => assembler,
        None => assembler_from_entries(batch, number, &session)?,
    };
    rebuild_from_entries(batch, (number, &session), assembler, session.name.as_deref())
}

/// An assembler that continues after the stored entries.
fn assembler_from_entries(
    batch: &Batch<'_>,
    number: SessionNumber,
    session: &Session,
) -> Result<SessionAssembler, EngineError> {
    let mut assembler = SessionAssembler::new(session.agent, &session.external_id);
    let spoken = batch.spoken_entries(number)?;
    let entries = batch.entry_outlines(number)?.0.len() as u64;
    let new_seqs = (0..entries).map(|seq| (seq, seq)).collect();
    assembler.adopt_kept(&KeptEntries {
        earlier_state: None,
        new_seqs: &new_seqs,
        entries,
        has_unread: true,
        spoken: &spoken,
    });
    Ok(assembler)
}

/// Rebuilds a session from its stored entries and saves it under this name.
pub(crate) fn rebuild_from_entries(
    batch: &mut Batch<'_>,
    (number, session): (SessionNumber, &Session),
    mut assembler: SessionAssembler,
    name: Option<&str>,
) -> Result<(), EngineError> {
    let (entries, nodes) = batch.entry_outlines(number)?;
    let rebuilt = rebuild_episodes(&entries, &nodes, assembler.leaf());
    batch.apply_rebuild(number, &rebuilt.episodes, &rebuilt.placements, rebuilt.edited_paths.iter())?;
    assembler.continue_from(&rebuilt);
    let memory = assembler.save().map_err(EngineError::SerializeState)?;
    let update = SessionUpdate {
        kind: session.kind,
        parent_external_id: None,
        name,
        cwd: session.cwd.as_deref(),
        project: session.project.as_deref(),
        namespace: session.namespace.as_deref(),
        branch: session.branch.as_deref(),
        model: session.model.as_deref(),
        started_at: session.started_at,
        last_activity_at: session.last_activity_at,
        transcript_path: None,
        counts: assembler.counts(session.kind),
        kept_tokens: assembler.kept_tokens(),
        is_empty: assembler.is_empty(),
        assembler_state: &memory,
        bytes_read: 0,
    };
    Ok(batch.save_session(number, &update)?)
}

fn describe_difference(rebuilt: SessionCounts, stored: SessionCounts) -> String {
    if rebuilt == stored { "its episodes differ".to_owned() } else { format!("rebuilt {rebuilt:?}, stored {stored:?}") }
}
