//! Separates the results of tools and what the human said from what the extension added to a user's message.

use rethread_model::EntryKind;
use serde::Deserialize;

use crate::parse::folded::{FoldedPart, FoldedResult};
use crate::parse::lenient::LenientText;
use crate::parse::outcome::leading_code;
use crate::parse::user_text::tag_content;

/// Tags around a human's words, best first.
const HUMAN_TAGS: [&str; 4] = ["task", "user_message", "feedback", "answer"];
/// First words of what the extensions write for the model.
const MACHINE_PREFIXES: [&str; 16] = [
    "[TASK RESUMPTION]",
    "[ERROR]",
    "[NOTE]",
    "[[NOTE]",
    "[Request interrupted",
    "# task_progress",
    "# TODO LIST",
    "# Todo List",
    "<explicit_instructions",
    "<hook_context",
    "<system-reminder",
    "<file_content",
    "<folder_content",
    "<context_",
    "Current working directory:",
    "New instructions for task continuation",
];
/// First words of what the extensions write around a human's words, besides the tags themselves.
const HUMAN_PREFIXES: [&str; 3] = ["[TASK RESUMPTION]", "New instructions for task continuation", USER_MARK];
/// First words of files and folders that a prompt mentions.
const ATTACHMENTS: [&str; 2] = ["<file_content", "<folder_content"];
/// How the extensions begin to say what the user did.
const USER_MARK: &str = "The user ";
/// The tool that asks the user.
const QUESTION_TOOL: &str = "ask_followup_question";
/// Tools that end the model's turn: what the user says in their result is a prompt.
const TURN_ENDING_TOOLS: [&str; 3] = ["attempt_completion", "plan_mode_respond", "plan_mode_response"];
const SUMMARY_PREFIX: &str = "This session is being continued from a previous conversation";
/// The exit code is written before the output, which may contain other ones.
const MAX_STATUS_BYTES: usize = 600;

/// A call whose result has not been read.
#[derive(Clone, Debug)]
pub(super) struct PendingCall {
    pub(super) id: String,
    pub(super) name: String,
}

/// A block of a user's message.
#[derive(Debug)]
pub(super) enum UserBlock {
    Text(String),
    Result { call: String, output: String, is_error: bool },
    Image,
}

/// Collects the parts of a user's message.
#[derive(Debug)]
pub(super) struct UserBlocks<'a> {
    /// The calls of the message before.
    calls: &'a mut Vec<PendingCall>,
    parts: Vec<FoldedPart>,
    /// A result whose text continues in the next block.
    open: Option<FoldedResult>,
}

impl<'a> UserBlocks<'a> {
    pub(super) fn new(calls: &'a mut Vec<PendingCall>) -> Self {
        Self { calls, parts: Vec::new(), open: None }
    }

    pub(super) fn read(mut self, blocks: Vec<UserBlock>) -> Vec<FoldedPart> {
        let has_image = blocks.iter().any(|block| matches!(block, UserBlock::Image));
        for block in blocks {
            match block {
                UserBlock::Text(text) => self.add_text(&text),
                UserBlock::Result { call, output, is_error } => {
                    let tool = self.calls.iter().find(|open| open.id == call).map(|open| open.name.clone());
                    let tool = tool.unwrap_or_default();
                    let result = FoldedResult { call, tool, output, is_error, ..FoldedResult::default() };
                    self.close_result();
                    self.add_result(result);
                }
                UserBlock::Image => {}
            }
        }
        self.close_result();
        if has_image && self.parts.is_empty() {
            self.parts.push(FoldedPart::Text(EntryKind::Prompt, "[image]".to_owned()));
        }
        self.parts
    }

    fn add_text(&mut self, text: &str) {
        let trimmed = text.trim_start();
        if trimmed.starts_with("<environment_details>") {
            self.close_result();
        } else if let Some(open) = self.open.as_mut().filter(|open| open.output.is_empty() && !is_for_user(&open.tool))
        {
            // The first versions wrote the text of a result as a block of its own. It may contain any tag.
            open.output.push_str(text);
        } else if let Some((name, output)) = result_header(trimmed) {
            self.close_result();
            let call = self.take_call(name);
            let output = output.to_owned();
            self.open = Some(FoldedResult { call, tool: name.to_owned(), output, ..FoldedResult::default() });
        } else if let Some(name) = not_executed(trimmed) {
            self.close_result();
            let (call, tool, output) = (self.take_call(name), name.to_owned(), text.to_owned());
            self.add_result(FoldedResult { call, tool, output, is_error: true, ..FoldedResult::default() });
        } else if trimmed.starts_with(SUMMARY_PREFIX) {
            self.close_result();
            self.parts.push(FoldedPart::Text(EntryKind::Summary, text.to_owned()));
        } else if let Some(said) = human_words(trimmed).filter(|_| self.may_be_human(trimmed)) {
            self.close_result();
            self.add_human(said.to_owned());
        } else if MACHINE_PREFIXES.iter().any(|prefix| trimmed.starts_with(prefix)) {
            self.close_result();
        } else if let Some(open) = &mut self.open {
            if !open.output.is_empty() {
                open.output.push('\n');
            }
            open.output.push_str(text);
        } else {
            self.add_human(text.to_owned());
        }
    }

    /// Whether tags in a text can be the extension's: files and pages may contain the same ones.
    fn may_be_human(&self, text: &str) -> bool {
        let has_tag = |name: &str| text.strip_prefix('<').is_some_and(|rest| rest.starts_with(&format!("{name}>")));
        HUMAN_TAGS.iter().any(|name| has_tag(name))
            || HUMAN_PREFIXES.iter().any(|prefix| text.starts_with(prefix))
            || (self.open.is_none() && !ATTACHMENTS.iter().any(|prefix| text.starts_with(prefix)))
    }

    fn add_human(&mut self, text: String) {
        self.parts.push(FoldedPart::Text(EntryKind::Prompt, text));
    }

    /// The call that a result belongs to: the next one of that tool, else the next one.
    fn take_call(&mut self, name: &str) -> String {
        let at = self.calls.iter().position(|call| call.name == name).or((!self.calls.is_empty()).then_some(0));
        at.map(|at| self.calls.remove(at).id).unwrap_or_default()
    }

    fn close_result(&mut self) {
        if let Some(result) = self.open.take() {
            self.add_result(result);
        }
    }

    fn add_result(&mut self, mut result: FoldedResult) {
        self.calls.retain(|call| call.id != result.call);
        let status = result_status(&result.output);
        result.is_error |= status.is_error;
        result.is_rejected = status.is_rejected;
        if result.tool == "execute_command" {
            result.exit_code = exit_code(&result.output);
        }
        let said = status.feedback.or_else(|| words_in_result(&result).map(str::to_owned));
        let said = said.filter(|said| !said.trim().is_empty());
        let ends_turn = TURN_ENDING_TOOLS.contains(&result.tool.as_str());
        match said {
            Some(said) if ends_turn => {
                self.parts.push(FoldedPart::Result(result));
                self.add_human(said);
            }
            said => {
                result.answer = said;
                self.parts.push(FoldedPart::Result(result));
            }
        }
    }
}

/// `[read_file for 'a.rs'] Result:` → the tool and what follows.
fn result_header(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix('[')?;
    let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_'))?;
    let (name, rest) = rest.split_at(end);
    // The argument may contain brackets and line breaks.
    let at = rest.find("] Result:")?;
    let is_header = !name.is_empty() && (at == 0 || rest.starts_with(" for ") || rest.starts_with(' '));
    is_header.then(|| (name, rest[at + "] Result:".len()..].trim_start_matches('\n')))
}

/// `Tool [read_file] was not executed because …` → the tool.
fn not_executed(text: &str) -> Option<&str> {
    let (name, rest) = text.strip_prefix("Tool [")?.split_once(']')?;
    rest.trim_start().starts_with("was not executed").then_some(name)
}

/// A human's words in a text that the extension wrote around them.
fn human_words(text: &str) -> Option<&str> {
    HUMAN_TAGS
        .iter()
        .filter(|name| text.contains(&format!("<{name}>")))
        .find_map(|name| tag_content(text, name))
        .map(str::trim)
}

/// Whether the result of a tool is what the user says.
fn is_for_user(tool: &str) -> bool {
    tool == QUESTION_TOOL || TURN_ENDING_TOOLS.contains(&tool)
}

/// What the user said in a result. In those of other tools, only after words about the user.
fn words_in_result(result: &FoldedResult) -> Option<&str> {
    if is_for_user(&result.tool) {
        return human_words(&result.output);
    }
    let output = result.output.trim_start();
    let after_output = || output.rfind(&format!("\n{USER_MARK}")).map(|at| at + 1);
    let start = if output.starts_with(USER_MARK) { Some(0) } else { after_output() };
    human_words(&output[start?..])
}

/// What a result says about the call.
#[derive(Default)]
struct ResultStatus {
    is_error: bool,
    is_rejected: bool,
    feedback: Option<String>,
}

fn result_status(output: &str) -> ResultStatus {
    /// Roo Code's form.
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct RooStatus<'a> {
        #[serde(borrow)]
        status: LenientText<'a>,
        #[serde(borrow)]
        feedback: LenientText<'a>,
    }
    let text = output.trim_start();
    if text.starts_with('{') {
        let json: RooStatus<'_> = serde_json::from_str(text.trim_end()).unwrap_or_default();
        return ResultStatus {
            is_error: json.status.as_str() == "error",
            is_rejected: json.status.as_str() == "denied",
            feedback: json.feedback.non_empty().map(Into::into),
        };
    }
    let is_error = ["The tool execution failed", "Missing value for required parameter", "[ERROR]", "Error:"]
        .iter()
        .any(|prefix| text.starts_with(prefix));
    ResultStatus { is_error, is_rejected: text.starts_with("The user denied this operation"), feedback: None }
}

/// The exit code that the extension writes before the output of a command.
fn exit_code(output: &str) -> Option<i32> {
    let status = output.split("\nOutput:").next().unwrap_or(output);
    let status = &status[..status.floor_char_boundary(MAX_STATUS_BYTES)];
    let marks = ["xit code: ", "xit code ", "exited with code "];
    let (at, mark) = marks.into_iter().filter_map(|mark| Some((status.find(mark)?, mark))).min()?;
    leading_code(&status[at + mark.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(calls: &[(&str, &str)], texts: &[&str]) -> Vec<FoldedPart> {
        let mut open: Vec<_> =
            calls.iter().map(|(id, name)| PendingCall { id: (*id).to_owned(), name: (*name).to_owned() }).collect();
        let blocks = texts.iter().map(|text| UserBlock::Text((*text).to_owned())).collect();
        UserBlocks::new(&mut open).read(blocks)
    }

    fn result(part: &FoldedPart) -> &FoldedResult {
        let FoldedPart::Result(result) = part else { panic!("{part:?}") };
        result
    }

    #[test]
    fn only_a_humans_words_are_prompts() {
        let added = "<environment_details>\n# Current Time\n</environment_details>";
        let prompt = |text: &str| vec![FoldedPart::Text(EntryKind::Prompt, text.to_owned())];
        assert_eq!(read(&[], &["<task>\nfix it\n</task>", "\n# task_progress RECOMMENDED\n", added]), prompt("fix it"));
        assert_eq!(read(&[], &["plain words"]), prompt("plain words"));
        assert_eq!(read(&[], &["[ERROR] You did not use a tool in your previous response!", added]), []);
        let resumed = "[TASK RESUMPTION] This task was interrupted.\n\nNew instructions for task continuation:\n\
                       <user_message>\ngo on\n</user_message>";
        assert_eq!(read(&[], &[resumed, added]), prompt("go on"));
        assert_eq!(read(&[], &["[TASK RESUMPTION] This task was interrupted 10 minutes ago."]), []);
    }

    #[test]
    fn results_find_their_calls() {
        let parts = read(
            &[("1", "read_file"), ("2", "execute_command"), ("3", "read_file")],
            &[
                "[execute_command for 'ls [a]'] Result:\nCommand executed. Exit code: 3\nOutput:\nExit code: 0",
                "[read_file for 'a.rs'] Result:",
                "fn main() {}",
                "Tool [read_file] was not executed because a tool has already been used in this message.",
            ],
        );
        let calls: Vec<_> =
            parts.iter().map(result).map(|one| (one.call.as_str(), one.exit_code, one.is_error)).collect();
        assert_eq!(calls, [("2", Some(3), false), ("1", None, false), ("3", None, true)]);
        assert_eq!(result(&parts[1]).output, "fn main() {}");
    }

    #[test]
    fn tags_in_files_are_not_a_humans_words() {
        let (header, file) = ("[read_file for 'a.xml'] Result:", "<answer>\n42\n</answer>");
        let whole = format!("{header}\n{file}");
        let attached = "<file_content path=\"a.xml\">\n<task>\nx\n</task>\n</file_content>";
        for texts in [&[header, file][..], &[&whole], &[header, file, attached], &[&whole, attached]] {
            let parts = read(&[("1", "read_file")], texts);
            assert_eq!((parts.len(), result(&parts[0]).answer.as_deref()), (1, None), "{texts:?}");
            assert_eq!(result(&parts[0]).output, file);
        }
        let said = format!("{whole}\n\nThe user provided the following feedback:\n<feedback>\nno\n</feedback>");
        assert_eq!(result(&read(&[("1", "read_file")], &[&said])[0]).answer.as_deref(), Some("no"));
    }

    #[test]
    fn what_the_user_says_in_a_result_is_kept() {
        let parts = read(
            &[("1", "write_to_file")],
            &["[write_to_file for 'a'] Result:\nThe user denied this operation and said:\n<feedback>\nno\n</feedback>"],
        );
        assert_eq!((result(&parts[0]).is_rejected, result(&parts[0]).answer.as_deref()), (true, Some("no")));
        let parts =
            read(&[("1", "edit_file")], &["[edit_file] Result:\n{\"status\":\"denied\",\"feedback\":\"use jq\"}"]);
        assert_eq!((result(&parts[0]).is_rejected, result(&parts[0]).answer.as_deref()), (true, Some("use jq")));
        let parts = read(
            &[("1", "attempt_completion")],
            &["[attempt_completion] Result:\n<user_message>\nnow the tests\n</user_message>"],
        );
        assert_eq!(parts[1], FoldedPart::Text(EntryKind::Prompt, "now the tests".to_owned()));
    }
}
