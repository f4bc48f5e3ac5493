//! Searches the index: match, filter, rank, load and cite.

use jiff::Zoned;
use rethread_index::{IndexError, IndexSnapshot, searchable_text};
use rethread_model::{Entry, Episode, Session};
use rethread_store::{EpisodeKey, ReadStore, SessionNumber, StoreError};
use rustc_hash::FxHashSet;

use crate::candidates::{self, CandidateLimits, CandidateSet, DocAddress};
use crate::matches::TermMatches;
use crate::rank::{QueryFit, QueryTimes, RankedCandidate, Ranker};
use crate::result_order;
use crate::search_filters::{PhraseMode, SearchFilters, hit_kind};
use crate::session_scores::SessionScores;
use crate::terms::QueryTerms;
use crate::weights::{FeatureValues, FeatureWeights, ScoreContribution};
use crate::{HitKind, SearchQuery, SimilarityScores, Snippet, highlight, snippet};

/// Maximum number of entries scanned for text that is not indexed.
const MAX_SCANNED_ENTRIES: usize = 2_000;
/// Queries with at most this many terms are taken literally; longer ones describe what is wanted.
const FEW_WORDS: usize = 3;
/// Bytes shown before and after a literal match.
const LITERAL_CONTEXT_BYTES: usize = 80;

/// What to search, and where.
#[derive(Clone, Copy, Debug)]
pub struct SearchInput<'a> {
    /// Parsed query.
    pub query: &'a SearchQuery,
    /// Restricts the search to these sessions; `None` searches all.
    pub sessions: Option<&'a [SessionNumber]>,
    /// Sessions of the user's project; they rank higher when all else is equal.
    pub project_sessions: &'a [SessionNumber],
    /// Maximum number of hits.
    pub limit: usize,
    /// Return whole texts instead of snippets.
    pub is_full_text: bool,
    /// Current time and zone.
    pub now: &'a Zoned,
    /// Feature weights.
    pub weights: &'a FeatureWeights,
    /// Embedding similarity of entries to the query, if a model is configured.
    pub similarity: Option<&'a SimilarityScores>,
}

/// Result of a search.
#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// Best first.
    pub hits: Vec<SearchHit>,
    /// Number of entries that contain a query term or are among the most similar.
    pub matched: u64,
    /// Number of entries in the index.
    pub searched: u64,
    /// Notice if the search was less strict or less complete than requested.
    pub degraded: Option<String>,
    /// How a time in the query was read, if that is not obvious.
    pub notice: Option<String>,
}

/// One entry that was found.
#[derive(Clone, Debug)]
pub struct SearchHit {
    /// Session of the entry.
    pub session: Session,
    /// Episode of the entry.
    pub episode: Option<Episode>,
    /// Key of that episode.
    pub key: EpisodeKey,
    /// The entry itself.
    pub entry: Entry,
    /// Kind of entry.
    pub kind: HitKind,
    /// Score; comparable only within one result.
    pub score: f32,
    /// Contributions to the score, largest first.
    pub why: Vec<ScoreContribution>,
    /// Excerpt with the matches.
    pub snippet: Snippet,
    /// Number of distinctive query words in the entry or directly next to it.
    pub matched_word_count: u32,
    /// Their weighted share of the query's words, 0 to 1; comparable across results.
    pub word_share: f32,
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// Reading the index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// Reading the store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Finds the entries that match best, within the filters of the query.
pub(crate) fn search_filtered(
    store: &ReadStore,
    snapshot: &IndexSnapshot,
    request: SearchInput<'_>,
) -> Result<SearchResults, SearchError> {
    let query = request.query;
    let terms = QueryTerms::from_query(&query.topic, &query.words, snapshot)?;
    let matches = TermMatches::find(snapshot, &terms, store.max_session_number()?)?;
    if terms.terms.is_empty() {
        return search_newest(store, snapshot, &matches, request);
    }
    let mut pass =
        RankingPass { store, snapshot, request, terms: &terms, matches: &matches, phrases: phrase_mode(query) };
    let mut first = pass.run(CandidateLimits::FIRST, &[])?;
    let mut degraded = None;
    if first.hits.is_empty() && pass.phrases == PhraseMode::Required && !query.phrases.is_empty() {
        pass.phrases = PhraseMode::Preferred;
        first = pass.run(CandidateLimits::FIRST, &[])?;
        degraded = (!first.hits.is_empty()).then(|| {
            format!(
                "no entry contains {} exactly; showing entries that contain its words",
                quote_phrases(&query.phrases)
            )
        });
    }
    let mut limits = CandidateLimits::FIRST;
    while first.hits.len() < request.limit && first.matched > first.hits.len() as u64 {
        let Some(more) = limits.next() else { break };
        let found = pass.run(more, &first.addresses)?;
        first.hits.extend(found.hits);
        first.addresses.extend(found.addresses);
        limits = more;
    }
    Ok(SearchResults {
        hits: first.hits,
        matched: first.matched,
        searched: matches.entry_count,
        degraded,
        notice: None,
    })
}

fn phrase_mode(query: &SearchQuery) -> PhraseMode {
    if query.is_question { PhraseMode::Preferred } else { PhraseMode::Required }
}

/// One selection of candidates and their ranking.
struct RankingPass<'a> {
    store: &'a ReadStore,
    snapshot: &'a IndexSnapshot,
    request: SearchInput<'a>,
    terms: &'a QueryTerms,
    matches: &'a TermMatches,
    phrases: PhraseMode,
}

struct RankedHits {
    hits: Vec<SearchHit>,
    /// Addresses of the hits.
    addresses: Vec<DocAddress>,
    /// Number of entries that match.
    matched: u64,
}

impl RankingPass<'_> {
    /// The best entries that are not in `known`, as many as are missing until the requested number.
    fn run(&self, limits: CandidateLimits, known: &[DocAddress]) -> Result<RankedHits, SearchError> {
        let request = self.request;
        let (snapshot, query) = (self.snapshot, request.query);
        let allowed = SearchFilters::evaluate(snapshot, query, request.sessions, true, self.phrases)?;
        let mut candidates = self.candidates(&allowed, limits)?;
        let first_ranking = self.ranker(&candidates)?.rank();
        let is_one_session = request.sessions.is_some_and(|sessions| sessions.len() == 1);
        let scores = (!is_one_session && is_coding_work(snapshot, &candidates, &first_ranking))
            .then(|| SessionScores::compute(snapshot, self.matches, &allowed));
        let ordered = match &scores {
            Some(scores) => {
                candidates.add_sessions(snapshot, self.matches, &allowed, &scores.best(limits.sessions()))?;
                let ranked = self.ranker(&candidates)?.with_session_scores(scores).rank();
                result_order::by_session(ranked)
            }
            None => result_order::by_entry(first_ranking),
        };
        let ranker = self.ranker(&candidates)?;
        let words: Vec<&str> = self.terms.words().collect();
        let known: FxHashSet<DocAddress> = known.iter().copied().collect();
        let mut found = RankedHits { hits: Vec::new(), addresses: Vec::new(), matched: candidates.matched };
        let new = ordered.iter().filter(|one| !known.contains(&one.candidate.address));
        for one in new.take(request.limit.saturating_sub(known.len())) {
            found.addresses.push(one.candidate.address);
            found.hits.extend(load_hit(self.store, one, ranker.fit(&one.candidate), &words, request)?);
        }
        Ok(found)
    }

    fn times(&self) -> QueryTimes<'_> {
        QueryTimes { now: self.request.now, times: &self.request.query.times }
    }

    fn ranker<'a>(&'a self, candidates: &'a CandidateSet) -> Result<Ranker<'a>, IndexError> {
        let request = self.request;
        Ranker::new(self.snapshot, self.matches, self.terms, candidates, self.times(), request.weights)
            .with_project_sessions(request.project_sessions)
            .with_similarity(request.similarity)
            .with_phrases(request.query)
    }

    fn candidates(&self, allowed: &SearchFilters, limits: CandidateLimits) -> Result<CandidateSet, IndexError> {
        let (snapshot, query) = (self.snapshot, self.request.query);
        let mut candidates = CandidateSet::by_terms(snapshot, self.matches, allowed, self.times(), limits)?;
        // A word or two is searched literally. A question needs neighbors too: the answer may use other words.
        if query.is_question || self.terms.terms.len() > FEW_WORDS {
            candidates.add_neighbors(snapshot, allowed);
        }
        if let Some(similarity) = self.request.similarity {
            candidates.add_similar(snapshot, self.matches, allowed, similarity)?;
        }
        Ok(candidates)
    }
}

/// Whether at least half of the ten best entries are in sessions in which an agent used tools. Conversations are ranked
/// by entries alone, because a session of them has many topics.
fn is_coding_work(snapshot: &IndexSnapshot, candidates: &CandidateSet, ranked: &[RankedCandidate]) -> bool {
    const FIRST_RESULTS: usize = 10;
    let first = &ranked[..ranked.len().min(FIRST_RESULTS)];
    let has_calls = |one: &&RankedCandidate| {
        let session = candidates.sessions.get(&one.candidate.episode.session.get());
        session.is_some_and(|session| session.has_calls(snapshot))
    };
    !first.is_empty() && first.iter().filter(has_calls).count() * 2 >= first.len()
}

/// Search without indexed terms: the newest entries that pass the filters and fall into the named times. Stop words and
/// punctuation are searched in the texts themselves.
fn search_newest(
    store: &ReadStore,
    snapshot: &IndexSnapshot,
    matches: &TermMatches,
    request: SearchInput<'_>,
) -> Result<SearchResults, SearchError> {
    let query = request.query;
    let moment = QueryTimes { now: request.now, times: &query.times };
    let allowed = SearchFilters::evaluate(snapshot, query, request.sessions, false, PhraseMode::Required)?;
    let newest = candidates::newest_entries(snapshot, &allowed, moment);
    let literal = if query.times.is_empty() { query.words.trim().to_lowercase() } else { String::new() };
    let (mut hits, mut matched) = (Vec::new(), newest.len() as u64);
    for (candidate, looked_at) in newest.iter().zip(1..) {
        if hits.len() == request.limit || (!literal.is_empty() && looked_at > MAX_SCANNED_ENTRIES) {
            break;
        }
        let one = RankedCandidate { candidate: *candidate, score: 0.0, features: FeatureValues::default() };
        let Some(mut hit) = load_hit(store, &one, QueryFit::default(), &[], request)? else { continue };
        if !literal.is_empty() {
            let Some(found) = common_words_snippet(&searchable_text(&hit.entry), &literal) else { continue };
            hit.snippet = found;
        }
        hit.why =
            vec![ScoreContribution { feature: if literal.is_empty() { "newest" } else { "literal" }, points: 1.0 }];
        hits.push(hit);
    }
    let mut degraded = None;
    if !literal.is_empty() {
        matched = hits.len() as u64;
        let among = MAX_SCANNED_ENTRIES.min(newest.len());
        degraded = Some(format!("words too common to be indexed: only the newest {among} entries were searched"));
    }
    Ok(SearchResults { hits, matched, searched: matches.entry_count, degraded, notice: None })
}

/// The text around the query as it is written, or around the first of its words if all of them occur somewhere.
fn common_words_snippet(text: &str, query: &str) -> Option<Snippet> {
    let lower = text.to_lowercase();
    let has_all = || query.split_whitespace().all(|word| has_word(&lower, word));
    literal_snippet(text, query)
        .or_else(|| has_all().then(|| query.split_whitespace().next())?.and_then(|word| literal_snippet(text, word)))
}

/// Whether the word occurs, not as a part of a longer one. Punctuation may occur anywhere.
fn has_word(text: &str, word: &str) -> bool {
    let is_inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let begins = word.starts_with(char::is_alphanumeric);
    let ends = word.ends_with(char::is_alphanumeric);
    text.match_indices(word).any(|(at, _)| {
        let is_longer = (begins && is_inner(text[..at].chars().next_back()))
            || (ends && is_inner(text[at + word.len()..].chars().next()));
        !is_longer
    })
}

/// The text around a case-insensitive match.
fn literal_snippet(text: &str, literal: &str) -> Option<Snippet> {
    let lower = text.to_lowercase();
    let at = lower.find(literal)?;
    // Lower-casing may change byte offsets; an approximate position is good enough.
    let from = text.floor_char_boundary(at.saturating_sub(LITERAL_CONTEXT_BYTES));
    let to = text.ceil_char_boundary((at + literal.len() + LITERAL_CONTEXT_BYTES).min(text.len()));
    Some(snippet(&text[from..to], &[]))
}

fn quote_phrases(phrases: &[String]) -> String {
    phrases.iter().map(|phrase| format!("\u{201c}{phrase}\u{201d}")).collect::<Vec<_>>().join(", ")
}

/// Loads a hit from the store; `None` if it was deleted in the meantime.
fn load_hit(
    store: &ReadStore,
    ranked: &RankedCandidate,
    fit: QueryFit,
    words: &[&str],
    request: SearchInput<'_>,
) -> Result<Option<SearchHit>, StoreError> {
    let &RankedCandidate { candidate, score, features: values } = ranked;
    let key = candidate.episode;
    let Some(entry) = store.entry_at(key.session, candidate.seq)? else { return Ok(None) };
    let Some(session) = store.session_by_number(key.session)? else { return Ok(None) };
    let text = searchable_text(&entry);
    let why = values.explain(request.weights);
    let snippet = if request.is_full_text { highlight(&text, words) } else { snippet(&text, words) };
    let episode = store.episode_at(key)?;
    let kind = hit_kind(entry.kind);
    Ok(Some(SearchHit {
        session,
        episode,
        key,
        entry,
        kind,
        score,
        why,
        snippet,
        matched_word_count: fit.words,
        word_share: fit.share,
    }))
}
