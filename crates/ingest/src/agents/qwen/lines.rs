//! Parses lines of Qwen Code transcripts.

use rethread_model::{EntryKind, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::parse::event_builder::EventBuilder;
use crate::parse::gemini_parts::{GeminiParts, GeminiUsage, function_outcome, human_answers, without_referenced_files};
use crate::parse::lenient::{LenientBool, LenientNumber, LenientObject, LenientText, parse_or_default};
use crate::parse::user_text::strip_tag;
use crate::parse::{LastWorkspace, ParseContext, TextSink, content_id};
use crate::{EventBody, EventScope, TitleRank, TranscriptEvent, UndoStep};

/// Tag around the text that a hook added to a prompt.
const HOOK_TAG: &str = "qwen:user-prompt-submit-context";
/// What the agent puts before a prompt that was typed while a tool ran.
const MID_TURN_PREFIX: &str = "[User message received during tool execution]: ";
/// What the agent lets the model say after a compaction.
const SUMMARY_REPLY: &str = "Got it. Thanks for the additional context!";
/// Start of the instruction that the agent adds to a summary.
const SUMMARY_INSTRUCTION: &str = "\n\nResume the prior task using the summary above.";

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct QwenRecord<'a> {
    #[serde(borrow)]
    uuid: LenientText<'a>,
    #[serde(borrow)]
    parent_uuid: LenientText<'a>,
    #[serde(borrow)]
    timestamp: LenientText<'a>,
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    subtype: LenientText<'a>,
    #[serde(borrow)]
    provenance: LenientText<'a>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    git_branch: LenientText<'a>,
    #[serde(borrow)]
    agent_id: LenientText<'a>,
    is_sidechain: LenientBool,
    #[serde(borrow)]
    message: LenientObject<QwenMessage<'a>>,
    usage_metadata: Option<LenientObject<GeminiUsage>>,
    #[serde(borrow)]
    model: LenientText<'a>,
    #[serde(borrow)]
    tool_call_result: LenientObject<QwenToolResult<'a>>,
    #[serde(borrow)]
    system_payload: LenientObject<QwenPayload<'a>>,
    #[serde(borrow)]
    forked_from: LenientObject<QwenForkOrigin<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct QwenMessage<'a> {
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    parts: GeminiParts<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct QwenToolResult<'a> {
    #[serde(borrow)]
    status: LenientText<'a>,
    result_display: LenientObject<QwenShellResult>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct QwenShellResult {
    exit_code: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct QwenPayload<'a> {
    #[serde(borrow)]
    display_text: LenientText<'a>,
    #[serde(borrow)]
    phase: LenientText<'a>,
    #[serde(borrow)]
    raw_command: LenientText<'a>,
    #[serde(borrow)]
    custom_title: LenientText<'a>,
    #[serde(borrow)]
    title_source: LenientText<'a>,
    #[serde(borrow)]
    compressed_history: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct QwenForkOrigin<'a> {
    #[serde(borrow)]
    session_id: LenientText<'a>,
    #[serde(borrow)]
    message_uuid: LenientText<'a>,
}

/// All events of one line.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let mut record: QwenRecord<'_> = serde_json::from_str(text)?;
    let native_id = record.uuid.0.take().map_or_else(|| content_id(text), Into::into);
    let undone = undone_prompt(&record, &native_id, context);
    let mut out = EventBuilder::new(context.location, record.timestamp.as_str().parse().ok(), native_id);
    out.copied_entry_id = record.forked_from.0.message_uuid.0.take().map(Into::into);
    out.copied_session_id = record.forked_from.0.session_id.0.take().map(Into::into);
    if record.is_sidechain.0 {
        let agent_id = record.agent_id.0.take().map(Into::into);
        out.scope = EventScope::Subagent { agent_id, parent_id: record.parent_uuid.0.take().map(Into::into) };
    }
    report_workspace(&record, &mut context.last_workspace, &mut out);
    if let Some(prompt) = undone {
        out.push(EventBody::Undo(UndoStep::From(prompt)));
    }
    let sink = &mut context.sink;
    match record.kind.as_str() {
        "user" => add_user(&record, &mut out, sink),
        "assistant" => add_answer(record, &mut out, sink),
        "tool_result" => add_results(&record, &mut out, sink),
        "system" => add_system(record, &mut out, sink),
        _ => {}
    }
    Ok(out.events)
}

/// The prompt that a rewind takes back, with everything after it.
fn undone_prompt(record: &QwenRecord<'_>, id: &str, context: &ParseContext<'_>) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct QwenHeader {
        rewinds: Map<String, Value>,
    }
    if record.subtype.as_str() != "rewind" {
        return None;
    }
    let header: QwenHeader = serde_json::from_str(context.header()?).ok()?;
    header.rewinds.get(id)?.as_str().map(str::to_owned)
}

fn add_user(record: &QwenRecord<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let parts = &record.message.0.parts;
    let shown = record.system_payload.0.display_text.as_str();
    let typed = if shown.is_empty() { typed_text(parts) } else { shown.to_owned() };
    let is_human = matches!(record.provenance.as_str(), "" | "real_user")
        && matches!(record.subtype.as_str(), "" | "mid_turn_user_message" | "realtime_message" | "at_command");
    let is_subagent = out.scope != EventScope::Main;
    if record.subtype.as_str() == "notification" {
        out.add_text(EntryKind::Notice, typed, None, sink);
    } else if !is_human && !is_subagent {
        out.add_injected(&typed, sink);
    } else if !typed.trim().is_empty() {
        out.add_user_text(&typed, is_subagent, sink);
    } else if parts.has_attachment() {
        out.add_user_text("[image]", is_subagent, sink);
    }
}

/// What a human typed, without what hooks and the agent added.
fn typed_text(parts: &GeminiParts<'_>) -> String {
    let mut texts = Vec::new();
    for part in &parts.0 {
        let text = strip_tag(part.text.as_str(), HOOK_TAG);
        let (typed, is_end) = without_referenced_files(&text);
        let typed = typed.trim_matches('\n');
        texts.push(typed.strip_prefix(MID_TURN_PREFIX).unwrap_or(typed).to_owned());
        if is_end {
            break;
        }
    }
    texts.retain(|text| !text.is_empty());
    texts.join("\n")
}

fn add_answer(record: QwenRecord<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    if record.usage_metadata.is_some() || !record.model.as_str().is_empty() {
        out.push(EventBody::Usage {
            message_id: id.clone(),
            tokens: record.usage_metadata.map(|LenientObject(usage)| usage.tokens()).unwrap_or_default(),
            hour_write_tokens: 0,
            model: record.model.non_empty().map(Into::into),
            cost_usd: None,
        });
    }
    let parts = record.message.0.parts;
    if sink.filter.keep_reasoning {
        out.add_text(EntryKind::Reasoning, parts.reasoning(), None, sink);
    }
    out.add_text(EntryKind::AssistantText, parts.text(), Some(&id), sink);
    for LenientObject(call) in parts.0.into_iter().filter_map(|part| part.function_call) {
        out.add_tool_call(call.id, call.name.as_str(), call.args, &id, sink);
    }
}

fn add_results(record: &QwenRecord<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let result = &record.tool_call_result.0;
    let code = result.result_display.0.exit_code.0.map(|code| code as i32);
    let status = result.status.as_str();
    for LenientObject(response) in record.message.0.parts.0.iter().filter_map(|part| part.function_response.as_ref()) {
        let mut report = response.report();
        report.is_error |= matches!(status, "error" | "cancelled");
        let name = response.name.as_str();
        let answer = human_answers(name, &report).map(|text| sink.redact(text));
        let mut outcome = function_outcome(name, &report, code, sink);
        if status == "cancelled" {
            outcome.status = ToolStatus::Rejected;
        }
        out.push(EventBody::ToolResult { call_id: response.id.as_str().to_owned(), outcome, answer });
    }
}

fn add_system(record: QwenRecord<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let payload = record.system_payload.0;
    match record.subtype.as_str() {
        "chat_compression" => add_summary(payload.compressed_history, out, sink),
        // The result repeats the command.
        "slash_command" if payload.phase.as_str() != "result" => {
            out.add_text(EntryKind::Command, payload.raw_command.into_string(), None, sink);
        }
        "custom_title" => {
            let is_automatic = payload.title_source.as_str() == "auto";
            let rank = if is_automatic { TitleRank::Generated } else { TitleRank::Custom };
            out.add_title(rank, payload.custom_title, None, sink);
        }
        // Telemetry, snapshots and settings are not part of the conversation.
        _ => {}
    }
}

/// Adds the summary that replaced the conversation for the model. What follows it there is a copy.
fn add_summary(history: Option<&RawValue>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let history: Vec<LenientObject<QwenMessage<'_>>> = parse_or_default(history);
    let Some(at) = history.iter().position(|LenientObject(message)| message.parts.text().starts_with(SUMMARY_REPLY))
    else {
        return;
    };
    let summary = at.checked_sub(1).map(|before| &history[before].0).filter(|message| message.role.as_str() == "user");
    let text = summary.map(|message| message.parts.text()).unwrap_or_default();
    let text = text.split(SUMMARY_INSTRUCTION).next().unwrap_or_default();
    out.add_text(EntryKind::Summary, text.to_owned(), None, sink);
}

/// Reports the directory and branch if they changed since the last report.
fn report_workspace(record: &QwenRecord<'_>, known: &mut LastWorkspace, out: &mut EventBuilder) {
    let (cwd, branch) = (record.cwd.clone().non_empty(), record.git_branch.clone().non_empty());
    let now = (cwd.map(String::from), branch.map(String::from));
    if now != (None, None) && now != *known {
        known.clone_from(&now);
        out.push(EventBody::Workspace { cwd: now.0, branch: now.1 });
    }
}
