//! Parses the documents of the first versions of Copilot CLI, which hold the messages of the chat API.

use std::io;
use std::path::Path;

use rethread_model::EntryKind;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::calls::split_exit_code;
use crate::parse::content::{ChatToolCall, MeasuredResult, MessageContent};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientObject, LenientText, LenientTimestamp, parse_or_default};
use crate::parse::outcome::outcome_with_code;
use crate::parse::user_text::strip_tag;
use crate::parse::{ParseContext, content_id};
use crate::source::SessionDocument;
use crate::{EventBody, SessionHeader, TranscriptEvent};

/// What Copilot put around the user's words.
const ADDED_TAGS: [&str; 4] = ["current_datetime", "reminder", "system_reminder", "system_notification"];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HistoryRecord<'a> {
    #[serde(borrow)]
    session_id: LenientText<'a>,
    start_time: LenientTimestamp,
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow, rename = "tool_calls")]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow, rename = "tool_call_id")]
    tool_call_id: LenientText<'a>,
}

pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    SessionDocument::read(path, "chatMessages")
}

/// All events of one message, or of the header.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let record: HistoryRecord<'_> = serde_json::from_str(text)?;
    let id = format!("{}-{}", content_id(text), context.location.line);
    let mut out = EventBuilder::new(context.location, record.start_time.0, id.clone());
    if context.is_header() {
        let external_id = record.session_id.into_string();
        out.push(EventBody::Header(SessionHeader { external_id, ..SessionHeader::default() }));
        return Ok(out.events);
    }
    let sink = &mut context.sink;
    match record.role.as_str() {
        "user" => {
            let content: MessageContent<'_> = parse_or_default(record.content);
            let texts: Vec<&str> = content.0.iter().map(|block| block.text.as_str()).collect();
            let typed = ADDED_TAGS.iter().fold(texts.join("\n"), |text, tag| strip_tag(&text, tag).into_owned());
            out.add_user_text(typed.trim(), false, sink);
        }
        "assistant" => {
            for block in parse_or_default::<MessageContent<'_>>(record.content).0 {
                out.add_text(EntryKind::AssistantText, block.text.into_string(), Some(&id), sink);
            }
            for LenientObject(call) in parse_or_default::<Vec<LenientObject<ChatToolCall<'_>>>>(record.tool_calls) {
                out.add_function_call(call, &id, sink);
            }
        }
        "tool" => {
            let content: LenientText<'_> = parse_or_default(record.content);
            let (code, output) = split_exit_code(content.as_str());
            let outcome = outcome_with_code(MeasuredResult::from_text(output), false, code, None, sink);
            out.push(EventBody::ToolResult { call_id: record.tool_call_id.into_string(), outcome, answer: None });
        }
        _ => {}
    }
    Ok(out.events)
}
