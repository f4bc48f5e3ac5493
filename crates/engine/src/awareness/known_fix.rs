//! Injects a known fix when a command fails or a prompt quotes an error.

use std::collections::HashSet;
use std::time::Instant;

use rethread_ingest::facts::{
    ErrorContent, error_content, error_places, failure_line, identifying_line, is_read_only, is_same_error, may_fix,
    runs_command, signature,
};
use rethread_ingest::tool_kind;
use rethread_model::{Entity, EntityKind, Predicate, SessionId, Timestamp, ToolKind};
use rethread_recall::{InjectionSection, SectionKind, best_fix, fix_line, known_fixes, memory_block};
use rethread_store::{FactQuery, FactRow, ReadStore, SessionScope, Store};

use super::caller::Caller;
use super::inject::{inject_once, text_hash};
use super::tool_call_text::{HookToolCall, without_secrets};
use crate::awareness::AwarenessService;
use crate::{Engine, EngineError};

/// Bytes read from each end of an error output; the failure is reported near one of them.
const ERROR_END_BYTES: usize = 3 << 10;
const FIX_PREDICATES: [Predicate; 2] = [Predicate::FixedBy, Predicate::NotFixedBy];

/// A prompt without any of these words quotes no error.
const ERROR_WORDS: [&str; 8] = ["rror", "FAIL", "xception", "panicked", "fatal", "not found", "denied", "No such"];

/// How many colons are tried as the end of a user's words before a quoted error.
const MAX_LEAD_IN_COLONS: usize = 3;

/// How far back a host's transcript is searched for failed commands that the host did not report, and how many.
const HIDDEN_FAILURE_MILLIS: i64 = 10 * 60_000;
const MAX_HIDDEN_FAILURES: usize = 3;

/// An error that the calling session has now.
struct SeenError {
    message: String,
    /// The command that failed; `None` if a prompt quotes the error.
    command: Option<String>,
    /// The files at which it was reported, if known.
    places: Vec<String>,
}

impl SeenError {
    /// Whether a known fix is about this error: it was printed before, and says what it is about, or the same command
    /// printed it.
    fn is_known_as(&self, known: &FactRow) -> bool {
        let is_same = known.fact.quote.as_deref().is_some_and(|quote| is_same_error(quote, &self.message));
        is_same
            && may_fix(&known.fact.detail, &self.message, &self.places)
            && match error_content(&self.message) {
                ErrorContent::Names => true,
                ErrorContent::Symptom => false,
                ErrorContent::Message => {
                    self.has_files_of(&known.fact.detail)
                        && self.command.as_deref().is_none_or(|command| {
                            known.fact.object.as_ref().is_some_and(|seen_with| runs_command(command, &seen_with.name))
                        })
                }
            }
    }

    /// Whether the files that the commands of a fix were run on are those of this error: formatting another file does
    /// not help. Scripts may be run for any.
    fn has_files_of(&self, fix: &str) -> bool {
        const INTERPRETERS: [&str; 9] = ["python", "python3", "node", "bash", "sh", "ruby", "php", "tsx", "run"];
        let commands = fix.split('`').skip(1).step_by(2);
        commands.flat_map(|command| command.split_whitespace().zip(command.split_whitespace().skip(1))).all(
            |(before, word)| {
                let is_file = word.contains('/') && is_file_name(word) && !INTERPRETERS.contains(&before);
                let is_here = |text: &str| text.contains(word);
                !is_file
                    || is_here(&self.message)
                    || self.command.as_deref().is_some_and(is_here)
                    || self.places.iter().any(|place| is_here(place))
            },
        )
    }
}

/// A line about a known fix or decision.
pub(super) struct KnownFactLine {
    pub(super) text: String,
    /// Dedupe key.
    pub(super) dedupe_key: u64,
    /// Why it is injected; shown when an injection is explained.
    pub(super) reason: &'static str,
}

/// Finds known facts of a project that help the calling session.
pub(super) struct FactFinder<'a> {
    pub(super) engine: &'a Engine,
    pub(super) store: &'a ReadStore,
    pub(super) caller: &'a Caller,
    pub(super) project: &'a str,
    pub(super) now: Timestamp,
}

impl AwarenessService<'_> {
    /// At most one confirmed fix for the error that a command just failed with, once per session.
    pub(crate) fn inject_after_failure(
        self,
        caller: &Caller,
        used: &HookToolCall,
    ) -> Result<Option<String>, EngineError> {
        if tool_kind(&used.name) != ToolKind::Command || used.is_interrupted || is_read_only(&used.target().command) {
            return Ok(None);
        }
        let output = used.error.as_ref().or(used.unjudged_output.as_ref()).map(|output| both_ends(output));
        let Some(output) = output else { return Ok(None) };
        // If the host does not say whether it failed, only a line that clearly reports a failure counts.
        let message = if used.error.is_some() { identifying_line(&output) } else { failure_line(&output) };
        let Some(message) = message else { return Ok(None) };
        let places = error_places(&output, &message);
        let Some(mut store) = self.engine.existing_writer()? else { return Ok(None) };
        let seen = SeenError { message, command: Some(used.target().command), places };
        self.inject_fix(&mut store, caller, [seen].into_iter())
    }

    /// The same in a host that may not report a failure in time: failed commands are in the transcript.
    pub(crate) fn inject_after_hidden_failure(self, caller: &Caller) -> Result<Option<String>, EngineError> {
        let Some(mut store) = self.engine.existing_writer()? else { return Ok(None) };
        self.sync_caller_transcript(&mut store, caller)?;
        let since = Timestamp::from_millis(self.engine.now().as_millis() - HIDDEN_FAILURE_MILLIS);
        let Some((number, _)) = store.session_by_external_id(caller.key())? else { return Ok(None) };
        let entries = store.entries_since(number, None, since)?.entries.into_iter().rev();
        let mut passed = HashSet::new();
        let mut failed = Vec::new();
        for tool in entries.filter_map(|entry| entry.tool).filter(|tool| tool.kind == Some(ToolKind::Command)) {
            match tool.outcome {
                Some(outcome) if !outcome.status.is_error() => _ = passed.insert(tool.target),
                // What works by now needs no fix.
                Some(outcome) if !passed.contains(&tool.target) => {
                    let command = tool.body.unwrap_or(tool.target);
                    failed
                        .extend(outcome.error.map(|message| hidden_error(message, command, outcome.output.as_deref())));
                }
                _ => {}
            }
        }
        self.inject_fix(&mut store, caller, failed.into_iter().take(MAX_HIDDEN_FAILURES))
    }

    /// Injects the first known fix for these errors that the session did not get yet.
    fn inject_fix(
        self,
        store: &mut Store,
        caller: &Caller,
        errors: impl Iterator<Item = SeenError>,
    ) -> Result<Option<String>, EngineError> {
        if !self.engine.settings().inject.memory {
            return Ok(None);
        }
        let (began, now) = (Instant::now(), self.engine.now());
        let project = self.project_of(store, caller)?;
        for seen in errors {
            let finder = FactFinder { engine: self.engine, store, caller, project: &project, now };
            let Some(known) = finder.known_fix(&seen)? else { continue };
            let reason = known.reason.to_owned();
            let text = memory_block(&[known.text]);
            let dedupe_keys = vec![known.dedupe_key];
            let part = InjectionSection { kind: SectionKind::Memory, text, reason, dedupe_keys };
            let budget = self.engine.settings().inject.budget_tokens;
            if let Some(text) = inject_once(store, caller, part, budget, "PostToolUseFailure", now, began)? {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }
}

impl FactFinder<'_> {
    /// A fix for the error that a prompt quotes, or a decision about what it names or asks, unless it was already injected.
    pub(super) fn for_prompt(&self, prompt: &str) -> Result<Option<KnownFactLine>, EngineError> {
        // Parsing the error costs milliseconds, and few prompts quote one.
        let may_quote = ERROR_WORDS.iter().any(|word| prompt.contains(word));
        let prompt_ends = if may_quote { both_ends(prompt) } else { String::new() };
        let found = match failure_line(&prompt_ends) {
            Some(message) => {
                let places = error_places(&prompt_ends, &message);
                self.quoted_fix(message, &places)?
            }
            None => self.known_decision(prompt)?,
        };
        Ok(match found {
            Some(line) if !self.store.was_injected(self.caller.key(), line.dedupe_key)? => Some(line),
            _ => None,
        })
    }

    /// A fix for an error line of a prompt, which may begin with words of the user: `I get this again: Error: …`.
    fn quoted_fix(&self, line: String, places: &[String]) -> Result<Option<KnownFactLine>, EngineError> {
        let after_colons = line.match_indices(": ").map(|(at, colon)| at + colon.len()).take(MAX_LEAD_IN_COLONS);
        let named = ["rror", "xception", "panic", "fatal"].iter().filter_map(|word| line.find(word)).min();
        let begin = named.and_then(|at| line[..at].rfind(' ')).map(|space| space + 1);
        let messages: Vec<String> = begin.into_iter().chain(after_colons).map(|at| line[at..].to_owned()).collect();
        for message in std::iter::once(line).chain(messages) {
            if let Some(known) = self.known_fix(&SeenError { message, command: None, places: places.to_vec() })? {
                return Ok(Some(known));
            }
        }
        Ok(None)
    }

    /// The best fix that other sessions of the project found for an error.
    fn known_fix(&self, seen: &SeenError) -> Result<Option<KnownFactLine>, EngineError> {
        let Some(name) = signature(&seen.message) else { return Ok(None) };
        let error = Entity::new(EntityKind::Error, &name);
        let query =
            FactQuery { scope: self.scope(), predicates: &FIX_PREDICATES, about: Some(&error), ..FactQuery::default() };
        let mut known = self.facts_of_other_sessions(&query)?;
        // A fix for a different error with the same signature may not help here; other numbers or addresses do not
        // make it a different error.
        known.retain(|known| seen.is_known_as(known));
        let fixes = known_fixes(&known);
        Ok(best_fix(&fixes).map(|fix| KnownFactLine {
            text: fix_line(fix, self.now),
            dedupe_key: text_hash(&format!("fix {name} {}", fix.description)),
            reason: "the error was fixed before",
        }))
    }

    pub(super) fn scope(&self) -> SessionScope {
        SessionScope::Project(self.project.to_owned())
    }

    pub(super) fn own_session(&self) -> Result<Option<SessionId>, EngineError> {
        Ok(self.store.session_by_external_id(self.caller.key())?.map(|(_, session)| session.id))
    }

    fn facts_of_other_sessions(&self, query: &FactQuery<'_>) -> Result<Vec<FactRow>, EngineError> {
        let mut known = self.store.facts(query)?;
        // What the session itself did is already in its context.
        let own = self.own_session()?;
        known.retain(|known| Some(known.session) != own);
        Ok(known)
    }
}

/// An error of which mostly one line is stored: its places are the files that it, the command and the output name.
fn hidden_error(message: String, command: String, output: Option<&str>) -> SeenError {
    let mut places = error_places(&format!("{message}\n{}", output.unwrap_or_default()), &message);
    places.extend(command.split_whitespace().filter(|word| is_file_name(word)).map(str::to_owned));
    SeenError { message, command: Some(command), places }
}

/// Whether a word of a command looks like the name of a file.
fn is_file_name(word: &str) -> bool {
    let ending = word.rsplit_once('.').map_or("", |(_, ending)| ending);
    !word.starts_with('-') && (1..=4).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Both ends of a long text, without secrets.
fn both_ends(text: &str) -> String {
    if text.len() <= 2 * ERROR_END_BYTES {
        return without_secrets(text);
    }
    let begin = &text[..text.floor_char_boundary(ERROR_END_BYTES)];
    let end = &text[text.ceil_char_boundary(text.len() - ERROR_END_BYTES)..];
    // Lines that are cut are dropped, because half a secret would not be recognized.
    let begin = begin.rsplit_once('\n').map_or(begin, |(whole, _)| whole);
    let end = end.split_once('\n').map_or("", |(_, whole)| whole);
    without_secrets(&format!("{begin}\n{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_on_another_file_does_not_help() {
        let seen = hidden_error("Format issues found".to_owned(), "pnpm fmt --check src/a.ts".to_owned(), None);
        assert!(!seen.has_files_of("ran `pnpm exec oxfmt specs/roles.md`"));
        assert!(seen.has_files_of("ran `pnpm exec oxfmt src/a.ts`") && seen.has_files_of("ran `pnpm exec oxfmt .`"));
        assert!(seen.has_files_of("ran `python3 tools/migrate.py`"));
    }

    #[test]
    fn a_hidden_error_is_at_the_files_that_it_and_its_command_name() {
        let places = |message: &str, command: &str| hidden_error(message.to_owned(), command.to_owned(), None).places;
        assert_eq!(places("src/db.ts(3,5): error TS2322: no", "npx tsc"), ["src/db.ts"]);
        assert_eq!(places("TypeError: x is not a function", "node src/job.js"), ["src/job.js"]);
    }
}
