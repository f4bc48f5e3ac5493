//! Errors and what became of them: from a failure through what was changed to the success that shows the repair.

use rethread_model::{Entity, EntityKind, Entry, Fact, FactState, Predicate, Trust, clip};
use serde::{Deserialize, Serialize};

use super::command::{Class, Command, Line, asks_the_same, likeness};
use super::errors::{concrete, is_of_the_call, signature};
use super::sink::{Sink, command, seen};
use super::tables::{EXPLAINING, FIXED, NARROWING, NOT_WORKING, PLANNING, VERIFYING, WORKS};

/// Failures that wait for their repair.
const OPEN_FAILURES: usize = 6;
/// Repairs that may still turn out not to hold.
const REMEMBERED_REPAIRS: usize = 8;
/// Errors of one command that went away one after another.
const EARLIER_ERRORS: usize = 4;
/// Changes that are remembered of one attempt.
const CHANGES: usize = 12;
/// More changed files than this say nothing about what mended an error.
const TELLING_CHANGES: usize = 8;
/// Prompts after which a failure is no longer waited for.
const PROMPTS_WAITED: u64 = 5;
/// Commands after which a failure is no longer waited for.
const COMMANDS_WAITED: u64 = 60;
/// Commands within which another way of calling it is recognised.
const COMMANDS_FOR_ANOTHER_WAY: u64 = 4;
/// The longest text kept of a message or a reason, in characters.
const TEXT_CHARS: usize = 240;

/// What is remembered of failures and repairs between two stretches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Repairs {
    open: Vec<Failure>,
    done: Vec<Repair>,
    prompts: u64,
    commands: u64,
}

/// A command that failed and has not succeeded since.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Failure {
    name: String,
    arguments: Vec<String>,
    before: Vec<String>,
    folder: Option<String>,
    error: Error,
    changes: Vec<Change>,
    earlier: Vec<(Error, Vec<Change>)>,
    /// What the model said about it.
    reason: Option<String>,
    prompts: u64,
    commands: u64,
    /// Whether a repair was supposed already.
    supposed: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Error {
    signature: String,
    concrete: String,
    /// As it was printed.
    message: String,
    line: u64,
}

/// Something that was done while a failure was open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Change {
    kind: ChangeKind,
    what: String,
    line: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum ChangeKind {
    Edited,
    Ran,
}

/// A repair that was seen to work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Repair {
    name: String,
    concrete: String,
    signature: String,
    message: String,
    detail: String,
}

impl Repairs {
    /// A file was changed.
    pub(super) fn edited(&mut self, path: &str, line: u64) {
        // Notes and plans of the agent mend nothing.
        let is_aside = path.starts_with("/tmp/") || path.contains("/.claude/") || path.contains("/.pi/");
        if !is_aside {
            self.changed(ChangeKind::Edited, path, line);
        }
    }

    /// A human spoke.
    pub(super) fn prompted(&mut self, text: &str, entry: &Entry, sink: &mut Sink) {
        self.prompts += 1;
        let prompts = self.prompts;
        if says_it_works(text)
            && let Some(failure) = self.open.iter_mut().rev().find(|failure| failure.is_worth_telling())
        {
            failure.suppose(entry, sink);
        }
        self.open.retain(|failure| prompts - failure.prompts <= PROMPTS_WAITED);
    }

    /// The model spoke: perhaps it says why something failed.
    pub(super) fn said(&mut self, text: &str, entry: &Entry, sink: &mut Sink) {
        if self.open.is_empty() {
            return;
        }
        if says_it_is_fixed(text)
            && let Some(failure) = self.open.iter_mut().rev().find(|failure| failure.is_worth_telling())
        {
            failure.suppose(entry, sink);
        }
        let Some(reason) = explanation(text) else { return };
        if let Some(failure) = self.open.last_mut() {
            failure.reason = Some(reason);
        }
    }

    /// A command failed with this message.
    pub(super) fn failed(&mut self, line: &Line, message: &str, entry: &Entry, sink: &mut Sink) {
        self.commands += 1;
        let main = line.main();
        // That a file to be removed is not there is nobody's error.
        let is_trifle = main.class == Class::Looks || matches!(main.name.as_str(), "rm" | "rmdir" | "mkdir" | "touch");
        let Some(signature) = signature(message).filter(|_| !is_trifle) else { return };
        let detail = clip(message, TEXT_CHARS).into_owned();
        let error = Error { concrete: concrete(message), message: detail.clone(), line: entry.place.line, signature };
        let object = Entity::new(EntityKind::Error, &error.signature);
        sink.count(Fact {
            object: Some(object),
            detail,
            succeeded: 0,
            failed: 1,
            ..seen(entry, Predicate::FailedWith, command(&main.name))
        });
        self.refute(main, &error, entry, sink);
        let now = (self.prompts, self.commands);
        if let Some(failure) = self.open.iter_mut().find(|failure| failure.is_of(line)) {
            return failure.again(error, now, entry, sink);
        }
        if self.open.len() == OPEN_FAILURES {
            self.open.remove(0);
        }
        self.open.push(Failure::new(line, error, now));
    }

    /// A command went well.
    pub(super) fn succeeded(&mut self, line: &Line, text: &str, entry: &Entry, sink: &mut Sink) {
        self.commands += 1;
        let now = self.commands;
        self.open.retain(|failure| now - failure.commands <= COMMANDS_WAITED);
        let mut open = std::mem::take(&mut self.open);
        open.retain_mut(|failure| match failure.judge(line, now) {
            Verdict::Repaired => {
                self.done.extend(failure.repaired(failure.detail(), entry, sink));
                false
            }
            Verdict::CalledOtherwise => {
                let detail = format!("ran `{}` instead", clip(text, TEXT_CHARS));
                self.done.extend(failure.repaired(detail, entry, sink));
                false
            }
            Verdict::Luck => false,
            Verdict::Supposed => {
                failure.suppose(entry, sink);
                true
            }
            Verdict::Nothing => true,
        });
        self.open = open;
        let too_many = self.done.len().saturating_sub(REMEMBERED_REPAIRS);
        self.done.drain(..too_many);
        self.changed_by(line, text, entry.place.line);
    }

    /// A command that went well may have changed something.
    fn changed_by(&mut self, line: &Line, text: &str, at: u64) {
        let changes = |command: &Command| {
            command.class == Class::Changes || matches!(command.name.as_str(), "kill" | "pkill" | "killall")
        };
        if line.commands.iter().any(changes) {
            self.changed(ChangeKind::Ran, clip(text, TEXT_CHARS / 2).as_ref(), at);
        }
        for written in line.commands.iter().filter_map(|command| command.output.as_deref()) {
            let is_a_log =
                ["/dev/", "/tmp/"].iter().any(|place| written.starts_with(place)) || has_extension(written, "log");
            if !is_a_log {
                self.changed(ChangeKind::Edited, written, at);
            }
        }
    }

    fn changed(&mut self, kind: ChangeKind, what: &str, line: u64) {
        for failure in &mut self.open {
            let known = failure.changes.iter_mut().find(|change| change.kind == kind && change.what == what);
            if let Some(known) = known {
                known.line = line;
            } else if failure.changes.len() < CHANGES {
                failure.changes.push(Change { kind, what: what.to_owned(), line });
            }
        }
    }

    /// A repair whose error came back did not hold.
    fn refute(&mut self, main: &Command, error: &Error, entry: &Entry, sink: &mut Sink) {
        let Some(at) =
            self.done.iter().rposition(|repair| repair.name == main.name && repair.concrete == error.concrete)
        else {
            return;
        };
        let repair = self.done.remove(at);
        let told = sink.facts_mut().iter_mut().rev().find(|fact| {
            fact.predicate == Predicate::FixedBy
                && fact.subject.name == repair.signature
                && fact.detail == repair.detail
        });
        match told {
            Some(fact) => {
                fact.state = FactState::Refuted;
                (fact.succeeded, fact.failed) = (0, 1);
                fact.evidence.push(error.line);
            }
            None => sink.push(Fact {
                object: Some(command(&repair.name)),
                detail: repair.detail,
                quote: Some(repair.message),
                state: FactState::Refuted,
                succeeded: 0,
                failed: 1,
                ..seen(entry, Predicate::FixedBy, Entity::new(EntityKind::Error, repair.signature))
            }),
        }
    }
}

/// What a success says about a failure.
enum Verdict {
    Repaired,
    CalledOtherwise,
    /// It went away with nothing done.
    Luck,
    /// Something else went well after changes.
    Supposed,
    Nothing,
}

impl Failure {
    fn new(line: &Line, error: Error, (prompts, commands): (u64, u64)) -> Self {
        let main = line.main().clone();
        Self {
            name: main.name,
            arguments: main.arguments,
            before: main.before,
            folder: line.folder.clone(),
            error,
            changes: Vec::new(),
            earlier: Vec::new(),
            reason: None,
            prompts,
            commands,
            supposed: false,
        }
    }

    /// As a command, to be compared with others.
    fn command(&self) -> Command {
        Command {
            name: self.name.clone(),
            arguments: self.arguments.clone(),
            before: self.before.clone(),
            class: Class::Checks,
            output: None,
            folder: None,
            is_sure: true,
        }
    }

    fn is_of(&self, line: &Line) -> bool {
        asks_the_same(&self.command(), line.main()) && same_folder(self.folder.as_deref(), line.folder.as_deref())
    }

    /// The same command failed again.
    fn again(&mut self, error: Error, (prompts, commands): (u64, u64), entry: &Entry, sink: &mut Sink) {
        (self.prompts, self.commands) = (prompts, commands);
        let changes = std::mem::take(&mut self.changes);
        if error.concrete != self.error.concrete {
            let before = std::mem::replace(&mut self.error, error);
            if !changes.is_empty() && self.earlier.len() < EARLIER_ERRORS {
                self.earlier.push((before, changes));
            }
            self.supposed = false;
            return;
        }
        if changes.is_empty() {
            self.error.line = error.line;
            return;
        }
        sink.push(Fact {
            object: Some(command(&self.name)),
            detail: described(&changes),
            reason: self.reason.take(),
            quote: Some(self.error.message.clone()),
            succeeded: 0,
            failed: 1,
            evidence: self.evidence(&changes),
            ..seen(entry, Predicate::NotFixedBy, Entity::new(EntityKind::Error, &self.error.signature))
        });
        self.error.line = error.line;
        self.supposed = false;
    }

    fn judge(&self, line: &Line, now: u64) -> Verdict {
        let main = line.main();
        let mine = self.command();
        let is_changed = !self.changes.is_empty();
        if asks_the_same(&mine, main) {
            let is_elsewhere = !same_folder(self.folder.as_deref(), line.folder.as_deref());
            let is_placed = line.folder.is_some() && line.folder != self.folder;
            let is_prepared = main.before.iter().any(|word| !self.before.contains(word));
            let is_other_way = is_prepared || (is_placed && is_of_the_call(&self.error.signature));
            return match (is_changed, is_elsewhere) {
                (true, false) => Verdict::Repaired,
                (false, _) if is_other_way => Verdict::CalledOtherwise,
                (false, false) if !is_placed => Verdict::Luck,
                _ => Verdict::Nothing,
            };
        }
        if is_changed {
            let is_check = main.name == self.name || (main.class == Class::Checks && verifies(main) && verifies(&mine));
            return if is_check && !self.supposed { Verdict::Supposed } else { Verdict::Nothing };
        }
        let is_near = now - self.commands <= COMMANDS_FOR_ANOTHER_WAY;
        let added_flags = main.name == self.name && adds_flags(&self.arguments, &main.arguments);
        let is_alike =
            is_of_the_call(&self.error.signature) && likeness(&mine, main) >= 0.5 && main.class != Class::Looks;
        if is_near && (added_flags || is_alike) { Verdict::CalledOtherwise } else { Verdict::Nothing }
    }

    fn is_worth_telling(&self) -> bool {
        !self.changes.is_empty() && !self.supposed
    }

    fn detail(&self) -> String {
        described(&self.changes)
    }

    /// The success that shows it. Too many changes say nothing about which of them did it.
    fn repaired(&mut self, detail: String, entry: &Entry, sink: &mut Sink) -> Option<Repair> {
        self.retract_supposition(sink);
        let is_vague = self.changes.iter().filter(|change| change.kind == ChangeKind::Edited).count() > TELLING_CHANGES;
        let state = if is_vague { FactState::Hypothesis } else { FactState::Confirmed };
        let evidence = self.evidence(&self.changes);
        for (error, changes) in &self.earlier {
            let evidence = std::iter::once(error.line).chain(changes.iter().map(|change| change.line)).collect();
            sink.push(self.fix(error, described(changes), (FactState::Hypothesis, evidence), None, entry));
        }
        sink.push(self.fix(&self.error, detail.clone(), (state, evidence), self.reason.clone(), entry));
        let Error { concrete, signature, message, .. } = self.error.clone();
        (!is_vague).then(|| Repair { name: self.name.clone(), concrete, signature, message, detail })
    }

    /// Something speaks for it, but the command itself was not run again.
    fn suppose(&mut self, entry: &Entry, sink: &mut Sink) {
        self.supposed = true;
        let evidence = self.evidence(&self.changes);
        sink.push(self.fix(&self.error, self.detail(), (FactState::Hypothesis, evidence), self.reason.clone(), entry));
    }

    /// What was supposed in this stretch is known now.
    fn retract_supposition(&self, sink: &mut Sink) {
        if self.supposed {
            sink.retract(|fact| {
                fact.predicate == Predicate::FixedBy
                    && fact.state == FactState::Hypothesis
                    && fact.evidence.first() == Some(&self.error.line)
            });
        }
    }

    fn fix(
        &self,
        error: &Error,
        detail: String,
        (state, evidence): (FactState, Vec<u64>),
        reason: Option<String>,
        entry: &Entry,
    ) -> Fact {
        let succeeded = u64::from(state == FactState::Confirmed);
        Fact {
            object: Some(command(&self.name)),
            detail,
            reason,
            quote: Some(error.message.clone()),
            state,
            succeeded,
            evidence,
            trust: Trust::Tool,
            ..seen(entry, Predicate::FixedBy, Entity::new(EntityKind::Error, &error.signature))
        }
    }

    /// The lines it rests on: where it failed, and what was done.
    fn evidence(&self, changes: &[Change]) -> Vec<u64> {
        std::iter::once(self.error.line).chain(changes.iter().map(|change| change.line)).collect()
    }
}

/// Whether a later command may run in the same folder: it names the same one, or none, because shells stay where they are.
fn same_folder(one: Option<&str>, later: Option<&str>) -> bool {
    let Some(other) = later else { return true };
    let Some(one) = one else { return false };
    let (one, other) = (one.trim_end_matches('/'), other.trim_end_matches('/'));
    let ends = |long: &str, short: &str| {
        !short.is_empty() && long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    one == other || ends(one, other) || ends(other, one)
}

/// Whether the other call only adds flags, and none that leave something out.
fn adds_flags(before: &[String], after: &[String]) -> bool {
    let mut added = after.iter().filter(|word| !before.contains(word)).peekable();
    before.iter().all(|word| after.contains(word))
        && added.peek().is_some_and(|first| first.starts_with('-'))
        && !added.any(|word| NARROWING.has(word.split('=').next().unwrap_or_default()))
}

/// Whether a command's success says that something works.
fn verifies(command: &Command) -> bool {
    command.name.split([' ', ':', '-']).any(|word| VERIFYING.has(word))
}

fn says_it_works(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    text.len() < 400 && WORKS.any_in(&text) && !NOT_WORKING.any_in(&text)
}

/// Whether the model says that it mended something, not that it hopes so.
fn says_it_is_fixed(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    FIXED.any_in(&text) && !["should be", "hopefully", "let me", "let's", "?"].iter().any(|cue| text.contains(cue))
}

/// The sentence in which the model explains a failure.
fn explanation(text: &str) -> Option<String> {
    let sentences = text.split('\n').flat_map(|line| line.split_inclusive(". ")).map(str::trim);
    let is_prose = |sentence: &&str| {
        (20..=TEXT_CHARS).contains(&sentence.len()) && !sentence.contains("```") && !sentence.ends_with('?')
    };
    let explains = |sentence: &&str| {
        let lower = sentence.to_ascii_lowercase();
        EXPLAINING.any_in(&lower) && !PLANNING.any_in(&lower)
    };
    sentences.filter(is_prose).find(explains).map(|sentence| sentence.trim_end_matches(':').to_owned())
}

fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case(extension))
}

/// What was done, in words.
fn described(changes: &[Change]) -> String {
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
