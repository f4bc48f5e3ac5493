//! What was done with tools: files touched, commands run, and the order they came in.

use rethread_model::{Entry, Outcome, Predicate, Speech, Status, ToolKind, ToolUse, clip, relative};
use serde::{Deserialize, Serialize};

use super::command::{Class, Exit, Line, read};
use super::errors::is_of_the_agent;
use super::repairs::Repairs;
use super::sink::{Sink, command, file, seen};
use super::{git, packages};

/// Steps that are told of one stretch.
const STEPS: usize = 40;
/// The longest command kept, in characters.
const COMMAND_CHARS: usize = 160;

/// What is remembered of the work between two stretches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Work {
    repairs: Repairs,
    /// The branch that was last switched to.
    branch: Option<String>,
}

/// The work of one stretch while it is looked at.
pub(super) struct Stretch<'a> {
    work: &'a mut Work,
    roots: &'a [&'a str],
    steps: Vec<String>,
    /// The first command and where it stands.
    first: Option<(String, &'a Entry)>,
}

/// How a command went.
enum Ending<'o> {
    Well,
    Failed(&'o str),
    Unknown,
}

impl<'a> Stretch<'a> {
    pub(super) fn new(work: &'a mut Work, roots: &'a [&'a str]) -> Self {
        Self { work, roots, steps: Vec::new(), first: None }
    }

    /// Takes in the next entry.
    pub(super) fn take(&mut self, entry: &'a Entry, sink: &mut Sink) {
        match (entry.speech, &entry.tool) {
            (Speech::Prompt | Speech::Answer, _) => self.work.repairs.prompted(&entry.text, entry, sink),
            (Speech::Said, _) => self.work.repairs.said(&entry.text, entry, sink),
            (Speech::Call, Some(tool)) => self.called(tool, entry, sink),
            _ => {}
        }
    }

    /// Tells the order of the commands.
    pub(super) fn finish(self, sink: &mut Sink) {
        let Some((first, entry)) = self.first.filter(|_| self.steps.len() > 1) else { return };
        let mut fact = seen(entry, Predicate::Sequence, command(&first));
        fact.detail = self.steps.join(" > ");
        sink.push(fact);
    }

    fn called(&mut self, tool: &'a ToolUse, entry: &'a Entry, sink: &mut Sink) {
        let Some(outcome) = &tool.outcome else { return };
        match tool.kind {
            Some(ToolKind::Command) => self.ran(tool, outcome, entry, sink),
            Some(kind @ (ToolKind::Read | ToolKind::Edit | ToolKind::Write)) if outcome.status == Status::Ok => {
                self.touched(kind, tool, entry, sink);
            }
            _ => {}
        }
    }

    fn touched(&mut self, kind: ToolKind, tool: &ToolUse, entry: &Entry, sink: &mut Sink) {
        let predicate = match kind {
            ToolKind::Read => Predicate::Read,
            ToolKind::Edit => Predicate::Edited,
            _ => Predicate::Created,
        };
        for path in &tool.paths {
            let name = self.name_of(path);
            sink.count(seen(entry, predicate, file(&name)));
            if kind.changes_files() {
                self.work.repairs.edited(&name, entry.place.line);
            }
        }
        if kind.changes_files() {
            self.step("edit", false);
        }
    }

    /// A path without the project's directory.
    fn name_of(&self, path: &str) -> String {
        let path = path.trim_start_matches("./");
        let inside = self.roots.iter().find_map(|root| {
            let name = relative(path, Some(root));
            (name != path).then_some(name)
        });
        inside.unwrap_or(path).to_owned()
    }

    fn ran(&mut self, tool: &'a ToolUse, outcome: &Outcome, entry: &'a Entry, sink: &mut Sink) {
        let Some(line) = read(&tool.target) else { return };
        match ending(&line, outcome) {
            Ending::Unknown => {}
            Ending::Failed(message) => {
                self.count(&line, line.main, false, entry, tool, sink);
                self.work.repairs.failed(&line, message, entry, sink);
            }
            Ending::Well => {
                for at in 0..line.commands.len() {
                    self.count(&line, at, true, entry, tool, sink);
                }
                self.work.repairs.succeeded(&line, &tool.target, entry, sink);
                for done in &line.commands {
                    git::tell(done, &outcome.summary, &mut self.work.branch, entry, sink);
                    packages::tell(done, entry, sink);
                    self.moved(done, entry, sink);
                }
            }
        }
    }

    fn count(&mut self, line: &Line, at: usize, went_well: bool, entry: &'a Entry, tool: &ToolUse, sink: &mut Sink) {
        let one = &line.commands[at];
        if one.class == Class::Looks {
            return;
        }
        let mut fact = seen(entry, Predicate::Ran, command(&one.name));
        fact.detail = clip(&tool.target, COMMAND_CHARS).into_owned();
        (fact.succeeded, fact.failed) = (u64::from(went_well), u64::from(!went_well));
        sink.count(fact);
        self.first.get_or_insert_with(|| (one.name.clone(), entry));
        self.step(&one.name, !went_well);
    }

    fn step(&mut self, name: &str, failed: bool) {
        let step = if failed { format!("{name}!") } else { name.to_owned() };
        if self.steps.len() < STEPS && self.steps.last() != Some(&step) {
            self.steps.push(step);
        }
    }

    /// Files that were renamed or removed by a command.
    fn moved(&self, done: &super::command::Command, entry: &Entry, sink: &mut Sink) {
        let paths: Vec<String> =
            done.arguments.iter().filter(|word| !word.starts_with('-')).map(|word| self.name_of(word)).collect();
        match (done.name.as_str(), paths.as_slice()) {
            ("mv" | "git mv", [old, new]) if is_file(old) => {
                // Into a directory it keeps its name.
                let name = old.rsplit('/').next().unwrap_or(old);
                let new = if is_file(new) { new.clone() } else { format!("{}/{name}", new.trim_end_matches('/')) };
                let mut fact = seen(entry, Predicate::Renamed, file(old));
                fact.object = Some(file(&new));
                sink.push(fact);
            }
            ("rm" | "git rm" | "unlink", paths) => {
                for path in paths.iter().filter(|path| is_file(path)) {
                    sink.count(seen(entry, Predicate::Deleted, file(path)));
                }
            }
            _ => {}
        }
    }
}

/// Whether a word names one file that is worth telling of.
fn is_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && (1..=8).contains(&extension.len()) && extension.chars().all(char::is_alphanumeric)
    });
    let is_known = matches!(
        name,
        "Makefile"
            | "Dockerfile"
            | "Justfile"
            | "Procfile"
            | "Gemfile"
            | "Rakefile"
            | "LICENSE"
            | ".env"
            | ".gitignore"
    );
    (has_extension || is_known) && !path.contains(['*', '?', '$', '{', '<']) && !path.starts_with("/dev/")
}

fn ending<'o>(line: &Line, outcome: &'o Outcome) -> Ending<'o> {
    let message = outcome.error.as_deref().unwrap_or_default();
    match (outcome.status, line.exit) {
        (Status::Error, _) if is_of_the_agent(message, outcome.exit_code) => Ending::Unknown,
        (Status::Error, _) => Ending::Failed(message),
        (Status::Ok, Exit::Hidden | Exit::Lost) if outcome.error.is_some() && line.main().class != Class::Looks => {
            Ending::Failed(message)
        }
        (Status::Rejected, _) | (Status::Ok, Exit::Lost) => Ending::Unknown,
        (Status::Ok, _) => Ending::Well,
    }
}
