//! Sessions as documents to read: Markdown, or one HTML file that needs nothing else.

mod contained;
mod file;
mod html;
mod markdown;
mod sessions;

use jiff::tz::TimeZone;
use rethread_engine::SessionLog;
use rethread_model::{Entry, EntryKind, ToolOutcome, ToolStatus};

use crate::render::{LogOriginals, count, sanitize_line, session_label, time_range};

use html::html_document;
use markdown::markdown_document;

pub(crate) use file::{ExportFile, NamedExport, export_file_name};
pub(crate) use sessions::export_sessions;

/// A session with what its transcript has about its calls, as far as that still exists.
struct ExportedLog {
    log: SessionLog,
    originals: LogOriginals,
}

/// A code block, fenced by more backticks than it has.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Who wrote an entry, as a heading.
const fn author(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Prompt => "Prompt",
        EntryKind::Task => "Task",
        EntryKind::Answer => "User answer",
        EntryKind::Failure => "Failure",
        EntryKind::Summary => "Summary",
        EntryKind::AssistantText | EntryKind::Call => "Agent",
        EntryKind::Recap => "Recap",
        EntryKind::Reasoning => "Thinking",
        EntryKind::Command => "Command",
        EntryKind::Shell => "Shell",
        EntryKind::Note => "Note",
        EntryKind::Notice => "Notice",
        EntryKind::Interruption => "Interruption",
        EntryKind::Injected => "Injected text",
    }
}

/// What is known about a session: labels with their values, on one line each.
fn facts(log: &SessionLog, zone: &TimeZone) -> Vec<(&'static str, String)> {
    let session = &log.listed.session;
    let counts = session.counts;
    let calls = match counts.tool_errors {
        0 => count(counts.tool_calls, "tool call"),
        failed => format!("{}, {failed} failed", count(counts.tool_calls, "tool call")),
    };
    let optional = |text: &Option<String>| text.clone().unwrap_or_default();
    let all = [
        ("Agent", session.agent.label().to_owned()),
        ("Project", optional(&session.project)),
        ("Branch", optional(&session.branch)),
        ("Model", optional(&session.model)),
        ("Time", time_range(session.started_at, session.last_activity_at, zone)),
        ("Content", format!("{}, {calls}", count(counts.prompts, "prompt"))),
        ("Session", session.external_id.clone()),
    ];
    all.into_iter().map(|(label, text)| (label, sanitize_line(&text))).filter(|(_, text)| !text.is_empty()).collect()
}

fn title(log: &SessionLog) -> String {
    session_label(&log.listed.session)
}

/// How a call ended, with the line that identifies its error.
fn outcome(outcome: Option<&ToolOutcome>) -> String {
    let Some(outcome) = outcome else { return "no result".to_owned() };
    let code = outcome.exit_code.filter(|code| *code != 0).map(|code| format!(" (exit {code})"));
    let error = outcome.error.as_deref().filter(|error| !error.is_empty()).map(|error| format!(": {error}"));
    let status = match outcome.status {
        ToolStatus::Ok => "ok",
        ToolStatus::Error => "failed",
        ToolStatus::Rejected => "rejected",
    };
    sanitize_line(&format!("{status}{}{}", code.unwrap_or_default(), error.unwrap_or_default()))
}

/// Messages, and the tool calls between two of them.
enum ExportedPart<'e> {
    Message(&'e Entry),
    Calls(&'e [Entry]),
}

fn parts(log: &SessionLog) -> impl Iterator<Item = ExportedPart<'_>> {
    let groups = log.entries.chunk_by(|one, next| one.tool.is_some() && next.tool.is_some());
    groups.map(
        |group| if group[0].tool.is_some() { ExportedPart::Calls(group) } else { ExportedPart::Message(&group[0]) },
    )
}
