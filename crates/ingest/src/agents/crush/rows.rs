//! Parses rows of Crush's messages.

use rethread_model::{EntryKind, Tokens, ToolKind};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::parse::content::MeasuredResult;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{
    LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};
use crate::parse::outcome::outcome_with_code;
use crate::parse::user_shell::shell_text;
use crate::parse::{ParseContext, TextSink, tool_kind};
use crate::{EventBody, TitleRank, TranscriptEvent};

/// The titles until a model wrote one.
const DEFAULT_TITLES: [&str; 2] = ["New Session", "Untitled Session"];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CrushHeader<'a> {
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
    #[serde(borrow)]
    parent_session_id: LenientText<'a>,
    #[serde(rename = "own_cost")]
    own_cost: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CrushRow<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    model: LenientText<'a>,
    created_at: LenientTimestamp,
    #[serde(borrow)]
    parts: LenientText<'a>,
    is_summary: LenientNumber,
    is_finished: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CrushPart<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    data: LenientObject<PartData<'a>>,
}

/// The fields of all parts.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PartData<'a> {
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow)]
    thinking: LenientText<'a>,
    /// A text that Crush wrote so that the model goes on.
    hidden: LenientBool,
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    /// Whether the model has written all arguments of a call.
    finished: Option<bool>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    content: LenientText<'a>,
    #[serde(borrow)]
    metadata: LenientText<'a>,
    is_error: LenientBool,
    #[serde(borrow)]
    command: LenientText<'a>,
    #[serde(borrow)]
    output: LenientText<'a>,
    exit_code: LenientNumber,
    #[serde(borrow)]
    reason: LenientText<'a>,
    #[serde(borrow)]
    message: LenientText<'a>,
    #[serde(borrow)]
    details: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ResultMetadata<'a> {
    #[serde(borrow)]
    working_directory: LenientText<'a>,
    exit_code: LenientNumber,
}

/// All events of a row, or of the header of its session.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return add_header(text, context);
    }
    let header: CrushHeader<'_> = context.header().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let is_subagent = header.parent_session_id.non_empty().is_some();
    let row: CrushRow<'_> = serde_json::from_str(text)?;
    let parts: Vec<&RawValue> = serde_json::from_str(row.parts.as_str())?;
    let mut out = EventBuilder::new(context.location, row.created_at.0, row.id.as_str().to_owned());
    let parts: Vec<CrushPart<'_>> =
        parts.into_iter().map(|part| parse_or_default::<LenientObject<_>>(Some(part)).0).collect();
    let sink = &mut context.sink;
    match row.role.as_str() {
        _ if row.is_summary.count() > 0 => {
            let texts = parts.iter().filter(|part| part.kind.as_str() == "text").map(|part| part.data.0.text.as_str());
            out.add_text(EntryKind::Summary, texts.collect::<Vec<_>>().join("\n"), None, sink);
        }
        "user" => add_user(parts, is_subagent, &mut out, sink),
        "assistant" => add_assistant(parts, row.is_finished.count() > 0, row.model, &mut out, sink),
        "tool" => parts.into_iter().for_each(|part| add_result(part, &mut out, sink)),
        _ => {}
    }
    Ok(out.events)
}

fn add_header(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let header: CrushHeader<'_> = serde_json::from_str(text)?;
    let mut out = EventBuilder::new(context.location, None, "header".to_owned());
    out.push(EventBody::Workspace { cwd: header.cwd.non_empty().map(Into::into), branch: None });
    if !DEFAULT_TITLES.contains(&header.title.as_str()) {
        out.add_title(TitleRank::Generated, header.title, None, &mut context.sink);
    }
    // The tokens that Crush stores are those of the last request.
    if let Some(cost) = header.own_cost.0.filter(|cost| *cost > 0.0) {
        add_usage("session", None, Some(cost), &mut out);
    }
    Ok(out.events)
}

fn add_usage(id: &str, model: Option<String>, cost_usd: Option<f64>, out: &mut EventBuilder) {
    let message_id = id.to_owned();
    out.push(EventBody::Usage { message_id, tokens: Tokens::default(), hour_write_tokens: 0, model, cost_usd });
}

fn add_user(parts: Vec<CrushPart<'_>>, is_subagent: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let (mut typed, mut has_image) = (Vec::new(), false);
    for part in parts {
        let data = part.data.0;
        match part.kind.as_str() {
            "text" if data.hidden.0 => out.add_injected(data.text.as_str(), sink),
            "text" => typed.push(data.text.into_string()),
            "binary" | "image_url" => has_image = true,
            "shell_command" => add_shell(&data, out, sink),
            _ => {}
        }
    }
    let typed = typed.join("\n");
    if typed.trim().is_empty() && has_image {
        out.add_text(EntryKind::Prompt, "[image]".to_owned(), None, sink);
    } else {
        out.add_user_text(&typed, is_subagent, sink);
    }
}

/// A command that the user ran with `!`.
fn add_shell(data: &PartData<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let code = data.exit_code.0.map(|code| code as i32);
    let text = shell_text(data.command.as_str(), code, data.output.as_str());
    out.add_text(EntryKind::Shell, text, None, sink);
}

fn add_assistant(
    parts: Vec<CrushPart<'_>>,
    is_finished: bool,
    model: LenientText<'_>,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    let id = out.native_id.clone();
    add_usage(&id, model.non_empty().map(Into::into), None, out);
    for part in parts {
        let data = part.data.0;
        match part.kind.as_str() {
            "reasoning" if is_finished && sink.filter.keep_reasoning => {
                out.add_text(EntryKind::Reasoning, data.thinking.into_string(), None, sink);
            }
            "text" if is_finished => out.add_text(EntryKind::AssistantText, data.text.into_string(), Some(&id), sink),
            "tool_call" if is_finished || data.finished == Some(true) => {
                let name = own_name(data.name.as_str());
                out.add_tool_call(data.id, &name, data.input, &id, sink);
            }
            "shell_command" => add_shell(&data, out, sink),
            "finish" => add_finish(&data, out, sink),
            _ => {}
        }
    }
}

/// Tools of MCP servers are named `mcp_<server>_<tool>`; the common form is `mcp__<server>__<tool>`.
fn own_name(name: &str) -> String {
    match name.strip_prefix("mcp_").and_then(|rest| rest.split_once('_')) {
        Some((server, tool)) if !server.is_empty() => format!("mcp__{server}__{tool}"),
        _ => name.to_owned(),
    }
}

fn add_finish(data: &PartData<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    match data.reason.as_str() {
        "canceled" => out.add_interruption(sink),
        "error" | "content_filter" => {
            let texts = [data.message.as_str(), data.details.as_str()];
            let text = texts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(": ");
            let text = if text.is_empty() { "the model's answer failed".to_owned() } else { text };
            out.add_text(EntryKind::Failure, text, None, sink);
        }
        _ => {}
    }
}

fn add_result(part: CrushPart<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    if part.kind.as_str() != "tool_result" {
        return;
    }
    let data = part.data.0;
    let metadata: LenientObject<ResultMetadata<'_>> = serde_json::from_str(data.metadata.as_str()).unwrap_or_default();
    let ResultMetadata { working_directory, exit_code } = metadata.0;
    // Only commands have a directory; old versions do not name the tool.
    let is_command = working_directory.0.is_some();
    let kind = match data.name.as_str() {
        "" => is_command.then_some(ToolKind::Command),
        name => Some(tool_kind(name)),
    };
    if let Some(cwd) = working_directory.non_empty() {
        out.push(EventBody::Workspace { cwd: Some(cwd.into()), branch: None });
    }
    let content = data.content.as_str();
    let exit_code = exit_code.0.map(|code| code as i32).or_else(|| written_code(content).filter(|_| is_command));
    let outcome = outcome_with_code(MeasuredResult::from_text(content), data.is_error.0, exit_code, kind, sink);
    out.push(EventBody::ToolResult { call_id: data.tool_call_id.into_string(), outcome, answer: None });
}

/// The exit code that Crush writes below the output of a command, before the directory.
fn written_code(content: &str) -> Option<i32> {
    let mut last = content.lines().rev().filter(|line| !line.trim().is_empty()).take(2);
    last.find_map(|line| line.strip_prefix("Exit code ")?.trim().parse().ok())
}
