//! Forgets sessions, or every episode that contains a text, together with everything derived from them.
//!
//! Order: files, then rows and tombstones in one transaction, then the bytes in index and database. After an
//! interruption, running it again finds what is left, and a sync finishes the last step.

mod files;
mod text;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::Instant;

use rethread_index::{LockWait, delete_index, update_index};
use rethread_ingest::state_texts;
use rethread_model::thread::ThreadId;
use rethread_model::{Agent, Session, SessionId, SessionKind, Timestamp};
use rethread_recall::ReferenceForm;
use rethread_store::{
    MentionMatcher, ReadStore, RowCounts, SessionFilter, SessionNumber, Store, TextMatcher, ThreadError,
};

use crate::sync::{SyncTotals, restore_all_set_aside};
use crate::{EngineError, ForgetService};

/// Limit on the depth of nested sub-agents.
const MAX_FAMILY_DEPTH: usize = 64;

/// What to forget.
#[derive(Clone, Debug)]
pub enum ForgetTarget {
    /// The sessions with these references, with their sub-agents.
    Sessions(Vec<String>),
    /// All sessions of the project at this path.
    Project(PathBuf),
    /// All sessions without activity since this time, as typed by the user.
    Before(String),
    /// Every episode that contains this text, and everything else that does.
    Matching(String),
}

/// What was forgotten, or would be in a dry run.
#[derive(Clone, Debug, Default)]
pub struct ForgetReport {
    /// Sessions that are removed completely, including sub-agents.
    pub sessions: Vec<Session>,
    /// Sessions that lose only some episodes or names.
    pub partial_sessions: Vec<Session>,
    /// Threads whose logs are deleted. There is no other copy of them.
    pub threads: Vec<ThreadId>,
    /// Counts by place: what was found, and what remains.
    pub removed: Vec<RemovedCount>,
    /// What contains the text and is kept, because it is the path of a file that is not ours.
    pub retained: RowCounts,
    /// Number of tombstones, which keep forgotten sessions and entries from being read again.
    pub tombstones: u64,
    /// Duration in seconds.
    pub seconds: f64,
}

/// Counts for one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovedCount {
    /// Name of the place, shown to users.
    pub place: &'static str,
    /// Number of items found.
    pub count: u64,
    /// Number of items still present when checked afterwards.
    pub remaining: u64,
}

impl ForgetReport {
    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.retained.is_empty() && self.removed.iter().all(|removed| removed.count == 0 && removed.remaining == 0)
    }

    /// Places where something remains.
    pub fn remaining(&self) -> impl Iterator<Item = &RemovedCount> {
        self.removed.iter().filter(|removed| removed.remaining > 0)
    }
}

/// Everything that will be forgotten.
#[derive(Debug, Default)]
struct ForgetPlan {
    /// Sessions to remove completely.
    whole_sessions: Vec<(SessionNumber, Session)>,
    /// Identifies mentions of these sessions in injections of others.
    marks: MentionMatcher,
    /// When the plan was made.
    planned_at: Timestamp,
    /// The text to forget.
    needle: Option<TextMatcher>,
    /// Entries to remove from sessions that are kept.
    entries: BTreeMap<SessionNumber, BTreeSet<u64>>,
    /// Sessions that are kept and rebuilt without those entries.
    partial_sessions: Vec<(SessionNumber, Session)>,
    /// Threads to delete.
    threads: Vec<ThreadId>,
    /// Counts in the database.
    places: RowCounts,
    /// Counts of what contains the text and is kept.
    retained: RowCounts,
}

impl ForgetService<'_> {
    /// What would be forgotten. Writes nothing.
    pub fn plan(self, target: &ForgetTarget) -> Result<ForgetReport, EngineError> {
        let start = Instant::now();
        let Some(store) = found_for(target, self.engine.reader()?)? else { return Ok(ForgetReport::default()) };
        let plan = self.build_plan(&store, target)?;
        let there = self.count_planned(&plan);
        let tombstones = plan.whole_sessions.len() + plan.entries.values().map(BTreeSet::len).sum::<usize>();
        Ok(build_report(plan, &there, &RowCounts::new(), tombstones as u64, start))
    }

    /// Erases the target, then checks what remains.
    pub fn run(self, target: &ForgetTarget) -> Result<ForgetReport, EngineError> {
        let start = Instant::now();
        let Some(mut store) = found_for(target, self.engine.existing_writer()?)? else {
            return Ok(ForgetReport::default());
        };
        // Bytes of an earlier, interrupted run would not be found below, so wipe them first. The same for entries that
        // wait for the end of a sync.
        self.finish_wipe(&mut store)?;
        restore_all_set_aside(&mut store, &mut SyncTotals::default())?;
        let plan = self.build_plan(&store, target)?;
        let there = self.count_planned(&plan);
        if there.values().all(|count| *count == 0) {
            let left = self.count_remaining(&store, &plan)?;
            return Ok(build_report(plan, &there, &left, 0, start));
        }
        self.remove_files(&plan)?;
        let tombstones = self.remove_rows(&mut store, &plan)?;
        self.finish_wipe(&mut store)?;
        let left = self.count_remaining(&store, &plan)?;
        self.engine.journal().event(
            "forgotten",
            None,
            &[("sessions", plan.whole_sessions.len().into()), ("tombstones", tombstones.into())],
        );
        Ok(build_report(plan, &there, &left, tombstones, start))
    }

    /// Wipes forgotten bytes that an earlier run left behind because it was interrupted or the database was in use.
    pub fn wipe(self) -> Result<(), EngineError> {
        self.engine.existing_writer()?.map_or(Ok(()), |mut store| self.finish_wipe(&mut store))
    }

    /// Wipes forgotten bytes from index and database, if that is still pending.
    pub(crate) fn finish_wipe(self, store: &mut Store) -> Result<(), EngineError> {
        if !store.needs_wipe()? {
            return Ok(());
        }
        // Deleted words stay in index files until a merge, so the index is rebuilt.
        let folder = self.engine.index().folder();
        delete_index(&folder)?;
        update_index(&folder, store, LockWait::Wait)?;
        store.wipe()?;
        Ok(())
    }

    fn build_plan(self, store: &ReadStore, target: &ForgetTarget) -> Result<ForgetPlan, EngineError> {
        let chosen = |sessions: Vec<Session>| sessions.into_iter().map(|session| session.id).collect::<Vec<_>>();
        let ids = match target {
            ForgetTarget::Matching(text) => return self.build_text_plan(store, text),
            ForgetTarget::Sessions(references) => {
                let found = references.iter().map(|reference| {
                    Ok(self.engine.sessions().resolve_as(store, reference, ReferenceForm::Exact)?.session)
                });
                chosen(found.collect::<Result<_, EngineError>>()?)
            }
            ForgetTarget::Project(path) => chosen(
                store.sessions(&SessionFilter { scope: self.engine.sessions().project_at(path), ..all_sessions() })?,
            ),
            ForgetTarget::Before(moment) => {
                inactive_since(&store.sessions(&all_sessions())?, self.engine.parse_time(moment, false)?)
            }
        };
        let mut plan = ForgetPlan {
            whole_sessions: store.sessions_with_descendants(&ids)?,
            planned_at: self.engine.now(),
            ..ForgetPlan::default()
        };
        add_derived(store, &mut plan)?;
        Ok(plan)
    }

    /// Counts of everything in the plan, in the database, files and index.
    fn count_planned(self, plan: &ForgetPlan) -> RowCounts {
        let mut places = plan.places.clone();
        places.extend(self.files(plan).counts());
        let is_planned = |session: SessionNumber, seq: u64| {
            plan.whole_sessions.iter().any(|(number, _)| *number == session)
                || plan.entries.get(&session).is_some_and(|seqs| seqs.contains(&seq))
        };
        // An unreadable index is rebuilt, and then contains nothing of this.
        places.insert(
            "index",
            rethread_index::count_documents(&self.engine.index().folder(), &is_planned).unwrap_or_default(),
        );
        places
    }

    /// Counts of what remains.
    fn count_remaining(self, store: &ReadStore, plan: &ForgetPlan) -> Result<RowCounts, EngineError> {
        let mut left = store.count_session_rows(&plan.whole_sessions, &plan.marks, plan.planned_at)?;
        left.extend(self.files(plan).counts());
        left.insert("index", self.remaining_in_index(store, plan)?);
        left.insert("bytes of the database", u64::from(store.needs_wipe()?));
        if let Some(needle) = &plan.needle {
            for (place, count) in store.count_rows_containing(needle)? {
                *left.entry(place).or_default() += count;
            }
            let remembering = store.sessions_by_assembler_state(&|memory| state_contains(memory, needle))?;
            *left.entry("sessions").or_default() += remembering.len() as u64;
        }
        Ok(left)
    }

    /// Counts what remains in the index. If another process wrote to it in the meantime from older data, it is rebuilt
    /// once more.
    fn remaining_in_index(self, store: &ReadStore, plan: &ForgetPlan) -> Result<u64, EngineError> {
        let left = self.planned_in_index(store, plan);
        if left == 0 {
            return Ok(0);
        }
        delete_index(&self.engine.index().folder())?;
        update_index(&self.engine.index().folder(), store, LockWait::Wait)?;
        Ok(self.planned_in_index(store, plan))
    }

    /// Entries of kept sessions are renumbered, so only an index that matches the store exactly is known to be clean.
    fn planned_in_index(self, store: &ReadStore, plan: &ForgetPlan) -> u64 {
        let folder = self.engine.index().folder();
        if !plan.entries.is_empty() {
            return rethread_index::verify_index(&folder, store).map_or(1, |wrong| wrong.len() as u64);
        }
        let is_planned = |session: SessionNumber, _| plan.whole_sessions.iter().any(|(number, _)| *number == session);
        rethread_index::count_documents(&folder, &is_planned).unwrap_or(1)
    }

    fn remove_rows(self, store: &mut Store, plan: &ForgetPlan) -> Result<u64, EngineError> {
        let mut batch = store.begin_secure_delete()?;
        batch.forget_sessions(&plan.whole_sessions, &plan.marks, self.engine.now())?;
        let Some(needle) = &plan.needle else {
            batch.commit()?;
            return Ok(plan.whole_sessions.len() as u64);
        };
        let (kept_out, to_read) = self.remove_mentions(&mut batch, plan, needle)?;
        batch.commit()?;
        for (agent, paths) in to_read {
            self.engine.sync().files_with(store, agent, &paths)?;
        }
        let mut batch = store.begin_secure_delete()?;
        for (number, _) in &plan.partial_sessions {
            batch.lower_watermarks(*number)?;
        }
        batch.commit()?;
        self.engine.sync().extract_outdated_facts(store)?;
        Ok(plan.whole_sessions.len() as u64 + kept_out)
    }
}

/// Adds what follows from the sessions that are removed completely.
fn add_derived(store: &ReadStore, plan: &mut ForgetPlan) -> Result<(), EngineError> {
    plan.marks = store.mention_matcher(&plan.whole_sessions)?;
    for (place, count) in store.count_session_rows(&plan.whole_sessions, &plan.marks, plan.planned_at)? {
        *plan.places.entry(place).or_default() += count;
    }
    let own = plan.whole_sessions.iter().filter(|(_, session)| session.agent == Agent::Native);
    plan.threads.extend(own.filter_map(|(_, session)| session.external_id.parse::<ThreadId>().ok()));
    plan.threads.sort_unstable();
    plan.threads.dedup();
    Ok(())
}

/// The root sessions of families without activity since a time. A family is a session and its sub-agents; a fork is a
/// session of its own.
fn inactive_since(sessions: &[Session], moment: Timestamp) -> Vec<SessionId> {
    let parents: HashMap<SessionId, Option<SessionId>> =
        sessions.iter().map(|one| (one.id, one.parent.filter(|_| one.kind == SessionKind::Child))).collect();
    let first_of = |id: SessionId| {
        let parent = |id: &SessionId| parents.get(id).copied().flatten().filter(|parent| parents.contains_key(parent));
        std::iter::successors(Some(id), parent).take(MAX_FAMILY_DEPTH).last().unwrap_or(id)
    };
    let mut last: BTreeMap<SessionId, Option<Timestamp>> = BTreeMap::new();
    for session in sessions {
        let known = last.entry(first_of(session.id)).or_default();
        *known = (*known).max(session.last_activity_at);
    }
    last.into_iter().filter(|(_, last)| last.is_some_and(|last| last < moment)).map(|(first, _)| first).collect()
}

fn all_sessions() -> SessionFilter {
    SessionFilter { include_empty: true, include_children: true, ..SessionFilter::default() }
}

/// Whether a saved assembler state contains the text, as a name or in a result.
fn state_contains(memory: &str, needle: &TextMatcher) -> bool {
    state_texts(memory).iter().any(|text| needle.matches(text))
}

fn build_report(
    plan: ForgetPlan,
    there: &RowCounts,
    left: &RowCounts,
    tombstones: u64,
    start: Instant,
) -> ForgetReport {
    let places: BTreeSet<&'static str> = there.keys().chain(left.keys()).copied().collect();
    let of = |places: &RowCounts, place: &str| places.get(place).copied().unwrap_or_default();
    let all =
        places.into_iter().map(|place| RemovedCount { place, count: of(there, place), remaining: of(left, place) });
    ForgetReport {
        sessions: plan.whole_sessions.into_iter().map(|(_, session)| session).collect(),
        partial_sessions: plan.partial_sessions.into_iter().map(|(_, session)| session).collect(),
        threads: plan.threads,
        removed: all.filter(|removed| removed.count > 0 || removed.remaining > 0).collect(),
        retained: plan.retained,
        tombstones,
        seconds: start.elapsed().as_secs_f64(),
    }
}

impl ForgetService<'_> {
    /// Deletes the logs of threads. The next sync finishes an interrupted deletion.
    fn remove_threads(self, threads: &[ThreadId]) -> Result<(), EngineError> {
        for id in threads {
            match self.engine.thread_store().delete(*id) {
                Ok(()) | Err(ThreadError::Deleted { .. } | ThreadError::Missing { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// The store, or an error if there is none although the target names a session.
fn found_for<S>(target: &ForgetTarget, store: Option<S>) -> Result<Option<S>, EngineError> {
    match (target, store) {
        (ForgetTarget::Sessions(references), None) => {
            Err(EngineError::UnknownReference(references.first().cloned().unwrap_or_default()))
        }
        (_, store) => Ok(store),
    }
}
