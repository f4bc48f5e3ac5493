//! Searches the index: match, filter, rank, load and cite.

use jiff::Zoned;
use rethread_index::{IndexError, IndexSnapshot};
use rethread_store::{ReadStore, SessionNumber, StoreError};

use crate::candidates::{CandidateLimits, CandidateSet};
use crate::hits::{HitList, SearchHit};
use crate::matches::TermMatches;
use crate::newest::search_newest;
use crate::rank::{QueryTimes, RankedCandidate, Ranker};
use crate::related::rank_by_related_words;
use crate::result_order;
use crate::search_filters::{PhraseMode, SearchFilters};
use crate::session_scores::SessionScores;
use crate::terms::QueryTerms;
use crate::weights::FeatureWeights;
use crate::{SearchQuery, SimilarityScores};

/// Queries with at most this many terms are taken literally; longer ones describe what is wanted.
const FEW_WORDS: usize = 3;

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

/// The result of one search, and what the search learned about the query.
pub(crate) struct FilteredResults {
    pub(crate) results: SearchResults,
    /// Whether the best entries are coding work and not conversations. Does not depend on the number of hits requested.
    pub(crate) is_coding_work: bool,
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
) -> Result<FilteredResults, SearchError> {
    let query = request.query;
    let terms = QueryTerms::from_query(&query.topic, &query.words, snapshot)?;
    let matches = TermMatches::find(snapshot, &terms, store.max_session_number()?)?;
    if terms.terms.is_empty() {
        // Without a topic, the times are all that the query says.
        let results = search_newest(store, snapshot, &matches, request)?;
        return Ok(FilteredResults { results, is_coding_work: true });
    }
    let times = QueryTimes { now: request.now, times: &query.times };
    let ranker = Ranker::new(snapshot, &matches, &terms, times, request.weights)
        .with_project_sessions(request.project_sessions)
        .with_similarity(request.similarity)
        .with_phrases(query)?;
    let mut pass = RankingPass { store, request, ranker: &ranker, phrases: phrase_mode(query) };
    let mut list = HitList::new(store, request, terms.words().collect());
    let mut first = pass.run(CandidateLimits::FIRST, &mut list)?;
    let mut degraded = None;
    if list.hits.is_empty() && pass.phrases == PhraseMode::Required && !query.phrases.is_empty() {
        pass.phrases = PhraseMode::Preferred;
        first = pass.run(CandidateLimits::FIRST, &mut list)?;
        degraded = (!list.hits.is_empty()).then(|| {
            format!(
                "no entry contains {} exactly; showing entries that contain its words",
                quote_phrases(&query.phrases)
            )
        });
    }
    let RankingSummary { matched, is_coding_work } = first;
    let mut limits = CandidateLimits::FIRST;
    while !list.is_full() && matched > list.seen_count() as u64 {
        let Some(more) = limits.next() else { break };
        pass.run(more, &mut list)?;
        limits = more;
    }
    let results = SearchResults { hits: list.finish(), matched, searched: matches.entry_count, degraded, notice: None };
    Ok(FilteredResults { results, is_coding_work })
}

fn phrase_mode(query: &SearchQuery) -> PhraseMode {
    if query.is_question { PhraseMode::Preferred } else { PhraseMode::Required }
}

/// One selection of candidates and their ranking.
struct RankingPass<'a> {
    store: &'a ReadStore,
    request: SearchInput<'a>,
    ranker: &'a Ranker<'a>,
    phrases: PhraseMode,
}

/// What a ranking pass found out, besides the hits.
struct RankingSummary {
    /// Number of entries that match.
    matched: u64,
    is_coding_work: bool,
}

impl RankingPass<'_> {
    /// Adds the best entries to the list until it is full.
    fn run(&self, limits: CandidateLimits, list: &mut HitList<'_>) -> Result<RankingSummary, SearchError> {
        let (request, ranker) = (self.request, self.ranker);
        let (snapshot, matches) = (ranker.snapshot, ranker.matches);
        let allowed = SearchFilters::evaluate(snapshot, request.query, request.sessions, true, self.phrases)?;
        let mut candidates = self.candidates(&allowed, limits)?;
        let mut first_ranking = ranker.rank(&candidates, None);
        let is_coding_work = is_coding_work(snapshot, &candidates, &first_ranking);
        let is_one_session = request.sessions.is_some_and(|sessions| sessions.len() == 1);
        let ordered = if is_coding_work && !is_one_session {
            let scores = SessionScores::compute(snapshot, matches, &allowed);
            candidates.add_sessions(snapshot, matches, &allowed, &scores.best(limits.sessions()))?;
            result_order::by_session(ranker.rank(&candidates, Some(&scores)))
        } else {
            // An embedding model says more about meaning than word vectors do.
            if !is_coding_work && self.is_prose() && request.similarity.is_none() {
                let words = &request.query.words;
                rank_by_related_words(self.store, &candidates, words, request.weights, &mut first_ranking)?;
            }
            result_order::by_entry(first_ranking)
        };
        list.add(ordered, |one| ranker.fit(&candidates, &one.candidate))?;
        Ok(RankingSummary { matched: candidates.matched, is_coding_work })
    }

    fn candidates(&self, allowed: &SearchFilters, limits: CandidateLimits) -> Result<CandidateSet, IndexError> {
        let ranker = self.ranker;
        let (snapshot, matches) = (ranker.snapshot, ranker.matches);
        let mut candidates = CandidateSet::by_terms(snapshot, matches, allowed, ranker.query_times, limits)?;
        if self.is_prose() {
            candidates.add_neighbors(snapshot, allowed);
        }
        if let Some(similarity) = self.request.similarity {
            candidates.add_similar(snapshot, matches, allowed, similarity)?;
        }
        Ok(candidates)
    }

    /// A word or two is searched literally. For a question, neighbors and related words count: the answer may use other
    /// words.
    fn is_prose(&self) -> bool {
        self.request.query.is_question || self.ranker.terms.terms.len() > FEW_WORDS
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

fn quote_phrases(phrases: &[String]) -> String {
    phrases.iter().map(|phrase| format!("\u{201c}{phrase}\u{201d}")).collect::<Vec<_>>().join(", ")
}
