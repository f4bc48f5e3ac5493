//! Lines of our own threads. Their messages have the fields of pi's, so that pi's reader reads them.

use rethread_model::{Place, Speech};
use serde::Deserialize;

use super::loose::{Number, Text};
use super::out::Out;
use super::pi::{self, Moment};
use super::{Event, Scribe, What, id_by_content};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(borrow)]
    record_type: Text<'a>,
    seq: Number,
    timestamp: Moment,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow)]
    summary: Text<'a>,
}

/// All events of one record.
pub(super) fn events(text: &str, place: Place, scribe: &mut Scribe<'_>) -> Result<Vec<Event>, serde_json::Error> {
    let line: Line<'_> = serde_json::from_str(text)?;
    let native_id = line.seq.0.map_or_else(|| id_by_content(text), |seq| format!("seq-{seq}"));
    let mut out = Out::new(place, line.timestamp.0, native_id);
    if let Some(cwd) = line.cwd.filled() {
        out.push(What::Surroundings { cwd: Some(cwd.into()), branch: None });
    }
    match line.record_type.as_str() {
        "message" => pi::message(serde_json::from_str(text)?, &mut out, scribe),
        "compaction" => out.text(Speech::Summary, line.summary.into_string(), None, scribe),
        _ => {}
    }
    Ok(out.events)
}
