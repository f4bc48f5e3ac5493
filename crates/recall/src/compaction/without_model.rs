//! Makes the summary without a model: what can be read off the messages, in the same sections.

use rethread_model::thread::{ChatMessage, ChatRole};
use rethread_model::{clip, first_line, one_line};
use serde_json::Value;

use super::Plan;
use super::files::{Touch, touched};
use super::remarks::{constraints, decisions, plans};
use super::sections::{Section, Sections};
use crate::pairs::{Call, answers, calls};

/// Tokens of the longest such summary.
const MOST_TOKENS: u64 = 13_000;
/// Deeds, wishes and decisions that are listed, the newest.
const MOST_ITEMS: usize = 20;
/// Errors and requests that are quoted, the newest.
const MOST_QUOTED: usize = 3;
/// Items of the sections on what is open. Older ones are hardly open any more.
const MOST_OPEN: usize = 12;
/// Characters of a command.
const COMMAND: usize = 160;
/// Characters of a request or an answer that is quoted.
const QUOTED: usize = 600;
/// Characters of the request that is being worked on.
const QUOTED_LAST: usize = 1_800;
/// Characters that are read of a summary another program may have written.
const LONGEST_PREVIOUS: usize = 200_000;
/// Characters of an error's first line.
const ERROR: usize = 300;

impl Plan {
    /// The summary made without a model. It is plainer than one by a model, but always there and always the same.
    pub fn summary_without_model(&self, focus: Option<&str>) -> String {
        let messages = [&self.history[..], &self.prefix[..]].concat();
        let previous = self.previous.as_deref().map(|previous| clip(previous, LONGEST_PREVIOUS));
        let mut sections = previous.map(|previous| Sections::parse(&previous)).unwrap_or_default();
        add_words(&mut sections, &messages);
        add_deeds(&mut sections, &deeds(&messages));
        if let Some(focus) = focus.map(str::trim).filter(|focus| !focus.is_empty()) {
            sections.add(Section::Critical, &format!("Additional focus: {}", one_line(focus)));
        }
        for open in [Section::InProgress, Section::Blocked, Section::NextSteps] {
            sections.keep_newest(open, MOST_OPEN);
        }
        sections.write_within(self.summary_tokens.min(MOST_TOKENS))
    }

    /// A summary of nothing but what was asked for.
    pub(super) fn barest_summary(&self) -> String {
        let mut sections = Sections::default();
        if let Some(asked) = texts(&self.prefix, ChatRole::User).first() {
            sections.add(Section::Goal, &quoted(asked));
        }
        sections.write_within(self.summary_tokens.min(MOST_TOKENS))
    }
}

/// What the user and the model said.
fn add_words(sections: &mut Sections, messages: &[ChatMessage]) {
    let asked = texts(messages, ChatRole::User);
    let said = texts(messages, ChatRole::Assistant);
    if let Some(first) = asked.first() {
        sections.add(Section::Goal, &quoted(first));
    }
    let wished: Vec<String> = asked.iter().flat_map(|text| constraints(text)).collect();
    add_newest(sections, Section::Constraints, &wished);
    let spoken = messages.iter().filter(|message| message.role != ChatRole::ToolResult).map(ChatMessage::text);
    let decided: Vec<String> = spoken.flat_map(|text| decisions(&text).collect::<Vec<_>>()).collect();
    add_newest(sections, Section::Decisions, &decided);
    if let Some(last) = said.last() {
        sections.add(Section::InProgress, &quoted(last));
    }
    let planned: Vec<String> = said.last().map(|last| plans(last).collect()).unwrap_or_default();
    if planned.is_empty() {
        let latest = asked.last().map(|last| format!("Continue with the latest request: {}", quoted(last)));
        sections.add(Section::NextSteps, &latest.unwrap_or_default());
    }
    add_newest(sections, Section::NextSteps, &planned);
    for (left, request) in newest(&asked, MOST_QUOTED).iter().rev().enumerate().rev() {
        let most = if left == 0 { QUOTED_LAST } else { QUOTED };
        sections.add(Section::Critical, &format!("The user asked: \"{}\"", clip(&one_line(request), most)));
    }
}

/// What was done with tools, and what failed.
fn add_deeds(sections: &mut Sections, deeds: &[Deed]) {
    let mut done: Vec<String> = Vec::new();
    for deed in deeds.iter().filter(|deed| deed.error.is_none()) {
        sections.remove(Section::Blocked, &failed(&deed.what));
        // What was done several times stands where it was done last.
        done.retain(|known| *known != deed.done);
        done.push(deed.done.clone());
    }
    done.retain(|done| !done.is_empty());
    add_newest(sections, Section::Done, &done);
    let succeeded_later = |at: usize| {
        let later = &deeds[at + 1..];
        later.iter().any(|later| later.error.is_none() && later.what == deeds[at].what)
    };
    let open = deeds.iter().enumerate().filter(|(at, deed)| deed.error.is_some() && !succeeded_later(*at));
    let open: Vec<&Deed> = open.map(|(_, deed)| deed).collect();
    for deed in newest(&open, MOST_QUOTED) {
        let error = deed.error.as_deref().unwrap_or_default();
        sections.add(Section::Blocked, &format!("{}{error}", failed(&deed.what)));
        sections.add(Section::Critical, &format!("Error: {error}"));
    }
}

fn failed(what: &str) -> String {
    format!("`{what}` failed: ")
}

/// A tool call that was answered.
struct Deed {
    /// The call, shortly.
    what: String,
    /// What it achieved, if that is worth telling.
    done: String,
    /// The first line of the error it ended with.
    error: Option<String>,
}

fn deeds(messages: &[ChatMessage]) -> Vec<Deed> {
    let mut deeds = Vec::new();
    for (message, answers) in messages.iter().zip(answers(messages)) {
        for (call, answer) in calls(message).zip(answers) {
            let Some(result) = answer.map(|at| &messages[at]) else { continue };
            let error = result.is_error.then(|| clip(first_line(&result.text()), ERROR).into_owned());
            deeds.push(Deed { what: what(&call), done: done(&call), error });
        }
    }
    deeds
}

fn what(call: &Call<'_>) -> String {
    let target = command(call).or_else(|| touched(call).map(|(_, path)| format!("{} {}", call.name, one_line(path))));
    target.unwrap_or_else(|| call.name.to_owned())
}

fn done(call: &Call<'_>) -> String {
    match (command(call), touched(call)) {
        (Some(command), _) => format!("Ran `{command}`"),
        (None, Some((Touch::Modified, path))) => format!("Modified `{}`", one_line(path)),
        _ => String::new(),
    }
}

/// The command a call runs, on one line.
fn command(call: &Call<'_>) -> Option<String> {
    let given = ["command", "cmd"].iter().find_map(|name| call.arguments.get(*name))?;
    let words = match given {
        Value::String(command) => command.clone(),
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" "),
        _ => return None,
    };
    Some(clip(&one_line(&words), COMMAND).into_owned()).filter(|command| !command.is_empty())
}

/// The texts of one speaker that are not empty.
fn texts(messages: &[ChatMessage], role: ChatRole) -> Vec<String> {
    let texts = messages.iter().filter(|message| message.role == role).map(ChatMessage::text);
    texts.filter(|text| !text.trim().is_empty()).collect()
}

fn quoted(text: &str) -> String {
    clip(&one_line(text), QUOTED).into_owned()
}

fn add_newest(sections: &mut Sections, section: Section, items: &[String]) {
    for item in newest(items, MOST_ITEMS) {
        sections.add(section, item);
    }
}

fn newest<T>(items: &[T], most: usize) -> &[T] {
    &items[items.len().saturating_sub(most)..]
}
