//! Known errors: groups facts by error, and compares an error with those that occurred before.

use std::collections::BTreeMap;

use rethread_model::{FactState, Predicate};
use rethread_store::FactRow;

use super::word_overlap::{MIN_WORD_OVERLAP, distinctive_words, word_overlap};
use super::{FactSource, KnownFixes, known_fixes};

/// Maximum number of similar errors returned.
const MAX_SIMILAR_ERRORS: usize = 5;

/// Similarity of an error that is not the same, at most.
const MAX_SIMILARITY: f64 = 0.99;

/// Maximum number of errors returned for a code.
const MAX_ERRORS_WITH_CODE: usize = 20;

/// An error that occurred before.
#[derive(Clone, Debug)]
pub struct KnownError {
    /// Signature: the error line without variable parts.
    pub signature: String,
    /// The error line as last printed.
    pub line: String,
    /// Similarity to the requested error, from 0 to 1; 1 means the same signature.
    pub similarity: f64,
    /// The code by which it was found, such as `TS2345`.
    pub shared_code: Option<String>,
    /// Number of occurrences.
    pub occurrences: u64,
    /// Source of the latest fact about it.
    pub last_source: Option<FactSource>,
    /// Fixes and failed attempts.
    pub fixes: KnownFixes,
}

impl KnownError {
    /// Whether all words occur in the error or in what was tried against it.
    pub fn contains_words(&self, words: &str) -> bool {
        let tried = self.fixes.fixes.iter().chain(&self.fixes.failed_attempts);
        let parts = [&self.signature, &self.line]
            .into_iter()
            .chain(tried.flat_map(|fix| [&fix.description].into_iter().chain(&fix.reason)));
        let text = parts.map(|part| part.to_lowercase()).collect::<Vec<_>>().join("\n");
        words.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
    }

    /// The error with this signature, as the facts about it describe it.
    pub fn from_facts(signature: &str, facts: &[FactRow]) -> Self {
        Self::with_similarity(signature, 1.0, facts)
    }

    /// Makes its confirmed fixes hypotheses: they were confirmed for this error, not for the requested one.
    pub fn mark_as_similar(&mut self) {
        self.similarity = self.similarity.min(MAX_SIMILARITY);
        let confirmed = self.fixes.fixes.iter_mut().filter(|fix| fix.state == FactState::Confirmed);
        confirmed.for_each(|fix| fix.state = FactState::Hypothesis);
    }

    fn with_similarity(signature: &str, similarity: f64, facts: &[FactRow]) -> Self {
        let failures = facts.iter().filter(|known| known.fact.predicate == Predicate::FailedWith);
        Self {
            signature: signature.to_owned(),
            line: last_printed_line(signature, facts),
            similarity,
            shared_code: None,
            occurrences: failures
                .map(|known| known.fact.failure_count.max(u64::from(known.fact.success_count == 0)))
                .sum(),
            last_source: facts.iter().max_by_key(|known| known.fact.at).map(FactSource::of_fact),
            fixes: known_fixes(facts),
        }
    }
}

/// The errors in these facts: those with fixes or failed attempts first, each group newest first.
pub fn known_errors(facts: Vec<FactRow>) -> Vec<KnownError> {
    let mut errors: Vec<KnownError> =
        group_by_error(facts).into_iter().map(|(name, facts)| KnownError::from_facts(&name, &facts)).collect();
    // A line that only passing runs printed is not an error.
    errors.retain(|error| error.occurrences > 0 || !error.fixes.is_empty());
    errors.sort_by_key(|error| {
        let last = error.last_source.as_ref().and_then(|source| source.at);
        (error.fixes.is_empty(), std::cmp::Reverse(last))
    });
    errors
}

/// Errors that share enough significant words with a signature, the most similar first.
pub fn similar_errors(signature: &str, facts: Vec<FactRow>) -> Vec<KnownError> {
    let query_words = distinctive_words(signature);
    if query_words.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (name, facts) in group_by_error(facts) {
        let mut words = distinctive_words(&name);
        words.extend(distinctive_words(&last_printed_line(&name, &facts)));
        let similarity = word_overlap(&query_words, &words);
        if similarity >= MIN_WORD_OVERLAP {
            found.push(KnownError::with_similarity(&name, similarity, &facts));
        }
    }
    let last = |error: &KnownError| error.last_source.as_ref().and_then(|source| source.at);
    let has_fix = |error: &KnownError| !error.fixes.fixes.is_empty();
    found.sort_by(|a, b| {
        let order = b.similarity.total_cmp(&a.similarity).then(has_fix(b).cmp(&has_fix(a)));
        order.then(last(b).cmp(&last(a))).then(a.signature.cmp(&b.signature))
    });
    found.truncate(MAX_SIMILAR_ERRORS);
    found
}

/// Errors with the signature of a printed line, but other names or values, that share enough of its words; the most
/// similar first. Assertions about other values share none.
pub fn with_other_values(signature: &str, line: &str, facts: Vec<FactRow>) -> Vec<KnownError> {
    let query_words = distinctive_words(line);
    let last_line = last_printed_line(signature, &facts);
    let mut by_line: BTreeMap<String, Vec<FactRow>> = BTreeMap::new();
    for known in facts {
        let is_failure = known.fact.predicate == Predicate::FailedWith;
        let printed = if is_failure { Some(&known.fact.detail) } else { known.fact.quote.as_ref() };
        let printed = printed.unwrap_or(&last_line).trim().to_owned();
        by_line.entry(printed).or_default().push(known);
    }
    let mut found: Vec<KnownError> = Vec::new();
    for (printed, facts) in by_line {
        let similarity = word_overlap(&query_words, &distinctive_words(&printed));
        if similarity >= MIN_WORD_OVERLAP {
            let error = KnownError::with_similarity(signature, similarity.min(MAX_SIMILARITY), &facts);
            found.push(KnownError { line: printed, ..error });
        }
    }
    found.sort_by(|a, b| b.similarity.total_cmp(&a.similarity).then(a.line.cmp(&b.line)));
    found.retain(|error| !error.fixes.is_empty());
    found.truncate(MAX_SIMILAR_ERRORS);
    found
}

/// The errors in which `has_code` finds a code, those with fixes first, each group newest first. `signature` is the
/// requested error, for comparing words; it may be empty.
pub fn errors_with_code(
    code: &str,
    signature: &str,
    facts: Vec<FactRow>,
    has_code: impl Fn(&str) -> bool,
) -> Vec<KnownError> {
    let query_words = distinctive_words(signature);
    let mut found = known_errors(facts);
    found.retain(|error| has_code(&error.signature) || has_code(&error.line));
    for error in &mut found {
        error.shared_code = Some(code.to_owned());
        if !query_words.is_empty() {
            error.similarity = word_overlap(&query_words, &distinctive_words(&error.line));
        }
    }
    let has_fix = |error: &KnownError| !error.fixes.fixes.is_empty();
    // The sort is stable: equally similar errors stay in the order of their time.
    found.sort_by(|a, b| has_fix(b).cmp(&has_fix(a)).then(b.similarity.total_cmp(&a.similarity)));
    found.truncate(MAX_ERRORS_WITH_CODE);
    found
}

/// Groups facts by error; facts about anything else are dropped.
fn group_by_error(facts: Vec<FactRow>) -> BTreeMap<String, Vec<FactRow>> {
    let mut by_error: BTreeMap<String, Vec<FactRow>> = BTreeMap::new();
    for known in facts {
        let error = match known.fact.predicate {
            Predicate::FailedWith => known.fact.object.as_ref(),
            Predicate::FixedBy | Predicate::NotFixedBy => Some(&known.fact.subject),
            _ => None,
        };
        if let Some(name) = error.map(|error| error.name.clone()) {
            by_error.entry(name).or_default().push(known);
        }
    }
    by_error
}

/// The error line as last printed, or the signature if unknown.
fn last_printed_line(name: &str, facts: &[FactRow]) -> String {
    let mut failures = facts.iter().filter(|known| known.fact.predicate == Predicate::FailedWith);
    let printed = failures.find(|known| !known.fact.detail.trim().is_empty());
    printed.map_or_else(|| name.to_owned(), |known| known.fact.detail.trim().to_owned())
}
