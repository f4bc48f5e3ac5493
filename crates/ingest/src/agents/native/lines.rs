//! Parses lines of our own threads. Their messages have the same fields as pi's, so pi's parser reads them.

use rethread_model::EntryKind;
use rethread_model::thread::ThreadRecord;
use serde::Deserialize;

use crate::agents::pi;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientNumber, LenientText, LenientTimestamp};
use crate::parse::{ParseContext, content_id};
use crate::{EventBody, TranscriptEvent};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct NativeLine<'a> {
    #[serde(borrow)]
    record_type: LenientText<'a>,
    seq: LenientNumber,
    timestamp: LenientTimestamp,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    summary: LenientText<'a>,
}

/// All events of one record.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    ThreadRecord::check_line(text.trim_ascii_end().as_bytes()).map_err(serde::de::Error::custom)?;
    let line: NativeLine<'_> = serde_json::from_str(text)?;
    let native_id = line.seq.0.map_or_else(|| content_id(text), |seq| format!("seq-{seq}"));
    let mut out = EventBuilder::new(context.location, line.timestamp.0, native_id);
    if let Some(cwd) = line.cwd.non_empty() {
        out.push(EventBody::Workspace { cwd: Some(cwd.into()), branch: None });
    }
    let sink = &mut context.sink;
    match line.record_type.as_str() {
        "message" => pi::add_message(serde_json::from_str(text)?, pi::add_user, &mut out, sink),
        "compaction" => out.add_text(EntryKind::Summary, line.summary.into_string(), None, sink),
        _ => {}
    }
    Ok(out.events)
}
