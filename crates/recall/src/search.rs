//! From a query to a page of hits: match, filter, rank, read, cite.

use jiff::Zoned;
use rethread_index::{IndexError, Snapshot, searchable_text};
use rethread_model::{Entry, Episode, Session};
use rethread_store::{EpisodeKey, SessionNumber, Store, StoreError};

use crate::allowed::{Allowed, kind_of};
use crate::candidates::Candidates;
use crate::matches::Matches;
use crate::rank::{self, Moment, Ranked};
use crate::weights::{Weights, Why};
use crate::{Kind, Query, Snippet, marked, snippet, terms};

/// What to look for, and where.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What to look for.
    pub query: &'a Query,
    /// The only sessions wanted, if not all.
    pub sessions: Option<&'a [SessionNumber]>,
    /// Sessions of the project the user is in; they come first where all else is equal.
    pub near: &'a [SessionNumber],
    /// At most this many hits.
    pub limit: usize,
    /// Whole texts instead of snippets.
    pub full: bool,
    /// What "yesterday" is.
    pub now: &'a Zoned,
    /// How the parts of a score are weighed.
    pub weights: &'a Weights,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Entries that have at least one word of the query.
    pub matched: u64,
    /// Entries there are to search.
    pub searched: u64,
    /// What was not searched, if anything.
    pub degraded: Option<String>,
}

/// One entry that was found.
#[derive(Clone, Debug)]
pub struct Hit {
    /// The session.
    pub session: Session,
    /// The exchange it is part of.
    pub episode: Option<Episode>,
    /// Where to find that.
    pub key: EpisodeKey,
    /// The entry.
    pub entry: Entry,
    /// What kind of entry it is.
    pub kind: Kind,
    /// How good it is; comparable within one answer.
    pub score: f32,
    /// The parts of the score.
    pub why: Vec<Why>,
    /// The piece that shows it.
    pub snippet: Snippet,
}

/// Why nothing could be found out.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The index.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Finds what fits best.
pub fn search(store: &Store, snapshot: &Snapshot, request: Request<'_>) -> Result<Found, SearchError> {
    let query = request.query;
    let wanted = terms::of(&query.topic);
    let words: Vec<String> = wanted.iter().map(|term| term.text.clone()).collect();
    let allowed = Allowed::find(snapshot, query, request.sessions, !words.is_empty())?;
    let matches = Matches::find(snapshot, wanted)?;
    let moment = Moment { now: request.now, times: &query.times };
    let candidates = if words.is_empty() {
        Candidates::by_time(snapshot, &matches, &allowed, moment)?
    } else {
        Candidates::by_words(snapshot, &matches, &allowed)?
    };
    let mut ranked = rank::rank(snapshot, &matches, &candidates, moment, request.near, request.weights);
    ranked.truncate(request.limit);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut hits = Vec::with_capacity(ranked.len());
    for one in ranked {
        hits.extend(read(store, one, &words, request.full)?);
    }
    Ok(Found { hits, matched: candidates.matched, searched: matches.entries, degraded: None })
}

/// Reads what was found; nothing if it is gone by now.
fn read(store: &Store, ranked: Ranked, words: &[&str], full: bool) -> Result<Option<Hit>, StoreError> {
    let Ranked { candidate, score, why } = ranked;
    let key = candidate.episode;
    let Some(entry) = store.entry_at(key.session, candidate.seq)? else { return Ok(None) };
    let Some(session) = store.session_by_number(key.session)? else { return Ok(None) };
    let text = searchable_text(&entry);
    let snippet = if full { marked(&text, words) } else { snippet(&text, words) };
    let episode = store.episode_at(key)?;
    let kind = kind_of(entry.speech);
    Ok(Some(Hit { session, episode, key, kind, score, why, snippet, entry }))
}
