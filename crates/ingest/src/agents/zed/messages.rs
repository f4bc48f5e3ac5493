//! Parses the messages of Zed's threads, in the forms of all versions of the document.

use rethread_model::{EntryKind, Tokens, ToolKind};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::parse::content::MeasuredResult;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp};
use crate::parse::outcome::{leading_code, outcome_with_code};
use crate::parse::{ParseContext, TextSink, tool_kind, user_text};
use crate::{EventBody, TitleRank, TranscriptEvent};

/// In the result of a command that failed, before its exit code.
const EXIT_CODE_MARK: &str = " failed with exit code ";
/// Results of commands that did not end by themselves.
const BROKEN_OFF: [&str; 3] = ["The user stopped this command", "Command terminated unexpectedly", "Command cancelled"];
/// In the result of a command that ran too long.
const TIMEOUT_MARK: &str = "\" timed out.";
/// The title of a thread that was not named yet.
const NO_TITLE: &str = "New Thread";

/// A row: the header, a message, or at the end the facts about the thread.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedRow<'a> {
    position: LenientNumber,
    #[serde(borrow)]
    message: LenientText<'a>,
    #[serde(borrow)]
    facts: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
    #[serde(borrow)]
    folders: LenientText<'a>,
    #[serde(borrow)]
    folders_order: LenientText<'a>,
    timestamp: LenientTimestamp,
    changed: LenientTimestamp,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedFacts<'a> {
    #[serde(borrow)]
    model: LenientObject<ZedModel<'a>>,
    usage: LenientObject<ZedUsage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedModel<'a> {
    #[serde(borrow)]
    model: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedUsage {
    #[serde(rename = "input_tokens")]
    input: LenientNumber,
    #[serde(rename = "output_tokens")]
    output: LenientNumber,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_write: LenientNumber,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: LenientNumber,
}

/// A message: since 0.3 an object with one of the first three fields, before that the other fields.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedMessage<'a> {
    #[serde(borrow, rename = "User")]
    user: Option<LenientObject<ZedTurn<'a>>>,
    #[serde(borrow, rename = "Agent")]
    agent: Option<LenientObject<ZedTurn<'a>>>,
    #[serde(borrow, rename = "Compaction")]
    compaction: Option<&'a RawValue>,
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    segments: Vec<&'a RawValue>,
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow)]
    tool_uses: Vec<&'a RawValue>,
    #[serde(borrow)]
    tool_results: Vec<&'a RawValue>,
    is_hidden: LenientBool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedTurn<'a> {
    #[serde(borrow)]
    content: Vec<&'a RawValue>,
    /// By the id of the call.
    #[serde(borrow)]
    tool_results: LenientObject<std::collections::BTreeMap<String, &'a RawValue>>,
}

/// One part of a message since 0.3: an object with one field.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedPart<'a> {
    #[serde(borrow, rename = "Text")]
    text: LenientText<'a>,
    #[serde(borrow, rename = "Thinking")]
    thinking: LenientObject<ZedSegment<'a>>,
    #[serde(borrow, rename = "Mention")]
    mention: Option<&'a RawValue>,
    #[serde(borrow, rename = "Image")]
    image: Option<&'a RawValue>,
    #[serde(borrow, rename = "ToolUse")]
    tool_use: Option<LenientObject<ZedCall<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedSegment<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    text: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedCall<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ZedResult<'a> {
    #[serde(borrow)]
    tool_use_id: LenientText<'a>,
    #[serde(borrow)]
    tool_name: LenientText<'a>,
    is_error: LenientBool,
    content: Value,
}

/// All events of a row.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let row: ZedRow<'_> = serde_json::from_str(text)?;
    if context.is_header() {
        return Ok(header_events(row, context));
    }
    if let Some(facts) = row.facts.non_empty() {
        return facts_events(&facts, context);
    }
    if row.message.as_str().is_empty() {
        return Ok(Vec::new());
    }
    let is_task = context.is_subagent();
    let mut out = EventBuilder::new(context.location, None, format!("message-{}", row.position.count()));
    let Ok(message) = serde_json::from_str::<ZedMessage<'_>>(row.message.as_str()) else {
        // A message without content, such as "Resume", is its name.
        return serde_json::from_str::<IgnoredAny>(row.message.as_str()).map(|_| Vec::new());
    };
    let sink = &mut context.sink;
    match (message.user, message.agent, message.compaction) {
        (Some(user), ..) => add_prompt(&user_text(&user.0.content), is_task, &mut out, sink),
        (_, Some(agent), _) => add_turn(agent.0, &mut out, sink),
        (.., Some(compaction)) => {
            let summary = all_text(&serde_json::from_str(compaction.get()).unwrap_or_default());
            out.add_text(EntryKind::Summary, summary, None, sink);
        }
        _ => {
            let message = ZedMessage { user: None, agent: None, compaction: None, ..message };
            add_old_message(message, is_task, &mut out, sink);
        }
    }
    Ok(out.events)
}

fn header_events(row: ZedRow<'_>, context: &mut ParseContext<'_>) -> Vec<TranscriptEvent> {
    // No message has a time; the thread has one for its start and one for its last change.
    let mut out = EventBuilder::new(context.location, row.timestamp.0.or(row.changed.0), "thread".to_owned());
    let cwd = first_folder(row.folders.as_str(), row.folders_order.as_str());
    out.push(EventBody::Header(crate::SessionHeader { cwd, ..crate::SessionHeader::default() }));
    if row.title.as_str() != NO_TITLE {
        out.add_title(TitleRank::Generated, row.title, None, &mut context.sink);
    }
    let mut end = EventBuilder::new(context.location, row.changed.0, "thread".to_owned());
    end.push(EventBody::Header(crate::SessionHeader::default()));
    out.events.into_iter().chain(end.events).collect()
}

/// The folder that the user added first. The list is sorted by name; the order says which place each one had.
fn first_folder(folders: &str, order: &str) -> Option<String> {
    let first = order.split(',').position(|place| place.trim() == "0").unwrap_or_default();
    folders.lines().nth(first).filter(|folder| !folder.is_empty()).map(str::to_owned)
}

fn facts_events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let ZedFacts { model, usage } = serde_json::from_str(text)?;
    let mut out = EventBuilder::new(context.location, None, "thread".to_owned());
    // Only the totals of a thread are stored.
    out.push(EventBody::Usage {
        message_id: "thread".to_owned(),
        tokens: Tokens {
            input: usage.0.input.count(),
            output: usage.0.output.count(),
            cache_read: usage.0.cache_read.count(),
            cache_write: usage.0.cache_write.count(),
        },
        hour_write_tokens: 0,
        model: model.0.model.non_empty().map(Into::into),
        cost_usd: None,
    });
    Ok(out.events)
}

fn parts<'a>(content: &[&'a RawValue]) -> impl Iterator<Item = ZedPart<'a>> {
    content.iter().filter_map(|part| serde_json::from_str(part.get()).ok())
}

/// What was typed: texts, and the names of what was attached. The content of attachments is not the user's.
fn user_text(content: &[&RawValue]) -> String {
    let texts = parts(content).map(|part| match (part.mention, part.image) {
        (Some(mention), _) => mention_name(mention),
        (_, Some(_)) => "[image]".to_owned(),
        _ => part.text.into_string(),
    });
    texts.collect()
}

/// `@` and the path, address or name of what a message mentions.
fn mention_name(mention: &RawValue) -> String {
    let mention: Value = serde_json::from_str(mention.get()).unwrap_or_default();
    let uri = &mention["uri"];
    // {"File": {"abs_path": …}}, {"Thread": {"name": …}}, {"Fetch": {"url": …}}
    let fields = uri.as_object().and_then(|uri| uri.values().next());
    let names = ["abs_path", "path", "url", "name"];
    let name = fields.and_then(|fields| names.iter().find_map(|name| fields[*name].as_str()));
    name.or(uri.as_str()).map(|name| format!("@{name}")).unwrap_or_default()
}

fn add_prompt(text: &str, is_task: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let text = user_text::strip_added_tags(text).into_owned();
    out.add_text(if is_task { EntryKind::Task } else { EntryKind::Prompt }, text, None, sink);
}

fn add_turn(turn: ZedTurn<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    for part in parts(&turn.content) {
        if sink.filter.keep_reasoning {
            out.add_text(EntryKind::Reasoning, part.thinking.0.text.into_string(), None, sink);
        }
        out.add_text(EntryKind::AssistantText, part.text.into_string(), Some(&id), sink);
        if let Some(LenientObject(call)) = part.tool_use {
            out.add_tool_call(call.id, call.name.as_str(), call.input, &id, sink);
        }
    }
    for (call_id, result) in turn.tool_results.0 {
        add_result(call_id, &serde_json::from_str(result.get()).unwrap_or_default(), None, out, sink);
    }
}

/// Adds a message of a version before 0.3.
fn add_old_message(message: ZedMessage<'_>, is_task: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    let segments = message.segments.iter().filter_map(|part| serde_json::from_str::<ZedSegment<'_>>(part.get()).ok());
    let texts: Vec<ZedSegment<'_>> = segments.filter(|segment| !segment.text.as_str().is_empty()).collect();
    let text_of = |kind: &str| {
        let texts: Vec<&str> =
            texts.iter().filter(|text| text.kind.as_str() == kind).map(|text| text.text.as_str()).collect();
        texts.join("\n")
    };
    let text = if texts.is_empty() { message.text.into_string() } else { text_of("text") };
    let calls = message.tool_uses.iter().filter_map(|call| serde_json::from_str::<ZedCall<'_>>(call.get()).ok());
    let calls: Vec<ZedCall<'_>> = calls.collect();
    match message.role.as_str() {
        // The first versions sent results as messages of the user.
        "user" if message.tool_results.is_empty() && !message.is_hidden.0 => add_prompt(&text, is_task, out, sink),
        "assistant" => {
            if sink.filter.keep_reasoning {
                out.add_text(EntryKind::Reasoning, text_of("thinking"), None, sink);
            }
            out.add_text(EntryKind::AssistantText, text, Some(&id), sink);
        }
        _ => {}
    }
    let names: Vec<(String, String)> =
        calls.iter().map(|call| (call.id.as_str().to_owned(), call.name.as_str().to_owned())).collect();
    for call in calls {
        out.add_tool_call(call.id, call.name.as_str(), call.input, &id, sink);
    }
    for result in message.tool_results {
        let result: ZedResult<'_> = serde_json::from_str(result.get()).unwrap_or_default();
        let call_id = result.tool_use_id.as_str().to_owned();
        let name = names.iter().find(|(id, _)| *id == call_id).map(|(_, name)| name.as_str());
        add_result(call_id, &result, name, out, sink);
    }
}

fn add_result(
    call_id: String,
    result: &ZedResult<'_>,
    name: Option<&str>,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    let kind = tool_kind(name.unwrap_or(result.tool_name.as_str()));
    let text = all_text(&result.content);
    let is_command = kind == ToolKind::Command;
    let code = if is_command { exit_code(&text) } else { None };
    let is_broken_off =
        is_command && (BROKEN_OFF.iter().any(|start| text.starts_with(start)) || first_line_has(&text, TIMEOUT_MARK));
    let is_error = result.is_error.0 || is_broken_off;
    let outcome = outcome_with_code(MeasuredResult::from_text(&text), is_error, code, Some(kind), sink);
    out.push(EventBody::ToolResult { call_id, outcome, answer: None });
}

fn first_line_has(text: &str, mark: &str) -> bool {
    text.lines().next().is_some_and(|line| line.contains(mark))
}

/// The exit code of a command that failed: its result begins with `Command "…" failed with exit code 3.`
fn exit_code(text: &str) -> Option<i32> {
    let (command, rest) = text.split_once(EXIT_CODE_MARK)?;
    if command.starts_with("Command \"") { leading_code(rest) } else { None }
}

/// All texts in a value, however deep: `"x"`, `{"Text": "x"}`, `[{"Text": "x"}]`.
fn all_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            items.iter().map(all_text).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        Value::Object(fields) if fields.contains_key("Image") => "[image]".to_owned(),
        Value::Object(fields) => {
            let texts = fields.iter().filter(|(name, _)| !matches!(name.as_str(), "type" | "id" | "source"));
            texts.map(|(_, value)| all_text(value)).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_code_is_in_the_first_words_of_a_result() {
        assert_eq!(exit_code("Command \"make\" failed with exit code 2.\n\n```\nx\n```"), Some(2));
        assert_eq!(exit_code("```\nthe job failed with exit code 2.\n```"), None);
    }

    #[test]
    fn first_folder_is_the_one_that_was_added_first() {
        assert_eq!(first_folder("/a\n/b", "1,0").as_deref(), Some("/b"));
        assert_eq!(first_folder("/a\n/b", "").as_deref(), Some("/a"));
        assert_eq!(first_folder("", ""), None);
    }
}
