//! Folds a conversation and its branches into one tree of messages, and finds the results of calls.

use std::collections::HashSet;

use rethread_model::{EntryKind, Timestamp, Tokens};
use serde::Deserialize;
use xxhash_rust::xxh3::xxh3_64;

use super::tools::{GptmeCall, split_calls};
use crate::parse::folded::{FoldedNode, FoldedPart, FoldedRecord, FoldedResult};
use crate::parse::lenient::{LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp};

const DIRECTORY_MARK: &str = "**Working Directory:** ";
const BRANCH_MARK: &str = "**Branch:** `";
/// First words of results of calls that failed.
const ERRORS: [&str; 7] =
    ["Error", "Patch failed", "Failed", "Command timed out", "Exception", "Traceback", "Command interrupted"];
/// First words of what the shell tool answers.
const SHELL_ANSWERS: [&str; 5] = ["Ran ", "Command ", "Error", "Shell ", "Started background"];
const INTERRUPTED: [&str; 2] = ["User hit Ctrl-c", "Interrupted"];

/// The files of a conversation.
pub(super) struct GptmeLog<'a> {
    pub(super) main: &'a str,
    pub(super) branches: &'a [String],
    /// The tools that were available; unknown for older versions.
    pub(super) tools: Option<&'a [String]>,
}

#[derive(Default)]
pub(super) struct FoldedLog {
    pub(super) records: Vec<FoldedRecord>,
    pub(super) first_at: Option<Timestamp>,
    pub(super) cwd: Option<String>,
    pub(super) branch: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GptmeMessage<'a> {
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: LenientText<'a>,
    /// Without a time zone.
    timestamp: LenientTimestamp,
    hide: LenientBool,
    pinned: LenientBool,
    ui_only: LenientBool,
    #[serde(borrow)]
    call_id: LenientText<'a>,
    #[serde(borrow)]
    metadata: LenientObject<GptmeMetadata<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GptmeMetadata<'a> {
    #[serde(borrow)]
    model: LenientText<'a>,
    cost: LenientNumber,
    usage: Option<LenientObject<GptmeUsage>>,
    input_tokens: LenientNumber,
    output_tokens: LenientNumber,
    cache_read_tokens: LenientNumber,
    cache_creation_tokens: LenientNumber,
    #[serde(borrow)]
    tool: LenientText<'a>,
    /// On a message that begins or is a part of a compaction.
    #[serde(borrow)]
    compaction_artifact: LenientText<'a>,
    #[serde(borrow)]
    compaction_checkpoint_view: LenientText<'a>,
}

#[derive(Default, Clone, Copy, Deserialize)]
#[serde(default)]
struct GptmeUsage {
    /// Without what was read from the cache.
    #[serde(rename = "input_tokens")]
    input: LenientNumber,
    #[serde(rename = "output_tokens")]
    output: LenientNumber,
    #[serde(rename = "cache_read_tokens")]
    cache_read: LenientNumber,
    #[serde(rename = "cache_creation_tokens")]
    cache_write: LenientNumber,
}

/// All branches as one tree. What was undone is in a branch and comes first, as it did in time.
pub(super) fn fold(log: &GptmeLog<'_>) -> FoldedLog {
    let mut fold = LogFold { tools: log.tools, ..LogFold::default() };
    let branches = log.branches.iter().map(String::as_str);
    for text in branches.chain([log.main]) {
        fold.add_branch(text);
    }
    let last = fold.folded.records.iter().rev().find(|record| record.unreadable.is_none());
    if let (Some(leaf), Some(last)) = (fold.leaf, last)
        && last.id != leaf
    {
        // The last messages were undone, and nothing came after that.
        let previous = Some(FoldedNode::Leaf(leaf));
        fold.folded.records.push(FoldedRecord { previous, ..FoldedRecord::new("leaf".to_owned(), None, Vec::new()) });
    }
    fold.folded
}

#[derive(Default)]
struct LogFold<'a> {
    folded: FoldedLog,
    tools: Option<&'a [String]>,
    known: HashSet<String>,
    /// The last message of the branch that was read.
    leaf: Option<String>,
    /// Calls of the last answer whose results have not been read.
    open_calls: Vec<GptmeCall>,
}

impl LogFold<'_> {
    fn add_branch(&mut self, text: &str) {
        self.leaf = None;
        self.open_calls.clear();
        for line in text.split_inclusive('\n') {
            let Ok(message) = serde_json::from_str::<GptmeMessage<'_>>(line.trim()) else {
                // The last line may not be whole yet.
                if line.ends_with('\n') && !line.trim().is_empty() {
                    self.folded.records.push(FoldedRecord::unreadable(line.trim()));
                }
                continue;
            };
            self.add_message(&message);
        }
    }

    fn add_message(&mut self, message: &GptmeMessage<'_>) {
        let at = message.timestamp.0;
        let identity = format!("{at:?}:{}:{}", message.role.as_str(), message.content.as_str());
        let id = format!("text-{:016x}", xxh3_64(identity.as_bytes()));
        // Also for known messages: later ones depend on it.
        let parts = self.parts(message, &id);
        self.folded.first_at = self.folded.first_at.or(at);
        let previous = match self.leaf.replace(id.clone()) {
            Some(previous) => FoldedNode::After(previous),
            None => FoldedNode::First,
        };
        if self.known.insert(id.clone()) {
            let previous = Some(previous);
            self.folded.records.push(FoldedRecord { previous, ..FoldedRecord::new(id, at, parts) });
        }
    }

    fn parts(&mut self, message: &GptmeMessage<'_>, id: &str) -> Vec<FoldedPart> {
        let text = message.content.as_str();
        match message.role.as_str() {
            _ if message.ui_only.0 => Vec::new(),
            "user" => {
                let is_machines = text.trim_start().starts_with("<system>")
                    || message.metadata.0.compaction_checkpoint_view.0.is_some();
                if is_machines {
                    return Vec::new();
                }
                vec![FoldedPart::Text(EntryKind::Prompt, without_added_files(text))]
            }
            "assistant" => {
                let (prose, calls) = split_calls(text, id, self.tools);
                let mut parts: Vec<_> = usage(&message.metadata.0).into_iter().collect();
                parts.push(FoldedPart::Text(EntryKind::AssistantText, prose));
                parts.extend(calls.iter().map(|call| FoldedPart::Call {
                    id: call.id.clone(),
                    name: call.name.clone(),
                    input: call.input.to_string(),
                }));
                self.open_calls = calls;
                parts
            }
            "system" => self.system_parts(message),
            _ => Vec::new(),
        }
    }

    fn system_parts(&mut self, message: &GptmeMessage<'_>) -> Vec<FoldedPart> {
        let text = message.content.as_str();
        if message.metadata.0.compaction_artifact.0.is_some() {
            return vec![FoldedPart::Text(EntryKind::Summary, text.to_owned())];
        }
        if message.hide.0 || message.pinned.0 {
            let after = |mark: &str, end: char| {
                let rest = &text[text.find(mark)? + mark.len()..];
                rest.split(['\n', end]).next().map(str::trim).filter(|found| !found.is_empty()).map(str::to_owned)
            };
            self.folded.cwd = self.folded.cwd.take().or_else(|| after(DIRECTORY_MARK, '\n'));
            self.folded.branch = after(BRANCH_MARK, '`').or(self.folded.branch.take());
            return Vec::new();
        }
        if INTERRUPTED.iter().any(|words| text.starts_with(words)) {
            return vec![FoldedPart::interruption()];
        }
        let Some(call) = self.take_call(message) else { return Vec::new() };
        vec![FoldedPart::Result(FoldedResult {
            call: call.id,
            is_error: ERRORS.iter().any(|words| text.starts_with(words)),
            exit_code: if call.name == "shell" { exit_code(text) } else { None },
            is_rejected: text.starts_with("Command not run") || text.starts_with("Aborted"),
            tool: call.name,
            output: text.to_owned(),
            answer: None,
        })]
    }

    /// The call that a system message is the result of, if it is one.
    fn take_call(&mut self, message: &GptmeMessage<'_>) -> Option<GptmeCall> {
        let (text, tool) = (message.content.as_str(), message.metadata.0.tool.as_str());
        let at = if let Some(id) = message.call_id.0.as_deref() {
            self.open_calls.iter().position(|call| call.id == id)?
        } else if !tool.is_empty() {
            self.open_calls.iter().position(|call| call.name == tool)?
        } else if text.starts_with(['<', '#']) {
            // Notices about time and tokens, and lessons.
            return None;
        } else {
            let is_shells = SHELL_ANSWERS.iter().any(|words| text.starts_with(words));
            self.open_calls.iter().position(|call| call.name != "shell" || is_shells)?
        };
        Some(self.open_calls.remove(at))
    }
}

fn usage(metadata: &GptmeMetadata<'_>) -> Option<FoldedPart> {
    let model = metadata.model.clone().non_empty().map(String::from);
    // The first versions had the tokens beside the model.
    let nested = metadata.usage.as_ref().map(|usage| usage.0).unwrap_or_default();
    let count = |nested: LenientNumber, own: LenientNumber| if nested.0.is_some() { nested } else { own }.count();
    let tokens = Tokens {
        input: count(nested.input, metadata.input_tokens),
        output: count(nested.output, metadata.output_tokens),
        cache_read: count(nested.cache_read, metadata.cache_read_tokens),
        cache_write: count(nested.cache_write, metadata.cache_creation_tokens),
    };
    if model.is_none() && tokens == Tokens::default() {
        return None;
    }
    Some(FoldedPart::Usage { tokens, model, cost_usd: metadata.cost.0.filter(|cost| *cost > 0.0) })
}

/// gptme appends the files that a prompt mentions, as code blocks that are named after them.
fn without_added_files(text: &str) -> String {
    let starts = text.match_indices("\n\n```").map(|(at, _)| at);
    let is_added = |at: &usize| {
        let (before, block) = (&text[..*at], text[*at..].trim());
        let ticks = block.len() - block.trim_start_matches('`').len();
        let name = block[ticks..].lines().next().unwrap_or_default().trim();
        name.contains(['.', '/']) && before.contains(name) && block[ticks..].ends_with(&"`".repeat(ticks))
    };
    text[..starts.into_iter().find(is_added).unwrap_or(text.len())].to_owned()
}

fn exit_code(text: &str) -> Option<i32> {
    let last = text.trim_end().lines().next_back()?;
    let rest =
        last.strip_prefix("Return code: ").or_else(|| last.split_once("(return code: ").map(|(_, rest)| rest))?;
    rest.trim_end_matches(')').trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(role: &str, content: &str, second: u32) -> String {
        let time = format!("2026-04-01T10:00:{second:02}");
        serde_json::json!({"role": role, "content": content, "timestamp": time}).to_string() + "\n"
    }

    fn previous(log: &FoldedLog) -> Vec<usize> {
        let index = |id: &str| log.records.iter().position(|record| record.id == id).map_or(99, |at| at + 1);
        let place = |record: &FoldedRecord| match &record.previous {
            Some(FoldedNode::After(id) | FoldedNode::Leaf(id)) => index(id),
            _ => 0,
        };
        log.records.iter().map(place).collect()
    }

    #[test]
    fn an_undone_turn_comes_first_and_the_new_one_after_the_same_message() {
        let prefix = line("user", "fix it", 1);
        let undone = format!("{prefix}{}", line("assistant", "wrong", 2));
        let main = format!("{prefix}{}", line("assistant", "right", 3));
        let whole = fold(&GptmeLog { main: &undone, branches: &[], tools: None });
        let after = fold(&GptmeLog { main: &main, branches: std::slice::from_ref(&undone), tools: None });
        assert_eq!(previous(&whole), [0, 1]);
        assert_eq!(previous(&after), [0, 1, 1]);
        let ids = |log: &FoldedLog| log.records.iter().map(|record| record.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&after)[..2], ids(&whole)[..], "what was read stays in its place");
        let back = fold(&GptmeLog { main: &prefix, branches: &[undone], tools: None });
        assert_eq!(previous(&back), [0, 1, 1], "the last record moves the leaf back");
    }

    #[test]
    fn unreadable_lines_are_reported_and_cost_only_themselves() {
        let main = format!("{{torn\n{}{{\"role\": \"us", line("user", "hello", 1));
        let log = fold(&GptmeLog { main: &main, branches: &[], tools: None });
        assert_eq!(log.records.len(), 2);
        assert_eq!(log.records[0].unreadable.as_deref(), Some("{torn"));
    }

    #[test]
    fn added_files_are_not_part_of_the_prompt() {
        let added = "fix notes.txt\n\n````notes.txt\nhello\n\n````";
        assert_eq!(without_added_files(added), "fix notes.txt");
        let typed = "what is this?\n\n```rust\nfn main() {}\n```";
        assert_eq!(without_added_files(typed), typed);
    }

    #[test]
    fn exit_codes_are_in_the_last_line() {
        assert_eq!(exit_code("Ran command: `x`\n\nReturn code: 3\n"), Some(3));
        assert_eq!(exit_code("Command interrupted: `x`\nProcess interrupted (return code: 130)\n"), Some(130));
        assert_eq!(exit_code("Ran command: `echo 'Return code: 9'`\n\nok"), None);
    }
}
