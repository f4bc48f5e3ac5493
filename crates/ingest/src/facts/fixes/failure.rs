//! A command that failed and has not succeeded since, and what a later success says about it.

use rethread_model::{Entity, EntityKind, Entry, Fact, FactState, Predicate, Trust, clip};
use serde::{Deserialize, Serialize};

use super::super::command::{CommandClass, CommandLine, ShellCommand};
use super::super::error_forms::concrete_form;
use super::super::packages::installed_packages;
use super::super::sink::{FactSink, command_entity, observed_fact};
use super::attempt::{FixAttempt, select_attempt};
use super::call::{
    follows_advice, formats_same, is_call_error, is_corrected_call, is_format_issue, is_same_call, ran_nothing,
    same_folder, shows_success,
};
use super::change::{AttemptedChange, ChangeKind, Likelihood};
use super::inner_check::{runs_check_of_same_name, runs_same_check};
use super::relation::ErrorWords;
use super::{MAX_TEXT_CHARS, verifies};

/// Maximum number of earlier errors of one command that disappeared one after another.
const MAX_EARLIER_ERRORS: usize = 4;
/// Number of commands within which a different call of the command is recognized.
const MAX_RETRY_COMMANDS: u64 = 4;

/// A command that failed and has not succeeded since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenFailure {
    name: String,
    arguments: Vec<String>,
    prefix_words: Vec<String>,
    folder: Option<String>,
    /// The line as called.
    called: String,
    pub(super) error: TrackedError,
    /// Number of the last change before the failure.
    pub(super) since: u64,
    earlier: Vec<EarlierError>,
    /// The model's explanation of the failure.
    pub(super) reason: Option<String>,
    pub(super) prompts: u64,
    pub(super) commands: u64,
    /// Whether a fix was already presumed.
    pub(super) has_presumed_fix: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TrackedError {
    /// Empty if the message would match any error: then no fact is reported about it.
    pub(super) signature: String,
    pub(super) concrete: String,
    /// As printed.
    pub(super) message: String,
    pub(super) line: u64,
}

/// An error that another one replaced, after these changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct EarlierError {
    error: TrackedError,
    attempt: FixAttempt,
    reason: Option<String>,
}

/// A fix that was verified by a success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct VerifiedFix {
    pub(super) name: String,
    pub(super) concrete: String,
    pub(super) signature: String,
    pub(super) message: String,
    pub(super) detail: String,
}

/// What a success means for an open failure.
pub(super) enum FixVerdict {
    /// The command succeeded, after these changes if any of them may be the fix.
    Fixed(Option<FixAttempt>),
    /// The command was called in another way.
    CalledDifferently,
    /// A related command succeeded after changes.
    Presumed(FixAttempt),
    Unrelated,
}

impl OpenFailure {
    pub(super) fn new(
        line: &CommandLine,
        called: &str,
        error: TrackedError,
        (prompts, commands): (u64, u64),
        since: u64,
    ) -> Self {
        let main = line.main().clone();
        let called = clip(called, MAX_TEXT_CHARS).into_owned();
        Self {
            name: main.name,
            arguments: main.arguments,
            prefix_words: main.prefix_words,
            folder: line.folder.clone(),
            called,
            error,
            since,
            earlier: Vec::new(),
            reason: None,
            prompts,
            commands,
            has_presumed_fix: false,
        }
    }

    /// The failed command, for comparing it with others.
    fn command(&self) -> ShellCommand {
        ShellCommand {
            name: self.name.clone(),
            arguments: self.arguments.clone(),
            prefix_words: self.prefix_words.clone(),
            class: CommandClass::Check,
            output: None,
            folder: None,
            is_certain: true,
            text: String::new(),
            is_alternative: false,
        }
    }

    pub(super) fn matches(&self, line: &CommandLine) -> bool {
        let is_same = is_same_call(&self.command(), line.main()) || self.is_git_like(line.main());
        is_same && same_folder(self.folder.as_deref(), line.folder.as_deref())
    }

    /// Whether the call was so wrong that nothing ran.
    pub(super) fn ran_nothing(&self) -> bool {
        ran_nothing(&self.error.message)
    }

    /// Whether both are the same command of git, whose arguments differ from call to call.
    fn is_git_like(&self, other: &ShellCommand) -> bool {
        self.name == other.name && matches!(self.name.as_str(), "git commit" | "git push")
    }

    /// The likely fix among the changes since the failure.
    pub(super) fn attempt(&self, changes: &[AttemptedChange]) -> Option<FixAttempt> {
        if self.error.signature.is_empty() {
            return None;
        }
        let mine: Vec<&AttemptedChange> = changes.iter().filter(|change| change.number > self.since).collect();
        let is_complete = mine.first().is_none_or(|first| first.number == self.since + 1);
        select_attempt(&mine, is_complete, &self.name, &self.words())
    }

    fn words(&self) -> ErrorWords {
        ErrorWords::new(&self.error.message, self.reason.as_deref())
    }

    /// Records that the same command failed again.
    pub(super) fn record_repeat(
        &mut self,
        error: TrackedError,
        (prompts, commands): (u64, u64),
        changes: &[AttemptedChange],
        entry: &Entry,
        sink: &mut FactSink,
    ) {
        (self.prompts, self.commands) = (prompts, commands);
        let attempt = self.attempt(changes);
        self.since = changes.last().map_or(self.since, |last| last.number.max(self.since));
        if error.concrete != self.error.concrete {
            return self.replace_error(error, attempt, entry, sink);
        }
        self.error.line = error.line;
        let Some(attempt) = attempt else { return };
        let evidence = evidence(self.error.line, &attempt);
        sink.push(Fact {
            object: Some(command_entity(&self.name)),
            detail: attempt.detail,
            reason: self.reason.take(),
            quote: Some(self.error.message.clone()),
            success_count: 0,
            failure_count: 1,
            evidence_lines: evidence,
            ..observed_fact(entry, Predicate::NotFixedBy, Entity::new(EntityKind::Error, &self.error.signature))
        });
        self.has_presumed_fix = false;
    }

    /// Records that another error replaced the one before: what was changed may have fixed that one.
    fn replace_error(&mut self, error: TrackedError, attempt: Option<FixAttempt>, entry: &Entry, sink: &mut FactSink) {
        // An error that came back was not fixed.
        self.earlier.retain(|earlier| earlier.error.concrete != error.concrete);
        let before = std::mem::replace(&mut self.error, error);
        let reason = self.reason.take();
        self.has_presumed_fix = false;
        let Some(attempt) = attempt.filter(|_| self.earlier.len() < MAX_EARLIER_ERRORS) else { return };
        sink.push(self.fix_fact(&before, &attempt, FactState::Hypothesis, reason.clone(), entry));
        self.earlier.push(EarlierError { error: before, attempt, reason });
    }

    /// What the success of a later command says about this failure.
    pub(super) fn assess(
        &self,
        later: &ShellCommand,
        folder: Option<&str>,
        called: &str,
        changes: &[AttemptedChange],
        now: u64,
    ) -> FixVerdict {
        let mine = self.command();
        let is_formatted = formats_same(&mine, later) && is_format_issue(&self.error.message);
        if is_formatted || self.is_corrected_by(later, folder, called, changes, now) {
            return FixVerdict::CalledDifferently;
        }
        let is_changed = changes.iter().any(|change| change.number > self.since);
        let is_same_check = || {
            let is_installed = || runs_check_of_same_name(&mine, later) && self.has_installed_missing_package(changes);
            is_changed && (runs_same_check(&self.error.message, &mine, later) || is_installed())
        };
        if shows_success(&mine, later) || is_same_check() {
            let is_elsewhere = !same_folder(self.folder.as_deref(), folder);
            let is_placed = folder.is_some() && folder != self.folder.as_deref();
            let is_prepared = later.prefix_words.iter().any(|word| !self.prefix_words.contains(word));
            return match (is_changed, is_elsewhere) {
                (false, _) if is_prepared && is_same_call(&mine, later) => FixVerdict::CalledDifferently,
                (true, false) => FixVerdict::Fixed(self.attempt(changes)),
                (false, false) if !is_placed => FixVerdict::Fixed(None),
                _ => FixVerdict::Unrelated,
            };
        }
        let is_check =
            later.name == self.name || (later.class == CommandClass::Check && verifies(later) && verifies(&mine));
        if !is_check || self.has_presumed_fix {
            return FixVerdict::Unrelated;
        }
        self.attempt(changes).map_or(FixVerdict::Unrelated, FixVerdict::Presumed)
    }

    /// Whether a later call is the failed one, corrected: the error is about the call, and nothing else was changed that
    /// the error names.
    pub(super) fn is_corrected_by(
        &self,
        later: &ShellCommand,
        folder: Option<&str>,
        called: &str,
        changes: &[AttemptedChange],
        now: u64,
    ) -> bool {
        let mine = self.command();
        let is_near = now - self.commands <= MAX_RETRY_COMMANDS;
        let is_other_call = clip(called, MAX_TEXT_CHARS) != self.called || folder != self.folder.as_deref();
        is_near
            && is_other_call
            && (is_same_call(&mine, later) || is_corrected_call(&mine, later))
            && is_call_error(&self.error.signature)
            && !self.has_related_change(changes)
    }

    /// Whether a later call, which failed in another way, adds what the message asks for.
    pub(super) fn is_advised(&self, later: &ShellCommand, message: &str) -> bool {
        self.error.concrete != concrete_form(message) && follows_advice(&self.error.message, &self.command(), later)
    }

    /// Whether a package was installed that the error names.
    fn has_installed_missing_package(&self, changes: &[AttemptedChange]) -> bool {
        let mut mine = changes.iter().filter(|change| change.number > self.since && change.kind == ChangeKind::Ran);
        mine.any(|change| {
            let names = installed_packages(&change.what);
            names.iter().any(|name| is_word_in(name, &self.error.message))
        })
    }

    /// Whether one of the changes names what the error names.
    fn has_related_change(&self, changes: &[AttemptedChange]) -> bool {
        let words = self.words();
        let mut mine = changes.iter().filter(|change| change.number > self.since);
        mine.any(|change| change.likelihood(&self.name, &words) == Likelihood::Related)
    }

    /// Reports a verified fix, and those of the errors before it. If it is unclear which change made the difference, it
    /// stays a hypothesis.
    pub(super) fn report_fix(
        &mut self,
        attempt: Option<FixAttempt>,
        entry: &Entry,
        sink: &mut FactSink,
    ) -> Vec<VerifiedFix> {
        self.retract_presumed_fixes(sink);
        let mut verified = Vec::new();
        let last =
            attempt.map(|attempt| EarlierError { error: self.error.clone(), attempt, reason: self.reason.take() });
        for EarlierError { error, attempt, reason } in std::mem::take(&mut self.earlier).into_iter().chain(last) {
            if error.signature.is_empty() {
                continue;
            }
            let state = if attempt.is_clear { FactState::Confirmed } else { FactState::Hypothesis };
            sink.push(self.fix_fact(&error, &attempt, state, reason, entry));
            if attempt.is_clear {
                verified.push(self.verified(error, attempt.detail));
            }
        }
        verified
    }

    /// Reports that another call of the command works.
    pub(super) fn report_other_call(&mut self, detail: String, entry: &Entry, sink: &mut FactSink) -> Vec<VerifiedFix> {
        let attempt = FixAttempt { detail, lines: Vec::new(), is_clear: true };
        self.report_fix(Some(attempt), entry, sink)
    }

    /// Reports a presumed fix: there is some evidence, but the command itself was not run again.
    pub(super) fn presume_fix(&mut self, attempt: &FixAttempt, entry: &Entry, sink: &mut FactSink) {
        self.has_presumed_fix = true;
        sink.push(self.fix_fact(&self.error, attempt, FactState::Hypothesis, self.reason.clone(), entry));
    }

    /// Removes the presumed fixes of this span, because they are now verified.
    fn retract_presumed_fixes(&self, sink: &mut FactSink) {
        let errors: Vec<u64> = self.earlier.iter().map(|earlier| earlier.error.line).chain([self.error.line]).collect();
        sink.retract(|fact| {
            fact.predicate == Predicate::FixedBy
                && fact.state == FactState::Hypothesis
                && fact.evidence_lines.first().is_some_and(|line| errors.contains(line))
        });
    }

    fn verified(&self, error: TrackedError, detail: String) -> VerifiedFix {
        let TrackedError { concrete, signature, message, .. } = error;
        VerifiedFix { name: self.name.clone(), concrete, signature, message, detail }
    }

    fn fix_fact(
        &self,
        error: &TrackedError,
        attempt: &FixAttempt,
        state: FactState,
        reason: Option<String>,
        entry: &Entry,
    ) -> Fact {
        Fact {
            object: Some(command_entity(&self.name)),
            detail: attempt.detail.clone(),
            reason,
            quote: Some(error.message.clone()),
            state,
            success_count: u64::from(state == FactState::Confirmed),
            evidence_lines: evidence(error.line, attempt),
            trust: Trust::Tool,
            ..observed_fact(entry, Predicate::FixedBy, Entity::new(EntityKind::Error, &error.signature))
        }
    }
}

/// Whether a name occurs in a text, and not only as a part of another one.
fn is_word_in(name: &str, text: &str) -> bool {
    let is_outside = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '-' | '_' | '/' | '@'));
    text.match_indices(name)
        .any(|(at, _)| is_outside(text[..at].chars().next_back()) && is_outside(text[at + name.len()..].chars().next()))
}

/// The lines that support it: the failure and the changes.
fn evidence(error: u64, attempt: &FixAttempt) -> Vec<u64> {
    std::iter::once(error).chain(attempt.lines.iter().copied()).collect()
}
