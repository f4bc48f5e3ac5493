//! Finds what fixed an error before, and what did not.

use std::collections::BTreeSet;

use rethread_ingest::facts::{error_codes, identifying_line, is_distinctive_code, is_same_error, queried_codes};
use rethread_model::{Entity, EntityKind, Predicate};
use rethread_recall::{KnownError, errors_with_code, known_errors, similar_errors};
use rethread_store::{EntityQuery, FactQuery, ReadStore, SessionScope};

use super::naming::error_signature;
use crate::{EngineError, FactService};

/// Maximum lines of a pasted text that are examined; the error is near the beginning or the end.
const MAX_LINES: usize = 400;
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
        let mut errors = known_errors(store.facts(&errors_in(&request.scope))?);
        errors.retain(|error| error.contains_words(&request.query));
        let total = errors.len();
        errors.truncate(request.limit);
        Ok(ErrorsReport { errors, total })
    }

    /// Looks up fixes for the same error, for errors with the same code, or for errors with similar words.
    pub fn fix(self, request: &FixRequest) -> Result<FixReport, EngineError> {
        let codes = queried_codes(&request.text);
        let signatures = if codes.is_empty() { candidate_signatures(&request.text) } else { Vec::new() };
        let signature = signatures.first().or(codes.first()).cloned();
        let Some(store) = self.engine.reader()? else {
            return Ok(FixReport { signature, ..FixReport::default() });
        };
        let errors = if codes.is_empty() {
            errors_like(&store, &signatures, request)?
        } else {
            errors_with_codes(&store, &codes, "", &request.scope)?
        };
        // The total is only shown when nothing was found.
        let known = if errors.is_empty() {
            let (scope, kind) = (request.scope.clone(), Some(EntityKind::Error));
            store.entities_with_facts(&EntityQuery { scope, kind, ..EntityQuery::default() })?.len() as u64
        } else {
            errors.len() as u64
        };
        Ok(FixReport { signature, errors, known_errors: known })
    }
}

/// Errors with one of these signatures; if none of them has a fix, also those with the same code or similar words.
fn errors_like(store: &ReadStore, signatures: &[String], request: &FixRequest) -> Result<Vec<KnownError>, EngineError> {
    let line = identifying_line(&request.text).unwrap_or_default();
    let mut errors = Vec::new();
    for name in signatures {
        let about = Entity::new(EntityKind::Error, name);
        let facts = store.facts(&FactQuery { about: Some(&about), ..errors_in(&request.scope) })?;
        if !facts.is_empty() {
            let mut error = KnownError::from_facts(name, &facts);
            error.put_exact_matches_first(&facts, &line, |quote| is_same_error(quote, &line));
            errors.push(error);
        }
    }
    let signature = error_signature(&request.text).unwrap_or_default();
    if signature.is_empty() || errors.iter().any(|error| !error.fixes.is_empty()) {
        return Ok(errors);
    }
    let codes: Vec<String> = error_codes(&line).into_iter().filter(|code| is_distinctive_code(code)).collect();
    let mut others = errors_with_codes(store, &codes, &signature, &request.scope)?;
    if others.iter().all(|error| error.fixes.is_empty()) {
        others = similar_errors(&signature, store.facts(&errors_in(&request.scope))?);
    }
    errors.extend(others.into_iter().filter(|other| !signatures.contains(&other.signature)));
    Ok(errors)
}

/// All errors with the first of these codes that is known.
fn errors_with_codes(
    store: &ReadStore,
    codes: &[String],
    signature: &str,
    scope: &SessionScope,
) -> Result<Vec<KnownError>, EngineError> {
    for code in codes {
        let has_code = |text: &str| error_codes(text).contains(code);
        let errors = errors_with_code(code, signature, store.facts(&errors_in(scope))?, has_code);
        if !errors.is_empty() {
            return Ok(errors);
        }
    }
    Ok(Vec::new())
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

/// All facts about errors.
fn errors_in(scope: &SessionScope) -> FactQuery<'static> {
    FactQuery { scope: scope.clone(), predicates: &ERROR_PREDICATES, ..FactQuery::default() }
}
