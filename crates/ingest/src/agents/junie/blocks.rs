//! Parses the folded records of a Junie session: prompts, blocks of the agent, and what the model used.

use rethread_model::{EntryKind, Tokens, ToolStatus};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use crate::parse::content::MeasuredResult;
use crate::parse::derived_header::DerivedHeader;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientBool, LenientList, LenientNumber, LenientObject, LenientText, LenientTimestamp};
use crate::parse::outcome::outcome_with_code;
use crate::parse::{ParseContext, TextSink, tool_kind};
use crate::{EventBody, TitleRank, TranscriptEvent};

/// Begins results that answer a question.
const ANSWER_MARK: &str = "<!-- ANSWER -->";

/// A record as `fold` makes it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct JunieRecord<'a> {
    line: LenientNumber,
    at: LenientTimestamp,
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    fields: LenientObject<JunieFields<'a>>,
}

/// The fields of all kinds.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JunieFields<'a> {
    #[serde(borrow)]
    request_id: LenientText<'a>,
    #[serde(borrow)]
    step_id: LenientText<'a>,
    #[serde(borrow)]
    prompt: LenientText<'a>,
    #[serde(borrow)]
    presentable_prompt: LenientText<'a>,
    #[serde(borrow)]
    delivery: LenientText<'a>,
    entries: LenientList<JunieAnswer>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    task_name: LenientText<'a>,
    #[serde(borrow)]
    current_directory: LenientText<'a>,
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow)]
    summary: LenientText<'a>,
    #[serde(borrow)]
    details: LenientText<'a>,
    #[serde(borrow)]
    result: LenientText<'a>,
    cancelled: LenientBool,
    #[serde(borrow)]
    status: LenientText<'a>,
    #[serde(borrow)]
    command: LenientText<'a>,
    #[serde(borrow)]
    output: LenientText<'a>,
    exit_code: LenientNumber,
    files: LenientList<JunieFile>,
    changes: LenientList<JunieChange>,
    #[serde(borrow)]
    tool_name: LenientText<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    model_usage: LenientList<JunieUsage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct JunieAnswer {
    question: Value,
    answer: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JunieFile {
    relative_path: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JunieChange {
    before_relative_path: Value,
    after_relative_path: Value,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct JunieUsage {
    model: Value,
    cost: LenientNumber,
    input_tokens: LenientNumber,
    cache_input_tokens: LenientNumber,
    cache_create_tokens: LenientNumber,
    output_tokens: LenientNumber,
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    let record: JunieRecord<'_> = serde_json::from_str(text)?;
    let fields = record.fields.0;
    let own_id = fields.step_id.clone().non_empty().or(fields.request_id.clone().non_empty());
    let native_id = own_id.map_or_else(|| format!("line-{}", record.line.count()), Into::into);
    let mut out = EventBuilder::new(context.location, record.at.0, native_id);
    let sink = &mut context.sink;
    match record.kind.as_str() {
        "UserPromptEvent" => add_prompt(&fields, &mut out, sink),
        "UserResponseEvent" => out.add_text(EntryKind::Answer, fields.prompt.into_string(), None, sink),
        "UserAsyncResponseEvent" => out.add_text(EntryKind::Answer, answers(&fields.entries.0), None, sink),
        "SessionTitleSetEvent" => out.add_title(TitleRank::Custom, fields.name, None, sink),
        "AgentTaskNameUpdatedEvent" => {
            let name = if fields.task_name.as_str().is_empty() { fields.name } else { fields.task_name };
            out.add_title(TitleRank::Generated, name, None, sink);
        }
        "CurrentDirectoryUpdatedEvent" => {
            let cwd = fields.current_directory.non_empty().map(Into::into);
            out.push(EventBody::Workspace { cwd, branch: None });
        }
        "SystemMessageEvent" => out.add_text(EntryKind::Notice, fields.text.into_string(), None, sink),
        "AgentTaskFailedEvent" | "AgentFailureEvent" => {
            let text = fields.text.non_empty().or(fields.details.non_empty());
            out.add_text(EntryKind::Failure, text.map_or("the task failed".to_owned(), Into::into), None, sink);
        }
        "LlmResponseMetadataEvent" => add_usage(&fields.model_usage.0, &mut out),
        "ContextCompactionBlockUpdatedEvent" => {
            let texts = [fields.summary, fields.text, fields.details];
            let text = texts.into_iter().find_map(LenientText::non_empty).unwrap_or_default();
            out.add_text(EntryKind::Summary, text.into(), None, sink);
        }
        "MarkdownBlockUpdatedEvent" | "AgentThoughtBlockUpdatedEvent" => {
            let id = out.native_id.clone();
            out.add_text(EntryKind::AssistantText, fields.text.into_string(), Some(&id), sink);
        }
        "ResultBlockUpdatedEvent" => add_answer(&fields, &mut out, sink),
        kind => add_call(kind, &fields, &mut out, sink),
    }
    Ok(out.events)
}

fn add_prompt(fields: &JunieFields<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    if fields.delivery.as_str() == "Failed" {
        return;
    }
    let shown = fields.presentable_prompt.as_str();
    let text = if shown.trim().is_empty() { fields.prompt.as_str() } else { shown };
    out.add_user_text(text, false, sink);
}

fn answers(entries: &[JunieAnswer]) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let lines = entries.iter().map(|entry| format!("{} → {}", text(&entry.question), text(&entry.answer)));
    lines.collect::<Vec<_>>().join("\n")
}

fn add_usage(usage: &[JunieUsage], out: &mut EventBuilder) {
    for (number, usage) in usage.iter().enumerate() {
        out.push(EventBody::Usage {
            message_id: format!("{}/{number}", out.native_id),
            tokens: Tokens {
                input: usage.input_tokens.count(),
                output: usage.output_tokens.count(),
                cache_read: usage.cache_input_tokens.count(),
                cache_write: usage.cache_create_tokens.count(),
            },
            hour_write_tokens: 0,
            model: usage.model.as_str().map(str::to_owned),
            cost_usd: usage.cost.0.filter(|cost| *cost > 0.0),
        });
    }
}

fn add_answer(fields: &JunieFields<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let text = fields.result.as_str().trim_start();
    let text = text.strip_prefix(ANSWER_MARK).unwrap_or(text).trim();
    let id = out.native_id.clone();
    out.add_text(EntryKind::AssistantText, text.to_owned(), Some(&id), sink);
    if fields.cancelled.0 {
        out.add_interruption(sink);
    }
}

fn add_call(kind: &str, fields: &JunieFields<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let paths =
        |values: Vec<&Value>| values.into_iter().filter_map(Value::as_str).map(str::to_owned).collect::<Vec<_>>();
    let (name, input) = match kind {
        "TerminalBlockUpdatedEvent" => ("terminal".to_owned(), json!({ "command": fields.command.as_str() })),
        "ViewFilesBlockUpdatedEvent" => {
            let files = paths(fields.files.0.iter().map(|file| &file.relative_path).collect());
            ("view".to_owned(), json!({ "path": files.first(), "paths": files }))
        }
        "FileChangesBlockUpdatedEvent" => {
            let is_new = fields.changes.0.iter().all(|change| change.before_relative_path.is_null());
            let changed = fields.changes.0.iter().flat_map(|change| {
                let renamed =
                    Some(&change.before_relative_path).filter(|before| **before != change.after_relative_path);
                [Some(&change.after_relative_path), renamed]
            });
            let files = paths(changed.flatten().collect());
            let name = if is_new { "write" } else { "edit" };
            (name.to_owned(), json!({ "path": files.first(), "paths": files }))
        }
        "McpBlockUpdatedEvent" => (mcp_name(fields.tool_name.as_str()), Value::Null),
        "CustomAgentBlockUpdatedEvent" => {
            ("agent".to_owned(), json!({ "name": fields.name.as_str(), "description": fields.text.as_str() }))
        }
        "ToolBlockUpdatedEvent" => ("tool".to_owned(), json!({ "description": fields.text.as_str() })),
        _ => return,
    };
    let id = out.native_id.clone();
    let built = to_raw_value(&input).ok();
    let input = fields.input.or(built.as_deref());
    out.add_tool_call(LenientText(Some(id.clone().into())), &name, input, &id, sink);
    add_result(&name, fields, out, sink);
}

fn add_result(name: &str, fields: &JunieFields<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let status = fields.status.as_str();
    if matches!(status, "" | "IN_PROGRESS" | "PENDING") {
        return;
    }
    let texts = [&fields.output, &fields.result, &fields.details];
    let text = texts.into_iter().map(LenientText::as_str).find(|text| !text.is_empty()).unwrap_or_default();
    let code = fields.exit_code.0.map(|code| code as i32);
    let is_rejected = matches!(status, "CANCELLED" | "CANCELED" | "REJECTED");
    let is_error = is_rejected || status == "FAILED";
    let kind = Some(tool_kind(name));
    let mut outcome = outcome_with_code(MeasuredResult::from_text(text), is_error, code, kind, sink);
    if is_rejected {
        outcome.status = ToolStatus::Rejected;
    }
    out.push(EventBody::ToolResult { call_id: out.native_id.clone(), outcome, answer: None });
}

/// `idea/apply_patch` is a tool of the IDE, which serves its own tools like any other server.
fn mcp_name(name: &str) -> String {
    match name.split_once('/') {
        Some(("idea", tool)) => tool.to_owned(),
        Some((server, tool)) => format!("mcp__{server}__{tool}"),
        None => name.to_owned(),
    }
}
