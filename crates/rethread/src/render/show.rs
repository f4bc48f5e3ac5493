//! A session as a conversation: messages in full, tool calls on one line each.

use jiff::tz::TimeZone;
use rethread_engine::{ListedSession, LogProfile, SessionLog};
use rethread_model::{Entry, EntryKind, Session, SessionKind, SessionState, ToolOutcome, ToolStatus, ToolUse};
use unicode_width::UnicodeWidthStr;

use super::format::{count, local_time, time_range};
use super::original::{CallDetail, LogOriginals};
use super::sanitize::sanitize;
use super::sessions::{label_marks, session_label};
use super::text_page::truncate_to_width;
use super::wrap::wrap;
use super::{MAX_TEXT_WIDTH, TextPage, Tone, sanitize_line};

/// Minimum width of a tool call, even on a narrow terminal.
const MIN_CALL_WIDTH: usize = 24;
/// Maximum lines of an error.
const MAX_ERROR_LINES: usize = 3;
/// Maximum lines of a stored tool output.
const MAX_OUTPUT_LINES: usize = 10;
/// Marks the entry that was asked for.
const CITED_MARK: &str = "▸";

/// Time zone and level of detail.
#[derive(Debug)]
pub(crate) struct LogView<'a> {
    pub(crate) zone: &'a TimeZone,
    pub(crate) profile: LogProfile,
    /// What the transcripts have about the entries.
    pub(crate) originals: &'a LogOriginals,
}

/// Renders the entries of a session.
pub(crate) fn show(page: &mut TextPage, log: &SessionLog, reader: &LogView<'_>) {
    header(page, log, reader);
    if log.earlier_entries > 0 {
        let noun = if log.earlier_entries == 1 { "entry" } else { "entries" };
        page.end_line().line(Tone::Dim, &format!("… {} earlier {noun} (use --full to see all)", log.earlier_entries));
    }
    reader.originals.render_problems(page);
    for (at, entry) in log.entries.iter().enumerate() {
        // No blank line before tool calls, so that they follow the message that led to them.
        if at == 0 || entry.tool.is_none() {
            page.end_line();
        }
        let is_cited = log.cited_line == Some(entry.location.line);
        page.add(Tone::Match, if is_cited { CITED_MARK } else { "" });
        if let Some(tool) = &entry.tool {
            page.add(Tone::Plain, if is_cited { " " } else { "  " });
            tool_call_line(page, entry, tool, &log.listed.session, reader);
        } else {
            page.add(Tone::Dim, if is_cited { "─ " } else { "── " });
            message_block(page, entry, reader);
        }
    }
}

fn header(page: &mut TextPage, log: &SessionLog, reader: &LogView<'_>) {
    let session = &log.listed.session;
    let counts = session.counts;
    page.line(Tone::Strong, &truncate_to_width(&session_label(session), page.width().unwrap_or(usize::MAX)));
    let place = session.project.as_deref().or(session.cwd.as_deref());
    let known = [Some(session.agent.as_str()), place, session.branch.as_deref(), session.model.as_deref()];
    let state = describe_state(&log.listed);
    let about = known.into_iter().flatten().chain([state.as_str()]);
    page.row(&about.map(|part| (Tone::Plain, part.to_owned())).collect::<Vec<_>>(), 0);
    let unless_none = |amount: u64, text: String| if amount > 0 { text } else { String::new() };
    let what = [
        (Tone::Plain, time_range(session.started_at, session.last_activity_at, reader.zone)),
        (Tone::Plain, count(counts.prompts, "prompt")),
        (Tone::Plain, count(counts.messages, "message")),
        (Tone::Plain, count(counts.tool_calls, "tool call")),
        (Tone::Error, unless_none(counts.tool_errors, count(counts.tool_errors, "error"))),
        (Tone::Plain, unless_none(counts.files_edited, format!("{} edited", count(counts.files_edited, "file")))),
    ];
    page.row(&what, 0);
    page.row(&[(Tone::Dim, session.id.to_string()), (Tone::Dim, session.external_id.clone())], 0);
    if log.listed.is_pinned || !log.listed.tags.is_empty() {
        page.line(Tone::Plain, label_marks(log.listed.is_pinned, &log.listed.tags).trim_start());
    }
    if let Some(parent) = &log.parent {
        let relation = if session.kind == SessionKind::Child { "started by" } else { "forked from" };
        let name = sanitize_line(&session_label(parent));
        page.row(&[(Tone::Dim, format!("{relation} {name}")), (Tone::Dim, parent.id.to_string())], 0);
    }
}

/// Renders a message below its author, time and line number.
fn message_block(page: &mut TextPage, entry: &Entry, reader: &LogView<'_>) {
    let (who, tone) = author_label(entry.kind);
    page.add(tone, who).add(Tone::Dim, &time_and_line(entry, reader)).end_line();
    let text_tone = match entry.kind {
        EntryKind::Prompt | EntryKind::Answer | EntryKind::AssistantText | EntryKind::Task => Tone::Plain,
        EntryKind::Failure | EntryKind::Interruption => Tone::Error,
        _ => Tone::Dim,
    };
    let text = sanitize(reader.originals.text(entry).unwrap_or(&entry.text));
    for line in wrap(&text, page.width().map(|width| width.min(MAX_TEXT_WIDTH))) {
        page.line(if entry.is_abandoned { Tone::Dim } else { text_tone }, &line);
    }
}

/// Renders a tool call on one line: `[Name primary-argument] outcome`. An error that does not fit gets its own line.
// S000-30
fn tool_call_line(page: &mut TextPage, entry: &Entry, tool: &ToolUse, session: &Session, reader: &LogView<'_>) {
    let place = time_and_line(entry, reader);
    let mut what = call_text(tool, session, reader);
    let (mut outcome, tone) = outcome_text(tool.outcome.as_ref());
    let mut error = error_text(tool.outcome.as_ref()).map(sanitize_line).unwrap_or_default();
    let max_width = page.width().map(|width| width.saturating_sub("  [] ".len() + place.width()).max(MIN_CALL_WIDTH));
    if !error.is_empty()
        && max_width.is_none_or(|max_width| what.width() + outcome.width() + error.width() + 2 <= max_width)
    {
        outcome = format!("{outcome}: {}", std::mem::take(&mut error));
    }
    if let Some(max_width) = max_width {
        what = truncate_to_width(&what, max_width.saturating_sub(outcome.width()).max(max_width / 2));
        outcome = truncate_to_width(&outcome, max_width.saturating_sub(what.width()));
    }
    page.add(if entry.is_abandoned { Tone::Dim } else { Tone::Plain }, &format!("[{what}]"));
    page.add(Tone::Plain, " ").add(tone, &outcome).add(Tone::Dim, &place).end_line();
    if !reader.originals.has_output(entry) {
        indented_lines(page, tone, &error, MAX_ERROR_LINES);
    }
    if reader.originals.render_call(page, entry, (tool, session), CallDetail::Everything) {
        return;
    }
    let output = tool.outcome.as_ref().and_then(|outcome| outcome.output.as_deref());
    if let (LogProfile::Full, Some(output)) = (reader.profile, output) {
        indented_lines(page, Tone::Dim, &sanitize(output), MAX_OUTPUT_LINES);
    }
}

/// Renders the first lines of a text, indented.
fn indented_lines(page: &mut TextPage, tone: Tone, text: &str, limit: usize) {
    let lines = wrap(text, page.width().map(|width| width.saturating_sub(4)));
    for (at, line) in lines.iter().take(limit).enumerate() {
        let cut = if at + 1 == limit && lines.len() > limit { " …" } else { "" };
        page.line(tone, &format!("    {line}{cut}"));
    }
}

/// The tool and its target; with all arguments in the full profile.
fn call_text(tool: &ToolUse, session: &Session, reader: &LogView<'_>) -> String {
    let target = relative_path(&sanitize_line(&tool.target), session);
    let arguments = if reader.profile == LogProfile::Full { sanitize_line(&tool.arguments) } else { String::new() };
    let parts = [sanitize_line(&tool.name), target, arguments];
    parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn time_and_line(entry: &Entry, reader: &LogView<'_>) -> String {
    let left = if entry.is_abandoned { " · abandoned branch" } else { "" };
    format!(" · {} · line {}{left}", local_time(entry.at, reader.zone), entry.location.line)
}

/// The outcome of a tool call in a few words.
pub(crate) fn outcome_text(outcome: Option<&ToolOutcome>) -> (String, Tone) {
    let Some(outcome) = outcome else { return ("pending".to_owned(), Tone::Warning) };
    let size = if outcome.lines > 0 {
        format!(" {}", count(outcome.lines, "line"))
    } else if outcome.summary.is_empty() || outcome.summary == "no output" {
        String::new()
    } else {
        format!(" {}", outcome.summary)
    };
    match outcome.status {
        ToolStatus::Ok => (format!("ok{size}"), Tone::Success),
        ToolStatus::Rejected => ("rejected".to_owned(), Tone::Warning),
        ToolStatus::Error => {
            let code = outcome.exit_code.map_or_else(String::new, |code| format!(" (exit {code})"));
            (format!("error{code}"), Tone::Error)
        }
    }
}

/// The error message of a tool call. A rejection by the user has none.
pub(crate) fn error_text(outcome: Option<&ToolOutcome>) -> Option<&str> {
    outcome.filter(|outcome| outcome.status == ToolStatus::Error)?.error.as_deref()
}

/// A path relative to the session's directory or project, if it is inside.
pub(crate) fn relative_path(target: &str, session: &Session) -> String {
    let roots = [session.cwd.as_deref(), session.project.as_deref()];
    let below = roots.into_iter().flatten().find_map(|root| target.strip_prefix(root)?.strip_prefix('/'));
    below.filter(|rest| !rest.is_empty()).unwrap_or(target).to_owned()
}

pub(crate) fn author_label(speech: EntryKind) -> (&'static str, Tone) {
    match speech {
        EntryKind::Prompt => ("you", Tone::User),
        EntryKind::Answer => ("you (answer)", Tone::User),
        EntryKind::Shell => ("you (shell)", Tone::User),
        EntryKind::Note => ("you (note)", Tone::User),
        EntryKind::Command => ("you (command)", Tone::User),
        EntryKind::Task => ("task", Tone::User),
        EntryKind::AssistantText => ("agent", Tone::Agent),
        EntryKind::Call => ("tool", Tone::Agent),
        EntryKind::Reasoning => ("agent (thinking)", Tone::Agent),
        EntryKind::Failure => ("failure", Tone::Error),
        EntryKind::Summary => ("summary of earlier entries", Tone::Warning),
        EntryKind::Recap => ("recap", Tone::Warning),
        EntryKind::Notice => ("notice", Tone::Dim),
        EntryKind::Interruption => ("interrupted", Tone::Error),
        EntryKind::Injected => ("injected", Tone::Dim),
    }
}

/// The state, and what the session does if its agent says so: `active, waiting for permission`.
pub(crate) fn describe_state(listed: &ListedSession) -> String {
    let state = state_name(listed.state);
    match &listed.live {
        None => state.to_owned(),
        Some((status, Some(reason))) => format!("{state}, {} for {}", status.as_str(), sanitize_line(reason)),
        Some((status, None)) if status.as_str() == state => state.to_owned(),
        Some((status, None)) => format!("{state}, {}", status.as_str()),
    }
}

pub(crate) fn state_name(state: SessionState) -> &'static str {
    state.as_str()
}
