//! What helped before, told at the moment it is needed: when a command fails, or a prompt names the error.

use std::time::Instant;

use rethread_ingest::facts::{exact, names_failure, only_looks, signature, telling_line};
use rethread_ingest::tool_kind;
use rethread_model::{Entity, EntityKind, FactState, Predicate, Timestamp, ToolKind};
use rethread_recall::{
    Part, PartKind, best_remedy, compose, decision_line, decisions, fixes, memory_block, remedy_line,
};
use rethread_store::{FactQuery, KnownFact, Scope, Store};

use serde_json::Value;

use super::inject::{Caller, hash_of, record};
use super::words::{Used, without_secrets};
use crate::{Engine, EngineError};

/// Bytes of both ends of an error that are looked at: what failed stands at one of them.
const LOOKED_AT: usize = 3 << 10;
/// What is known of an error.
const OF_ERRORS: [Predicate; 2] = [Predicate::FixedBy, Predicate::NotFixedBy];

/// Words without one of which no error is quoted.
const QUOTED_WITH: [&str; 8] = ["rror", "FAIL", "xception", "panicked", "fatal", "not found", "denied", "No such"];
/// Decisions that are looked through for one that names a file.
const DECISIONS_LOOKED_AT: u64 = 300;

/// A line that tells what is known of what a prompt or a failure names.
pub(super) struct Remedy {
    pub(super) line: String,
    /// What it is known by.
    pub(super) says: u64,
    /// Why it is told.
    pub(super) reason: &'static str,
}

impl Engine {
    /// At most one confirmed fix for the error a command has just failed with, once in a session.
    pub(crate) fn told_after_failure(&self, caller: &Caller, used: &Used) -> Result<Option<String>, EngineError> {
        let (began, now) = (Instant::now(), self.now());
        let Some(error) = used.error.as_deref().filter(|_| tool_kind(&used.name) == ToolKind::Command) else {
            return Ok(None);
        };
        let command = used.input.get("command").and_then(Value::as_str).unwrap_or_default();
        if !self.config.flag("inject.memory") || used.is_interrupted || only_looks(command) {
            return Ok(None);
        }
        let Some(message) = telling_line(&both_ends(error)) else { return Ok(None) };
        let Some(mut store) = self.reader()? else { return Ok(None) };
        let project = self.project_of(&store, caller)?;
        let Some(remedy) = remedy(&store, caller, &project, &message, now)? else { return Ok(None) };
        let reason = remedy.reason.to_owned();
        let text = memory_block(&[remedy.line]);
        let part = Part { kind: PartKind::Memory, text, reason, says: vec![remedy.says] };
        let budget = self.config.number("inject.budget_tokens");
        let Some(composed) = compose(vec![part], budget, false) else { return Ok(None) };
        let mut batch = store.begin()?;
        let is_first = batch.tell(caller.key(), remedy.says, now)?;
        if is_first {
            batch.add_injection(caller.key(), &record(&composed, "PostToolUseFailure", now, began))?;
        }
        batch.commit()?;
        Ok(is_first.then_some(composed.text))
    }

    /// What is known of the error that a prompt quotes, or was decided about a file it names, and was not told yet.
    pub(super) fn known_of_prompt(
        store: &Store,
        caller: &Caller,
        project: &str,
        prompt: &str,
        now: Timestamp,
    ) -> Result<Option<Remedy>, EngineError> {
        // Looking closely costs milliseconds, and few prompts quote an error.
        let may_quote = QUOTED_WITH.iter().any(|word| prompt.contains(word));
        let quoted = if may_quote { names_failure(&both_ends(prompt)) } else { None };
        let found = match quoted {
            Some(message) => remedy(store, caller, project, &message, now)?,
            None => decision_on_file(store, caller, project, prompt, now)?,
        };
        Ok(match found {
            Some(remedy) if !store.was_told(caller.key(), remedy.says)? => Some(remedy),
            _ => None,
        })
    }
}

/// The last decision that still holds and names a file of the prompt.
fn decision_on_file(
    store: &Store,
    caller: &Caller,
    project: &str,
    prompt: &str,
    now: Timestamp,
) -> Result<Option<Remedy>, EngineError> {
    let files: Vec<&str> = files_named(prompt).collect();
    if files.is_empty() {
        return Ok(None);
    }
    let scope = Scope::Project(project.to_owned());
    let predicates = [Predicate::Decided, Predicate::Prefers, Predicate::Forbids];
    let query = FactQuery { scope, predicates: &predicates, limit: Some(DECISIONS_LOOKED_AT), ..FactQuery::default() };
    let own = store.session_of(caller.key())?.map(|(_, session)| session.id);
    // What a model concluded is told to those who ask for it, and not to agents unasked.
    let is_wanted = |known: &KnownFact| Some(known.session) != own && known.fact.model.is_none();
    let known: Vec<_> = store.facts(&query)?.into_iter().filter(is_wanted).collect();
    let decided = decisions(&known).into_iter().filter(|decision| {
        decision.state == FactState::Confirmed
            && decision.is_open()
            && files.iter().any(|file| decision.what.contains(file))
    });
    let last = decided.max_by_key(|decision| decision.valid_from);
    Ok(last.map(|decision| Remedy {
        line: decision_line(&decision, now),
        says: hash_of(&format!("decision {} {}", decision.choice, decision.what)),
        reason: "something was decided about a file that the prompt names",
    }))
}

/// Words of a prompt that look like files: `src/a.rs`, `Cargo.toml`.
fn files_named(prompt: &str) -> impl Iterator<Item = &str> {
    let bare = |word: &'_ str| word.len() < 200;
    let words = prompt.split(|c: char| c.is_whitespace() || "`'\"(),;:?!".contains(c)).filter(move |word| bare(word));
    let is_file = |word: &&str| {
        let (stem, end) = word.trim_end_matches('.').rsplit_once('.').unwrap_or_default();
        let is_extension = (1..=4).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_lowercase());
        stem.len() > 2 && is_extension && !word.contains("//")
    };
    words.filter(is_file).map(|word| word.trim_end_matches('.')).take(4)
}

/// What other sessions of the project found to help against an error.
fn remedy(
    store: &Store,
    caller: &Caller,
    project: &str,
    message: &str,
    now: Timestamp,
) -> Result<Option<Remedy>, EngineError> {
    let Some(name) = signature(message) else { return Ok(None) };
    let error = Entity::new(EntityKind::Error, &name);
    let scope = Scope::Project(project.to_owned());
    let query = FactQuery { scope, predicates: &OF_ERRORS, about: Some(&error), ..FactQuery::default() };
    let mut known = store.facts(&query)?;
    // What the session itself did stands in its context.
    let own = store.session_of(caller.key())?.map(|(_, session)| session.id);
    known.retain(|known| Some(known.session) != own);
    // What helped against another error of the same kind may be of no use here.
    let wanted = exact(message);
    known.retain(|known| known.fact.quote.as_deref().is_some_and(|quote| exact(quote) == wanted));
    let fixes = fixes(&known);
    Ok(best_remedy(&fixes).map(|fix| Remedy {
        line: remedy_line(fix, now),
        says: hash_of(&format!("remedy {name} {}", fix.what)),
        reason: "the error was fixed before",
    }))
}

/// Both ends of a text, without secrets.
fn both_ends(text: &str) -> String {
    if text.len() <= 2 * LOOKED_AT {
        return without_secrets(text);
    }
    let begin = &text[..text.floor_char_boundary(LOOKED_AT)];
    let end = &text[text.ceil_char_boundary(text.len() - LOOKED_AT)..];
    // What is cut in two is left out: half a secret would not be known as one.
    let begin = begin.rsplit_once('\n').map_or(begin, |(whole, _)| whole);
    let end = end.split_once('\n').map_or("", |(_, whole)| whole);
    without_secrets(&format!("{begin}\n{end}"))
}
