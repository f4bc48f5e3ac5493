//! Parses the records of OpenCode: an object with `info` and `parts`, or a row of one of the database's generations.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::messages::add_message;
use super::rows::add_row;
use super::session::{add_header, is_subagent};
use crate::parse::ParseContext;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientText, LenientTimestamp, parse_or_default};
use crate::{EventBody, TranscriptEvent, UndoStep};

/// Separates the parts of a message in a row. JSON text never contains it.
const PART_SEPARATOR: char = '\u{1e}';

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenCodeRecord<'a> {
    /// In a document: what is stored about the message, and its parts.
    #[serde(borrow)]
    info: Option<&'a RawValue>,
    #[serde(borrow)]
    parts: Option<&'a RawValue>,
    /// In a database: the same as text.
    #[serde(borrow)]
    data: LenientText<'a>,
    #[serde(borrow)]
    part_texts: LenientText<'a>,
    /// In a database of 2.x.
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    time_created: LenientTimestamp,
    /// Whether the agent is still writing it: texts may grow.
    is_unfinished: LenientFlag,
    /// Whether a fork of another session copied it.
    is_copy: LenientFlag,
    /// Whether the user undid it.
    is_undone: LenientFlag,
}

/// A flag as JSON writes it, or as SQLite does.
#[derive(Default, Clone, Copy)]
struct LenientFlag(bool);

impl<'de> Deserialize<'de> for LenientFlag {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: &RawValue = Deserialize::deserialize(deserializer)?;
        Ok(Self(matches!(raw.get(), "true" | "1")))
    }
}

/// All events of a message, or of the header of its session.
pub(crate) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return add_header(text, context);
    }
    let record: OpenCodeRecord<'_> = serde_json::from_str(text)?;
    if record.is_copy.0 {
        return Ok(Vec::new());
    }
    let is_unfinished = record.is_unfinished.0;
    let mut out = match (record.kind.as_str(), record.data.0.as_deref()) {
        ("", None) => {
            let parts: Vec<&RawValue> = parse_or_default(record.parts);
            let info = record.info.map_or("{}", RawValue::get);
            add_message(info, None, parts.into_iter().map(RawValue::get), is_unfinished, context)?
        }
        ("", Some(info)) => {
            let parts = record.part_texts.as_str().split(PART_SEPARATOR).filter(|part| !part.is_empty());
            add_message(info, record.id.0.as_deref(), parts, is_unfinished, context)?
        }
        (kind, data) => {
            let is_subagent = is_subagent(context);
            let mut out = EventBuilder::new(context.location, record.time_created.0, record.id.as_str().to_owned());
            add_row(kind, data.unwrap_or("{}"), is_unfinished, is_subagent, &mut out, &mut context.sink)?;
            out
        }
    };
    add_undo(record.is_undone.0, &mut out);
    Ok(out.events)
}

/// Takes back a message that the user undid, if it gave an entry.
fn add_undo(is_undone: bool, out: &mut EventBuilder) {
    let has_entry =
        out.events.iter().any(|event| matches!(event.body, EventBody::Text { .. } | EventBody::ToolCall { .. }));
    if is_undone && has_entry {
        out.push(EventBody::Undo(UndoStep::From(out.native_id.clone())));
    }
}
