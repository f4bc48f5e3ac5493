//! Parses the messages of Cursor's editor.

use rethread_model::{EntryKind, Tokens, ToolKind};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::user_query::typed_text;
use crate::parse::content::MeasuredResult;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp};
use crate::parse::outcome::outcome_with_code;
use crate::parse::{ParseContext, TextSink, tool_kind};
use crate::{EventBody, SessionHeader, TitleRank, TranscriptEvent};

/// Types of messages. The first versions wrote words.
const USER_TYPES: [&str; 2] = ["1", "\"user\""];
const MODEL_TYPES: [&str; 2] = ["2", "\"ai\""];

/// A row: a message, or as a header the session.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ComposerRow<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    bubble: LenientText<'a>,
    /// 0 while Cursor is writing the message.
    #[serde(rename = "is_finished")]
    is_finished: LenientNumber,
    #[serde(borrow)]
    title: LenientText<'a>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    branch: LenientText<'a>,
    #[serde(borrow)]
    model: LenientText<'a>,
    timestamp: LenientTimestamp,
    updated_at: LenientTimestamp,
    cents: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Bubble<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow, alias = "initText")]
    raw_text: LenientText<'a>,
    created_at: LenientTimestamp,
    timing_info: LenientObject<BubbleTimes>,
    #[serde(borrow)]
    thinking: LenientObject<BubbleThought<'a>>,
    #[serde(borrow)]
    tool_former_data: Option<LenientObject<BubbleTool<'a>>>,
    token_count: LenientObject<BubbleTokens>,
    #[serde(borrow)]
    model_info: LenientObject<BubbleModel<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct BubbleTimes {
    client_start_time: LenientTimestamp,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct BubbleThought<'a> {
    #[serde(borrow)]
    text: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct BubbleTokens {
    input_tokens: LenientNumber,
    output_tokens: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct BubbleModel<'a> {
    #[serde(borrow)]
    model_name: LenientText<'a>,
}

/// A tool call and its result. Arguments and results are JSON in strings.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct BubbleTool<'a> {
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    /// As the model wrote them.
    #[serde(borrow)]
    raw_args: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    result: Value,
    error: Value,
    #[serde(borrow)]
    status: LenientText<'a>,
    #[serde(borrow)]
    user_decision: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct BubbleResult<'a> {
    #[serde(borrow)]
    output: LenientText<'a>,
    exit_code_v2: LenientNumber,
    exit_code: LenientNumber,
    rejected: LenientBool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct BubbleError<'a> {
    #[serde(borrow)]
    model_visible_error_message: LenientText<'a>,
    #[serde(borrow)]
    client_visible_error_message: LenientText<'a>,
}

/// All events of a row.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let row: ComposerRow<'_> = serde_json::from_str(text)?;
    if context.is_header() {
        return Ok(header_events(row, context));
    }
    if row.is_finished.0 == Some(0.0) {
        return Ok(Vec::new());
    }
    let bubble: Bubble<'_> = serde_json::from_str(row.bubble.as_str())?;
    let at = bubble.created_at.0.or(bubble.timing_info.0.client_start_time.0);
    let mut out = EventBuilder::new(context.location, at, row.id.into_string().replace(':', "-"));
    let is_task = context.is_subagent();
    let kind = bubble.kind.map(RawValue::get).unwrap_or_default();
    if USER_TYPES.contains(&kind) {
        let text = if bubble.text.as_str().is_empty() { bubble.raw_text } else { bubble.text };
        let kind = if is_task { EntryKind::Task } else { EntryKind::Prompt };
        out.add_text(kind, typed_text(text.as_str()), None, &mut context.sink);
    } else if MODEL_TYPES.contains(&kind) {
        add_answer(bubble, &mut out, &mut context.sink);
    }
    Ok(out.events)
}

fn header_events(row: ComposerRow<'_>, context: &mut ParseContext<'_>) -> Vec<TranscriptEvent> {
    let mut out = EventBuilder::new(context.location, row.timestamp.0, "session".to_owned());
    let cwd = row.cwd.non_empty().map(Into::into);
    out.push(EventBody::Header(SessionHeader { cwd, ..SessionHeader::default() }));
    out.push(EventBody::Workspace { cwd: None, branch: row.branch.non_empty().map(Into::into) });
    if !row.title.as_str().is_empty() {
        out.add_title(TitleRank::Generated, row.title, None, &mut context.sink);
    }
    out.push(EventBody::Usage {
        message_id: "session".to_owned(),
        tokens: Tokens::default(),
        hour_write_tokens: 0,
        model: row.model.non_empty().filter(|model| model != "default").map(Into::into),
        cost_usd: row.cents.0.map(|cents| cents / 100.0).filter(|cost| *cost > 0.0),
    });
    // Old messages have no time.
    let mut end = EventBuilder::new(context.location, row.updated_at.0, "session".to_owned());
    end.push(EventBody::Header(SessionHeader::default()));
    out.events.into_iter().chain(end.events).collect()
}

fn add_answer(bubble: Bubble<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    let tokens = bubble.token_count.0;
    let (input, output) = (tokens.input_tokens.count(), tokens.output_tokens.count());
    let model = bubble.model_info.0.model_name.non_empty().filter(|model| model != "default");
    if input + output > 0 || model.is_some() {
        out.push(EventBody::Usage {
            message_id: id.clone(),
            tokens: Tokens { input, output, ..Tokens::default() },
            hour_write_tokens: 0,
            model: model.map(Into::into),
            cost_usd: None,
        });
    }
    if sink.filter.keep_reasoning {
        out.add_text(EntryKind::Reasoning, bubble.thinking.0.text.into_string(), None, sink);
    }
    let text = if bubble.text.as_str().is_empty() { bubble.raw_text } else { bubble.text };
    out.add_text(EntryKind::AssistantText, text.into_string(), Some(&id), sink);
    if let Some(LenientObject(tool)) = bubble.tool_former_data.filter(|tool| !tool.0.name.as_str().is_empty()) {
        add_tool(&tool, &id, out, sink);
    }
}

fn add_tool(tool: &BubbleTool<'_>, message: &str, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let name = tool.name.as_str();
    // Two calls of one message may have the same id.
    let call_id = format!("{message}-{}", tool.tool_call_id.as_str());
    let is_object = |raw: &&RawValue| raw.get().trim_start_matches('"').starts_with('{');
    let input = tool.raw_args.filter(is_object).or(tool.params);
    out.add_tool_call(LenientText(Some(call_id.as_str().into())), name, input, message, sink);
    let result_text = json_text(&tool.result);
    let result: BubbleResult<'_> = serde_json::from_str(&result_text).unwrap_or_default();
    let is_rejected = result.rejected.0 || tool.user_decision.as_str() == "rejected";
    let status = tool.status.as_str();
    // A call that was cancelled, or that never began, has no outcome.
    if !matches!(status, "completed" | "error") && result_text.is_empty() && !is_rejected {
        return;
    }
    let kind = tool_kind(name);
    let code = result.exit_code_v2.0.or(result.exit_code.0).map(|code| code as i32);
    // A code of 0 is not written.
    let is_done = kind == ToolKind::Command && status == "completed" && !result_text.is_empty() && !is_rejected;
    let code = code.or(is_done.then_some(0));
    let error_text = json_text(&tool.error);
    let error: BubbleError<'_> = serde_json::from_str(&error_text).unwrap_or_default();
    let [shown, detailed] = [error.client_visible_error_message, error.model_visible_error_message];
    let error = if detailed.as_str().is_empty() { shown } else { detailed };
    let text = if is_rejected {
        "User rejected the call"
    } else if !error.as_str().is_empty() {
        error.as_str()
    } else if code.is_some() || !result.output.as_str().is_empty() {
        result.output.as_str()
    } else if !result_text.is_empty() {
        &result_text
    } else {
        &error_text
    };
    let is_error = status == "error" || is_rejected;
    let outcome = outcome_with_code(MeasuredResult::from_text(text), is_error, code, Some(kind), sink);
    out.push(EventBody::ToolResult { call_id, outcome, answer: None });
}

/// A value that is JSON in a string, or should be.
fn json_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
