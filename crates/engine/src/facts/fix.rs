//! Finds what fixed an error before, and what did not.

use std::collections::{BTreeSet, HashMap};

use rethread_ingest::facts::{
    error_codes, identifying_line, is_distinctive_code, is_same_error, queried_codes, signature,
};
use rethread_model::{Entity, EntityKind, Predicate, SessionId, relative_path};
use rethread_recall::{FactSource, Fix, KnownError, errors_with_code, known_errors, similar_errors, with_other_values};
use rethread_store::{EntityQuery, FactQuery, FactRow, ReadStore, SessionScope, StoredChange};

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

/// One edit that a fix consisted of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixChange {
    /// Transcript line of the edit.
    pub line: u64,
    /// Path relative to the project.
    pub path: String,
    /// What changed, as stored: lines that begin with `+` or `-`, or `old → new`. `None` for a new file.
    pub text: Option<String>,
}

impl FactService<'_> {
    /// The edits of each fix where it was tried last; equal ones only once.
    pub fn changes(self, fixes: &[&Fix]) -> Result<Vec<Vec<FixChange>>, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(vec![Vec::new(); fixes.len()]) };
        // A session is read once, however many of its fixes are asked for.
        let mut lines: HashMap<SessionId, Vec<u64>> = HashMap::new();
        for source in fixes.iter().filter_map(|fix| fix.sources.first()) {
            lines.entry(source.session).or_default().extend(lines_of(source));
        }
        let mut edits: HashMap<SessionId, Vec<StoredChange>> = HashMap::new();
        for (session, lines) in lines {
            edits.insert(session, store.changes_at_lines(session, &lines)?);
        }
        Ok(fixes.iter().map(|fix| changes_of(fix, &edits)).collect())
    }

    /// Known errors with their fixes and failed attempts.
    pub fn errors(self, request: &ErrorsRequest) -> Result<ErrorsReport, EngineError> {
        let Some(store) = self.engine.reader()? else { return Ok(ErrorsReport::default()) };
        let fold = || Ok(known_errors(store.facts(&errors_in(&request.scope))?));
        let all = self.engine.folds.errors.get(store.head()?, request.scope.clone(), fold)?;
        let matching: Vec<&KnownError> = all.iter().filter(|error| error.contains_words(&request.query)).collect();
        let errors = matching.iter().take(request.limit).map(|error| (*error).clone()).collect();
        Ok(ErrorsReport { errors, total: matching.len() })
    }

    /// Looks up fixes for the same error, for errors with the same code, or for errors with similar words.
    pub fn fix(self, request: &FixRequest) -> Result<FixReport, EngineError> {
        let codes = queried_codes(&request.text);
        let candidates = if codes.is_empty() { candidate_lines(&request.text) } else { Vec::new() };
        let signature = candidates.first().map(|candidate| &candidate.signature).or(codes.first()).cloned();
        let Some(store) = self.engine.reader()? else {
            return Ok(FixReport { signature, ..FixReport::default() });
        };
        let errors = if codes.is_empty() {
            errors_like(&store, &candidates, request)?
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

/// The edits of a fix among those of its session.
fn changes_of(fix: &Fix, edits: &HashMap<SessionId, Vec<StoredChange>>) -> Vec<FixChange> {
    let mut changes: Vec<FixChange> = Vec::new();
    let Some(source) = fix.sources.first() else { return changes };
    let lines: Vec<u64> = lines_of(source).collect();
    let of_session = edits.get(&source.session).map(Vec::as_slice).unwrap_or_default();
    for StoredChange { line, path, text } in of_session.iter().filter(|edit| lines.contains(&edit.line)) {
        let path = relative_path(path, source.project.as_deref()).to_owned();
        if !changes.iter().any(|known| known.path == path && known.text == *text) {
            changes.push(FixChange { line: *line, path, text: text.clone() });
        }
    }
    changes
}

/// The lines that show a fix.
fn lines_of(source: &FactSource) -> impl Iterator<Item = u64> {
    source.evidence.iter().copied().chain([source.line])
}

/// Errors that were printed before; if none of them has a fix, also similar ones, whose fixes are hypotheses here.
fn errors_like(
    store: &ReadStore,
    candidates: &[NamedLine],
    request: &FixRequest,
) -> Result<Vec<KnownError>, EngineError> {
    let (mut errors, mut similar) = (Vec::new(), Vec::new());
    for NamedLine { signature, line } in candidates {
        let about = Entity::new(EntityKind::Error, signature);
        let facts = store.facts(&FactQuery { about: Some(&about), ..errors_in(&request.scope) })?;
        let is_same = |known: &FactRow| printed_line(known, signature).map(|printed| is_same_error(printed, line));
        // Facts that quote no line are about this error unless only others are known.
        let is_seen = facts.iter().any(|known| is_same(known) == Some(true))
            || facts.iter().all(|known| is_same(known).is_none());
        let (same, others): (Vec<FactRow>, Vec<FactRow>) =
            facts.into_iter().partition(|known| is_same(known).unwrap_or(is_seen));
        if !same.is_empty() {
            errors.push(KnownError::from_facts(signature, &same));
        }
        similar.extend(with_other_values(signature, line, others));
    }
    let Some(first) = candidates.first().filter(|_| errors.iter().all(|error| error.fixes.is_empty())) else {
        return Ok(errors);
    };
    let codes: Vec<String> = error_codes(&first.line).into_iter().filter(|code| is_distinctive_code(code)).collect();
    let mut others = errors_with_codes(store, &codes, &first.signature, &request.scope)?;
    if others.iter().all(|error| error.fixes.is_empty()) {
        others = similar_errors(&first.signature, store.facts(&errors_in(&request.scope))?);
    }
    let is_named = |error: &KnownError| candidates.iter().any(|candidate| candidate.signature == error.signature);
    similar.extend(others.into_iter().filter(|other| !is_named(other)));
    // A part of a known line, such as `no space left on device`, asks for that error.
    let asked = request.text.trim().to_lowercase();
    let is_part = |error: &KnownError| error.similarity >= 1.0 && error.line.to_lowercase().contains(&asked);
    similar.iter_mut().filter(|error| !is_part(error)).for_each(KnownError::mark_as_similar);
    errors.extend(similar);
    Ok(errors)
}

/// The error line of a fact, if it is the line that this signature was made of.
fn printed_line<'f>(known: &'f FactRow, name: &str) -> Option<&'f str> {
    let line = match known.fact.predicate {
        Predicate::FailedWith => Some(known.fact.detail.as_str()),
        _ => known.fact.quote.as_deref(),
    };
    line.filter(|line| signature(line).as_deref() == Some(name))
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

/// A line of the given text that may be an error.
struct NamedLine {
    signature: String,
    line: String,
}

/// Lines that may be the error: the most significant one, then each.
fn candidate_lines(text: &str) -> Vec<NamedLine> {
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines.iter().take(MAX_LINES / 2);
    let end = lines.iter().skip(MAX_LINES / 2).rev().take(MAX_LINES / 2);
    let named = |text: &str| {
        let line = identifying_line(text)?;
        Some(NamedLine { signature: signature(&line)?, line })
    };
    let found = std::iter::once(named(text)).chain(begin.chain(end).map(|line| named(line)));
    let mut seen = BTreeSet::new();
    found.flatten().filter(|candidate| seen.insert(candidate.signature.clone())).collect()
}

/// All facts about errors.
fn errors_in(scope: &SessionScope) -> FactQuery<'static> {
    FactQuery { scope: scope.clone(), predicates: &ERROR_PREDICATES, ..FactQuery::default() }
}
