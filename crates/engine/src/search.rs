//! Finding what was said and done, whenever it was.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use jiff::Zoned;
use rethread_index::{IndexError, Lag, Patience, Snapshot, Unusable, discard, follow, lag};
use rethread_model::{Agent, Entry, Speech, Timestamp};
use rethread_recall::{Found, Hit, Kind, Query, Request, SearchError, Weights, When, search};
use rethread_store::{Scope, SessionNumber, Store};

use crate::indexing::{WORTH_A_COMMIT, outcome};
use crate::{Engine, EngineError, Indexed};

/// More entries than this that are not indexed are indexed first, if nobody else is at it.
const LONGEST_TAIL: u64 = 4_096;

/// Somebody who cannot wait reads no more entries than this that are not indexed.
const LONGEST_QUICK_TAIL: u64 = 512;

/// What to look for.
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    /// As typed: words, "phrases", -exclusions, filters, time phrases.
    pub text: String,
    /// Where.
    pub scope: Scope,
    /// Only in the session this reference means.
    pub session: Option<String>,
    /// Only of this agent.
    pub agent: Option<Agent>,
    /// Only entries of these kinds.
    pub kinds: Vec<Kind>,
    /// Only exchanges that touched one of these files.
    pub files: Vec<String>,
    /// Only exchanges that used one of these tools.
    pub tools: Vec<String>,
    /// Not before: a date, a span such as `7d`, or words such as `last week`.
    pub since: Option<String>,
    /// Not after.
    pub until: Option<String>,
    /// At most this many hits.
    pub limit: usize,
    /// Whole texts instead of snippets.
    pub full: bool,
    /// Also the prompt and the answer of each hit's exchange.
    pub exchanges: bool,
    /// Write nothing: no embedding model is asked, which the ledger would note, and the index stays as it is. What it
    /// lacks is read from the store.
    pub only_reads: bool,
}

/// What was found, and how.
#[derive(Clone, Debug, Default)]
pub struct SearchReport {
    /// Best first.
    pub hits: Vec<Recalled>,
    /// Entries that have a word of the query.
    pub matched: u64,
    /// Entries there are.
    pub searched: u64,
    /// What was not searched, if anything.
    pub degraded: Option<String>,
    /// What had to be done to the index first.
    pub index: Indexed,
    /// How long it took.
    pub seconds: f64,
}

/// A hit with what surrounds it, where that was asked for.
#[derive(Clone, Debug)]
pub struct Recalled {
    /// The hit.
    pub hit: Hit,
    /// What the human asked in that exchange.
    pub prompt: Option<String>,
    /// What the agent said last in it.
    pub answer: Option<String>,
}

/// Set while a damaged index is suspected: a panic is then caught and mended, and nobody has to be told.
static PROBING: AtomicBool = AtomicBool::new(false);

/// Whether a panic right now is expected and handled.
pub fn expects_panic() -> bool {
    PROBING.load(Ordering::Relaxed)
}

impl Engine {
    /// Finds what fits best, in everything that was synced up to now.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchReport, EngineError> {
        self.search_with(request, &Weights::default())
    }

    /// The same with other weights, to see what each part of the ranking is worth.
    pub fn search_with(&self, request: &SearchRequest, weights: &Weights) -> Result<SearchReport, EngineError> {
        let start = Instant::now();
        let now = self.here_and_now();
        let query = self.understand(request, &now)?;
        let database = self.database();
        let store = match self.warm.take_store(&database) {
            Some(store) => store,
            None => match self.reader()? {
                Some(store) => store,
                None => return Ok(SearchReport::default()),
            },
        };
        let sessions = self.wanted_sessions(&store, request, &query)?;
        let near = match self.current_project() {
            Scope::Project(project) => store.sessions_of_project(&project)?,
            Scope::AllProjects => Vec::new(),
        };
        let likeness = if request.only_reads { None } else { self.likeness(&store, &query) };
        let asked = Request {
            query: &query,
            sessions: sessions.as_deref(),
            near: &near,
            limit: request.limit,
            full: request.full,
            now: &now,
            weights,
            likeness: likeness.as_ref().and_then(|likeness| likeness.as_ref().ok()),
        };
        let work = |snapshot: &Snapshot| search(&store, snapshot, asked);
        let (found, index) = if request.only_reads {
            (self.with_snapshot_as_it_is(&store, work)?, Indexed::Nothing)
        } else {
            self.with_snapshot(&store, work)?
        };
        let Found { hits, matched, searched, degraded } = found;
        let mut recalled = Vec::with_capacity(hits.len());
        for hit in hits {
            let (prompt, answer) = if request.exchanges { exchange(&store, &hit)? } else { (None, None) };
            recalled.push(Recalled { hit, prompt, answer });
        }
        let (index, degraded) = match index {
            Indexed::Failed(why) => {
                let note = format!("the index could not be used, so everything was read from the store: {why}");
                (Indexed::Failed(why), degraded.or(Some(note)))
            }
            other => (other, degraded),
        };
        let without = likeness.and_then(Result::err).map(|why| format!("{why}; only words were searched"));
        let degraded = [without, degraded].into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
        self.warm.put_store(&database, store);
        Ok(SearchReport { hits: recalled, matched, searched, degraded, index, seconds: start.elapsed().as_secs_f64() })
    }

    /// Now, in the user's time zone.
    pub(crate) fn here_and_now(&self) -> Zoned {
        let now = jiff::Timestamp::from_millisecond(self.now().as_millis()).unwrap_or_default();
        now.to_zoned(self.environment.zone.clone())
    }

    /// A moment given by the user; `end` takes the end of a day or week instead of its beginning.
    pub(crate) fn moment(&self, text: &str, end: bool) -> Result<Timestamp, EngineError> {
        let span = When::parse(text, &self.here_and_now()).ok_or_else(|| EngineError::BadTime(text.to_owned()))?;
        Ok(if end { span.to } else { span.from })
    }

    /// The query as typed, narrowed by what was asked for beside it.
    fn understand(&self, request: &SearchRequest, now: &Zoned) -> Result<Query, EngineError> {
        let mut query = Query::parse(&request.text, now);
        query.agents.extend(request.agent);
        query.kinds.extend(&request.kinds);
        query.files.extend(request.files.iter().cloned());
        query.tools.extend(request.tools.iter().cloned());
        if let Some(since) = &request.since {
            let since = self.moment(since, false)?;
            query.after = Some(query.after.map_or(since, |after| after.max(since)));
        }
        if let Some(until) = &request.until {
            let until = self.moment(until, true)?;
            query.before = Some(query.before.map_or(until, |before| before.min(until)));
        }
        Ok(query)
    }

    /// The sessions the search is confined to; nothing if it is not.
    fn wanted_sessions(
        &self,
        store: &Store,
        request: &SearchRequest,
        query: &Query,
    ) -> Result<Option<Vec<SessionNumber>>, EngineError> {
        if let Some(reference) = &request.session {
            let listed = self.resolve_in(store, reference)?;
            return Ok(Some(store.session_number(listed.session.id)?.into_iter().collect()));
        }
        if request.scope == Scope::AllProjects && query.agents.is_empty() {
            return Ok(None);
        }
        Ok(Some(store.session_numbers_of(&request.scope, &query.agents)?))
    }

    /// Works on the index as it is, or on one made again if it is missing or damaged, or on the store alone if that
    /// is not possible either.
    pub(crate) fn with_snapshot<T>(
        &self,
        store: &Store,
        work: impl Fn(&Snapshot) -> Result<T, SearchError>,
    ) -> Result<(T, Indexed), EngineError> {
        let folder = self.index_folder();
        let head = store.head()?;
        let attempt = || -> Result<T, SearchError> {
            let snapshot = match self.warm.snapshot(head) {
                Some(snapshot) => snapshot,
                None => Arc::new(Snapshot::open(&folder, store)?),
            };
            self.warm.keep(None);
            let answer = work(&snapshot)?;
            self.warm.keep(Some((head, snapshot)));
            Ok(answer)
        };
        let is_warm = self.warm.snapshot(head).is_some();
        let prepared = if is_warm { Ok(Indexed::Nothing) } else { self.prepare_index(store) };
        let mut done = prepared.as_ref().map_or(Indexed::Nothing, Clone::clone);
        if prepared.is_ok() {
            match guarded(attempt) {
                Ok(answer) => return Ok((answer, done)),
                Err(Broken::Index) => {}
                Err(Broken::Other(error)) => return Err(error.into()),
            }
            let mended = discard(&folder).and_then(|()| follow(&folder, store, Patience::Wait));
            match mended {
                Ok(followed) => {
                    done = match outcome(followed) {
                        Indexed::Episodes { count, .. } => Indexed::Episodes { count, anew: Some(Unusable::Damaged) },
                        other => other,
                    };
                    if let Ok(answer) = attempt() {
                        return Ok((answer, done));
                    }
                    done = Indexed::Failed("it is damaged again right after it was made".to_owned());
                }
                Err(error) => done = Indexed::Failed(error.to_string()),
            }
        } else if let Err(error) = prepared {
            done = Indexed::Failed(error.to_string());
        }
        let answer = Snapshot::of_store(store).map_err(SearchError::from).and_then(|snapshot| work(&snapshot))?;
        Ok((answer, done))
    }

    /// The same without touching the index: what it lacks is read from the store, and all of it if it cannot be used.
    pub(crate) fn with_snapshot_as_it_is<T>(
        &self,
        store: &Store,
        work: impl Fn(&Snapshot) -> Result<T, SearchError>,
    ) -> Result<T, EngineError> {
        let (folder, head) = (self.index_folder(), store.head()?);
        let of_index = || -> Result<Option<T>, SearchError> {
            let snapshot = match self.warm.snapshot(head) {
                Some(snapshot) => snapshot,
                None if matches!(lag(&folder, store, 1)?, Lag::Unusable(_)) => return Ok(None),
                None => Arc::new(Snapshot::open(&folder, store)?),
            };
            let answer = work(&snapshot)?;
            self.warm.keep(Some((head, snapshot)));
            Ok(Some(answer))
        };
        match guarded(of_index) {
            Ok(Some(answer)) => return Ok(answer),
            Ok(None) | Err(Broken::Index) => {}
            Err(Broken::Other(error)) => return Err(error.into()),
        }
        let snapshot = Arc::new(Snapshot::of_store(store)?);
        let answer = work(&snapshot)?;
        self.warm.keep(Some((head, snapshot)));
        Ok(answer)
    }

    /// The index, if little is missing in it; without one the store, if it is small.
    pub(crate) fn quick_snapshot(&self, store: &Store) -> Result<Option<Snapshot>, SearchError> {
        let folder = self.index_folder();
        Ok(match lag(&folder, store, LONGEST_QUICK_TAIL + 1)? {
            Lag::None => Some(Snapshot::open(&folder, store)?),
            Lag::Entries(entries) if entries <= LONGEST_QUICK_TAIL => Some(Snapshot::open(&folder, store)?),
            Lag::Unusable(_) if store.entries_after(0, LONGEST_QUICK_TAIL + 1)? <= LONGEST_QUICK_TAIL => {
                Some(Snapshot::of_store(store)?)
            }
            _ => None,
        })
    }

    /// The index with what it lacks, if that is little; without an index the store, if it is small.
    pub(crate) fn indexed_snapshot(&self, store: &Store) -> Result<Option<Snapshot>, SearchError> {
        if let Some(snapshot) = Snapshot::open_quickly(&self.index_folder(), store, WORTH_A_COMMIT)? {
            return Ok(Some(snapshot));
        }
        let is_small = store.entries_after(0, LONGEST_QUICK_TAIL + 1)? <= LONGEST_QUICK_TAIL;
        Ok(if is_small { Some(Snapshot::of_store(store)?) } else { None })
    }

    /// Brings the index up to the store where reading the difference would take longer than indexing it.
    fn prepare_index(&self, store: &Store) -> Result<Indexed, IndexError> {
        let folder = self.index_folder();
        match lag(&folder, store, LONGEST_TAIL)? {
            Lag::None => Ok(Indexed::Nothing),
            Lag::Entries(entries) if entries <= LONGEST_TAIL => Ok(Indexed::Nothing),
            Lag::Entries(_) => follow(&folder, store, Patience::None).map(outcome),
            Lag::Unusable(_) => follow(&folder, store, Patience::Wait).map(outcome),
        }
    }
}

pub(crate) enum Broken {
    /// The index is damaged.
    Index,
    /// Something else.
    Other(SearchError),
}

/// A damaged file can make the library that reads it panic. That is as good a sign as an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, SearchError>) -> Result<T, Broken> {
    PROBING.store(true, Ordering::Relaxed);
    let done = catch_unwind(AssertUnwindSafe(work));
    PROBING.store(false, Ordering::Relaxed);
    match done {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(SearchError::Index(IndexError::Damaged(_)))) | Err(_) => Err(Broken::Index),
        Ok(Err(error)) => Err(Broken::Other(error)),
    }
}

/// What was asked and what was answered in the exchange a hit is part of.
fn exchange(store: &Store, hit: &Hit) -> Result<(Option<String>, Option<String>), EngineError> {
    let entries = store.entries_of(hit.key)?;
    Ok((prompt_of(&entries).map(str::to_owned), answer_of(&entries).map(str::to_owned)))
}

/// What the human, or the parent of a sub-agent, asked.
pub(crate) fn prompt_of(entries: &[Entry]) -> Option<&str> {
    entries.iter().find(|entry| matches!(entry.speech, Speech::Prompt | Speech::Task)).map(|entry| entry.text.as_str())
}

/// What the agent said last.
pub(crate) fn answer_of(entries: &[Entry]) -> Option<&str> {
    entries.iter().rev().find(|entry| entry.speech == Speech::Said).map(|entry| entry.text.as_str())
}
