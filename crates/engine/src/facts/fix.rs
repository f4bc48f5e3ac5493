//! Finds what fixed an error before, and what did not.

use std::collections::{BTreeMap, BTreeSet};

use rethread_ingest::facts::{exact_form, identifying_line};
use rethread_model::{Entity, EntityKind, FactState, Predicate, SessionId, Timestamp};
use rethread_recall::{FactSource, KnownFixes, MIN_WORD_OVERLAP, distinctive_words, known_fixes, word_overlap};
use rethread_store::{EntityQuery, FactQuery, FactRow, ReadStore, SessionScope};

use super::naming::error_signature;
use crate::{EngineError, FactService};

/// Maximum lines of a pasted text that are examined; the error is near the beginning or the end.
const MAX_LINES: usize = 400;
/// Maximum number of similar errors returned.
const MAX_SIMILAR_ERRORS: usize = 5;
/// Predicates about errors.
const ERROR_PREDICATES: [Predicate; 3] = [Predicate::FailedWith, Predicate::FixedBy, Predicate::NotFixedBy];

/// An error to look up.
#[derive(Clone, Debug, Default)]
pub struct FixRequest {
    /// The printed text: one line or the whole output.
    pub text: String,
    /// One project or all.
    pub scope: SessionScope,
}

/// What is known about an error.
#[derive(Clone, Debug, Default)]
pub struct FixReport {
    /// Signature of the error; `None` if the text contains no recognizable error.
    pub signature: Option<String>,
    /// The same or similar errors, most similar first.
    pub errors: Vec<KnownError>,
    /// Number of known errors in scope; only counted if none was found, otherwise the number found.
    pub known_errors: u64,
}

impl FixReport {
    /// Whether no fix or failed attempt is known.
    pub fn is_empty(&self) -> bool {
        self.errors.iter().all(|error| error.fixes.is_empty())
    }
}

/// An error that occurred before.
#[derive(Clone, Debug)]
pub struct KnownError {
    /// Signature: the error line without variable parts.
    pub signature: String,
    /// The error line as last printed.
    pub line: String,
    /// Similarity to the requested error, from 0 to 1; 1 means the same signature.
    pub similarity: f64,
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
}

/// Selects known errors.
#[derive(Clone, Debug, Default)]
pub struct ErrorsRequest {
    /// Words that must occur in the error or in what was tried against it.
    pub query: String,
    /// One project or all.
    pub scope: SessionScope,
    /// Maximum number of errors.
    pub limit: usize,
}

/// Known errors.
#[derive(Clone, Debug, Default)]
pub struct ErrorsReport {
    /// Errors with fixes or failed attempts first, then the others; each group newest first.
    pub errors: Vec<KnownError>,
    /// Number of matches before `limit` was applied.
    pub total: usize,
}

impl FactService<'_> {
    /// Known errors with their fixes and failed attempts.
    pub fn errors(self, request: &ErrorsRequest) -> Result<ErrorsReport, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(ErrorsReport::default()) };
        let query = FactQuery { scope: request.scope.clone(), predicates: &ERROR_PREDICATES, ..FactQuery::default() };
        let mut errors = known_errors_in(store.facts(&query)?);
        errors.retain(|error| error.contains_words(&request.query));
        let total = errors.len();
        errors.truncate(request.limit);
        Ok(ErrorsReport { errors, total })
    }

    /// Looks up fixes for the same error, or for errors with similar words.
    pub fn fix(self, request: &FixRequest) -> Result<FixReport, EngineError> {
        let signatures = candidate_signatures(&request.text);
        let Some(store) = self.engine.reader()? else {
            return Ok(FixReport { signature: signatures.into_iter().next(), ..FixReport::default() });
        };
        let mut errors = Vec::new();
        for name in &signatures {
            let facts = facts_about_error(&store, &request.scope, name)?;
            if !facts.is_empty() {
                let mut error = known_error(name, 1.0, &facts);
                put_exact_matches_first(&mut error, &facts, &request.text);
                errors.push(error);
            }
        }
        if errors.iter().all(|error| error.fixes.is_empty()) {
            let is_new = |other: &KnownError| !signatures.contains(&other.signature);
            errors.extend(similar_errors(&store, request)?.into_iter().filter(is_new));
        }
        // The total is only shown when nothing was found.
        let known = if errors.is_empty() {
            let (scope, kind) = (request.scope.clone(), Some(EntityKind::Error));
            store.entities_with_facts(&EntityQuery { scope, kind, ..EntityQuery::default() })?.len() as u64
        } else {
            errors.len() as u64
        };
        Ok(FixReport { signature: signatures.into_iter().next(), errors, known_errors: known })
    }
}

/// Sorts fixes for exactly this error before fixes for others with the same signature.
fn put_exact_matches_first(error: &mut KnownError, facts: &[FactRow], text: &str) {
    let Some(line) = identifying_line(text) else { return };
    let exact = exact_form(&line);
    let is_same = |quote: &str| exact_form(quote) == exact;
    let same: BTreeSet<(SessionId, u64)> = facts
        .iter()
        .filter(|known| known.fact.quote.as_deref().is_some_and(is_same))
        .map(|known| (known.session, known.fact.line))
        .collect();
    error.fixes.fixes.sort_by_key(|fix| {
        let is_of_same = fix.sources.iter().any(|source| same.contains(&(source.session, source.line)));
        (fix.state != FactState::Confirmed, !is_of_same)
    });
    if facts.iter().any(|known| is_same(&known.fact.detail)) {
        error.line = line;
    }
}

/// Candidate signatures: of the most significant line, then of each line.
fn candidate_signatures(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines.iter().take(MAX_LINES / 2);
    let end = lines.iter().skip(MAX_LINES / 2).rev().take(MAX_LINES / 2);
    let named = std::iter::once(error_signature(text)).chain(begin.chain(end).map(|line| error_signature(line)));
    let mut seen = BTreeSet::new();
    named.flatten().filter(|name| seen.insert(name.clone())).collect()
}

fn facts_about_error(store: &ReadStore, scope: &SessionScope, name: &str) -> Result<Vec<FactRow>, EngineError> {
    let entity = Entity::new(EntityKind::Error, name);
    let query =
        FactQuery { scope: scope.clone(), predicates: &ERROR_PREDICATES, about: Some(&entity), ..FactQuery::default() };
    Ok(store.facts(&query)?)
}

/// Errors that share enough significant words.
fn similar_errors(store: &ReadStore, request: &FixRequest) -> Result<Vec<KnownError>, EngineError> {
    let query_words = distinctive_words(&error_signature(&request.text).unwrap_or_default());
    if query_words.is_empty() {
        return Ok(Vec::new());
    }
    let query = FactQuery { scope: request.scope.clone(), predicates: &ERROR_PREDICATES, ..FactQuery::default() };
    let mut found = Vec::new();
    for (name, facts) in group_by_error(store.facts(&query)?) {
        let mut words = distinctive_words(&name);
        words.extend(distinctive_words(&last_printed_line(&name, &facts)));
        let similarity = word_overlap(&query_words, &words);
        if similarity >= MIN_WORD_OVERLAP {
            found.push(known_error(&name, similarity, &facts));
        }
    }
    let last = |error: &KnownError| error.last_source.as_ref().and_then(|source| source.at);
    let has_fix = |error: &KnownError| !error.fixes.fixes.is_empty();
    found.sort_by(|a, b| {
        let order = b.similarity.total_cmp(&a.similarity).then(has_fix(b).cmp(&has_fix(a)));
        order.then(last(b).cmp(&last(a))).then(a.signature.cmp(&b.signature))
    });
    found.truncate(MAX_SIMILAR_ERRORS);
    Ok(found)
}

/// The errors in these facts: those with fixes or failed attempts first, each group newest first.
pub(crate) fn known_errors_in(facts: Vec<FactRow>) -> Vec<KnownError> {
    let mut errors: Vec<KnownError> =
        group_by_error(facts).into_iter().map(|(name, facts)| known_error(&name, 1.0, &facts)).collect();
    errors.sort_by_key(|error| {
        let last = error.last_source.as_ref().and_then(|source| source.at);
        (error.fixes.is_empty(), std::cmp::Reverse(last))
    });
    errors
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

fn known_error(name: &str, similarity: f64, facts: &[FactRow]) -> KnownError {
    let at = |known: &&FactRow| -> Option<Timestamp> { known.fact.at };
    let failures = facts.iter().filter(|known| known.fact.predicate == Predicate::FailedWith);
    KnownError {
        signature: name.to_owned(),
        line: last_printed_line(name, facts),
        similarity,
        occurrences: failures.map(|known| known.fact.failure_count.max(1)).sum(),
        last_source: facts.iter().max_by_key(at).map(FactSource::of_fact),
        fixes: known_fixes(facts),
    }
}

/// The error line as last printed, or the signature if unknown.
fn last_printed_line(name: &str, facts: &[FactRow]) -> String {
    let mut failures = facts.iter().filter(|known| known.fact.predicate == Predicate::FailedWith);
    let printed = failures.find(|known| !known.fact.detail.trim().is_empty());
    printed.map_or_else(|| name.to_owned(), |known| known.fact.detail.trim().to_owned())
}
