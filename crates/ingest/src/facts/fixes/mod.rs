//! Tracks errors until they are fixed: from a failure, through the changes made, to the success that verifies the fix.

mod attempt;
mod bypass;
mod bypass_marks;
mod call;
mod call_text;
mod change;
mod compile_error;
mod failure;
mod inline_script;
mod inner_check;
mod partial_run;
mod phrases;
mod relation;
mod script_call;
mod stage;

use rethread_model::{Entity, EntityKind, Entry, Fact, FactState, Predicate, clip};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use self::attempt::FixAttempt;
pub(crate) use self::bypass::bypass_marker;
pub use self::bypass::is_bypass;
pub(super) use self::bypass::is_bypass_command;
use self::call::{is_call_error, is_exception, is_format_issue, is_malformed_call, ran_nothing};
use self::call_text::{called_as, other_call};
use self::change::{AttemptedChange, ChangeKind, change_kind, without_fleeting_ids};
use self::failure::{FixVerdict, OpenFailure, TrackedError, VerifiedFix};
pub(super) use self::inline_script::CODE_TOOL;
pub(super) use self::phrases::says_it_works;
use self::phrases::{explanation, is_research, says_it_is_fixed};
use self::script_call::{is_same_file, script_of};
use super::command::{CommandClass, CommandLine, ShellCommand};
use super::diagnoses::DiagnosedError;
use super::error_forms::{concrete_form, exact_form, signature};
use super::errors::is_missing_folder;
use super::sink::{FactSink, command_entity, observed_fact};
use super::tables::VERIFYING_WORDS;

/// Maximum number of failures waiting for a fix.
const MAX_OPEN_FAILURES: usize = 6;
/// Maximum number of fixes that are watched in case the error returns.
const MAX_FIXES: usize = 8;
/// Maximum number of changes that are remembered.
const MAX_CHANGES: usize = 40;
/// Maximum number of lines of passing runs that are remembered.
const MAX_PASSING_LINES: usize = 64;
/// Number of prompts after which a failure is no longer tracked.
const MAX_FAILURE_PROMPTS: u64 = 5;
/// Number of commands after which a failure is no longer tracked.
const MAX_FAILURE_COMMANDS: u64 = 60;
/// Number of prompts after a failure within which a human may report that it is fixed.
const MAX_ANSWER_PROMPTS: u64 = 2;
/// Maximum length of a stored message or reason, in characters.
const MAX_TEXT_CHARS: usize = 240;

/// The state of open failures and fixes, carried from one span to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FixTracker {
    open: Vec<OpenFailure>,
    fixes: Vec<VerifiedFix>,
    /// The latest changes, oldest first.
    changes: Vec<AttemptedChange>,
    /// Number of all changes so far.
    change_count: u64,
    /// Hashes of error lines that runs printed which passed.
    passing_lines: Vec<u64>,
    prompts: u64,
    commands: u64,
}

impl FixTracker {
    /// Records that a file was changed: the places, if they are known, or the whole file.
    pub(super) fn record_edit(&mut self, path: &str, pieces: &str, is_whole: bool, line: u64) {
        // The agent's own notes and plans fix nothing.
        let is_agent_file = path.starts_with("/tmp/")
            || ["/.claude/plans/", "/.claude/projects/", "/.claude/todos/", "/.pi/agent/"]
                .iter()
                .any(|part| path.contains(part));
        if !is_agent_file {
            let kind = if is_whole { ChangeKind::Wrote } else { ChangeKind::Edited };
            self.record_change(kind, path, pieces, line);
        }
    }

    /// Records that a sub-agent worked, which may have changed anything unless it was to look at something.
    pub(super) fn record_subagent(&mut self, task: &str, line: u64) {
        if !is_research(task) {
            self.record_change(ChangeKind::Delegated, &clip(task, MAX_TEXT_CHARS), "", line);
        }
    }

    /// Records a human's prompt, which may report success.
    pub(super) fn record_prompt(&mut self, text: &str, entry: &Entry, sink: &mut FactSink) {
        self.prompts += 1;
        let prompts = self.prompts;
        if says_it_works(text) {
            self.confirm_by_human(entry, sink);
        }
        self.open.retain(|failure| prompts - failure.prompts <= MAX_FAILURE_PROMPTS);
    }

    /// Records a text of the model, which may explain a failure.
    pub(super) fn record_assistant_text(&mut self, text: &str, entry: &Entry, sink: &mut FactSink) {
        if self.open.is_empty() {
            return;
        }
        if says_it_is_fixed(text) {
            self.presume_latest(entry, sink);
        }
        let Some(reason) = explanation(text) else { return };
        if let Some(failure) = self.open.last_mut() {
            failure.reason = Some(reason);
        }
    }

    /// Records that a command failed with this message.
    pub(super) fn record_failure(
        &mut self,
        line: &CommandLine,
        script: &str,
        message: &str,
        entry: &Entry,
        sink: &mut FactSink,
    ) {
        let main = line.main();
        self.count_command(main);
        self.mark_scratch(line);
        // Failing to remove a file that does not exist is not an error worth tracking.
        let is_minor = (main.class == CommandClass::ReadOnly && !is_malformed_call(message))
            || matches!(main.name.as_str(), "rm" | "rmdir" | "mkdir" | "touch");
        if is_minor {
            return;
        }
        // What ran before the failed command may have changed something.
        for command in &line.commands[..line.main] {
            self.record_command(command, entry.location.line);
        }
        let is_noise = self.passing_lines.contains(&line_hash(message));
        let error = TrackedError {
            signature: signature(message).filter(|_| !is_noise).unwrap_or_default(),
            concrete: concrete_form(message),
            message: clip(message, MAX_TEXT_CHARS).into_owned(),
            line: entry.location.line,
        };
        // If the shell could not change the directory, the command did not run.
        if !error.signature.is_empty() && !is_missing_folder(message) {
            sink.count(Fact {
                object: Some(Entity::new(EntityKind::Error, &error.signature)),
                detail: error.message.clone(),
                success_count: 0,
                failure_count: 1,
                ..observed_fact(entry, Predicate::FailedWith, command_entity(&main.name))
            });
            self.refute_fix(main, &error, entry, sink);
        }
        // An exit code does not say whether the error is still the same; the bare name of an exception does.
        if error.signature.is_empty() && (is_noise || !message.trim_end_matches([':', ' ']).ends_with("Error")) {
            return;
        }
        self.close_corrected(line, script, message, entry, sink);
        let now = (self.prompts, self.commands);
        // A call that ran nothing does not show that the error before is gone: both stay open.
        let has_run = !ran_nothing(message);
        let is_known =
            |failure: &&mut OpenFailure| failure.matches(line) && (has_run || failure.error.concrete == error.concrete);
        if let Some(failure) = self.open.iter_mut().find(is_known) {
            failure.set_seen_through(line, script);
            let verified = failure.record_repeat(error, called_as(script), now, &self.changes, entry, sink);
            self.fixes.extend(verified);
            return;
        }
        if error.signature.is_empty() {
            return;
        }
        if self.open.len() == MAX_OPEN_FAILURES {
            self.open.remove(0);
        }
        let mut failure = OpenFailure::new(line, called_as(script), error, now, self.change_count);
        failure.set_seen_through(line, script);
        self.open.push(failure);
    }

    /// Reports the failures about a call that another call corrected, though it found something else to complain about.
    fn close_corrected(&mut self, line: &CommandLine, script: &str, message: &str, entry: &Entry, sink: &mut FactSink) {
        let (now, called) = (self.commands, called_as(script));
        let is_call_error = is_call_error(message);
        let mut open = std::mem::take(&mut self.open);
        open.retain_mut(|failure| {
            let folder = line.folder.as_deref();
            let shows_it = if failure.is_run_by_other_version(line.main(), &self.changes) {
                failure.came_further(message)
            } else if failure.script_correction(line.main()).is_some() {
                false
            } else {
                // A call that got as far as an exception of the code was understood.
                let is_understood = failure.came_further(message) && is_exception(message);
                !is_call_error || failure.is_advised(line.main(), message) || is_understood
            };
            let is_corrected = shows_it && failure.is_corrected_by(line.main(), folder, called, &self.changes, now);
            if is_corrected && !is_bypass_command(called) {
                let detail = other_call(line, script, &failure.error.message);
                self.fixes.extend(failure.report_other_call(detail, entry, sink));
            }
            !is_corrected
        });
        self.open = open;
    }

    /// Records that a command was started and goes on, such as a server.
    pub(super) fn record_started(&mut self, line: &CommandLine, entry: &Entry) {
        self.record_command(line.main(), entry.location.line);
    }

    /// The error of the failure that was seen last and is not fixed.
    pub(super) fn open_error(&self) -> Option<DiagnosedError> {
        let error = &self.open.iter().rev().find(|failure| !failure.error.signature.is_empty())?.error;
        let (signature, message) = (error.signature.clone(), error.message.clone());
        Some(DiagnosedError { signature, message, line: error.line })
    }

    /// Whether this command failed and has not succeeded since.
    pub(super) fn is_open(&self, line: &CommandLine) -> bool {
        self.open.iter().any(|failure| failure.matches(line))
    }

    /// Records that a line shows no failure any more, though it would: its exit code is lost, but it showed one before.
    pub(super) fn record_unseen(&mut self, line: &CommandLine, script: &str, entry: &Entry, sink: &mut FactSink) {
        let changes = &self.changes;
        let mut verified = Vec::new();
        self.open.retain_mut(|failure| {
            let is_gone = failure.is_seen_through(line, script);
            if is_gone {
                let attempt = failure.attempt(changes);
                verified.extend(failure.report_fix(attempt, entry, sink));
            }
            !is_gone
        });
        self.fixes.extend(verified);
    }

    /// Records that a command succeeded. It may have printed a line that looks like an error.
    pub(super) fn record_success(
        &mut self,
        line: &CommandLine,
        script: &str,
        printed_error: Option<&str>,
        entry: &Entry,
        sink: &mut FactSink,
    ) {
        self.count_command(line.main());
        self.mark_scratch(line);
        let now = self.commands;
        self.open.retain(|failure| now - failure.commands <= MAX_FAILURE_COMMANDS);
        // A log that is read may contain anything.
        if let Some(printed) = printed_error.filter(|_| line.main().class != CommandClass::ReadOnly) {
            self.record_passing_line(printed, line.main(), entry, sink);
        }
        for command in &line.commands {
            if command.is_certain && !self.open.is_empty() {
                self.close_failures(line, command, script, entry, sink);
            }
            self.record_command(command, entry.location.line);
        }
        let too_many = self.fixes.len().saturating_sub(MAX_FIXES);
        self.fixes.drain(..too_many);
    }

    /// Reports the failures that the success of a command settles.
    fn close_failures(
        &mut self,
        line: &CommandLine,
        command: &ShellCommand,
        script: &str,
        entry: &Entry,
        sink: &mut FactSink,
    ) {
        let (now, called) = (self.commands, called_as(script));
        let mut open = std::mem::take(&mut self.open);
        open.retain_mut(|failure| {
            match failure.assess(command, line.folder.as_deref(), called, &self.changes, now) {
                FixVerdict::Unrelated => true,
                // It passed because a check was skipped.
                _ if is_bypass_command(&command.text) => false,
                FixVerdict::Fixed(attempt) => {
                    self.fixes.extend(failure.report_fix(attempt, entry, sink));
                    false
                }
                FixVerdict::CalledDifferently => {
                    let detail = failure.script_correction(command);
                    let detail = detail.unwrap_or_else(|| other_call(line, script, &failure.error.message));
                    self.fixes.extend(failure.report_other_call(detail, entry, sink));
                    false
                }
                FixVerdict::Presumed(attempt) => {
                    failure.presume_fix(&attempt, entry, sink);
                    true
                }
            }
        });
        self.open = open;
    }

    /// Marks the changes of a script that was written and is now run by itself.
    fn mark_scratch(&mut self, line: &CommandLine) {
        for script in line.commands.iter().filter_map(script_of).map(|(_, script)| script) {
            let is_it = |change: &AttemptedChange| is_same_file(&change.what, script);
            let is_written = self.changes.iter().any(|change| change.kind == ChangeKind::Wrote && is_it(change));
            if is_written {
                self.changes.iter_mut().filter(|change| is_it(change)).for_each(|change| change.was_run = true);
            }
        }
    }

    /// Counts a command. Looking around takes a failure no further away.
    fn count_command(&mut self, main: &ShellCommand) {
        self.commands += u64::from(main.class != CommandClass::ReadOnly);
    }

    /// A human reports success: if only one failure has a fix, and which one is clear, that is it.
    fn confirm_by_human(&mut self, entry: &Entry, sink: &mut FactSink) {
        let changes = &self.changes;
        let attempts: Vec<(usize, FixAttempt)> =
            self.open.iter().enumerate().filter_map(|(at, failure)| Some((at, failure.attempt(changes)?))).collect();
        let is_recent = |at: usize| self.prompts - self.open[at].prompts <= MAX_ANSWER_PROMPTS;
        match attempts.as_slice() {
            [(at, attempt)] if attempt.is_clear && is_recent(*at) => {
                let mut failure = self.open.remove(*at);
                self.fixes.extend(failure.report_fix(Some(attempt.clone()), entry, sink));
            }
            _ => self.presume_latest(entry, sink),
        }
    }

    fn presume_latest(&mut self, entry: &Entry, sink: &mut FactSink) {
        let changes = &self.changes;
        let mut attempts = self.open.iter_mut().rev().filter(|failure| !failure.has_presumed_fix);
        let found = attempts.find_map(|failure| Some((failure.attempt(changes)?, failure)));
        if let Some((attempt, failure)) = found {
            failure.presume_fix(&attempt, entry, sink);
        }
    }

    /// Records what a command may have changed.
    fn record_command(&mut self, command: &ShellCommand, at: u64) {
        if self.open.is_empty() || command.is_alternative {
            return;
        }
        if let Some(kind) = change_kind(command) {
            self.record_change(kind, &clip(&without_fleeting_ids(command), MAX_TEXT_CHARS), "", at);
        }
        if let Some(written) = command.output.as_deref().filter(|path| !is_log(path)) {
            self.record_edit(written, "", true, at);
        }
    }

    fn record_change(&mut self, kind: ChangeKind, what: &str, pieces: &str, line: u64) {
        if self.open.is_empty() {
            return;
        }
        self.change_count += 1;
        let (what, pieces, number) = (what.to_owned(), pieces.to_owned(), self.change_count);
        // A script that was tried out is changed on.
        let was_run = self.changes.iter().any(|change| change.was_run && change.what == what);
        self.changes.push(AttemptedChange { kind, what, pieces, line, number, was_run });
        let oldest = self.open.iter().map(|failure| failure.since).min().unwrap_or_default();
        self.changes.retain(|change| change.number > oldest);
        let too_many = self.changes.len().saturating_sub(MAX_CHANGES);
        self.changes.drain(..too_many);
    }

    /// Records an error line of a run that passed: it says nothing when it appears in a run that fails.
    fn record_passing_line(&mut self, printed: &str, main: &ShellCommand, entry: &Entry, sink: &mut FactSink) {
        let hash = line_hash(printed);
        let Some(signature) = signature(printed).filter(|_| !self.passing_lines.contains(&hash)) else { return };
        let exact = exact_form(printed);
        self.open.retain(|failure| exact_form(&failure.error.message) != exact);
        if self.passing_lines.len() == MAX_PASSING_LINES {
            self.passing_lines.remove(0);
        }
        self.passing_lines.push(hash);
        sink.count(Fact {
            object: Some(Entity::new(EntityKind::Error, signature)),
            detail: clip(printed, MAX_TEXT_CHARS).into_owned(),
            success_count: 1,
            failure_count: 0,
            ..observed_fact(entry, Predicate::FailedWith, command_entity(&main.name))
        });
    }

    /// Refutes an earlier fix whose error came back.
    fn refute_fix(&mut self, main: &ShellCommand, error: &TrackedError, entry: &Entry, sink: &mut FactSink) {
        // Code that was written since must be formatted too.
        if is_format_issue(&error.message) {
            return;
        }
        let Some(at) = self.fixes.iter().rposition(|fix| fix.name == main.name && fix.concrete == error.concrete)
        else {
            return;
        };
        let fix = self.fixes.remove(at);
        let reported = sink.facts_mut().iter_mut().rev().find(|fact| {
            fact.predicate == Predicate::FixedBy && fact.subject.name == fix.signature && fact.detail == fix.detail
        });
        match reported {
            Some(fact) => {
                fact.state = FactState::Refuted;
                (fact.success_count, fact.failure_count) = (0, 1);
                fact.evidence_lines.push(error.line);
            }
            None => sink.push(Fact {
                object: Some(command_entity(&fix.name)),
                detail: fix.detail,
                quote: Some(fix.message),
                state: FactState::Refuted,
                success_count: 0,
                failure_count: 1,
                ..observed_fact(entry, Predicate::FixedBy, Entity::new(EntityKind::Error, fix.signature))
            }),
        }
    }
}

/// Whether the success of a command verifies that something works.
fn verifies(command: &ShellCommand) -> bool {
    let is_check = |word: &str| VERIFYING_WORDS.contains(word) || word.ends_with("lint") || word.ends_with("test");
    command.name.split([' ', ':', '-']).any(is_check)
}

fn line_hash(line: &str) -> u64 {
    xxh3_64(exact_form(line).as_bytes())
}

/// Whether a written file only records an output.
fn is_log(path: &str) -> bool {
    ["/dev/", "/tmp/", "&"].iter().any(|place| path.starts_with(place))
        || path.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("log"))
}
