//! Tracks errors until they are fixed: from a failure, through the changes made, to the success that verifies the fix.

mod bypass;

pub(crate) use self::bypass::bypass_marker;

use rethread_model::{Entity, EntityKind, Entry, Fact, FactState, Predicate, Trust, clip};
use serde::{Deserialize, Serialize};

use super::command::{CommandClass, CommandLine, ShellCommand, is_same_command, word_similarity};
use super::errors::{concrete_form, is_usage_error, signature};
use super::sink::{FactSink, command_entity, observed_fact};
use super::tables::{
    EXPLAINING_PHRASES, FIXED_PHRASES, NARROWING_FLAGS, NOT_WORKING_PHRASES, PLANNING_PHRASES, VERIFYING_WORDS,
    WORKS_PHRASES,
};

/// Maximum number of failures waiting for a fix.
const MAX_OPEN_FAILURES: usize = 6;
/// Maximum number of fixes that are watched in case the error returns.
const MAX_FIXES: usize = 8;
/// Maximum number of earlier errors of one command that disappeared one after another.
const MAX_EARLIER_ERRORS: usize = 4;
/// Maximum number of changes recorded for one attempt.
const MAX_CHANGES: usize = 12;
/// With more edited files than this it is unclear which one fixed the error.
const MAX_CLEAR_EDITS: usize = 8;
/// Number of prompts after which a failure is no longer tracked.
const MAX_FAILURE_PROMPTS: u64 = 5;
/// Number of commands after which a failure is no longer tracked.
const MAX_FAILURE_COMMANDS: u64 = 60;
/// Number of commands within which a different call of the command is recognized.
const MAX_RETRY_COMMANDS: u64 = 4;
/// Maximum length of a stored message or reason, in characters.
const MAX_TEXT_CHARS: usize = 240;

/// The state of open failures and fixes, carried from one span to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct FixTracker {
    open: Vec<OpenFailure>,
    fixes: Vec<VerifiedFix>,
    prompts: u64,
    commands: u64,
}

/// A command that failed and has not succeeded since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct OpenFailure {
    name: String,
    arguments: Vec<String>,
    prefix_words: Vec<String>,
    folder: Option<String>,
    error: TrackedError,
    changes: Vec<AttemptedChange>,
    earlier: Vec<(TrackedError, Vec<AttemptedChange>)>,
    /// The model's explanation of the failure.
    reason: Option<String>,
    prompts: u64,
    commands: u64,
    /// Whether a fix was already presumed.
    has_presumed_fix: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TrackedError {
    signature: String,
    concrete: String,
    /// As printed.
    message: String,
    line: u64,
}

/// A change made while a failure was open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct AttemptedChange {
    kind: ChangeKind,
    what: String,
    line: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum ChangeKind {
    Edited,
    Ran,
}

/// A fix that was verified by a success.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct VerifiedFix {
    name: String,
    concrete: String,
    signature: String,
    message: String,
    detail: String,
}

impl FixTracker {
    /// Records that a file was changed.
    pub(super) fn record_edit(&mut self, path: &str, line: u64) {
        // The agent's own notes and plans fix nothing.
        let is_agent_file = path.starts_with("/tmp/") || path.contains("/.claude/") || path.contains("/.pi/");
        if !is_agent_file {
            self.record_change(ChangeKind::Edited, path, line);
        }
    }

    /// Records a human's prompt, which may report success.
    pub(super) fn record_prompt(&mut self, text: &str, entry: &Entry, sink: &mut FactSink) {
        self.prompts += 1;
        let prompts = self.prompts;
        if says_it_works(text)
            && let Some(failure) = self.open.iter_mut().rev().find(|failure| failure.can_presume_fix())
        {
            failure.presume_fix(entry, sink);
        }
        self.open.retain(|failure| prompts - failure.prompts <= MAX_FAILURE_PROMPTS);
    }

    /// Records a text of the model, which may explain a failure.
    pub(super) fn record_assistant_text(&mut self, text: &str, entry: &Entry, sink: &mut FactSink) {
        if self.open.is_empty() {
            return;
        }
        if says_it_is_fixed(text)
            && let Some(failure) = self.open.iter_mut().rev().find(|failure| failure.can_presume_fix())
        {
            failure.presume_fix(entry, sink);
        }
        let Some(reason) = explanation(text) else { return };
        if let Some(failure) = self.open.last_mut() {
            failure.reason = Some(reason);
        }
    }

    /// Records that a command failed with this message.
    pub(super) fn record_failure(&mut self, line: &CommandLine, message: &str, entry: &Entry, sink: &mut FactSink) {
        self.commands += 1;
        let main = line.main();
        // Failing to remove a file that does not exist is not an error worth tracking.
        let is_minor =
            main.class == CommandClass::ReadOnly || matches!(main.name.as_str(), "rm" | "rmdir" | "mkdir" | "touch");
        let Some(signature) = signature(message).filter(|_| !is_minor) else { return };
        let detail = clip(message, MAX_TEXT_CHARS).into_owned();
        let error = TrackedError {
            concrete: concrete_form(message),
            message: detail.clone(),
            line: entry.location.line,
            signature,
        };
        let object = Entity::new(EntityKind::Error, &error.signature);
        sink.count(Fact {
            object: Some(object),
            detail,
            success_count: 0,
            failure_count: 1,
            ..observed_fact(entry, Predicate::FailedWith, command_entity(&main.name))
        });
        self.refute_fix(main, &error, entry, sink);
        let now = (self.prompts, self.commands);
        if let Some(failure) = self.open.iter_mut().find(|failure| failure.matches(line)) {
            return failure.record_repeat(error, now, entry, sink);
        }
        if self.open.len() == MAX_OPEN_FAILURES {
            self.open.remove(0);
        }
        self.open.push(OpenFailure::new(line, error, now));
    }

    /// Records that a command succeeded.
    pub(super) fn record_success(&mut self, line: &CommandLine, text: &str, entry: &Entry, sink: &mut FactSink) {
        self.commands += 1;
        let now = self.commands;
        self.open.retain(|failure| now - failure.commands <= MAX_FAILURE_COMMANDS);
        let mut open = std::mem::take(&mut self.open);
        open.retain_mut(|failure| match failure.assess(line, now) {
            FixVerdict::Fixed => {
                self.fixes.extend(failure.report_fix(failure.detail(), entry, sink));
                false
            }
            FixVerdict::CalledDifferently => {
                let detail = format!("ran `{}` instead", clip(text, MAX_TEXT_CHARS));
                self.fixes.extend(failure.report_fix(detail, entry, sink));
                false
            }
            FixVerdict::Disappeared => false,
            FixVerdict::Presumed => {
                failure.presume_fix(entry, sink);
                true
            }
            FixVerdict::Unrelated => true,
        });
        self.open = open;
        let too_many = self.fixes.len().saturating_sub(MAX_FIXES);
        self.fixes.drain(..too_many);
        self.record_command_changes(line, text, entry.location.line);
    }

    /// Records what a successful command may have changed.
    fn record_command_changes(&mut self, line: &CommandLine, text: &str, at: u64) {
        let changes = |command: &ShellCommand| {
            command.class == CommandClass::Mutating || matches!(command.name.as_str(), "kill" | "pkill" | "killall")
        };
        if line.commands.iter().any(changes) {
            self.record_change(ChangeKind::Ran, clip(text, MAX_TEXT_CHARS / 2).as_ref(), at);
        }
        for written in line.commands.iter().filter_map(|command| command.output.as_deref()) {
            let is_a_log =
                ["/dev/", "/tmp/"].iter().any(|place| written.starts_with(place)) || has_extension(written, "log");
            if !is_a_log {
                self.record_change(ChangeKind::Edited, written, at);
            }
        }
    }

    fn record_change(&mut self, kind: ChangeKind, what: &str, line: u64) {
        for failure in &mut self.open {
            let known = failure.changes.iter_mut().find(|change| change.kind == kind && change.what == what);
            if let Some(known) = known {
                known.line = line;
            } else if failure.changes.len() < MAX_CHANGES {
                failure.changes.push(AttemptedChange { kind, what: what.to_owned(), line });
            }
        }
    }

    /// Refutes an earlier fix whose error came back.
    fn refute_fix(&mut self, main: &ShellCommand, error: &TrackedError, entry: &Entry, sink: &mut FactSink) {
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

/// What a success means for an open failure.
enum FixVerdict {
    Fixed,
    CalledDifferently,
    /// The error disappeared without any change.
    Disappeared,
    /// A related command succeeded after changes.
    Presumed,
    Unrelated,
}

impl OpenFailure {
    fn new(line: &CommandLine, error: TrackedError, (prompts, commands): (u64, u64)) -> Self {
        let main = line.main().clone();
        Self {
            name: main.name,
            arguments: main.arguments,
            prefix_words: main.prefix_words,
            folder: line.folder.clone(),
            error,
            changes: Vec::new(),
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
        }
    }

    fn matches(&self, line: &CommandLine) -> bool {
        is_same_command(&self.command(), line.main()) && same_folder(self.folder.as_deref(), line.folder.as_deref())
    }

    /// Records that the same command failed again.
    fn record_repeat(
        &mut self,
        error: TrackedError,
        (prompts, commands): (u64, u64),
        entry: &Entry,
        sink: &mut FactSink,
    ) {
        (self.prompts, self.commands) = (prompts, commands);
        let changes = std::mem::take(&mut self.changes);
        if error.concrete != self.error.concrete {
            let before = std::mem::replace(&mut self.error, error);
            if !changes.is_empty() && self.earlier.len() < MAX_EARLIER_ERRORS {
                self.earlier.push((before, changes));
            }
            self.has_presumed_fix = false;
            return;
        }
        if changes.is_empty() {
            self.error.line = error.line;
            return;
        }
        sink.push(Fact {
            object: Some(command_entity(&self.name)),
            detail: describe_changes(&changes),
            reason: self.reason.take(),
            quote: Some(self.error.message.clone()),
            success_count: 0,
            failure_count: 1,
            evidence_lines: self.evidence(&changes),
            ..observed_fact(entry, Predicate::NotFixedBy, Entity::new(EntityKind::Error, &self.error.signature))
        });
        self.error.line = error.line;
        self.has_presumed_fix = false;
    }

    fn assess(&self, line: &CommandLine, now: u64) -> FixVerdict {
        let main = line.main();
        let mine = self.command();
        let is_changed = !self.changes.is_empty();
        if is_same_command(&mine, main) {
            let is_elsewhere = !same_folder(self.folder.as_deref(), line.folder.as_deref());
            let is_placed = line.folder.is_some() && line.folder != self.folder;
            let is_prepared = main.prefix_words.iter().any(|word| !self.prefix_words.contains(word));
            let is_other_way = is_prepared || (is_placed && is_usage_error(&self.error.signature));
            return match (is_changed, is_elsewhere) {
                (true, false) => FixVerdict::Fixed,
                (false, _) if is_other_way => FixVerdict::CalledDifferently,
                (false, false) if !is_placed => FixVerdict::Disappeared,
                _ => FixVerdict::Unrelated,
            };
        }
        if is_changed {
            let is_check =
                main.name == self.name || (main.class == CommandClass::Check && verifies(main) && verifies(&mine));
            return if is_check && !self.has_presumed_fix { FixVerdict::Presumed } else { FixVerdict::Unrelated };
        }
        let is_near = now - self.commands <= MAX_RETRY_COMMANDS;
        let added_flags = main.name == self.name && adds_flags(&self.arguments, &main.arguments);
        let is_alike = is_usage_error(&self.error.signature)
            && word_similarity(&mine, main) >= 0.5
            && main.class != CommandClass::ReadOnly;
        if is_near && (added_flags || is_alike) { FixVerdict::CalledDifferently } else { FixVerdict::Unrelated }
    }

    fn can_presume_fix(&self) -> bool {
        !self.changes.is_empty() && !self.has_presumed_fix
    }

    fn detail(&self) -> String {
        describe_changes(&self.changes)
    }

    /// Reports a verified fix. With too many changes it is unclear which one worked, so it stays a hypothesis.
    fn report_fix(&mut self, detail: String, entry: &Entry, sink: &mut FactSink) -> Option<VerifiedFix> {
        self.retract_presumed_fix(sink);
        let is_vague = self.changes.iter().filter(|change| change.kind == ChangeKind::Edited).count() > MAX_CLEAR_EDITS;
        let state = if is_vague { FactState::Hypothesis } else { FactState::Confirmed };
        let evidence = self.evidence(&self.changes);
        for (error, changes) in &self.earlier {
            let evidence = std::iter::once(error.line).chain(changes.iter().map(|change| change.line)).collect();
            sink.push(self.fix_fact(error, describe_changes(changes), (FactState::Hypothesis, evidence), None, entry));
        }
        sink.push(self.fix_fact(&self.error, detail.clone(), (state, evidence), self.reason.clone(), entry));
        let TrackedError { concrete, signature, message, .. } = self.error.clone();
        (!is_vague).then(|| VerifiedFix { name: self.name.clone(), concrete, signature, message, detail })
    }

    /// Reports a presumed fix: there is some evidence, but the command itself was not run again.
    fn presume_fix(&mut self, entry: &Entry, sink: &mut FactSink) {
        self.has_presumed_fix = true;
        let evidence = self.evidence(&self.changes);
        sink.push(self.fix_fact(
            &self.error,
            self.detail(),
            (FactState::Hypothesis, evidence),
            self.reason.clone(),
            entry,
        ));
    }

    /// Removes the presumed fix of this span, because the fix is now verified.
    fn retract_presumed_fix(&self, sink: &mut FactSink) {
        if self.has_presumed_fix {
            sink.retract(|fact| {
                fact.predicate == Predicate::FixedBy
                    && fact.state == FactState::Hypothesis
                    && fact.evidence_lines.first() == Some(&self.error.line)
            });
        }
    }

    fn fix_fact(
        &self,
        error: &TrackedError,
        detail: String,
        (state, evidence_lines): (FactState, Vec<u64>),
        reason: Option<String>,
        entry: &Entry,
    ) -> Fact {
        let success_count = u64::from(state == FactState::Confirmed);
        Fact {
            object: Some(command_entity(&self.name)),
            detail,
            reason,
            quote: Some(error.message.clone()),
            state,
            success_count,
            evidence_lines,
            trust: Trust::Tool,
            ..observed_fact(entry, Predicate::FixedBy, Entity::new(EntityKind::Error, &error.signature))
        }
    }

    /// The lines that support it: the failure and the changes.
    fn evidence(&self, changes: &[AttemptedChange]) -> Vec<u64> {
        std::iter::once(self.error.line).chain(changes.iter().map(|change| change.line)).collect()
    }
}

/// Whether a later command may run in the same directory: it sets the same one, or none, because shells keep theirs.
fn same_folder(one: Option<&str>, later: Option<&str>) -> bool {
    let Some(other) = later else { return true };
    let Some(one) = one else { return false };
    let (one, other) = (one.trim_end_matches('/'), other.trim_end_matches('/'));
    let ends = |long: &str, short: &str| {
        !short.is_empty() && long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    one == other || ends(one, other) || ends(other, one)
}

/// Whether the later call only adds flags, and none that skip something.
fn adds_flags(before: &[String], after: &[String]) -> bool {
    let mut added = after.iter().filter(|word| !before.contains(word)).peekable();
    before.iter().all(|word| after.contains(word))
        && added.peek().is_some_and(|first| first.starts_with('-'))
        && !added.any(|word| NARROWING_FLAGS.contains(word.split('=').next().unwrap_or_default()))
}

/// Whether the success of a command verifies that something works.
fn verifies(command: &ShellCommand) -> bool {
    command.name.split([' ', ':', '-']).any(|word| VERIFYING_WORDS.contains(word))
}

fn says_it_works(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    text.len() < 400 && WORKS_PHRASES.any_in_text(&text) && !NOT_WORKING_PHRASES.any_in_text(&text)
}

/// Whether the model states that it fixed something, rather than hoping so.
fn says_it_is_fixed(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    FIXED_PHRASES.any_in_text(&text)
        && !["should be", "hopefully", "let me", "let's", "?"].iter().any(|cue| text.contains(cue))
}

/// The sentence in which the model explains a failure.
fn explanation(text: &str) -> Option<String> {
    let sentences = text.split('\n').flat_map(|line| line.split_inclusive(". ")).map(str::trim);
    let is_prose = |sentence: &&str| {
        (20..=MAX_TEXT_CHARS).contains(&sentence.len()) && !sentence.contains("```") && !sentence.ends_with('?')
    };
    let explains = |sentence: &&str| {
        let lower = sentence.to_ascii_lowercase();
        EXPLAINING_PHRASES.any_in_text(&lower) && !PLANNING_PHRASES.any_in_text(&lower)
    };
    sentences.filter(is_prose).find(explains).map(|sentence| sentence.trim_end_matches(':').to_owned())
}

fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case(extension))
}

/// The changes as text.
fn describe_changes(changes: &[AttemptedChange]) -> String {
    let names = |kind| changes.iter().filter(move |change| change.kind == kind).map(|change| change.what.as_str());
    let edited: Vec<&str> = names(ChangeKind::Edited).collect();
    let mut parts = Vec::new();
    if !edited.is_empty() {
        let shown = edited[..edited.len().min(4)].join(", ");
        let more = edited.len().saturating_sub(4);
        parts.push(if more == 0 { format!("edited {shown}") } else { format!("edited {shown} and {more} more") });
    }
    parts.extend(names(ChangeKind::Ran).take(3).map(|what| format!("ran `{what}`")));
    parts.join("; ")
}
