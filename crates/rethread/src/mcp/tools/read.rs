//! `get_memory` and `read_session`: entries around a line, or at the end of a session.

use rethread_engine::{LogProfile, SessionLog, ShowRequest};
use rethread_model::clip;

use super::{ToolContext, failure_text};
use crate::failure::{Failure, FailureKind};
use crate::mcp::arguments::McpArguments;
use crate::render::{self, LogOriginals, LogView, Tone};

/// Most ids per call.
const MAX_IDS: usize = 10;
/// Entries shown around an id.
const ENTRIES_AROUND: u64 = 12;
/// Entries of a session by default.
const DEFAULT_LINES: u64 = 30;
const MAX_LINES: u64 = 200;
/// Bytes of all texts together; headers come on top.
const MAX_TEXT_BYTES: usize = 12_000;
/// No entry is cut to less than this.
const MIN_ENTRY_BYTES: usize = 160;

/// The entries around each id.
pub(super) fn get_memory(context: &ToolContext<'_>, arguments: &McpArguments) -> Result<String, Failure> {
    let mut ids: Vec<&str> = arguments.texts("ids").iter().map(|id| id.trim()).filter(|id| !id.is_empty()).collect();
    ids.dedup();
    if ids.is_empty() || ids.len() > MAX_IDS {
        let message = format!("pass 1 to {MAX_IDS} ids, not {}", ids.len());
        return Err(
            Failure::new(FailureKind::Usage, message).hint("ids are SESSION:LINE, as search_memory returns them")
        );
    }
    let max_bytes = MAX_TEXT_BYTES / ids.len();
    let (mut texts, mut failures) = (Vec::new(), Vec::new());
    for id in &ids {
        match render_entries(context, id, ENTRIES_AROUND, max_bytes) {
            Ok(text) => texts.push(text),
            Err(failure) => failures.push(failure),
        }
    }
    // An unknown id does not hide the others; if all are unknown, the call fails.
    if texts.is_empty() && !failures.is_empty() {
        return Err(failures.remove(0));
    }
    texts.extend(failures.into_iter().map(|failure| failure_text(context, failure)));
    Ok(texts.join("\n"))
}

/// The end of a session, or the entries around a line.
pub(super) fn read_session(context: &ToolContext<'_>, arguments: &McpArguments) -> Result<String, Failure> {
    let lines = arguments.number("lines", DEFAULT_LINES, MAX_LINES);
    render_entries(context, arguments.text("session"), lines, MAX_TEXT_BYTES)
}

fn render_entries(context: &ToolContext<'_>, reference: &str, lines: u64, max_bytes: usize) -> Result<String, Failure> {
    let request = ShowRequest { profile: LogProfile::Structure, max_entries: Some(lines), max_bytes: None };
    let mut log = context.engine.sessions().show(reference, request)?;
    let mut page = ToolContext::page();
    if log.entries.is_empty() && log.cited_line.is_none() {
        // Hooks may have reported a session whose transcript was not read yet.
        let found = context.engine.lifecycle().events(reference)?;
        if !found.events.is_empty() {
            render::session_events(&mut page, &found, context.zone);
            return Ok(page.as_str().to_owned());
        }
    }
    truncate_log(&mut log, max_bytes);
    log.entries.iter_mut().for_each(|entry| entry.text = quote(&entry.text));
    let earlier = std::mem::take(&mut log.earlier_entries);
    let originals = LogOriginals::default();
    let view = LogView { zone: context.zone, profile: LogProfile::Structure, originals: &originals };
    render::show(&mut page, &log, &view);
    if log.entries.is_empty() {
        page.line(Tone::Plain, "The session has no messages.");
    }
    if earlier > 0 {
        page.end_line().line(Tone::Plain, &format!("({earlier} earlier entries not shown)"));
    }
    Ok(page.as_str().to_owned())
}

/// Quotes a text, so that it cannot imitate an entry header.
fn quote(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| format!("> {line}").trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Cuts a log to `max_bytes`. Around a line, that entry keeps half and the others share the rest; at the end of a
/// session the newest entries are kept.
fn truncate_log(log: &mut SessionLog, max_bytes: usize) {
    let cited = log.cited_line.and_then(|line| log.entries.iter().position(|entry| entry.location.line >= line));
    if let Some(cited) = cited {
        let share = max_bytes / 2 / log.entries.len().saturating_sub(1).max(1);
        for (at, entry) in log.entries.iter_mut().enumerate() {
            let limit = if at == cited { max_bytes / 2 } else { share };
            entry.text = clip(&entry.text, limit.max(MIN_ENTRY_BYTES)).into_owned();
        }
        return;
    }
    let mut left = max_bytes;
    let mut keep = log.entries.len();
    for (at, entry) in log.entries.iter_mut().enumerate().rev() {
        if left < MIN_ENTRY_BYTES {
            break;
        }
        entry.text = clip(&entry.text, left).into_owned();
        left = left.saturating_sub(entry.text.len());
        keep = at;
    }
    log.earlier_entries += keep as u64;
    log.entries.drain(..keep);
}
