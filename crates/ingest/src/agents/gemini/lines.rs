//! Parses records of Gemini CLI: lines of newer versions, and messages of the older JSON document.

use std::path::Path;

use rethread_model::{EntryKind, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::files::is_hash_of;
use crate::parse::event_builder::EventBuilder;
use crate::parse::gemini_parts::{
    GeminiParts, GeminiUsage, HOOK_TAG, ToolReport, function_outcome, human_answers, without_referenced_files,
};
use crate::parse::lenient::{LenientObject, LenientText, parse_or_default};
use crate::parse::user_shell::shell_text;
use crate::parse::user_text::strip_tag;
use crate::parse::{ParseContext, TextSink, content_id};
use crate::{EventBody, SessionHeader, TitleRank, TranscriptEvent, UndoStep};

/// What the agent lets the model say after a compaction; it is not an answer.
const SUMMARY_REPLY: &str = "Got it. Thanks for the additional context!";
/// Start of the text with which a command that a human ran is shown to the model.
const SHELL_COMMAND: &str = "I ran the following shell command:\n```sh\n";
/// What the agent itself sends in a human's place to let the model go on.
const CONTINUE_REQUESTS: [&str; 2] = ["Please continue.", "System: Please continue."];
/// Words of the text with which the agent makes a sub-agent finish.
const FINISH_REQUEST: &str = "You have one final chance to complete the task";
/// First words of the context that begins a session.
const SESSION_CONTEXT: &str = "<session_context>";
/// First words of other context that the agent sends like a message of the human.
const CONTEXT_PREFIXES: [&str; 3] = [
    "<loaded_context>",
    "Here is the user's editor context",
    "Here is a summary of changes in the user's editor context",
];
/// What comes before the working directory in the context, in newer and older versions.
const DIRECTORY_MARKS: [&str; 3] = [
    "Workspace Directories:**\n  - ",
    "I'm currently working in the directory: ",
    "I'm currently working in the following directories:\n  - ",
];

/// A message, or what a line says about the session: its header, a change of it, or a rewind.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GeminiRecord<'a> {
    #[serde(borrow)]
    session_id: LenientText<'a>,
    #[serde(borrow)]
    start_time: LenientText<'a>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    summary: LenientText<'a>,
    #[serde(borrow, rename = "$set")]
    set: LenientObject<GeminiChange<'a>>,
    #[serde(borrow, rename = "$rewindTo")]
    rewind_to: LenientText<'a>,
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    timestamp: LenientText<'a>,
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    content: GeminiParts<'a>,
    #[serde(borrow)]
    display_content: GeminiParts<'a>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    thoughts: Option<&'a RawValue>,
    tokens: Option<LenientObject<GeminiUsage>>,
    #[serde(borrow)]
    model: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GeminiChange<'a> {
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GeminiToolCall<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    result: GeminiParts<'a>,
    #[serde(borrow)]
    status: LenientText<'a>,
    #[serde(borrow)]
    result_display: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GeminiThought<'a> {
    #[serde(borrow)]
    subject: LenientText<'a>,
    #[serde(borrow)]
    description: LenientText<'a>,
}

/// What the header says that a single record cannot know.
struct GeminiSession {
    is_subagent: bool,
    /// Hash of the directory, if the directory itself is not known.
    directory_hash: Option<String>,
}

impl GeminiSession {
    fn from_header(header: &str) -> Self {
        let hash = header.split("\"projectHash\":\"").nth(1).and_then(|rest| rest.split('"').next());
        Self {
            is_subagent: header.contains("\"kind\":\"subagent\""),
            directory_hash: hash.filter(|_| !header.contains("\"cwd\":\"")).map(str::to_owned),
        }
    }

    /// The directory of the session, if a path among the arguments of a call is in it.
    fn directory_of(&self, arguments: Option<&RawValue>) -> Option<String> {
        let hash = self.directory_hash.as_deref()?;
        let arguments: Map<String, Value> = serde_json::from_str(arguments?.get()).ok()?;
        let paths = arguments.values().filter_map(Value::as_str).filter(|text| text.starts_with('/'));
        let mut directories = paths.flat_map(|path| Path::new(path).ancestors()).filter_map(Path::to_str);
        directories.find(|directory| is_hash_of(hash, directory)).map(str::to_owned)
    }
}

/// All events of one record.
pub(in crate::agents) fn events(
    text: &str,
    context: &mut ParseContext<'_>,
) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let record: GeminiRecord<'_> = serde_json::from_str(text)?;
    let session = GeminiSession::from_header(context.header().unwrap_or_default());
    let location = context.location;
    let new_builder = |record: &GeminiRecord<'_>, text: &str| {
        let time = if record.timestamp.as_str().is_empty() { &record.start_time } else { &record.timestamp };
        let id = record.id.clone().non_empty().map_or_else(|| content_id(text), Into::into);
        EventBuilder::new(location, time.as_str().parse().ok(), id)
    };
    let sink = &mut context.sink;
    let mut out = new_builder(&record, text);
    if !record.kind.as_str().is_empty() {
        add_message(record, &session, &mut out, sink);
        return Ok(out.events);
    }
    let mut events = Vec::new();
    // The conversation as the model sees it, written when a session is resumed or compacted. Messages that were read
    // before keep what was read: this copy has no tokens, and lacks some prompts.
    let copies: Vec<&RawValue> = parse_or_default(record.set.0.messages);
    let copies: Vec<(&str, GeminiRecord<'_>)> =
        copies.into_iter().filter_map(|raw| Some((raw.get(), serde_json::from_str(raw.get()).ok()?))).collect();
    let mut copies = copies.into_iter().peekable();
    while let Some((text, mut copy)) = copies.next() {
        let mut out = new_builder(&copy, text);
        if copies.next_if(|(_, next)| is_summary_reply(next)).is_some() {
            out.add_text(EntryKind::Summary, copy.content.text(), None, sink);
        } else {
            // Times of the copy are those of its writing.
            copy.tokens = None;
            add_message(copy, &session, &mut out, sink);
        }
        events.append(&mut out.events);
    }
    if let Some(id) = record.rewind_to.non_empty() {
        out.push(EventBody::Undo(UndoStep::From(id.into())));
    }
    if let Some(id) = record.session_id.non_empty() {
        let cwd = record.cwd.non_empty().map(Into::into);
        out.push(EventBody::Header(SessionHeader { external_id: id.into(), cwd, ..SessionHeader::default() }));
    }
    for summary in [record.summary, record.set.0.summary] {
        out.add_title(TitleRank::Summary, summary, None, sink);
    }
    events.append(&mut out.events);
    Ok(events)
}

fn is_summary_reply(record: &GeminiRecord<'_>) -> bool {
    matches!(record.kind.as_str(), "gemini" | "qwen") && record.content.text() == SUMMARY_REPLY
}

fn add_message(record: GeminiRecord<'_>, session: &GeminiSession, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    match record.kind.as_str() {
        "user" => add_user(&record, session.is_subagent, out, sink),
        "gemini" | "qwen" => add_answer(record, session, out, sink),
        "error" => out.add_text(EntryKind::Failure, record.content.text(), None, sink),
        "info" if record.content.text() == "Request cancelled." => {
            out.add_interruption(sink);
        }
        // Other notes of the program, and unknown types.
        _ => {}
    }
}

fn add_user(record: &GeminiRecord<'_>, is_subagent: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let responses: Vec<_> = record.content.0.iter().filter_map(|part| part.function_response.as_ref()).collect();
    for LenientObject(response) in &responses {
        let report = response.report();
        let outcome = function_outcome(response.name.as_str(), &report, None, sink);
        let call_id = response.id.as_str().to_owned();
        out.push(EventBody::ToolResult { call_id, outcome, answer: None });
    }
    if !responses.is_empty() {
        // What a tool read may be beside its response.
        return;
    }
    for part in record.content.0.iter().filter(|part| part.text.as_str().starts_with(SESSION_CONTEXT)) {
        let cwd = working_directory(part.text.as_str());
        out.push(EventBody::Workspace { cwd, branch: None });
    }
    let typed = if record.display_content.0.is_empty() { &record.content } else { &record.display_content };
    let text = typed_text(typed);
    if CONTINUE_REQUESTS.contains(&text.trim()) || (is_subagent && text.contains(FINISH_REQUEST)) {
        out.add_injected(&text, sink);
    } else if let Some((command, output)) = text.strip_prefix(SHELL_COMMAND).map(split_shell_command) {
        out.add_text(EntryKind::Shell, shell_text(command, None, output), None, sink);
    } else if text.trim_start().starts_with("<state_snapshot>") {
        out.add_text(EntryKind::Summary, text, None, sink);
    } else if !text.trim().is_empty() {
        out.add_user_text(&text, is_subagent, sink);
    } else if typed.has_attachment() {
        out.add_user_text("[image]", is_subagent, sink);
    }
}

/// What a human typed, without the context that hooks and the agent added.
fn typed_text(parts: &GeminiParts<'_>) -> String {
    let mut texts = Vec::new();
    for part in &parts.0 {
        let text = strip_tag(part.text.as_str(), HOOK_TAG);
        let is_context = |text: &str| {
            text.starts_with(SESSION_CONTEXT) || CONTEXT_PREFIXES.iter().any(|prefix| text.starts_with(prefix))
        };
        let (typed, is_end) = without_referenced_files(&text);
        if !is_context(typed.trim_start()) {
            texts.push(typed.trim_matches('\n').to_owned());
        }
        if is_end {
            break;
        }
    }
    texts.retain(|text| !text.is_empty());
    texts.join("\n")
}

/// The first working directory that the context of a session names.
fn working_directory(context: &str) -> Option<String> {
    let start = DIRECTORY_MARKS.iter().find_map(|mark| Some(context.find(mark)? + mark.len()))?;
    let line = context[start..].lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

fn add_answer(record: GeminiRecord<'_>, session: &GeminiSession, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    if record.tokens.is_some() || !record.model.as_str().is_empty() {
        out.push(EventBody::Usage {
            message_id: id.clone(),
            tokens: record.tokens.map(|LenientObject(usage)| usage.tokens()).unwrap_or_default(),
            hour_write_tokens: 0,
            model: record.model.non_empty().map(Into::into),
            cost_usd: None,
        });
    }
    let thoughts: Vec<LenientObject<GeminiThought<'_>>> = parse_or_default(record.thoughts);
    add_reasoning(&thoughts, &record.content, out, sink);
    out.add_text(EntryKind::AssistantText, record.content.text(), Some(&id), sink);
    for LenientObject(call) in record.content.0.into_iter().filter_map(|part| part.function_call) {
        out.add_tool_call(call.id, call.name.as_str(), call.args, &id, sink);
    }
    let calls: Vec<LenientObject<GeminiToolCall<'_>>> = parse_or_default(record.tool_calls);
    for (number, LenientObject(call)) in calls.into_iter().enumerate() {
        if let Some(cwd) = session.directory_of(call.args) {
            out.push(EventBody::Workspace { cwd: Some(cwd), branch: None });
        }
        add_call(call, number, &id, out, sink);
    }
}

/// Adds the model's reasoning under ids of its own: a record that comes again may have another number of thoughts, and
/// its answer must keep its id.
fn add_reasoning(
    thoughts: &[LenientObject<GeminiThought<'_>>],
    content: &GeminiParts<'_>,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    if !sink.filter.keep_reasoning {
        return;
    }
    let paragraphs = thoughts.iter().map(|LenientObject(thought)| {
        format!("{}\n{}", thought.subject.as_str(), thought.description.as_str()).trim().to_owned()
    });
    let mut text = paragraphs.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n");
    if text.is_empty() {
        text = content.reasoning();
    }
    let mut side = out.with_id(format!("{}-thoughts", out.native_id));
    side.add_text(EntryKind::Reasoning, text, None, sink);
    out.events.append(&mut side.events);
}

fn add_call(call: GeminiToolCall<'_>, number: usize, message: &str, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let call_id = call.id.non_empty().map_or_else(|| format!("{message}-call-{number}"), String::from);
    let name = call.name.as_str();
    out.add_tool_call(LenientText(Some(call_id.as_str().into())), name, call.args, message, sink);
    let responses = call.result.0.iter().filter_map(|part| part.function_response.as_ref());
    let mut report = responses
        .map(|LenientObject(response)| response.report())
        .next()
        .unwrap_or_else(|| ToolReport { text: call.result.text(), is_error: false });
    if report.text.is_empty() {
        report.text = call.result_display.into_string();
    }
    let is_cancelled = match call.status.as_str() {
        "success" => false,
        "error" => {
            report.is_error = true;
            false
        }
        "cancelled" => {
            report.is_error = true;
            true
        }
        // Not finished; the record comes again with its result.
        _ if call.result.0.is_empty() => return,
        _ => false,
    };
    let answer = human_answers(name, &report).map(|text| sink.redact(text));
    let mut outcome = function_outcome(name, &report, None, sink);
    if is_cancelled {
        outcome.status = ToolStatus::Rejected;
    }
    out.push(EventBody::ToolResult { call_id, outcome, answer });
}
/// The command that a human ran, and the text after it with its output.
fn split_shell_command(text: &str) -> (&str, &str) {
    text.split_once("\n```").unwrap_or((text, ""))
}
