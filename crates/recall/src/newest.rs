//! Searches without indexed words: the newest entries that pass the filters, or those with very common words.

use rethread_index::{IndexSnapshot, searchable_text};
use rethread_store::ReadStore;

use crate::candidates;
use crate::hits::load_hit;
use crate::matches::TermMatches;
use crate::rank::{QueryFit, QueryTimes, RankedCandidate};
use crate::search_filters::{PhraseMode, SearchFilters};
use crate::weights::{FeatureValues, ScoreContribution};
use crate::{SearchError, SearchInput, SearchResults, Snippet, snippet};

/// Maximum number of entries scanned for text that is not indexed.
const MAX_SCANNED_ENTRIES: usize = 2_000;
/// Bytes shown before and after a literal match.
const LITERAL_CONTEXT_BYTES: usize = 80;

/// Search without indexed terms: the newest entries that pass the filters and fall into the named times. Stop words and
/// punctuation are searched in the texts themselves.
pub(crate) fn search_newest(
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
        let Some(session) = store.session_by_number(candidate.episode.session)? else { continue };
        let Some(mut hit) = load_hit(store, session, &one, QueryFit::default(), &[], request)? else { continue };
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
