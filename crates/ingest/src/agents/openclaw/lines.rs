//! Parses the entries of OpenClaw: pi's lines, in the database as rows, and the plain messages of the first versions.

use rethread_model::EntryKind;
use serde::Deserialize;

use super::envelope::{self, UserMessage};
use crate::agents::pi::{self, PiMessage};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientText, LenientTimestamp};
use crate::parse::{ParseContext, TextSink, content_id};
use crate::{EventBody, TitleRank, TranscriptEvent};

/// What the model answers if there is nothing to say. It is not shown to the user.
const SILENT_ANSWERS: [&str; 2] = ["HEARTBEAT_OK", "NO_REPLY"];
/// In place of a model: OpenClaw's own copies of what it delivered.
const COPY_MODELS: [&str; 2] = ["\"model\":\"delivery-mirror\"", "\"model\":\"gateway-injected\""];

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenClawLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    role: LenientText<'a>,
    timestamp: LenientTimestamp,
    /// The entry, if this is a row.
    #[serde(borrow)]
    event: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
}

/// All events of a row.
pub(super) fn row_events(
    text: &str,
    context: &mut ParseContext<'_>,
) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let row: OpenClawLine<'_> = serde_json::from_str(text)?;
    match row.event.non_empty() {
        Some(event) => events(&event, context),
        None => header_events(text, context),
    }
}

/// All events of a line.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let line: OpenClawLine<'_> = serde_json::from_str(text)?;
    if context.is_header() {
        return header_events(text, context);
    }
    if line.kind.as_str().is_empty() && !line.role.as_str().is_empty() {
        let mut out = EventBuilder::new(context.location, line.timestamp.0, content_id(text));
        pi::add_message(serde_json::from_str(text)?, add_user, &mut out, &mut context.sink);
        return Ok(out.events);
    }
    let mut events = pi::events_with(text, context, add_user)?;
    if COPY_MODELS.iter().any(|model| text.contains(model)) {
        events.retain(|event| matches!(event.body, EventBody::Node { .. }));
    }
    events.retain(|event| !is_silent(&event.body));
    Ok(events)
}

/// What is stored about a session beside its entries.
fn header_events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let header: OpenClawLine<'_> = serde_json::from_str(text)?;
    let mut out = EventBuilder::new(context.location, header.timestamp.0, "session".to_owned());
    if !header.title.as_str().is_empty() {
        out.add_title(TitleRank::Generated, header.title, None, &mut context.sink);
    }
    Ok(out.events)
}

fn is_silent(body: &EventBody) -> bool {
    matches!(body, EventBody::Text { kind: EntryKind::AssistantText, text, .. } if SILENT_ANSWERS.contains(&text.trim()))
}

fn add_user(message: &PiMessage<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    if message.role() != "user" {
        return;
    }
    let blocks = message.blocks();
    let texts: Vec<&str> = blocks.0.iter().map(|block| block.text.as_str()).collect();
    match envelope::read(&texts.join("\n")) {
        UserMessage::Typed(text) if !text.trim().is_empty() => out.add_text(EntryKind::Prompt, text, None, sink),
        UserMessage::Task(text) => out.add_text(EntryKind::Task, text, None, sink),
        UserMessage::Machine(text) => out.add_injected(&text, sink),
        UserMessage::Typed(_) if blocks.0.iter().any(|block| block.kind.as_str() == "image") => {
            out.add_text(EntryKind::Prompt, "[image]".to_owned(), None, sink);
        }
        UserMessage::Typed(_) => {}
    }
}
