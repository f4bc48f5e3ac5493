//! Builds a compaction summary without a model, from the text and tool calls of the messages, in the same sections.

use rethread_model::thread::{ChatMessage, ChatRole};
use rethread_model::{clip, first_line, one_line};
use serde_json::Value;

use super::CompactionPlan;
use super::files::{FileAccess, file_access};
use super::key_sentences::{constraints, decisions, is_covered_by, is_filler, is_final_answer, planned_steps};
use super::sections::{SummarySection, SummarySections};
use crate::pairs::{ToolCallRef, result_indexes, tool_calls};

/// Token limit of such a summary.
const MAX_TOKENS: u64 = 13_000;
/// Maximum number of calls, constraints and decisions listed; the newest are kept.
const MAX_ITEMS: usize = 20;
/// Maximum number of errors and requests quoted; the newest are kept.
const MAX_QUOTED: usize = 3;
/// Maximum number of items in the sections on open work. Older items are rarely still open.
const MAX_OPEN_ITEMS: usize = 12;
/// Maximum length of a command, in characters.
const COMMAND_CHARS: usize = 160;
/// Maximum length of a quoted request or answer, in characters.
const QUOTE_CHARS: usize = 600;
/// Maximum length of the quoted current request, in characters.
const LAST_QUOTE_CHARS: usize = 1_800;
/// Maximum length of an answer that reports finished work, in characters.
const DONE_CHARS: usize = 240;
/// How items begin that are only true until the next summary.
const LAST_ANSWER: &str = "Last answer: ";
const OPEN_REQUEST: &str = "Working on: ";
const LATEST_REQUEST: &str = "Continue with the latest request: ";
/// Characters read of a previous summary, which another program may have written.
const MAX_PREVIOUS_CHARS: usize = 200_000;
/// Maximum length of the first line of an error, in characters.
const ERROR_CHARS: usize = 300;

impl CompactionPlan {
    /// Builds the summary without a model. It is plainer than a model's, but always available and deterministic.
    pub fn summary_without_model(&self, focus: Option<&str>) -> String {
        let messages = [&self.history[..], &self.turn_prefix[..]].concat();
        let previous = self.previous_summary.as_deref().map(|previous| clip(previous, MAX_PREVIOUS_CHARS));
        let mut sections = previous.map(|previous| SummarySections::parse(&previous)).unwrap_or_default();
        let calls = completed_calls(&messages);
        settle_finished_work(&mut sections, &messages, &calls);
        add_messages(&mut sections, &messages);
        add_calls(&mut sections, &calls);
        add_open_work(&mut sections, &messages, !self.turn_prefix.is_empty());
        if let Some(focus) = focus.map(str::trim).filter(|focus| !focus.is_empty()) {
            sections.add(SummarySection::Critical, &format!("Additional focus: {}", one_line(focus)));
        }
        for open in [SummarySection::InProgress, SummarySection::Blocked, SummarySection::NextSteps] {
            sections.keep_newest(open, MAX_OPEN_ITEMS);
        }
        sections.render_within(self.max_summary_tokens.min(MAX_TOKENS))
    }

    /// A summary with nothing but the request.
    pub(super) fn minimal_summary(&self) -> String {
        let mut sections = SummarySections::default();
        if let Some(request) = requests(&self.turn_prefix).first() {
            sections.add(SummarySection::Goal, &quoted(request));
        }
        sections.render_within(self.max_summary_tokens.min(MAX_TOKENS))
    }
}

/// Adds what the user and the model said.
fn add_messages(sections: &mut SummarySections, messages: &[ChatMessage]) {
    let requests = requests(messages);
    if let Some(first) = requests.first() {
        sections.add(SummarySection::Goal, &quoted(first));
    }
    let constraint_lines: Vec<String> = requests.iter().flat_map(|text| constraints(text)).collect();
    add_newest(sections, SummarySection::Constraints, &constraint_lines);
    let spoken = messages.iter().filter(|message| message.role != ChatRole::ToolResult).map(ChatMessage::text);
    let decided: Vec<String> = spoken.flat_map(|text| decisions(&text).collect::<Vec<_>>()).collect();
    add_newest(sections, SummarySection::Decisions, &decided);
    for (left, request) in newest(&requests, MAX_QUOTED).iter().rev().enumerate().rev() {
        let max_chars = if left == 0 { LAST_QUOTE_CHARS } else { QUOTE_CHARS };
        sections.add(SummarySection::Critical, &format!("The user asked: \"{}\"", clip(&one_line(request), max_chars)));
    }
}

/// Adds the state of the work: what the last answer leaves open. What an earlier summary said about it is over.
fn add_open_work(sections: &mut SummarySections, messages: &[ChatMessage], is_turn_open: bool) {
    sections.remove_starting_with(SummarySection::InProgress, LAST_ANSWER);
    sections.remove_starting_with(SummarySection::InProgress, OPEN_REQUEST);
    sections.remove_starting_with(SummarySection::NextSteps, LATEST_REQUEST);
    let answers = texts_of_role(messages, ChatRole::Assistant);
    let last_request = messages.iter().rposition(|message| message.role == ChatRole::User).unwrap_or(0);
    let is_answered = messages[last_request..]
        .last()
        .is_some_and(|last| last.role == ChatRole::Assistant && tool_calls(last).next().is_none());
    match answers.last() {
        Some(last) if is_answered && !is_turn_open && is_final_answer(last) => {
            sections.add(SummarySection::Done, &clip(&one_line(last), DONE_CHARS));
            return;
        }
        Some(last) if messages[last_request..].iter().any(|message| message.text() == *last) => {
            sections.add(SummarySection::InProgress, &format!("{LAST_ANSWER}{}", quoted(last)));
        }
        _ => {
            let request = requests(messages).pop().map(|request| format!("{OPEN_REQUEST}{}", quoted(&request)));
            sections.add(SummarySection::InProgress, &request.unwrap_or_default());
        }
    }
    let planned: Vec<String> = answers.last().map(|last| planned_steps(last).collect()).unwrap_or_default();
    if planned.is_empty() {
        let latest = requests(messages).pop().map(|last| format!("{LATEST_REQUEST}{}", quoted(&last)));
        sections.add(SummarySection::NextSteps, &latest.unwrap_or_default());
    }
    add_newest(sections, SummarySection::NextSteps, &planned);
}

/// Moves what was open before and is finished by now out of the open sections.
fn settle_finished_work(sections: &mut SummarySections, messages: &[ChatMessage], calls: &[CompletedCall]) {
    let answers = texts_of_role(messages, ChatRole::Assistant).into_iter().filter(|text| is_final_answer(text));
    let done = calls.iter().filter(|call| call.error.is_none()).map(|call| call.achievement.clone());
    let finished: Vec<String> = answers.chain(done).collect();
    for item in sections.take_where(SummarySection::InProgress, |item| is_covered_by(item, &finished)) {
        sections.add(SummarySection::Done, &item);
    }
    sections.take_where(SummarySection::NextSteps, |item| is_covered_by(item, &finished));
}

/// Adds what was done with tools, and what failed.
fn add_calls(sections: &mut SummarySections, actions: &[CompletedCall]) {
    let mut done: Vec<String> = Vec::new();
    for action in actions.iter().filter(|action| action.error.is_none()) {
        sections.remove_starting_with(SummarySection::Blocked, &failure_prefix(&action.label));
        // Repeated calls are listed at the position of the last one.
        done.retain(|known| *known != action.achievement);
        done.push(action.achievement.clone());
    }
    done.retain(|done| !done.is_empty());
    add_newest(sections, SummarySection::Done, &done);
    let succeeded_later = |at: usize| {
        let later = &actions[at + 1..];
        later.iter().any(|later| later.error.is_none() && later.label == actions[at].label)
    };
    let open = actions.iter().enumerate().filter(|(at, action)| action.error.is_some() && !succeeded_later(*at));
    let open: Vec<&CompletedCall> = open.map(|(_, action)| action).collect();
    for action in newest(&open, MAX_QUOTED) {
        let error = action.error.as_deref().unwrap_or_default();
        sections.add(SummarySection::Blocked, &format!("{}{error}", failure_prefix(&action.label)));
        sections.add(SummarySection::Critical, &format!("Error: {error}"));
    }
}

fn failure_prefix(what: &str) -> String {
    format!("`{what}` failed: ")
}

/// A tool call that has a result.
struct CompletedCall {
    /// Short form of the call; equal for repetitions.
    label: String,
    /// What it achieved; empty if not worth listing.
    achievement: String,
    /// First line of the error, if it failed.
    error: Option<String>,
}

fn completed_calls(messages: &[ChatMessage]) -> Vec<CompletedCall> {
    let mut actions = Vec::new();
    for (message, answers) in messages.iter().zip(result_indexes(messages)) {
        for (call, answer) in tool_calls(message).zip(answers) {
            let Some(result) = answer.map(|at| &messages[at]) else { continue };
            let error = result.is_error.then(|| clip(first_line(&result.text()), ERROR_CHARS).into_owned());
            actions.push(CompletedCall { label: call_label(&call), achievement: call_achievement(&call), error });
        }
    }
    actions
}

fn call_label(call: &ToolCallRef<'_>) -> String {
    let target =
        command(call).or_else(|| file_access(call).map(|(_, path)| format!("{} {}", call.name, one_line(path))));
    target.unwrap_or_else(|| call.name.to_owned())
}

fn call_achievement(call: &ToolCallRef<'_>) -> String {
    match (command(call), file_access(call)) {
        (Some(command), _) => format!("Ran `{command}`"),
        (None, Some((FileAccess::Modified, path))) => format!("Modified `{}`", one_line(path)),
        _ => String::new(),
    }
}

/// The command a call runs, on one line.
fn command(call: &ToolCallRef<'_>) -> Option<String> {
    let given = ["command", "cmd"].iter().find_map(|name| call.arguments.get(*name))?;
    let words = match given {
        Value::String(command) => command.clone(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        _ => return None,
    };
    Some(clip(&one_line(&words), COMMAND_CHARS).into_owned()).filter(|command| !command.is_empty())
}

/// What the user asked for, without mere reactions such as "ok".
fn requests(messages: &[ChatMessage]) -> Vec<String> {
    texts_of_role(messages, ChatRole::User).into_iter().filter(|text| !is_filler(text)).collect()
}

/// The non-empty texts of one role.
fn texts_of_role(messages: &[ChatMessage], role: ChatRole) -> Vec<String> {
    let texts = messages.iter().filter(|message| message.role == role).map(ChatMessage::text);
    texts.filter(|text| !text.trim().is_empty()).collect()
}

fn quoted(text: &str) -> String {
    clip(&one_line(text), QUOTE_CHARS).into_owned()
}

fn add_newest(sections: &mut SummarySections, section: SummarySection, items: &[String]) {
    for item in newest(items, MAX_ITEMS) {
        sections.add(section, item);
    }
}

fn newest<T>(items: &[T], limit: usize) -> &[T] {
    &items[items.len().saturating_sub(limit)..]
}
