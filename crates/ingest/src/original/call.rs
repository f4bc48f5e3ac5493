//! Puts together what a transcript has about one tool call: its arguments, and what its result recorded.

use rethread_model::{Entry, ToolKind, ToolOutcome, ToolUse};

use super::OriginalCall;
use super::arguments::{argument_changes, command_of, other_arguments};
use super::key_lines::without_key_lines;
use super::recorded::recorded_diffs;
use crate::parse::{TextSink, is_secret_file};

/// A call that was found, before its result.
pub(super) struct WaitingCall<'a> {
    pub(super) entry: &'a Entry,
    pub(super) tool: ToolUse,
    /// JSON, or what the model wrote in place of it.
    pub(super) arguments: String,
    /// The record of an edit: some agents also write its result there.
    pub(super) record: Vec<u8>,
}

/// The result of a call, and the record it is in.
pub(super) struct FoundResult<'r> {
    pub(super) outcome: ToolOutcome,
    pub(super) record: &'r [u8],
    /// Whether texts of the record may be cut.
    pub(super) is_truncated: bool,
}

/// File names of private keys.
const SSH_KEYS: [&str; 4] = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
/// Added to an output that may be cut.
const TRUNCATED: &str = "\n[… this line of the transcript is too long: texts over 256 KB are cut …]";

impl FoundResult<'_> {
    fn into_output(self) -> Option<String> {
        let output = self.outcome.output.filter(|output| !output.is_empty())?;
        let mut output = without_key_lines(&output);
        if self.is_truncated {
            output.push_str(TRUNCATED);
        }
        Some(output)
    }
}

/// Whether a word of a command is the path of a file that holds secrets. A word that is only a name may be anything,
/// except for the names of SSH keys.
fn names_secret_file(command: &str) -> bool {
    let is_separator = |c: char| c.is_whitespace() || "\"'`;|&<>()=,:".contains(c);
    let is_path = |word: &str| word.contains(['/', '.', '\\']) || SSH_KEYS.contains(&word);
    command.split(is_separator).any(|word| is_path(word) && is_secret_file(word))
}

impl WaitingCall<'_> {
    pub(super) fn complete(self, result: Option<FoundResult<'_>>, sink: &mut TextSink<'_>) -> OriginalCall {
        let tool = &self.tool;
        let call = OriginalCall {
            has_result: result.is_some(),
            exit_code: result.as_ref().and_then(|result| result.outcome.exit_code),
            ..OriginalCall::default()
        };
        let command = command_of(&self.arguments, tool);
        if tool.paths.iter().any(|path| is_secret_file(path)) || command.as_deref().is_some_and(names_secret_file) {
            return OriginalCall { hides_secrets: true, ..call };
        }
        let is_edit = tool.kind.is_some_and(ToolKind::changes_files);
        let records = [result.as_ref().map(|result| result.record), Some(&self.record)];
        let found = records.into_iter().flatten().map(|record| recorded_diffs(record, tool, sink));
        let recorded = found.filter(|_| is_edit).find(|diffs| !diffs.is_empty()).unwrap_or_default();
        let changes =
            if recorded.is_empty() && is_edit { argument_changes(&self.arguments, tool, sink) } else { recorded };
        OriginalCall {
            command: command.map(|command| sink.redact(command)),
            arguments: other_arguments(&self.arguments, tool, !changes.is_empty(), sink),
            changes,
            output: result.and_then(FoundResult::into_output),
            ..call
        }
    }
}
