//! Deriving everything again, and checking that what is stored agrees with itself.

use std::collections::HashSet;
use std::time::Instant;

use rethread_index::{IndexError, Lag, Unusable, lag};
use rethread_ingest::source::file;
use rethread_ingest::{Story, retell};
use rethread_model::thread::Record;
use rethread_model::{Counts, Session};
use rethread_store::{Batch, Damage, SessionFilter, SessionNumber, SessionUpdate, Store};

use crate::sync::{Job, Plan, Progress, Start, SyncReport, SyncRequest, Tally, carry_out};
use crate::{Engine, EngineError};

/// What a rebuild did.
#[derive(Clone, Debug)]
pub struct RebuildReport {
    /// What was read.
    pub sync: SyncReport,
    /// Sessions whose transcripts are gone, told again from what was kept of them.
    pub kept: u64,
}

/// What a check found.
#[derive(Clone, Debug)]
pub struct VerifyReport {
    /// What was checked.
    pub checks: Vec<&'static str>,
    /// Contradictions.
    pub damage: Vec<Damage>,
    /// Sessions looked at.
    pub sessions: u64,
}

const THREADS_CHECK: &str = "every line of a thread is a record, numbered without a gap";
const INDEX_CHECK: &str = "the search index has what the store has";
const WIPED_CHECK: &str = "what was forgotten is wiped";
const RETOLD_CHECK: &str = "telling a session again gives the same counts and episodes";

impl Engine {
    /// Derives everything again: from the transcripts, or from the kept entries where a transcript is gone.
    pub fn rebuild(&self, progress: &mut dyn FnMut(Progress)) -> Result<RebuildReport, EngineError> {
        self.config.must_be_usable()?;
        let start = Instant::now();
        let mut store = self.writer()?;
        let mut batch = store.begin()?;
        batch.clear_redactions()?;
        batch.commit()?;
        let (plan, kept) = plan_rebuild(&mut store)?;
        let mut tally = Tally::default();
        carry_out(self, &mut store, &plan, &mut tally, progress)?;
        drop(store);
        // Whatever is new or was in the way is read as usual.
        let rest = self.sync(&SyncRequest::default(), progress)?;
        let store = self.writer()?;
        for report in &rest.agents {
            let total = tally.of(report.agent);
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
        Ok(RebuildReport { sync: SyncReport { agents, seconds: start.elapsed().as_secs_f64(), ..rest }, kept })
    }

    /// Checks the database file, what must agree in it, and that every story can be told again.
    pub fn verify(&self) -> Result<VerifyReport, EngineError> {
        let checks = Store::checks().chain([RETOLD_CHECK, INDEX_CHECK, THREADS_CHECK, WIPED_CHECK]).collect();
        let mut damage = self.verify_threads()?;
        let Some(store) = self.reader()? else {
            return Ok(VerifyReport { checks, damage, sessions: 0 });
        };
        damage.extend(store.verify()?);
        if store.is_unwiped()? {
            let found = "bytes are still in the files; the next sync wipes them".to_owned();
            damage.push(Damage { check: WIPED_CHECK, found });
        }
        let filter = SessionFilter { include_children: true, include_empty: true, ..SessionFilter::default() };
        let sessions = store.sessions(&filter)?;
        for session in &sessions {
            let (entries, nodes) = store.skeletons(session.id)?;
            let memory = store.memory(session.id)?.unwrap_or_default();
            let Ok(mut story) = Story::resume(session.agent, &session.external_id, &memory) else {
                let found = format!("session {}: its memory cannot be read", session.id);
                damage.push(Damage { check: RETOLD_CHECK, found });
                continue;
            };
            let retold = retell(&entries, &nodes, story.leaf());
            story.adopt(&retold);
            let counts = story.counts(session.kind);
            let episodes = store.episodes(session.id)?;
            if counts != session.counts || episodes != retold.episodes {
                let found = format!("session {}: {}", session.id, difference(counts, session.counts));
                damage.push(Damage { check: RETOLD_CHECK, found });
            }
        }
        damage.extend(self.verify_index(&store)?);
        Ok(VerifyReport { checks, damage, sessions: sessions.len() as u64 })
    }
}

impl Engine {
    /// Every line of every log is a record, and their numbers have no gap. The end of a line that was cut off by a
    /// kill is no damage: it was never acknowledged, and is passed over.
    fn verify_threads(&self) -> Result<Vec<Damage>, EngineError> {
        let threads = self.threads();
        let mut damage = Vec::new();
        for id in threads.ids()? {
            let mut found = |what: String| {
                damage.push(Damage { check: THREADS_CHECK, found: format!("thread {id}: {what}") });
            };
            let logged = match threads.read(id) {
                Ok(logged) => logged,
                Err(error) => {
                    found(error.to_string());
                    continue;
                }
            };
            if threads.has_damaged_metadata(id) {
                found("its metadata cannot be read; a name or instructions may be lost".to_owned());
            }
            for (expected, seq) in (1..).zip(logged.records.iter().filter_map(Record::seq)) {
                if seq != expected {
                    found(format!("record {expected} has the number {seq}"));
                    break;
                }
            }
        }
        Ok(damage)
    }

    /// An index that is missing is no damage: it is made when it is needed.
    fn verify_index(&self, store: &Store) -> Result<Vec<Damage>, EngineError> {
        let folder = self.index_folder();
        if lag(&folder, store, 0)? == Lag::Unusable(Unusable::Missing) {
            return Ok(Vec::new());
        }
        let wrong = match rethread_index::verify(&folder, store) {
            Ok(wrong) => wrong,
            Err(IndexError::Damaged(cause)) => vec![format!("it cannot be read: {cause}")],
            Err(error) => return Err(error.into()),
        };
        Ok(wrong.into_iter().map(|found| Damage { check: INDEX_CHECK, found }).collect())
    }
}

/// All files that are still there, to be read anew in their old order; the other sessions are retold at once.
fn plan_rebuild(store: &mut Store) -> Result<(Plan, u64), EngineError> {
    let mut plan = Plan::default();
    let (mut read, mut gone) = (HashSet::new(), Vec::new());
    for row in store.transcripts()? {
        let Some(session) = row.session else { continue };
        match file::open(std::path::Path::new(&row.path)) {
            Ok((_, stamp)) if stamp.size > 0 => {
                read.insert(session);
                let (agent, path) = (row.agent, row.path.clone().into());
                plan.jobs.push(Job { agent, path, stamp, start: Start::Again(Box::new(row)) });
            }
            _ => gone.push(session),
        }
    }
    gone.retain(|session| !read.contains(session));
    gone.sort_unstable();
    gone.dedup();
    for session in &gone {
        retell_stored(store, *session)?;
    }
    Ok((plan, gone.len() as u64))
}

/// Tells a session again from its kept entries.
fn retell_stored(store: &mut Store, number: SessionNumber) -> Result<(), EngineError> {
    let mut batch = store.begin()?;
    let Some((session, Some(memory))) = batch.stored_session(number)? else { return Ok(()) };
    let Ok(story) = Story::resume(session.agent, &session.external_id, &memory) else { return Ok(()) };
    retell_kept(&mut batch, (number, &session), story, session.name.as_deref())?;
    Ok(batch.commit()?)
}

/// Tells a story again from the entries that are stored, under that name.
pub(crate) fn retell_kept(
    batch: &mut Batch<'_>,
    (number, session): (SessionNumber, &Session),
    mut story: Story,
    name: Option<&str>,
) -> Result<(), EngineError> {
    let (entries, nodes) = batch.skeletons(number)?;
    let retold = retell(&entries, &nodes, story.leaf());
    batch.apply_retelling(number, &retold.episodes, &retold.placed, retold.edited.iter())?;
    story.adopt(&retold);
    let memory = story.save().map_err(EngineError::Memory)?;
    let update = SessionUpdate {
        kind: session.kind,
        parent_external: None,
        name,
        cwd: session.cwd.as_deref(),
        project: session.project.as_deref(),
        namespace: session.namespace.as_deref(),
        branch: session.branch.as_deref(),
        model: session.model.as_deref(),
        started_at: session.started_at,
        last_activity_at: session.last_activity_at,
        transcript: None,
        counts: story.counts(session.kind),
        kept_tokens: story.kept_tokens(),
        empty: story.is_empty(),
        memory: &memory,
        bytes_read: 0,
    };
    Ok(batch.save_session(number, &update)?)
}

fn difference(told: Counts, stored: Counts) -> String {
    if told == stored { "its episodes differ".to_owned() } else { format!("told {told:?}, stored {stored:?}") }
}
