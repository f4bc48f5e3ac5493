//! From a query to a page of hits: match, filter, rank, read, cite.

use jiff::Zoned;
use rethread_index::{IndexError, Snapshot, searchable_text};
use rethread_model::{Entry, Episode, Session};
use rethread_store::{EpisodeKey, SessionNumber, Store, StoreError};

use crate::allowed::{Allowed, Phrases, kind_of};
use crate::candidates::{self, Candidates};
use crate::matches::Matches;
use crate::page;
use crate::rank::{Fit, Moment, Ranked, Ranker};
use crate::terms::Wanted;
use crate::weights::{Values, Weights, Why};
use crate::{Kind, Likeness, Query, Snippet, marked, snippet};

/// Entries whose texts are looked through for what is not indexed.
const LOOKED_THROUGH: usize = 2_000;
/// So many words are looked for as they are; more describe what is meant.
const FEW_WORDS: usize = 3;
/// Bytes shown before and after what was found so.
const LITERAL_CONTEXT: usize = 80;

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
    /// How alike entries are to the query in meaning, where an embedding model was asked.
    pub likeness: Option<&'a Likeness>,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Entries that have at least one word of the query, or are most alike to it in meaning.
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
    /// How many words of the query, of those that do not only frame it, stand in it or close by.
    pub words: u32,
    /// Their share of what all words of the query are worth: 0 to 1, also comparable between answers.
    pub share: f32,
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
    let wanted = Wanted::of(&query.topic, &query.words, snapshot)?;
    let matches = Matches::find(snapshot, &wanted, store.session_count()?)?;
    if wanted.terms.is_empty() {
        return newest(store, snapshot, &matches, request);
    }
    let moment = Moment { now: request.now, times: &query.times };
    let look = |phrases: Phrases| -> Result<Candidates, IndexError> {
        let allowed = Allowed::find(snapshot, query, request.sessions, true, phrases)?;
        let mut candidates = Candidates::by_words(snapshot, &matches, &allowed, moment, request.limit)?;
        // Who types a word or two wants to see them; who asks wants the answer, which may use other words.
        if query.is_question || wanted.terms.len() > FEW_WORDS {
            candidates.add_neighbours(snapshot, &allowed);
        }
        if let Some(likeness) = request.likeness {
            candidates.add_alike(snapshot, &matches, &allowed, likeness)?;
        }
        Ok(candidates)
    };
    let phrases = if query.is_question { Phrases::Preferred } else { Phrases::Required };
    let mut candidates = look(phrases)?;
    let mut degraded = None;
    if candidates.entries.is_empty() && phrases == Phrases::Required && !query.phrases.is_empty() {
        candidates = look(Phrases::Preferred)?;
        degraded = (!candidates.entries.is_empty())
            .then(|| format!("nothing has {} word for word; these have its words", quoted(&query.phrases)));
    }
    let ranker = Ranker::new(snapshot, &matches, &wanted, &candidates, moment, request.weights);
    let ranker = ranker.near(request.near).alike(request.likeness).look_up(query)?;
    let words: Vec<&str> = wanted.words().collect();
    let mut hits = Vec::new();
    for one in page::arrange(ranker.rank(), request.limit) {
        hits.extend(read(store, &one, ranker.fit(&one.candidate), &words, request)?);
    }
    Ok(Found { hits, matched: candidates.matched, searched: matches.entries, degraded })
}

/// Where no word can be looked up: the newest entries that pass the filters and lie in the times that are named. Words
/// so common that they are not indexed, and signs, are looked for in the texts themselves.
fn newest(store: &Store, snapshot: &Snapshot, matches: &Matches, request: Request<'_>) -> Result<Found, SearchError> {
    let query = request.query;
    let moment = Moment { now: request.now, times: &query.times };
    let allowed = Allowed::find(snapshot, query, request.sessions, false, Phrases::Required)?;
    let newest = candidates::newest(snapshot, &allowed, moment);
    let literal = if query.times.is_empty() { query.words.trim().to_lowercase() } else { String::new() };
    let (mut hits, mut matched) = (Vec::new(), newest.len() as u64);
    for (candidate, looked_at) in newest.iter().zip(1..) {
        if hits.len() == request.limit || (!literal.is_empty() && looked_at > LOOKED_THROUGH) {
            break;
        }
        let one = Ranked { candidate: *candidate, score: 0.0, values: Values::default() };
        let Some(mut hit) = read(store, &one, Fit::default(), &[], request)? else { continue };
        if !literal.is_empty() {
            let Some(found) = literally(&searchable_text(&hit.entry), &literal) else { continue };
            hit.snippet = found;
        }
        hit.why = vec![Why { part: if literal.is_empty() { "newest" } else { "literal" }, points: 1.0 }];
        hits.push(hit);
    }
    let mut degraded = None;
    if !literal.is_empty() {
        matched = hits.len() as u64;
        let among = LOOKED_THROUGH.min(newest.len());
        degraded = Some(format!("too common to be indexed: only the newest {among} entries were looked through"));
    }
    Ok(Found { hits, matched, searched: matches.entries, degraded })
}

/// The piece of a text around another text, whatever its case.
fn literally(text: &str, literal: &str) -> Option<Snippet> {
    let lower = text.to_lowercase();
    let at = lower.find(literal)?;
    // Lower case may have another length; then the beginning is near enough.
    let from = text.floor_char_boundary(at.saturating_sub(LITERAL_CONTEXT));
    let to = text.ceil_char_boundary((at + literal.len() + LITERAL_CONTEXT).min(text.len()));
    Some(snippet(&text[from..to], &[]))
}

fn quoted(phrases: &[String]) -> String {
    phrases.iter().map(|phrase| format!("\u{201c}{phrase}\u{201d}")).collect::<Vec<_>>().join(", ")
}

/// Reads what was found; nothing if it is gone by now.
fn read(
    store: &Store,
    ranked: &Ranked,
    fit: Fit,
    words: &[&str],
    request: Request<'_>,
) -> Result<Option<Hit>, StoreError> {
    let &Ranked { candidate, score, values } = ranked;
    let key = candidate.episode;
    let Some(entry) = store.entry_at(key.session, candidate.seq)? else { return Ok(None) };
    let Some(session) = store.session_by_number(key.session)? else { return Ok(None) };
    let text = searchable_text(&entry);
    let why = values.explain(request.weights);
    let snippet = if request.full { marked(&text, words) } else { snippet(&text, words) };
    let episode = store.episode_at(key)?;
    let kind = kind_of(entry.speech);
    Ok(Some(Hit { session, episode, key, entry, kind, score, why, snippet, words: fit.words, share: fit.share }))
}
