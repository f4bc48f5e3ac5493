//! Parses the messages of Hermes, which are rows of its database, or lines or elements of older files.

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::user_rows::add_user;
use crate::parse::content::{CalledFunction, MeasuredResult, MessageContent};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp};
use crate::parse::outcome::outcome_with_code;
use crate::parse::own_text::without_injections;
use crate::parse::{ParseContext, TextSink, content_id, tool_kind};
use crate::{EventBody, SessionHeader, TitleRank, TranscriptEvent, UndoStep};

/// Before content that is stored as JSON because it is not only text.
const JSON_MARK: &str = "\0json:";

#[derive(Default, Deserialize)]
#[serde(default)]
struct HermesRow<'a> {
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    /// A list, in the database as text.
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow, alias = "name")]
    tool_name: LenientText<'a>,
    timestamp: LenientTimestamp,
    #[serde(borrow)]
    finish_reason: LenientText<'a>,
    #[serde(borrow)]
    reasoning: LenientText<'a>,
    /// The user took it back.
    rewound: LenientNumber,
    #[serde(borrow)]
    model: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HermesCall<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    call_id: LenientText<'a>,
    #[serde(borrow)]
    function: LenientObject<CalledFunction<'a>>,
}

/// The row of a session, or the fields of an older document beside its messages.
#[derive(Default, Deserialize)]
#[serde(default)]
struct HermesSession<'a> {
    #[serde(borrow, alias = "session_id")]
    id: LenientText<'a>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    branch: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
    #[serde(borrow)]
    model: LenientText<'a>,
    #[serde(borrow, rename = "forkedFrom")]
    forked_from: LenientText<'a>,
    #[serde(alias = "session_start")]
    timestamp: LenientTimestamp,
    input_tokens: LenientNumber,
    output_tokens: LenientNumber,
    cache_read_tokens: LenientNumber,
    cache_write_tokens: LenientNumber,
    cost: LenientNumber,
}

/// What a tool returned. Tools write what they like; these are the fields that say whether they failed.
#[derive(Default, Deserialize)]
#[serde(default)]
struct HermesResult<'a> {
    #[serde(borrow)]
    output: LenientText<'a>,
    exit_code: LenientNumber,
    #[serde(borrow)]
    error: LenientText<'a>,
    success: Option<LenientBool>,
    #[serde(borrow)]
    status: LenientText<'a>,
}

/// All events of a message or of a header.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return header_events(text, context);
    }
    let row: HermesRow<'_> = serde_json::from_str(text)?;
    let mut out = EventBuilder::new(context.location, row.timestamp.0, message_id(&row, context.location.line));
    let is_task = context.is_subagent();
    let sink = &mut context.sink;
    match row.role.as_str() {
        "user" => add_user(&content_text(row.content), is_task, &mut out, sink),
        "assistant" => add_assistant(&row, &mut out, sink),
        "tool" => add_result(&row, &mut out, sink),
        "session_meta" => out.push(model_event(row.model)),
        _ => {}
    }
    if row.rewound.count() > 0 && !out.events.is_empty() {
        out.push(EventBody::Undo(UndoStep::From(out.native_id.clone())));
    }
    Ok(out.events)
}

fn header_events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let session: HermesSession<'_> = serde_json::from_str(text)?;
    let mut out = EventBuilder::new(context.location, session.timestamp.0, "session".to_owned());
    out.push(EventBody::Header(SessionHeader {
        external_id: session.id.into_string(),
        cwd: session.cwd.non_empty().map(Into::into),
        parent_id: session.forked_from.non_empty().map(Into::into),
        parent_path: None,
    }));
    out.push(EventBody::Workspace { cwd: None, branch: session.branch.non_empty().map(Into::into) });
    out.add_title(TitleRank::Generated, session.title, None, &mut context.sink);
    // Only the totals of a session are stored.
    out.push(EventBody::Usage {
        message_id: "session".to_owned(),
        tokens: Tokens {
            input: session.input_tokens.count(),
            output: session.output_tokens.count(),
            cache_read: session.cache_read_tokens.count(),
            cache_write: session.cache_write_tokens.count(),
        },
        hour_write_tokens: 0,
        model: session.model.non_empty().map(Into::into),
        cost_usd: session.cost.0.filter(|cost| *cost > 0.0),
    });
    Ok(out.events)
}

fn model_event(model: LenientText<'_>) -> EventBody {
    EventBody::Usage {
        message_id: "session".to_owned(),
        tokens: Tokens::default(),
        hour_write_tokens: 0,
        model: model.non_empty().map(Into::into),
        cost_usd: None,
    }
}

/// When Hermes shortens a conversation, it stores the messages that stay once more, with new row numbers. What was said
/// and when is the same, so both rows get the same id. Messages without a time have their place.
fn message_id(row: &HermesRow<'_>, place: u64) -> String {
    let at = row.timestamp.0.map_or_else(|| place.to_string(), |at| at.to_string());
    let [content, calls] = [row.content, row.tool_calls].map(|raw| raw.map(RawValue::get).unwrap_or_default());
    content_id(&format!("{} {at} {} {content} {calls}", row.role.as_str(), row.tool_call_id.as_str()))
}

/// The text of a message: a string, a list of blocks, or in the database a list as text.
fn content_text(raw: Option<&RawValue>) -> String {
    let Some(raw) = raw else { return String::new() };
    let text: Option<String> = serde_json::from_str(raw.get()).ok();
    let blocks = match text.as_deref().map(|text| (text, text.strip_prefix(JSON_MARK))) {
        Some((text, None)) => return text.to_owned(),
        Some((_, Some(json))) => serde_json::from_str::<MessageContent<'_>>(json),
        None => serde_json::from_str(raw.get()),
    };
    let texts = blocks.unwrap_or_default().0.into_iter().map(|block| match block.kind.as_str() {
        "text" => block.text.into_string(),
        "image_url" | "image" | "input_image" => "[image]".to_owned(),
        _ => String::new(),
    });
    texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}

fn add_assistant(row: &HermesRow<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    if sink.filter.keep_reasoning {
        out.add_text(EntryKind::Reasoning, row.reasoning.as_str().to_owned(), None, sink);
    }
    let text = content_text(row.content);
    // After a failed request the error is stored as the answer.
    let kind = if row.finish_reason.as_str() == "error" { EntryKind::Failure } else { EntryKind::AssistantText };
    out.add_text(kind, text, Some(&id), sink);
    let quoted: Option<String> = row.tool_calls.and_then(|calls| serde_json::from_str(calls.get()).ok());
    let calls = quoted.as_deref().or(row.tool_calls.map(RawValue::get)).unwrap_or("[]");
    // One call that is not an object must not hide the others.
    let calls: Vec<&RawValue> = serde_json::from_str(calls).unwrap_or_default();
    for call in calls.into_iter().filter_map(|call| serde_json::from_str::<HermesCall<'_>>(call.get()).ok()) {
        let id_of_call = if call.id.as_str().is_empty() { call.call_id } else { call.id };
        let function = call.function.0;
        out.add_tool_call(id_of_call, function.name.as_str(), function.arguments, &id, sink);
    }
}

fn add_result(row: &HermesRow<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let text = content_text(row.content);
    // A plugin may add text in a field of its own, or after the object.
    let text = without_injections(&text);
    let result: HermesResult<'_> = serde_json::from_str(&text).unwrap_or_default();
    let code = result.exit_code.0.map(|code| code as i32);
    let has_failed = !result.error.as_str().is_empty()
        || result.status.as_str() == "error"
        || result.success.is_some_and(|success| !success.0);
    let [error, output] = [result.error.as_str(), result.output.as_str()];
    let shown = match (error.is_empty(), output.is_empty()) {
        (false, false) => format!("{output}\n{error}"),
        (false, true) => error.to_owned(),
        (true, false) => output.to_owned(),
        (true, true) => text.clone().into_owned(),
    };
    // A command that printed nothing has no output, whatever the object around it.
    let shown = if code.is_some() && error.is_empty() { output.to_owned() } else { shown };
    let kind = tool_kind(row.tool_name.as_str());
    let outcome = outcome_with_code(MeasuredResult::from_text(&shown), has_failed, code, Some(kind), sink);
    let call_id = row.tool_call_id.as_str().to_owned();
    out.push(EventBody::ToolResult { call_id, outcome, answer: None });
}
