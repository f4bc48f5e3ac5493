//! Records the steps of a span in order: what kinds of tools were used, and which commands ran with which result.
//!
//! Between two commands each kind of tool is recorded once, because agents read and search in no particular order.

use rethread_model::{Entry, Predicate, ToolKind};

use super::command::{CommandClass, ShellCommand};
use super::command_kind::{command_kind, is_file_utility, is_search};
use super::sink::{FactSink, command_entity, observed_fact};

/// Maximum number of steps in the sequence of one span.
const MAX_STEPS: usize = 60;

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepResult {
    Succeeded,
    Failed,
    /// It failed, but a success would not have been visible.
    FailedUnseen,
    Unknown,
}

/// The steps of one span. A step is stored as `Read`, `git push`, or with the kind of the command `test:cargo test`;
/// `!` means that it failed and `?` that a success would not be visible.
#[derive(Default)]
pub(super) struct StepRecorder<'a> {
    steps: Vec<String>,
    /// Where the steps since the last command begin.
    since_command: usize,
    /// Name and entry of the first command.
    first_command: Option<(String, &'a Entry)>,
}

impl<'a> StepRecorder<'a> {
    /// Records the use of a tool that is not a command.
    pub(super) fn add_tool(&mut self, kind: ToolKind) {
        let name = match kind {
            ToolKind::Read => "Read",
            ToolKind::Search => "Grep",
            ToolKind::Edit => "Edit",
            ToolKind::Write => "Write",
            ToolKind::Web => "Web",
            ToolKind::Agent => "Agent",
            ToolKind::Command | ToolKind::Mcp | ToolKind::Other => return,
        };
        self.add_once(name);
    }

    /// Records a command; one that reads, searches or edits counts as that kind of tool.
    pub(super) fn add_command(&mut self, command: &ShellCommand, result: StepResult, entry: &'a Entry) {
        let edits =
            command.class == CommandClass::Mutating && matches!(command.name.as_str(), "sed" | "perl" | "patch");
        let writes = command.name == "cat" && command.output.as_deref().is_some_and(|file| !file.starts_with("/dev/"));
        if edits || writes {
            return self.add_once(if edits { "Edit" } else { "Write" });
        }
        if command.class == CommandClass::ReadOnly {
            let reads =
                matches!(command.name.as_str(), "cat" | "bat" | "head" | "tail" | "less" | "nl" | "sed" | "awk");
            match (is_search(command), reads) {
                (true, _) => self.add_once("Grep"),
                (false, true) => self.add_once("Read"),
                (false, false) => {}
            }
            return;
        }
        // Programs without a subcommand, such as `python3 -c`, do something else each time.
        let kind = command_kind(command);
        if is_file_utility(command) || (kind.is_none() && !command.name.contains(' ')) {
            return;
        }
        let name = kind.map_or_else(|| command.name.clone(), |kind| format!("{kind}:{}", command.name));
        let mark = match result {
            StepResult::Succeeded => "",
            StepResult::Failed => "!",
            StepResult::FailedUnseen => "!?",
            StepResult::Unknown => "?",
        };
        self.first_command.get_or_insert_with(|| (command.name.clone(), entry));
        self.add(format!("{name}{mark}"));
        self.since_command = self.steps.len();
    }

    /// Adds the fact about the order of the steps.
    pub(super) fn finish(self, sink: &mut FactSink) {
        let Some((first, entry)) = self.first_command.filter(|_| self.steps.len() > 1) else { return };
        let mut fact = observed_fact(entry, Predicate::Sequence, command_entity(&first));
        fact.detail = self.steps.join(" > ");
        sink.push(fact);
    }

    fn add_once(&mut self, name: &str) {
        if !self.steps[self.since_command..].iter().any(|step| step == name) {
            self.add(name.to_owned());
        }
    }

    fn add(&mut self, step: String) {
        if self.steps.len() < MAX_STEPS && self.steps.last() != Some(&step) {
            self.steps.push(step);
        }
    }
}
