//! Parses lines of Kiro CLI: prompts, answers and results, each with a list of content blocks.

use rethread_model::EntryKind;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::parse::content::MeasuredResult;
use crate::parse::derived_header::DerivedHeader;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientObject, LenientText, LenientTimestamp, parse_or_default};
use crate::parse::outcome::outcome_with_code;
use crate::parse::{ParseContext, TextSink, content_id};
use crate::source::TranscriptHead;
use crate::{EventBody, TranscriptEvent};

/// What Kiro writes as the result of a call that the user did not allow.
const CANCELLED: &str = "Tool use was cancelled by the user";

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroLine<'a> {
    #[serde(borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    data: LenientObject<KiroData<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroData<'a> {
    #[serde(borrow)]
    message_id: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: LenientText<'a>,
    meta: LenientObject<KiroMeta>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroMeta {
    timestamp: LenientTimestamp,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroBlock<'a> {
    #[serde(borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KiroToolUse<'a> {
    #[serde(borrow)]
    tool_use_id: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KiroToolResult<'a> {
    #[serde(borrow)]
    tool_use_id: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    status: LenientText<'a>,
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct SniffedKiroLine {
        kind: Value,
        data: Value,
    }
    let is_ours =
        |line: SniffedKiroLine| line.data.is_object() && (line.kind == "Prompt" || line.kind == "AssistantMessage");
    head.lines::<SniffedKiroLine>().any(is_ours)
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    let line: KiroLine<'_> = serde_json::from_str(text)?;
    let data = line.data.0;
    // Several lines are pieces of one answer, so the id of a line is made of its content.
    let mut out = EventBuilder::new(context.location, data.meta.0.timestamp.0, content_id(text));
    let message = data.message_id.clone().non_empty().map_or_else(|| out.native_id.clone(), Into::into);
    let is_subagent = context.is_subagent();
    let blocks: Vec<LenientObject<KiroBlock<'_>>> = parse_or_default(data.content);
    let sink = &mut context.sink;
    match line.kind.as_str() {
        "Prompt" => {
            let texts: Vec<String> = blocks.into_iter().filter_map(|block| text_of(&block.0)).collect();
            out.add_user_text(&texts.join("\n"), is_subagent, sink);
        }
        "AssistantMessage" => {
            for LenientObject(block) in blocks {
                add_answer(&block, &message, &mut out, sink);
            }
        }
        "ToolResults" => {
            for LenientObject(block) in blocks.into_iter().filter(|block| block.0.kind.as_str() == "toolResult") {
                let KiroToolResult { tool_use_id, content, status } = parse_or_default(block.data);
                add_result(tool_use_id, content, status.as_str(), &mut out, sink);
            }
        }
        "Compaction" => out.add_text(EntryKind::Summary, data.summary.into_string(), None, sink),
        "CancelledPrompt" => {
            out.add_interruption(sink);
        }
        _ => {}
    }
    Ok(out.events)
}

fn text_of(block: &KiroBlock<'_>) -> Option<String> {
    if block.kind.as_str() != "text" {
        return None;
    }
    parse_or_default::<LenientText<'_>>(block.data).non_empty().map(Into::into)
}

fn add_answer(block: &KiroBlock<'_>, message: &str, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    match block.kind.as_str() {
        "text" => {
            out.add_text(EntryKind::AssistantText, text_of(block).unwrap_or_default(), Some(message), sink);
        }
        "toolUse" => {
            let call: KiroToolUse<'_> = parse_or_default(block.data);
            out.add_tool_call(call.tool_use_id, call.name.as_str(), call.input, message, sink);
        }
        _ => {}
    }
}

/// Adds a result, whose content is a list of texts and JSON values under the names of either store.
pub(super) fn add_result(
    call_id: LenientText<'_>,
    content: Option<&RawValue>,
    status: &str,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    let content: Value = parse_or_default(content);
    let parts: Vec<&Value> = content.as_array().map_or_else(|| vec![&content], |parts| parts.iter().collect());
    let (mut texts, mut code) = (Vec::new(), None);
    for part in parts {
        let part = part.get("data").or(part.get("Json")).or(part.get("Text")).unwrap_or(part);
        code = code.or(exit_code(part));
        texts.push(output_text(part));
    }
    let text = texts.join("\n");
    let is_error = status.eq_ignore_ascii_case("error");
    let mut outcome = outcome_with_code(MeasuredResult::from_text(&text), is_error, code, None, sink);
    if is_error && text.starts_with(CANCELLED) {
        outcome.status = rethread_model::ToolStatus::Rejected;
    }
    out.push(EventBody::ToolResult { call_id: call_id.into_string(), outcome, answer: None });
}

/// `"exit status: 2"`, `"2"` or 2.
fn exit_code(part: &Value) -> Option<i32> {
    let status = part.get("exit_status").or(part.get("exit_code")).or(part.get("exitCode"))?;
    let number = status.as_i64().and_then(|code| i32::try_from(code).ok());
    number.or_else(|| status.as_str()?.rsplit(' ').next()?.parse().ok())
}

/// What a command printed, or the JSON as it is.
fn output_text(part: &Value) -> String {
    let field = |name: &str| part.get(name).and_then(Value::as_str);
    match (part.as_str(), field("stdout"), field("stderr")) {
        (Some(text), ..) => text.to_owned(),
        (None, None, None) if part.is_null() => String::new(),
        (None, None, None) => part.to_string(),
        (None, out, error) => {
            [out, error].into_iter().flatten().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
        }
    }
}
