//! A command that failed and has not succeeded since, and what a later success says about it.

use rethread_model::{Entity, EntityKind, Entry, Fact, FactState, Predicate, Trust, clip};
use serde::{Deserialize, Serialize};

use super::super::command::{CommandClass, CommandLine, ExitVisibility, ShellCommand};
use super::super::error_forms::{compares_values, concrete_form};
use super::super::errors::is_missing_folder;
use super::super::packages::installed_packages;
use super::super::sink::{FactSink, command_entity, observed_fact};
use super::attempt::{FixAttempt, select_attempt};
use super::call::{
    corrects_same, follows_advice, installs_other, is_call_error, is_corrected_call, is_same_call, names_file,
    ran_nothing, same_folder, shows_success,
};
use super::change::{AttemptedChange, ChangeKind, Likelihood};
use super::compile_error::compiles_same;
use super::inline_script::script_correction;
use super::inner_check::{runs_check_of_same_name, runs_same_check};
use super::partial_run::settles_failed_part;
use super::relation::ErrorWords;
use super::script_call::{is_same_file, runs_other_version};
use super::stage::{came_further, is_replaced};
use super::{MAX_TEXT_CHARS, verifies};

/// Maximum number of earlier errors of one command that disappeared one after another.
const MAX_EARLIER_ERRORS: usize = 8;
/// Number of commands within which a different call of the command is recognized.
const MAX_RETRY_COMMANDS: u64 = 4;

/// A command that failed and has not succeeded since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenFailure {
    name: String,
    arguments: Vec<String>,
    prefix_words: Vec<String>,
    folder: Option<String>,
    /// The names of the other commands of the line, one of which may have failed instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<String>,
    /// The line as called.
    called: String,
    /// The whole line, if only its output showed the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seen_through: Option<String>,
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
        let is_other = |command: &&ShellCommand| command.class == CommandClass::Check && command.name != main.name;
        let others = line.commands[..line.main].iter().filter(is_other).map(|command| command.name.clone()).collect();
        let called = clip(called, MAX_TEXT_CHARS).into_owned();
        Self {
            name: main.name,
            arguments: main.arguments,
            prefix_words: main.prefix_words,
            folder: line.folder.clone(),
            others,
            called,
            seen_through: None,
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
        is_same && self.is_in_folder(line.folder.as_deref())
    }

    /// Whether a later command may run in the directory of this one.
    fn is_in_folder(&self, later: Option<&str>) -> bool {
        same_folder(self.folder.as_deref(), later, names_file(&self.command()))
    }

    /// Remembers the line through which the failure was seen, because its exit code is lost.
    pub(super) fn set_seen_through(&mut self, line: &CommandLine, script: &str) {
        self.seen_through = (line.exit == ExitVisibility::Lost).then(|| clip(script, MAX_TEXT_CHARS).into_owned());
    }

    /// Whether the failure was seen through this line, so that it would show it again.
    pub(super) fn is_seen_through(&self, line: &CommandLine, script: &str) -> bool {
        let is_same = self.seen_through.as_deref().is_some_and(|seen| seen == clip(script, MAX_TEXT_CHARS));
        is_same && self.is_in_folder(line.folder.as_deref())
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
        // What was written to try something out fixed nothing, unless it is what failed.
        let is_scratch = |change: &AttemptedChange| change.was_run && !self.names(&change.what);
        let mine: Vec<&AttemptedChange> =
            changes.iter().filter(|change| change.number > self.since && !is_scratch(change)).collect();
        let first = changes.iter().find(|change| change.number > self.since);
        let is_complete = first.is_none_or(|first| first.number == self.since + 1);
        select_attempt(&mine, is_complete, &self.name, &self.words())
    }

    /// Whether the failed command names a file.
    fn names(&self, file: &str) -> bool {
        let is_file = |word: &str| is_same_file(word, file);
        self.name.split(' ').any(is_file) || self.arguments.iter().any(|word| is_file(word))
    }

    fn words(&self) -> ErrorWords {
        ErrorWords::new(&self.error.message, self.reason.as_deref())
    }

    /// Records that the same command failed again. The fixes of errors that are gone for sure are returned.
    pub(super) fn record_repeat(
        &mut self,
        error: TrackedError,
        called: &str,
        (prompts, commands): (u64, u64),
        changes: &[AttemptedChange],
        entry: &Entry,
        sink: &mut FactSink,
    ) -> Vec<VerifiedFix> {
        (self.prompts, self.commands) = (prompts, commands);
        let attempt = self.attempt(changes);
        self.since = changes.last().map_or(self.since, |last| last.number.max(self.since));
        let called = clip(called, MAX_TEXT_CHARS).into_owned();
        let before = std::mem::replace(&mut self.called, called);
        if error.concrete != self.error.concrete {
            // If nothing ran, the other call may be what made the difference.
            let attempt = attempt.filter(|_| before == self.called || !self.ran_nothing());
            return self.replace_error(error, attempt, entry, sink);
        }
        self.error.line = error.line;
        let Some(attempt) = attempt else { return Vec::new() };
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
        Vec::new()
    }

    /// Records that another error replaced the one before: what was changed may have fixed that one.
    fn replace_error(
        &mut self,
        error: TrackedError,
        attempt: Option<FixAttempt>,
        entry: &Entry,
        sink: &mut FactSink,
    ) -> Vec<VerifiedFix> {
        // An error that came back was not fixed.
        self.earlier.retain(|earlier| earlier.error.concrete != error.concrete);
        let before = std::mem::replace(&mut self.error, error);
        let reason = self.reason.take();
        self.has_presumed_fix = false;
        // A comparison that gives other values, or of which only the test is named, is the same failure.
        let is_named_only = ["FAILED ", "FAIL: ", "--- FAIL: "].iter().any(|mark| self.error.message.starts_with(mark));
        let is_same = compares_values(&before.message) && (is_named_only || before.signature == self.error.signature);
        let attempt = attempt.filter(|_| !is_same);
        let before = attempt.map(|attempt| EarlierError { error: before, attempt, reason });
        if let Some(EarlierError { error, attempt, reason }) = &before {
            sink.push(self.fix_fact(error, attempt, FactState::Hypothesis, reason.clone(), entry));
        }
        // A run that came further shows that the errors before are gone, and so does another error in the same stage
        // after a change of what the error before names.
        let message = &self.error.message;
        let is_gone = |one: &EarlierError| {
            let before = &one.error.message;
            came_further(before, message) || (one.attempt.is_related && is_replaced(before, message))
        };
        let (gone, open): (Vec<EarlierError>, Vec<EarlierError>) = std::mem::take(&mut self.earlier)
            .into_iter()
            .chain(before)
            .partition(|one| one.attempt.is_clear && is_gone(one));
        self.earlier = open;
        self.earlier.truncate(MAX_EARLIER_ERRORS);
        self.confirm(gone, entry, sink)
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
        if corrects_same(&self.error.message, &mine, later) || self.is_corrected_by(later, folder, called, changes, now)
        {
            return FixVerdict::CalledDifferently;
        }
        // What was edited since does not create a directory.
        let is_other_call = || clip(called, MAX_TEXT_CHARS) != self.called;
        if is_missing_folder(&self.error.message) && is_other_call() && is_same_call(&mine, later) {
            return FixVerdict::CalledDifferently;
        }
        let is_changed = changes.iter().any(|change| change.number > self.since);
        let is_same_check = || {
            let is_installed = || runs_check_of_same_name(&mine, later) && self.has_installed_missing_package(changes);
            is_changed && (runs_same_check(&self.error.message, &mine, &self.others, later) || is_installed())
        };
        // A script that was changed a little shows that a change fixed what the error names.
        let is_same_script = || self.script_correction(later).is_some() && self.has_related_change(changes);
        if shows_success(&mine, later) || is_same_check() || is_same_script() {
            let is_elsewhere = !self.is_in_folder(folder);
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
        if !is_check {
            return FixVerdict::Unrelated;
        }
        match self.attempt(changes) {
            Some(attempt) if self.is_settled_by_part(&attempt, later, folder) => FixVerdict::Fixed(Some(attempt)),
            Some(attempt) if !self.has_presumed_fix => FixVerdict::Presumed(attempt),
            _ => FixVerdict::Unrelated,
        }
    }

    /// Whether a narrower run shows that the changes fixed the error.
    fn is_settled_by_part(&self, attempt: &FixAttempt, later: &ShellCommand, folder: Option<&str>) -> bool {
        let (mine, message) = (self.command(), &self.error.message);
        attempt.is_clear
            && self.is_in_folder(folder)
            && !is_call_error(&self.error.signature)
            && (settles_failed_part(message, &mine, later, &attempt.files, &attempt.detail)
                || compiles_same(message, &mine, later, &attempt.files))
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
        if is_near && !self.has_edit(changes) && self.script_correction(later).is_some() {
            return true;
        }
        let is_other_call = clip(called, MAX_TEXT_CHARS) != self.called || folder != self.folder.as_deref();
        let is_corrected = is_call_error(&self.error.signature)
            && (is_same_call(&mine, later) || is_corrected_call(&mine, later))
            && !installs_other(&self.error.message, &mine, later)
            && !self.has_related_change(changes)
            && (self.ran_nothing() || !self.has_edit(changes));
        is_near && is_other_call && (is_corrected || self.is_run_by_other_version(later, changes))
    }

    /// How the script of a later call was corrected, if the failed one ran.
    pub(super) fn script_correction(&self, later: &ShellCommand) -> Option<String> {
        script_correction(&self.command(), later).filter(|_| !self.ran_nothing())
    }

    /// Whether a later call only differs in the version of its program, and nothing was changed.
    pub(super) fn is_run_by_other_version(&self, later: &ShellCommand, changes: &[AttemptedChange]) -> bool {
        runs_other_version(&self.command(), later) && !changes.iter().any(|change| change.number > self.since)
    }

    /// Whether a later call, which failed with another error, came further.
    pub(super) fn came_further(&self, message: &str) -> bool {
        came_further(&self.error.message, message)
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

    /// Whether a file was edited since the failure.
    fn has_edit(&self, changes: &[AttemptedChange]) -> bool {
        changes.iter().any(|change| change.number > self.since && change.kind == ChangeKind::Edited)
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
        let last =
            attempt.map(|attempt| EarlierError { error: self.error.clone(), attempt, reason: self.reason.take() });
        let fixed = std::mem::take(&mut self.earlier).into_iter().chain(last).collect();
        retract_presumed_fixes(self.error.line, sink);
        self.confirm(fixed, entry, sink)
    }

    /// Reports the fixes of errors that are gone.
    fn confirm(&self, fixed: Vec<EarlierError>, entry: &Entry, sink: &mut FactSink) -> Vec<VerifiedFix> {
        let mut verified = Vec::new();
        for EarlierError { error, attempt, reason } in fixed {
            retract_presumed_fixes(error.line, sink);
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

    /// Reports that another call of the command works. It may as well have fixed the errors before, so what was changed
    /// for them stays a hypothesis.
    pub(super) fn report_other_call(&mut self, detail: String, entry: &Entry, sink: &mut FactSink) -> Vec<VerifiedFix> {
        self.earlier.clear();
        let attempt = FixAttempt { detail, lines: Vec::new(), files: Vec::new(), is_clear: true, is_related: false };
        self.report_fix(Some(attempt), entry, sink)
    }

    /// Reports a presumed fix: there is some evidence, but the command itself was not run again.
    pub(super) fn presume_fix(&mut self, attempt: &FixAttempt, entry: &Entry, sink: &mut FactSink) {
        self.has_presumed_fix = true;
        sink.push(self.fix_fact(&self.error, attempt, FactState::Hypothesis, self.reason.clone(), entry));
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

/// Removes the presumed fixes of the error at this line, because it is known what happened to it.
fn retract_presumed_fixes(error: u64, sink: &mut FactSink) {
    sink.retract(|fact| {
        fact.predicate == Predicate::FixedBy
            && fact.state == FactState::Hypothesis
            && fact.evidence_lines.first() == Some(&error)
    });
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
