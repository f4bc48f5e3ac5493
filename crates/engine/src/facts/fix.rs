//! What fixed an error before, and what did not.

use std::collections::{BTreeMap, BTreeSet};

use rethread_ingest::facts::{exact, telling_line};
use rethread_model::{Entity, EntityKind, FactState, Predicate, SessionId, Timestamp};
use rethread_recall::{ALIKE_ENOUGH, Fixes, Source, fixes, share_of_words, telling_words};
use rethread_store::{FactQuery, KnownFact, Scope, Store, ThingQuery};

use super::naming::signature;
use crate::{Engine, EngineError};

/// More lines of a pasted text than this are not looked at: what went wrong stands near its beginning or its end.
const MOST_LINES: usize = 400;
/// Errors that are only alike are told no more than this many.
const MOST_ALIKE: usize = 5;
/// What is known of an error.
const OF_ERRORS: [Predicate; 3] = [Predicate::FailedWith, Predicate::FixedBy, Predicate::NotFixedBy];

/// An error that somebody met.
#[derive(Clone, Debug, Default)]
pub struct FixRequest {
    /// What was printed: a line, or the whole output.
    pub text: String,
    /// Where to look.
    pub scope: Scope,
}

/// What is known of an error.
#[derive(Clone, Debug, Default)]
pub struct FixReport {
    /// What the error is called; nothing where the text says nothing.
    pub signature: Option<String>,
    /// Errors it is, or is like; the most alike first.
    pub errors: Vec<KnownError>,
    /// How many errors are known there.
    pub known: u64,
}

impl FixReport {
    /// Whether anything was tried against it.
    pub fn is_empty(&self) -> bool {
        self.errors.iter().all(|error| error.fixes.is_empty())
    }
}

/// An error that was met before.
#[derive(Clone, Debug)]
pub struct KnownError {
    /// What it is called.
    pub signature: String,
    /// The line as it was printed last.
    pub line: String,
    /// How alike it is to what was asked, from 0 to 1; 1 is the same.
    pub likeness: f64,
    /// How often it was met.
    pub seen: u64,
    /// Where it was met last.
    pub last: Option<Source>,
    /// What helped and what did not.
    pub fixes: Fixes,
}

impl KnownError {
    /// Whether all these words stand in it, or in what was done about it.
    pub fn speaks_of(&self, words: &str) -> bool {
        let tried = self.fixes.fixes.iter().chain(&self.fixes.dead_ends);
        let parts = [&self.signature, &self.line]
            .into_iter()
            .chain(tried.flat_map(|fix| [&fix.what].into_iter().chain(&fix.reason)));
        let text = parts.map(|part| part.to_lowercase()).collect::<Vec<_>>().join("\n");
        words.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
    }
}

/// Which errors that were met.
#[derive(Clone, Debug, Default)]
pub struct ErrorsRequest {
    /// Words that stand in the error or in what was done about it.
    pub query: String,
    /// Where.
    pub scope: Scope,
    /// At most so many.
    pub limit: usize,
}

/// Errors that were met.
#[derive(Clone, Debug, Default)]
pub struct ErrorsReport {
    /// Those against which something was tried first, then those that were only met; each newest first.
    pub errors: Vec<KnownError>,
    /// How many fit, told or not.
    pub total: usize,
}

impl Engine {
    /// The errors that were met, with what helped and what did not.
    pub fn errors(&self, request: &ErrorsRequest) -> Result<ErrorsReport, EngineError> {
        let Some(store) = self.reader()? else { return Ok(ErrorsReport::default()) };
        let query = FactQuery { scope: request.scope.clone(), predicates: &OF_ERRORS, ..FactQuery::default() };
        let mut errors = errors_in(store.facts(&query)?);
        errors.retain(|error| error.speaks_of(&request.query));
        let total = errors.len();
        errors.truncate(request.limit);
        Ok(ErrorsReport { errors, total })
    }

    /// What fixed an error before: the same error, or such as share most of its telling words.
    pub fn fix(&self, request: &FixRequest) -> Result<FixReport, EngineError> {
        let signatures = signatures(&request.text);
        let Some(store) = self.reader()? else {
            return Ok(FixReport { signature: signatures.into_iter().next(), ..FixReport::default() });
        };
        let mut errors = Vec::new();
        for name in &signatures {
            let facts = about(&store, &request.scope, name)?;
            if !facts.is_empty() {
                let mut error = known_error(name, 1.0, &facts);
                same_first(&mut error, &facts, &request.text);
                errors.push(error);
            }
        }
        if errors.iter().all(|error| error.fixes.is_empty()) {
            let is_new = |other: &KnownError| !signatures.contains(&other.signature);
            errors.extend(alike(&store, request)?.into_iter().filter(is_new));
        }
        // Only who finds nothing is told how much there is to find.
        let known = if errors.is_empty() {
            let (scope, kind) = (request.scope.clone(), Some(EntityKind::Error));
            store.known_things(&ThingQuery { scope, kind, ..ThingQuery::default() })?.len() as u64
        } else {
            errors.len() as u64
        };
        Ok(FixReport { signature: signatures.into_iter().next(), errors, known })
    }
}

/// Puts what was done about this very error before what was done about others of its kind.
fn same_first(error: &mut KnownError, facts: &[KnownFact], text: &str) {
    let Some(line) = telling_line(text) else { return };
    let asked = exact(&line);
    let is_same = |quote: &str| exact(quote) == asked;
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

/// What the text may be called: by its most telling line, and by each of its lines.
fn signatures(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let begin = lines.iter().take(MOST_LINES / 2);
    let end = lines.iter().skip(MOST_LINES / 2).rev().take(MOST_LINES / 2);
    let named = std::iter::once(signature(text)).chain(begin.chain(end).map(|line| signature(line)));
    let mut seen = BTreeSet::new();
    named.flatten().filter(|name| seen.insert(name.clone())).collect()
}

fn about(store: &Store, scope: &Scope, name: &str) -> Result<Vec<KnownFact>, EngineError> {
    let entity = Entity::new(EntityKind::Error, name);
    let query =
        FactQuery { scope: scope.clone(), predicates: &OF_ERRORS, about: Some(&entity), ..FactQuery::default() };
    Ok(store.facts(&query)?)
}

/// Errors that share enough of the telling words.
fn alike(store: &Store, request: &FixRequest) -> Result<Vec<KnownError>, EngineError> {
    let asked = telling_words(&signature(&request.text).unwrap_or_default());
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let query = FactQuery { scope: request.scope.clone(), predicates: &OF_ERRORS, ..FactQuery::default() };
    let mut found = Vec::new();
    for (name, facts) in by_error(store.facts(&query)?) {
        let mut words = telling_words(&name);
        words.extend(telling_words(&printed(&name, &facts)));
        let likeness = share_of_words(&asked, &words);
        if likeness >= ALIKE_ENOUGH {
            found.push(known_error(&name, likeness, &facts));
        }
    }
    let last = |error: &KnownError| error.last.as_ref().and_then(|source| source.at);
    let has_fix = |error: &KnownError| !error.fixes.fixes.is_empty();
    found.sort_by(|a, b| {
        let order = b.likeness.total_cmp(&a.likeness).then(has_fix(b).cmp(&has_fix(a)));
        order.then(last(b).cmp(&last(a))).then(a.signature.cmp(&b.signature))
    });
    found.truncate(MOST_ALIKE);
    Ok(found)
}

/// The errors that these facts speak of: those against which something was tried first, each kind newest first.
pub(crate) fn errors_in(facts: Vec<KnownFact>) -> Vec<KnownError> {
    let mut errors: Vec<KnownError> =
        by_error(facts).into_iter().map(|(name, facts)| known_error(&name, 1.0, &facts)).collect();
    errors.sort_by_key(|error| {
        let last = error.last.as_ref().and_then(|source| source.at);
        (error.fixes.is_empty(), std::cmp::Reverse(last))
    });
    errors
}

/// Facts by the error they speak of; others are left out.
fn by_error(facts: Vec<KnownFact>) -> BTreeMap<String, Vec<KnownFact>> {
    let mut by_error: BTreeMap<String, Vec<KnownFact>> = BTreeMap::new();
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

fn known_error(name: &str, likeness: f64, facts: &[KnownFact]) -> KnownError {
    let at = |known: &&KnownFact| -> Option<Timestamp> { known.fact.at };
    let met = facts.iter().filter(|known| known.fact.predicate == Predicate::FailedWith);
    KnownError {
        signature: name.to_owned(),
        line: printed(name, facts),
        likeness,
        seen: met.map(|known| known.fact.failed.max(1)).sum(),
        last: facts.iter().max_by_key(at).map(Source::of),
        fixes: fixes(facts),
    }
}

/// The line as it was printed last, or what it is called where that is not known.
fn printed(name: &str, facts: &[KnownFact]) -> String {
    let mut met = facts.iter().filter(|known| known.fact.predicate == Predicate::FailedWith);
    let told = met.find(|known| !known.fact.detail.trim().is_empty());
    told.map_or_else(|| name.to_owned(), |known| known.fact.detail.trim().to_owned())
}
