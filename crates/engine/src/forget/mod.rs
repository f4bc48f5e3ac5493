//! Forgetting: sessions, or every exchange with a text in it, and all that was derived, kept or told of them.
//!
//! Files go first, then rows in one transaction with the tombstones, then the bytes: whoever is killed in between and
//! asks again finds what is left, and a sync finishes what only concerns bytes.

mod files;
mod text;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::Instant;

use rethread_index::{Patience, discard, follow};
use rethread_ingest::remembered_texts;
use rethread_model::thread::ThreadId;
use rethread_model::{Agent, Session, SessionId, Timestamp};
use rethread_store::{Marks, Needle, Places, SessionFilter, SessionNumber, Store, ThreadError};

use crate::{Engine, EngineError};

/// Sub-agents of sub-agents of sub-agents: nobody goes deeper than this.
const DEEPEST_FAMILY: usize = 64;

/// What is to be forgotten.
#[derive(Clone, Debug)]
pub enum ForgetTarget {
    /// The sessions that references mean, with their sub-agents.
    Sessions(Vec<String>),
    /// All sessions of the project at a path.
    Project(PathBuf),
    /// All sessions in which nothing happened since a moment, as people write it.
    Before(String),
    /// Every exchange that contains a text, and whatever else does.
    Matching(String),
}

/// What was forgotten, or would be.
#[derive(Clone, Debug, Default)]
pub struct Forgotten {
    /// Sessions that go whole, sub-agents among them.
    pub sessions: Vec<Session>,
    /// Sessions that stay, and lose exchanges or names.
    pub shortened: Vec<Session>,
    /// Threads of ours whose logs go: nobody else has them.
    pub threads: Vec<ThreadId>,
    /// What there was, where, and what of it is still there.
    pub removed: Vec<Removed>,
    /// What contains the text and stays, because it says where somebody else's files are.
    pub staying: Places,
    /// What keeps it from coming back: sessions, and entries of sessions that stay.
    pub tombstones: u64,
    /// How long it took.
    pub seconds: f64,
}

/// What there was in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// What people call it.
    pub place: &'static str,
    /// How many there were.
    pub count: u64,
    /// How many are still there, read back afterwards.
    pub left: u64,
}

impl Forgotten {
    /// Whether there was anything.
    pub fn is_nothing(&self) -> bool {
        self.staying.is_empty() && self.removed.iter().all(|removed| removed.count == 0 && removed.left == 0)
    }

    /// Where something is left.
    pub fn left(&self) -> impl Iterator<Item = &Removed> {
        self.removed.iter().filter(|removed| removed.left > 0)
    }
}

/// All that is to go.
#[derive(Debug, Default)]
struct Doom {
    /// Sessions that go whole.
    whole: Vec<(SessionNumber, Session)>,
    /// By what is recognised that others were told of them.
    marks: Marks,
    /// When that was asked.
    asked_at: Timestamp,
    /// The text.
    needle: Option<Needle>,
    /// Entries of sessions that stay.
    entries: BTreeMap<SessionNumber, BTreeSet<u64>>,
    /// Sessions that stay and are told again.
    shortened: Vec<(SessionNumber, Session)>,
    /// Threads of ours.
    threads: Vec<ThreadId>,
    /// What there is in the database.
    places: Places,
    /// What contains the text and stays.
    staying: Places,
}

impl Engine {
    /// What would be forgotten. Writes nothing.
    pub fn forget_dry_run(&self, target: &ForgetTarget) -> Result<Forgotten, EngineError> {
        let start = Instant::now();
        let Some(store) = self.store_to_forget_in(target)? else { return Ok(Forgotten::default()) };
        let doom = self.doom(&store, target)?;
        let there = self.all_places(&doom);
        let tombstones = doom.whole.len() + doom.entries.values().map(BTreeSet::len).sum::<usize>();
        Ok(report(doom, &there, &Places::new(), tombstones as u64, start))
    }

    /// Forgets it for good, and reads back what is left.
    pub fn forget(&self, target: &ForgetTarget) -> Result<Forgotten, EngineError> {
        let start = Instant::now();
        let Some(mut store) = self.store_to_forget_in(target)? else { return Ok(Forgotten::default()) };
        // What was forgotten before and not wiped, because somebody was killed or still reading, is not found below.
        self.finish_forgetting(&mut store)?;
        let doom = self.doom(&store, target)?;
        let there = self.all_places(&doom);
        if there.values().all(|count| *count == 0) {
            let left = self.left_of(&store, &doom)?;
            return Ok(report(doom, &there, &left, 0, start));
        }
        self.remove_files(&doom)?;
        let tombstones = self.remove_rows(&mut store, &doom)?;
        self.finish_forgetting(&mut store)?;
        let left = self.left_of(&store, &doom)?;
        self.note("forgotten", None, &[("sessions", doom.whole.len().into()), ("tombstones", tombstones.into())]);
        Ok(report(doom, &there, &left, tombstones, start))
    }

    /// Wipes what was forgotten before and is still in the files, because somebody was killed or still reading.
    pub fn wipe_forgotten(&self) -> Result<(), EngineError> {
        self.reader()?.map_or(Ok(()), |mut store| self.finish_forgetting(&mut store))
    }

    /// Wipes the bytes of what was forgotten out of index and database, if that is still to be done.
    pub(crate) fn finish_forgetting(&self, store: &mut Store) -> Result<(), EngineError> {
        if !store.is_unwiped()? {
            return Ok(());
        }
        // Words stay in the files of an index until they are merged away, so it is made anew.
        let folder = self.index_folder();
        discard(&folder)?;
        follow(&folder, store, Patience::Wait)?;
        store.wipe()?;
        Ok(())
    }

    fn store_to_forget_in(&self, target: &ForgetTarget) -> Result<Option<Store>, EngineError> {
        let store = self.reader()?;
        match (target, store) {
            (ForgetTarget::Sessions(references), None) => {
                Err(EngineError::UnknownReference(references.first().cloned().unwrap_or_default()))
            }
            (_, store) => Ok(store),
        }
    }

    fn doom(&self, store: &Store, target: &ForgetTarget) -> Result<Doom, EngineError> {
        let chosen = |sessions: Vec<Session>| sessions.into_iter().map(|session| session.id).collect::<Vec<_>>();
        let ids = match target {
            ForgetTarget::Matching(text) => return self.doom_of_text(store, text),
            ForgetTarget::Sessions(references) => {
                let found = references.iter().map(|reference| Ok(self.resolve_in(store, reference)?.session));
                chosen(found.collect::<Result<_, EngineError>>()?)
            }
            ForgetTarget::Project(path) => {
                chosen(store.sessions(&SessionFilter { scope: self.project_at(path), ..everything() })?)
            }
            ForgetTarget::Before(moment) => {
                untouched_since(&store.sessions(&everything())?, self.moment(moment, false)?)
            }
        };
        let mut doom = Doom { whole: store.family(&ids)?, asked_at: self.now(), ..Doom::default() };
        complete(store, &mut doom)?;
        Ok(doom)
    }

    /// Everything there is, wherever it is.
    fn all_places(&self, doom: &Doom) -> Places {
        let mut places = doom.places.clone();
        places.extend(self.files_of(doom).places());
        let is_doomed = |session: SessionNumber, seq: u64| {
            doom.whole.iter().any(|(number, _)| *number == session)
                || doom.entries.get(&session).is_some_and(|seqs| seqs.contains(&seq))
        };
        // An index that cannot be read is made anew, and holds nothing then.
        places.insert("index", rethread_index::count(&self.index_folder(), &is_doomed).unwrap_or_default());
        places
    }

    /// What is still there.
    fn left_of(&self, store: &Store, doom: &Doom) -> Result<Places, EngineError> {
        let mut left = store.traces_of(&doom.whole, &doom.marks, doom.asked_at)?;
        left.extend(self.files_of(doom).places());
        left.insert("index", self.left_in_index(store, doom)?);
        left.insert("bytes of the database", u64::from(store.is_unwiped()?));
        if let Some(needle) = &doom.needle {
            for (place, count) in store.rows_with(needle)? {
                *left.entry(place).or_default() += count;
            }
            let remembering = store.sessions_by_memory(&|memory| remembers(memory, needle))?;
            *left.entry("sessions").or_default() += remembering.len() as u64;
        }
        Ok(left)
    }

    /// What the index still has. Another process may have written to it meanwhile, from what it had read before: then
    /// it is made anew once more.
    fn left_in_index(&self, store: &Store, doom: &Doom) -> Result<u64, EngineError> {
        let left = self.doomed_in_index(store, doom);
        if left == 0 {
            return Ok(0);
        }
        discard(&self.index_folder())?;
        follow(&self.index_folder(), store, Patience::Wait)?;
        Ok(self.doomed_in_index(store, doom))
    }

    /// Entries of sessions that stay are numbered anew, so there only an index that holds exactly what the store holds
    /// has nothing that was forgotten.
    fn doomed_in_index(&self, store: &Store, doom: &Doom) -> u64 {
        let folder = self.index_folder();
        if !doom.entries.is_empty() {
            return rethread_index::verify(&folder, store).map_or(1, |wrong| wrong.len() as u64);
        }
        let is_doomed = |session: SessionNumber, _| doom.whole.iter().any(|(number, _)| *number == session);
        rethread_index::count(&folder, &is_doomed).unwrap_or(1)
    }

    fn remove_rows(&self, store: &mut Store, doom: &Doom) -> Result<u64, EngineError> {
        let mut batch = store.begin_forgetting()?;
        batch.bury(&doom.whole, &doom.marks, self.now())?;
        let Some(needle) = &doom.needle else {
            batch.commit()?;
            return Ok(doom.whole.len() as u64);
        };
        let (kept_out, to_read) = self.remove_mentions(&mut batch, doom, needle)?;
        batch.commit()?;
        for (agent, paths) in to_read {
            self.take_in_with(store, agent, &paths)?;
        }
        let mut batch = store.begin_forgetting()?;
        for (number, _) in &doom.shortened {
            batch.shorten_watermarks(*number)?;
        }
        batch.commit()?;
        self.draw_older_facts(store)?;
        Ok(doom.whole.len() as u64 + kept_out)
    }
}

/// Adds what follows from the sessions that go whole.
fn complete(store: &Store, doom: &mut Doom) -> Result<(), EngineError> {
    doom.marks = store.marks_of(&doom.whole)?;
    for (place, count) in store.traces_of(&doom.whole, &doom.marks, doom.asked_at)? {
        *doom.places.entry(place).or_default() += count;
    }
    let own = doom.whole.iter().filter(|(_, session)| session.agent == Agent::Native);
    doom.threads.extend(own.filter_map(|(_, session)| session.external_id.parse::<ThreadId>().ok()));
    doom.threads.sort_unstable();
    doom.threads.dedup();
    Ok(())
}

/// Sessions in whose families nothing happened since a moment, by the first of each family: one without a parent, or
/// whose parent is not there.
fn untouched_since(sessions: &[Session], moment: Timestamp) -> Vec<SessionId> {
    let parents: HashMap<SessionId, Option<SessionId>> =
        sessions.iter().map(|session| (session.id, session.parent)).collect();
    let first_of = |id: SessionId| {
        let parent = |id: &SessionId| parents.get(id).copied().flatten().filter(|parent| parents.contains_key(parent));
        std::iter::successors(Some(id), parent).take(DEEPEST_FAMILY).last().unwrap_or(id)
    };
    let mut last: BTreeMap<SessionId, Option<Timestamp>> = BTreeMap::new();
    for session in sessions {
        let known = last.entry(first_of(session.id)).or_default();
        *known = (*known).max(session.last_activity_at);
    }
    last.into_iter().filter(|(_, last)| last.is_some_and(|last| last < moment)).map(|(first, _)| first).collect()
}

/// Every session there is.
fn everything() -> SessionFilter {
    SessionFilter { include_empty: true, include_children: true, ..SessionFilter::default() }
}

/// Whether a story remembers a text: as a name, or in a result.
fn remembers(memory: &str, needle: &Needle) -> bool {
    remembered_texts(memory).iter().any(|text| needle.is_in(text))
}

fn report(doom: Doom, there: &Places, left: &Places, tombstones: u64, start: Instant) -> Forgotten {
    let places: BTreeSet<&'static str> = there.keys().chain(left.keys()).copied().collect();
    let of = |places: &Places, place: &str| places.get(place).copied().unwrap_or_default();
    let all = places.into_iter().map(|place| Removed { place, count: of(there, place), left: of(left, place) });
    Forgotten {
        sessions: doom.whole.into_iter().map(|(_, session)| session).collect(),
        shortened: doom.shortened.into_iter().map(|(_, session)| session).collect(),
        threads: doom.threads,
        removed: all.filter(|removed| removed.count > 0 || removed.left > 0).collect(),
        staying: doom.staying,
        tombstones,
        seconds: start.elapsed().as_secs_f64(),
    }
}

impl Engine {
    /// Deletes the logs of threads. What was interrupted is finished by the next sync.
    fn remove_threads(&self, threads: &[ThreadId]) -> Result<(), EngineError> {
        for id in threads {
            match self.threads().delete(*id) {
                Ok(()) | Err(ThreadError::Deleted { .. } | ThreadError::Missing { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
