//! Parses lines of the Kiro IDE: one payload per line.

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::parse::content::{MeasuredResult, MessageContent};
use crate::parse::derived_header::DerivedHeader;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{
    LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};
use crate::parse::outcome::outcome_with_code;
use crate::parse::{ParseContext, content_id, tool_kind};
use crate::{EventBody, TranscriptEvent};

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroIdeLine<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    timestamp: LenientTimestamp,
    #[serde(borrow)]
    payload: LenientObject<KiroPayload<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KiroPayload<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    tool_name: LenientText<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_model_id: LenientText<'a>,
    #[serde(borrow)]
    status: LenientText<'a>,
    is_error: LenientBool,
    exit_code: LenientNumber,
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    let line: KiroIdeLine<'_> = serde_json::from_str(text)?;
    let payload = line.payload.0;
    let native_id = line.id.non_empty().map_or_else(|| content_id(text), Into::into);
    let mut out = EventBuilder::new(context.location, line.timestamp.0, native_id);
    let id = out.native_id.clone();
    let is_subagent = context.is_subagent();
    let sink = &mut context.sink;
    match payload.kind.as_str() {
        "user" => {
            let content: MessageContent<'_> = parse_or_default(payload.content);
            let texts: Vec<&str> = content.0.iter().map(|block| block.text.as_str()).collect();
            out.add_user_text(&texts.join("\n"), is_subagent, sink);
        }
        "assistant" => {
            if let Some(model) = payload.reasoning_model_id.non_empty() {
                out.push(EventBody::Usage {
                    message_id: id.clone(),
                    tokens: Tokens::default(),
                    hour_write_tokens: 0,
                    model: Some(model.into()),
                    cost_usd: None,
                });
            }
            for block in parse_or_default::<MessageContent<'_>>(payload.content).0 {
                out.add_text(EntryKind::AssistantText, block.text.into_string(), Some(&id), sink);
            }
        }
        "tool_call" => out.add_tool_call(payload.tool_call_id, payload.tool_name.as_str(), payload.args, &id, sink),
        "tool_result" => {
            let measured: MeasuredResult = parse_or_default(payload.content);
            let is_error = payload.is_error.0 || matches!(payload.status.as_str(), "error" | "failed");
            let code = payload.exit_code.0.map(|code| code as i32);
            let name = payload.tool_name.non_empty();
            let outcome = outcome_with_code(measured, is_error, code, name.as_deref().map(tool_kind), sink);
            out.push(EventBody::ToolResult { call_id: payload.tool_call_id.into_string(), outcome, answer: None });
        }
        _ => {}
    }
    Ok(out.events)
}
