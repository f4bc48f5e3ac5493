//! Parses goose's messages: rows of the database, and lines of older versions.

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::parse::content::MeasuredResult;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{
    LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};
use crate::parse::outcome::outcome_with_code;
use crate::parse::{ParseContext, TextSink, content_id, tool_kind};
use crate::{EventBody, SessionHeader, TitleRank, TranscriptEvent};

/// Words in the message that follows a summary of the conversation.
const SUMMARY_NOTE: &str = "contains a summary";

/// The row of a session, or the first line of a file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct GooseSession<'a> {
    #[serde(borrow)]
    working_dir: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    description: LenientText<'a>,
    user_set_name: LenientNumber,
    #[serde(borrow)]
    session_type: LenientText<'a>,
    #[serde(borrow)]
    parent_session_id: LenientText<'a>,
    #[serde(borrow)]
    model_config_json: LenientText<'a>,
    accumulated_input_tokens: LenientNumber,
    accumulated_output_tokens: LenientNumber,
    accumulated_cache_read_tokens: LenientNumber,
    accumulated_cache_write_tokens: LenientNumber,
    accumulated_cost: LenientNumber,
    /// On a line, what marks it as the first one.
    message_count: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ModelConfig<'a> {
    #[serde(borrow)]
    model_name: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GooseRow<'a> {
    #[serde(borrow)]
    message_id: Option<&'a RawValue>,
    #[serde(borrow)]
    role: LenientText<'a>,
    created_timestamp: LenientTimestamp,
    #[serde(borrow)]
    content_json: LenientText<'a>,
    #[serde(borrow)]
    metadata_json: LenientText<'a>,
    /// Number of earlier rows with the same id: pieces of one message.
    repeats: LenientNumber,
    /// The content of the next row, for messages that the user does not see.
    #[serde(borrow)]
    next_content: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GooseLine<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    role: LenientText<'a>,
    created: LenientTimestamp,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    metadata: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GooseMetadata {
    user_visible: bool,
}

impl Default for GooseMetadata {
    fn default() -> Self {
        Self { user_visible: true }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GooseContent<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow)]
    thinking: LenientText<'a>,
    #[serde(borrow, alias = "toolCallId")]
    id: LenientText<'a>,
    #[serde(borrow)]
    tool_call: LenientObject<GooseCall<'a>>,
    #[serde(borrow)]
    tool_result: LenientObject<GooseResult<'a>>,
    #[serde(borrow)]
    msg: LenientText<'a>,
}

/// A call in `value`, with a status beside it; or the call itself.
#[derive(Default, Deserialize)]
#[serde(default)]
struct GooseCall<'a> {
    #[serde(borrow)]
    value: LenientObject<GooseCallValue<'a>>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    id: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GooseCallValue<'a> {
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// A result in `value`, a list or an object with `content`; or the object itself.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GooseResult<'a> {
    #[serde(borrow)]
    status: LenientText<'a>,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    #[serde(borrow)]
    error: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: LenientBool,
    structured_content: LenientObject<StructuredContent>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StructuredContent {
    #[serde(alias = "exitCode")]
    exit_code: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GooseResultItem<'a> {
    #[serde(borrow)]
    text: LenientText<'a>,
    annotations: LenientObject<Annotations>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Annotations {
    audience: serde_json::Value,
}

/// A message with what surrounds its content.
struct GooseMessage<'a> {
    role: &'a str,
    content: &'a str,
    is_visible: bool,
    is_subagent: bool,
    is_before_summary_note: bool,
    /// The id of the model's message.
    id: &'a str,
}

/// All events of a row, or of the row of its session.
pub(super) fn row_events(
    text: &str,
    context: &mut ParseContext<'_>,
) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        let session: GooseSession<'_> = serde_json::from_str(text)?;
        let mut out = EventBuilder::new(context.location, None, "header".to_owned());
        add_session(session, &mut out, &mut context.sink);
        return Ok(out.events);
    }
    let row: GooseRow<'_> = serde_json::from_str(text)?;
    let session: GooseSession<'_> =
        context.header().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let is_subagent = session.session_type.as_str() == "sub_agent" || session.parent_session_id.non_empty().is_some();
    let id = row.message_id.map_or("", RawValue::get).trim_matches('"').replace(':', "_");
    let native_id = match row.repeats.count() {
        0 => id.clone(),
        repeats => format!("{id}-{repeats}"),
    };
    let metadata: GooseMetadata = serde_json::from_str(row.metadata_json.as_str()).unwrap_or_default();
    let mut out = EventBuilder::new(context.location, row.created_timestamp.0, native_id);
    let message = GooseMessage {
        role: row.role.as_str(),
        content: row.content_json.as_str(),
        is_visible: metadata.user_visible,
        is_subagent,
        is_before_summary_note: row.next_content.as_str().contains(SUMMARY_NOTE),
        id: &id,
    };
    add_message(&message, &mut out, &mut context.sink)?;
    Ok(out.events)
}

/// All events of a line. The first one describes the session.
pub(super) fn line_events(
    text: &str,
    context: &mut ParseContext<'_>,
) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let line: GooseLine<'_> = serde_json::from_str(text)?;
    let id = line.id.non_empty().map_or_else(|| content_id(text), |id| id.replace(':', "_"));
    let mut out = EventBuilder::new(context.location, line.created.0, id.clone());
    if line.role.as_str().is_empty() {
        let session: GooseSession<'_> = serde_json::from_str(text)?;
        if session.message_count.0.is_some() {
            add_session(session, &mut out, &mut context.sink);
        }
        return Ok(out.events);
    }
    let message = GooseMessage {
        role: line.role.as_str(),
        content: line.content.map_or("[]", RawValue::get),
        is_visible: parse_or_default::<GooseMetadata>(line.metadata).user_visible,
        is_subagent: false,
        is_before_summary_note: false,
        id: &id,
    };
    add_message(&message, &mut out, &mut context.sink)?;
    Ok(out.events)
}

fn add_session(session: GooseSession<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let cwd = session.working_dir.non_empty().map(Into::into);
    out.push(EventBody::Header(SessionHeader { cwd, ..SessionHeader::default() }));
    let rank = if session.user_set_name.count() > 0 { TitleRank::Custom } else { TitleRank::Generated };
    let title = session.name.non_empty().or(session.description.non_empty());
    if let Some(title) =
        title.filter(|title| !matches!(title.as_ref(), "New Chat" | "New session" | "CLI Session" | "ACP Session"))
    {
        out.add_title(rank, LenientText(Some(title)), None, sink);
    }
    let (read, write) = (session.accumulated_cache_read_tokens.count(), session.accumulated_cache_write_tokens.count());
    let tokens = Tokens {
        input: session.accumulated_input_tokens.count().saturating_sub(read.saturating_add(write)),
        output: session.accumulated_output_tokens.count(),
        cache_read: read,
        cache_write: write,
    };
    let config: LenientObject<ModelConfig<'_>> =
        serde_json::from_str(session.model_config_json.as_str()).unwrap_or_default();
    // The totals of the session: messages have none.
    out.push(EventBody::Usage {
        message_id: "session".to_owned(),
        tokens,
        hour_write_tokens: 0,
        model: config.0.model_name.non_empty().map(Into::into),
        cost_usd: session.accumulated_cost.0.filter(|cost| *cost > 0.0),
    });
}

fn add_message(
    message: &GooseMessage<'_>,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) -> Result<(), serde_json::Error> {
    let content: Vec<&RawValue> = serde_json::from_str(message.content)?;
    let mut typed = Vec::new();
    let mut has_image = false;
    for raw in content {
        let part: GooseContent<'_> = parse_or_default::<LenientObject<_>>(Some(raw)).0;
        match part.kind.as_str() {
            "text" if !message.is_visible => add_hidden(part.text.as_str(), message, out, sink),
            "text" if message.role == "assistant" => {
                out.add_text(EntryKind::AssistantText, part.text.into_string(), Some(message.id), sink);
            }
            "text" => typed.push(part.text.into_string()),
            "thinking" if sink.filter.keep_reasoning => {
                out.add_text(EntryKind::Reasoning, part.thinking.into_string(), None, sink);
            }
            "image" => has_image = true,
            "toolRequest" | "frontendToolRequest" => add_call(part, message.id, out, sink),
            "toolResponse" => add_result(part, out, sink),
            "summarizationRequested" | "contextLengthExceeded" => out.add_injected(part.msg.as_str(), sink),
            _ => {}
        }
    }
    if message.role == "user" {
        let typed = typed.join("\n");
        if typed.trim().is_empty() && has_image {
            out.add_text(EntryKind::Prompt, "[image]".to_owned(), None, sink);
        } else {
            out.add_user_text(&typed, message.is_subagent, sink);
        }
    }
    Ok(())
}

/// Adds a text that only the model sees: the summary of a conversation, or a note about it.
fn add_hidden(text: &str, message: &GooseMessage<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    if message.is_before_summary_note {
        out.add_text(EntryKind::Summary, text.to_owned(), None, sink);
    } else {
        out.add_injected(text, sink);
    }
}

fn add_call(part: GooseContent<'_>, message: &str, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let call = part.tool_call.0;
    let (name, arguments) = match call.value.0.name.as_str() {
        "" => (call.name.as_str().to_owned(), call.arguments),
        name => (name.to_owned(), call.value.0.arguments),
    };
    // A call that could not be understood has an error in place of a name.
    if name.is_empty() {
        return;
    }
    let id = if part.id.as_str().is_empty() { call.id } else { part.id };
    out.add_tool_call(id, &common_name(&name), arguments, message, sink);
}

/// Tools are named `<extension>__<tool>`. Those of the developer extension are goose's own; the others come from MCP
/// servers.
fn common_name(name: &str) -> String {
    match name.split_once("__") {
        Some(("developer", tool)) => tool.to_owned(),
        Some(_) => format!("mcp__{name}"),
        None => name.to_owned(),
    }
}

fn add_result(part: GooseContent<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let outer = part.tool_result.0;
    let inner: GooseResult<'_> = parse_or_default::<LenientObject<_>>(outer.value).0;
    let is_list = outer.value.is_some_and(|value| value.get().starts_with('['));
    let content = if is_list { outer.value } else { inner.content.or(outer.content) };
    let is_error = outer.status.as_str() == "error" || outer.is_error.0 || inner.is_error.0;
    let codes = [inner.structured_content.0.exit_code, outer.structured_content.0.exit_code];
    let exit_code = codes.into_iter().find_map(|code| code.0).map(|code| code as i32);
    let text = match outer.error.non_empty() {
        Some(error) => error.into_owned(),
        None => visible_text(content),
    };
    let measured = MeasuredResult::from_text(&text);
    let kind = exit_code.map(|_| tool_kind("shell"));
    let outcome = outcome_with_code(measured, is_error, exit_code, kind, sink);
    out.push(EventBody::ToolResult { call_id: part.id.into_string(), outcome, answer: None });
}

/// The texts of a result. Tools repeat a text for the user; only what the model gets counts.
fn visible_text(content: Option<&RawValue>) -> String {
    let items: Vec<&RawValue> = parse_or_default(content);
    let items: Vec<GooseResultItem<'_>> =
        items.into_iter().map(|item| parse_or_default::<LenientObject<_>>(Some(item)).0).collect();
    let is_for_model = |item: &&GooseResultItem<'_>| match &item.annotations.0.audience {
        serde_json::Value::Array(audience) => audience.iter().any(|one| one == "assistant"),
        _ => true,
    };
    let texts = |items: Vec<&GooseResultItem<'_>>| {
        items.iter().map(|item| item.text.as_str().to_owned()).filter(|text| !text.is_empty()).collect::<Vec<_>>()
    };
    let for_model = texts(items.iter().filter(is_for_model).collect());
    if for_model.is_empty() { texts(items.iter().collect()).join("\n") } else { for_model.join("\n") }
}
