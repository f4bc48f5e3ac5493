//! What was done with tools: files touched, commands run, and the order they came in.

use rethread_model::{Entry, Outcome, Predicate, Speech, Status, ToolKind, ToolUse, clip, relative};
use serde::{Deserialize, Serialize};

use super::command::{Class, Command, Exit, Line, read};
use super::errors::is_of_the_agent;
use super::repairs::Repairs;
use super::sink::{Sink, command, file, seen};
use super::{git, packages};

/// How an outcome says that the call was stopped.
pub(crate) const INTERRUPTED: &str = "interrupted";
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
        // The nearest: a worktree may lie inside its project.
        let inside = self.roots.iter().filter(|root| !root.is_empty()).map(|root| relative(path, Some(root)));
        inside.min_by_key(|name| name.len()).unwrap_or(path).to_owned()
    }

    fn ran(&mut self, tool: &'a ToolUse, outcome: &Outcome, entry: &'a Entry, sink: &mut Sink) {
        let script = tool.script.as_deref().unwrap_or(&tool.target);
        let Some(mut line) = read(script) else { return };
        // To begin in the project is to begin where the session is.
        line.folder = line.folder.filter(|folder| !self.roots.contains(&folder.trim_end_matches('/')));
        if tool.arguments.contains("run_in_background=true") {
            return;
        }
        match ending(&line, outcome) {
            Ending::Unknown => {}
            Ending::Failed(message) => {
                self.count(&line, line.main, false, entry, tool, sink);
                self.work.repairs.failed(&line, message, entry, sink);
            }
            Ending::Well => {
                for at in (0..line.commands.len()).filter(|at| line.commands[*at].is_sure) {
                    self.count(&line, at, true, entry, tool, sink);
                }
                self.work.repairs.succeeded(&line, &tool.target, entry, sink);
                // Git says of a commit that there is one; with a hidden exit code nothing else does.
                let is_believed = |done: &&Command| {
                    let is_hidden_commit = done.name == "git commit" && line.exit != Exit::Shown;
                    (done.is_sure && !is_hidden_commit) || git::is_noted(done, &outcome.summary)
                };
                for done in line.commands.iter().filter(is_believed) {
                    git::tell(done, &outcome.summary, &mut self.work.branch, entry, sink);
                    packages::tell(done, entry, sink);
                    self.moved(done, line.folder.as_deref(), entry, sink);
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
    fn moved(&self, done: &Command, folder: Option<&str>, entry: &Entry, sink: &mut Sink) {
        let placed = |word: &String| match folder {
            Some(folder) if !word.starts_with(['/', '~']) => format!("{}/{word}", folder.trim_end_matches('/')),
            _ => word.clone(),
        };
        let words = done.arguments.iter().filter(|word| !word.starts_with('-'));
        let paths: Vec<String> = words.map(|word| self.name_of(&placed(word))).collect();
        match (done.name.as_str(), paths.as_slice()) {
            ("mv" | "git mv", [old, new]) if is_file(old) => {
                // Into a directory it keeps its name.
                let name = old.rsplit('/').next().unwrap_or(old);
                let has_extension = name.trim_start_matches('.').contains('.');
                let new = if is_file(new) || (!has_extension && !new.ends_with('/')) {
                    new.clone()
                } else {
                    format!("{}/{name}", new.trim_end_matches('/'))
                };
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
    if outcome.summary.ends_with(INTERRUPTED) {
        return Ending::Unknown;
    }
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
