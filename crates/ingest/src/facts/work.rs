//! Extracts facts from tool calls: files accessed, commands run, and their order.

use rethread_model::{Entry, EntryKind, Predicate, ToolKind, ToolOutcome, ToolStatus, ToolUse, clip, relative_path};
use serde::{Deserialize, Serialize};

use super::command::{CommandClass, CommandLine, ExitVisibility, ShellCommand, parse_command_line};
use super::command_kind::{command_kind, is_file_utility, may_run_forever};
use super::diagnoses::DiagnosedError;
use super::errors::{failure_line, is_agent_message, is_missing_folder, is_timeout};
use super::fixes::{CODE_TOOL, FixTracker, is_bypass_command};
use super::pasted_console::pasted_commands;
use super::sink::{FactSink, command_entity, file_entity, observed_fact};
use super::steps::{StepRecorder, StepResult};
use super::{git, packages};

/// Suffix of an outcome's summary if the call was interrupted.
pub(crate) const INTERRUPTED: &str = "interrupted";
/// Suffix of an outcome's summary if the command went on in the background.
pub(crate) const STILL_RUNNING: &str = "still running";
/// Maximum length of a stored command, in characters.
const MAX_COMMAND_CHARS: usize = 160;

/// The state of work extraction, carried from one span to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct WorkState {
    fixes: FixTracker,
    /// The branch most recently switched to.
    branch: Option<String>,
    /// The command that a human ran last, until the next entry shows whether it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    user_command: Option<String>,
}

/// Extracts the facts of one span.
pub(super) struct WorkExtractor<'a> {
    state: &'a mut WorkState,
    roots: &'a [&'a str],
    steps: StepRecorder<'a>,
}

/// How a command ended.
enum CommandResult<'o> {
    Succeeded,
    Failed(&'o str),
    TimedOut,
    /// It ran, but whether it succeeded is unknown.
    Unknown,
    /// It did not run, or was stopped, or goes on.
    Unfinished,
}

impl<'a> WorkExtractor<'a> {
    pub(super) fn new(state: &'a mut WorkState, roots: &'a [&'a str]) -> Self {
        Self { state, roots, steps: StepRecorder::default() }
    }

    /// Adds the next entry.
    pub(super) fn push(&mut self, entry: &'a Entry, sink: &mut FactSink) {
        self.extract_user_command(entry, sink);
        match (entry.kind, &entry.tool) {
            (EntryKind::Prompt | EntryKind::Answer, _) => {
                self.state.fixes.record_prompt(&entry.text, entry, sink);
                self.extract_pasted(entry, sink);
            }
            (EntryKind::AssistantText, _) => self.state.fixes.record_assistant_text(&entry.text, entry, sink),
            (EntryKind::Call, Some(tool)) => self.extract_call(tool, entry, sink),
            _ => {}
        }
    }

    /// The error of the failure that was seen last and is not fixed.
    pub(super) fn open_error(&self) -> Option<DiagnosedError> {
        self.state.fixes.open_error()
    }

    /// Adds the fact about the order of steps.
    pub(super) fn finish(self, sink: &mut FactSink) {
        self.steps.finish(sink);
    }

    /// Follows commands that a human ran with `!`. Some agents store a failure with the command, others after it; a
    /// command that no failure follows succeeded.
    fn extract_user_command(&mut self, entry: &'a Entry, sink: &mut FactSink) {
        let is_shell = entry.kind == EntryKind::Shell;
        let called = entry.text.strip_prefix("! ").filter(|_| is_shell);
        if let Some(command) = self.state.user_command.take()
            && let Some(line) = parse_command_line(&command)
        {
            match called {
                None if is_shell => self.state.fixes.record_failure(&line, &command, &entry.text, entry, sink),
                _ => self.state.fixes.record_success(&line, &command, None, entry, sink),
            }
        }
        let Some(called) = called else { return };
        let (called, message) = called.split_once('\n').unwrap_or((called, ""));
        let (command, code) = called.rsplit_once(" (exit ").unwrap_or((called, ""));
        match parse_command_line(command) {
            Some(line) if !message.is_empty() => {
                self.state.fixes.record_failure(&line, command, message, entry, sink);
            }
            _ if code.is_empty() => self.state.user_command = Some(command.to_owned()),
            _ => {}
        }
    }

    /// Follows commands that a human ran and pasted with their output.
    fn extract_pasted(&mut self, entry: &Entry, sink: &mut FactSink) {
        for pasted in pasted_commands(&entry.text) {
            let Some(line) = parse_command_line(&pasted.command) else { continue };
            match failure_line(&pasted.output) {
                Some(message) => self.state.fixes.record_failure(&line, &pasted.command, &message, entry, sink),
                None if pasted.was_run && !pasted.output.trim().is_empty() && self.state.fixes.is_open(&line) => {
                    self.state.fixes.record_success(&line, &pasted.command, None, entry, sink);
                }
                None => {}
            }
        }
    }

    fn extract_call(&mut self, tool: &'a ToolUse, entry: &'a Entry, sink: &mut FactSink) {
        let Some(outcome) = &tool.outcome else { return };
        match tool.kind {
            Some(ToolKind::Command) => self.extract_command(tool, outcome, entry, sink),
            Some(kind @ (ToolKind::Read | ToolKind::Edit | ToolKind::Write)) if outcome.status == ToolStatus::Ok => {
                self.extract_file_access(kind, tool, entry, sink);
            }
            Some(ToolKind::Mcp) if tool.body.is_some() => self.extract_code_call(tool, outcome, entry, sink),
            Some(kind) => {
                if kind == ToolKind::Agent {
                    self.state.fixes.record_subagent(&tool.target, entry.location.line);
                }
                if outcome.status == ToolStatus::Ok {
                    self.steps.add_tool(kind);
                }
            }
            None => {}
        }
    }

    /// Follows a call that hands code to a tool, such as a notebook, a browser or a database.
    fn extract_code_call(&mut self, tool: &ToolUse, outcome: &ToolOutcome, entry: &Entry, sink: &mut FactSink) {
        let code = tool.body.as_deref().unwrap_or_default();
        let line = CommandLine::of_code(&tool.name, code, CODE_TOOL);
        let message = outcome.error.as_deref().unwrap_or_default();
        match outcome.status {
            ToolStatus::Error if !is_agent_message(message, outcome.exit_code) => {
                self.state.fixes.record_failure(&line, code, message, entry, sink);
            }
            ToolStatus::Ok => self.state.fixes.record_success(&line, code, None, entry, sink),
            _ => {}
        }
    }

    fn extract_file_access(&mut self, kind: ToolKind, tool: &ToolUse, entry: &Entry, sink: &mut FactSink) {
        let predicate = match kind {
            ToolKind::Read => Predicate::Read,
            ToolKind::Edit => Predicate::Edited,
            _ => Predicate::Created,
        };
        for path in &tool.paths {
            let name = self.relative_name(path);
            sink.count(observed_fact(entry, predicate, file_entity(&name)));
            if kind.changes_files() {
                let pieces = pieces_of(tool, path);
                self.state.fixes.record_edit(&name, &pieces, kind == ToolKind::Write, entry.location.line);
            }
        }
        self.steps.add_tool(kind);
    }

    /// A path relative to the project.
    fn relative_name(&self, path: &str) -> String {
        let path = path.trim_start_matches("./");
        // The shortest result wins: a worktree may be inside its project.
        let inside = self.roots.iter().filter(|root| !root.is_empty()).map(|root| relative_path(path, Some(root)));
        inside.min_by_key(|name| name.len()).unwrap_or(path).to_owned()
    }

    fn extract_command(&mut self, tool: &'a ToolUse, outcome: &ToolOutcome, entry: &'a Entry, sink: &mut FactSink) {
        let script = tool.body.as_deref().unwrap_or(&tool.target);
        let Some(mut line) = parse_command_line(script) else { return };
        line.folder = line.folder.or_else(|| folder_argument(&tool.arguments));
        // Changing to the project root is the same as staying where the session works.
        line.folder = line.folder.filter(|folder| !self.roots.contains(&folder.trim_end_matches('/')));
        if tool.arguments.contains("run_in_background=true") || outcome.summary.ends_with(STILL_RUNNING) {
            self.state.fixes.record_started(&line, entry);
            return;
        }
        match command_result(&line, outcome) {
            // The command did not run, but how it was called is an error that another call corrects.
            CommandResult::Unfinished if outcome.error.as_deref().is_some_and(is_missing_folder) => {
                let message = outcome.error.as_deref().unwrap_or_default();
                self.state.fixes.record_failure(&line, script, message, entry, sink);
            }
            CommandResult::Unfinished => {}
            CommandResult::Unknown => {
                self.state.fixes.record_unseen(&line, script, entry, sink);
                self.state.fixes.record_started(&line, entry);
                self.steps.add_command(line.main(), StepResult::Unknown, entry);
            }
            CommandResult::TimedOut => {
                let message = timeout_message(&line.main().name);
                self.extract_failure(&line, &message, tool, entry, sink);
            }
            CommandResult::Failed(message) => {
                let wrapper = line.charged_to_wrapper(message);
                self.extract_failure(wrapper.as_ref().unwrap_or(&line), message, tool, entry, sink);
            }
            CommandResult::Succeeded => {
                // What passed only because a check was skipped does not count for the command that failed.
                let is_retry = self.state.fixes.is_open(&line);
                let counts = |one: &ShellCommand| one.is_certain && !(is_retry && is_bypass_command(&one.text));
                for at in (0..line.commands.len()).filter(|at| counts(&line.commands[*at])) {
                    self.count_command(&line, at, true, entry, tool, sink);
                }
                // A wrapper that failed itself works again with the command it runs.
                let wrapper = line.wrapper_forms().find(|wrapper| self.state.fixes.is_open(wrapper));
                let printed = outcome.error.as_deref();
                self.state.fixes.record_success(wrapper.as_ref().unwrap_or(&line), script, printed, entry, sink);
                // Git's output confirms a commit; with a hidden exit code nothing else does.
                let is_confirmed = |command: &&ShellCommand| {
                    let is_hidden_commit = command.name == "git commit" && line.exit != ExitVisibility::Visible;
                    (command.is_certain && !is_hidden_commit) || git::is_confirmed(command, &outcome.summary)
                };
                for command in line.commands.iter().filter(is_confirmed) {
                    git::extract(command, &outcome.summary, &mut self.state.branch, entry, sink);
                    packages::extract(command, entry, sink);
                    self.extract_moves(command, line.folder.as_deref(), entry, sink);
                }
            }
        }
    }

    fn extract_failure(
        &mut self,
        line: &CommandLine,
        message: &str,
        tool: &ToolUse,
        entry: &'a Entry,
        sink: &mut FactSink,
    ) {
        if line.exit == ExitVisibility::Lost {
            // A success would not be visible, so counting the failure would distort the rate.
            self.steps.add_command(line.main(), StepResult::FailedUnseen, entry);
        } else {
            self.count_command(line, line.main, false, entry, tool, sink);
        }
        let script = tool.body.as_deref().unwrap_or(&tool.target);
        self.state.fixes.record_failure(line, script, message, entry, sink);
    }

    fn count_command(
        &mut self,
        line: &CommandLine,
        at: usize,
        is_success: bool,
        entry: &'a Entry,
        tool: &ToolUse,
        sink: &mut FactSink,
    ) {
        let one = &line.commands[at];
        let result = if is_success { StepResult::Succeeded } else { StepResult::Failed };
        self.steps.add_command(one, result, entry);
        if one.class == CommandClass::ReadOnly || is_file_utility(one) {
            return;
        }
        let mut fact = observed_fact(entry, Predicate::Ran, command_entity(&one.name));
        fact.detail = clip(&tool.target, MAX_COMMAND_CHARS).into_owned();
        (fact.success_count, fact.failure_count) = (u64::from(is_success), u64::from(!is_success));
        sink.count(fact);
    }

    /// Extracts files that a command renamed or removed.
    fn extract_moves(&self, command: &ShellCommand, folder: Option<&str>, entry: &Entry, sink: &mut FactSink) {
        let resolved = |word: &String| match folder {
            Some(folder) if !word.starts_with(['/', '~']) => format!("{}/{word}", folder.trim_end_matches('/')),
            _ => word.clone(),
        };
        let words = command.arguments.iter().filter(|word| !word.starts_with('-'));
        let paths: Vec<String> = words.map(|word| self.relative_name(&resolved(word))).collect();
        match (command.name.as_str(), paths.as_slice()) {
            ("mv" | "git mv", [old, new]) if is_file(old) => {
                // Moved into a directory, the file keeps its name.
                let name = old.rsplit('/').next().unwrap_or(old);
                let has_extension = name.trim_start_matches('.').contains('.');
                let new = if is_file(new) || (!has_extension && !new.ends_with('/')) {
                    new.clone()
                } else {
                    format!("{}/{name}", new.trim_end_matches('/'))
                };
                let mut fact = observed_fact(entry, Predicate::Renamed, file_entity(old));
                fact.object = Some(file_entity(&new));
                sink.push(fact);
            }
            ("rm" | "git rm" | "unlink", paths) => {
                for path in paths.iter().filter(|path| is_file(path)) {
                    sink.count(observed_fact(entry, Predicate::Deleted, file_entity(path)));
                }
            }
            _ => {}
        }
    }
}

/// The directory that an agent passes beside the command.
fn folder_argument(arguments: &str) -> Option<String> {
    let mut pairs = arguments.split(", ").filter_map(|pair| pair.split_once('='));
    let (_, folder) = pairs.find(|(name, _)| matches!(*name, "workdir" | "cwd" | "dir_path" | "directory"))?;
    (!folder.is_empty() && !folder.ends_with('…')).then(|| folder.to_owned())
}

/// The places of a file that an edit changed, one on each line. An edit of several files names each.
fn pieces_of(tool: &ToolUse, path: &str) -> String {
    let body = tool.body.as_deref().unwrap_or_default();
    if tool.paths.len() < 2 {
        return body.to_owned();
    }
    let mine = body.lines().filter_map(|line| {
        let (named, piece) = line.split_once(": ")?;
        path.ends_with(named.trim_start_matches("./")).then_some(piece)
    });
    mine.collect::<Vec<_>>().join("\n")
}

/// Whether a word names a single file worth recording.
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

/// The error of a command that was stopped because it took too long.
fn timeout_message(command: &str) -> String {
    format!("{command} timed out")
}

fn command_result<'o>(line: &CommandLine, outcome: &'o ToolOutcome) -> CommandResult<'o> {
    let message = outcome.error.as_deref().unwrap_or_default();
    if outcome.summary.ends_with(INTERRUPTED) || outcome.summary.ends_with(STILL_RUNNING) {
        return CommandResult::Unfinished;
    }
    match (outcome.status, line.exit) {
        (ToolStatus::Error, _) if is_timeout(message, outcome.exit_code) => timeout_result(line, message),
        (ToolStatus::Error, _) if is_agent_message(message, outcome.exit_code) || is_missing_folder(message) => {
            CommandResult::Unfinished
        }
        (ToolStatus::Error, _) => CommandResult::Failed(message),
        (ToolStatus::Ok, ExitVisibility::Hidden | ExitVisibility::Lost)
            if outcome.error.is_some() && line.main().class != CommandClass::ReadOnly =>
        {
            CommandResult::Failed(message)
        }
        (ToolStatus::Rejected, _) => CommandResult::Unfinished,
        (ToolStatus::Ok, ExitVisibility::Lost) => CommandResult::Unknown,
        (ToolStatus::Ok, _) if line.is_filtered && outcome.lines == 0 => CommandResult::Unknown,
        (ToolStatus::Ok, _) => CommandResult::Succeeded,
    }
}

/// Servers are stopped on purpose. With `timeout`, only a command that should end by itself has failed.
fn timeout_result<'o>(line: &CommandLine, message: &str) -> CommandResult<'o> {
    let is_stopped_by_agent = is_timeout(message, None);
    if may_run_forever(line) || !(is_stopped_by_agent || command_kind(line.main()).is_some()) {
        return CommandResult::Unfinished;
    }
    CommandResult::TimedOut
}
