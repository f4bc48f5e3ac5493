//! Entries as conversation: messages in full, a tool call on one line with its outcome.

use jiff::tz::TimeZone;
use rethread_model::{Entry, EntryKind, Session, ToolOutcome, ToolStatus, ToolUse};
use unicode_width::UnicodeWidthStr;

use crate::render::{
    CallDetail, LogOriginals, TextPage, Tone, author_label, error_text, local_time, outcome_text, relative_path,
    sanitize, sanitize_line, truncate_to_width, wrap,
};

/// Lines of texts that are not part of the conversation itself.
const FOLDED_LINES: usize = 2;
/// Lines of one message. A longer one is cut, so that one paste does not hide the rest.
const MAX_MESSAGE_LINES: usize = 400;
/// Lines of a tool's output.
const MAX_OUTPUT_LINES: usize = 30;
/// Rows of a diff, as long as calls are folded.
const FOLDED_DIFF_ROWS: usize = 12;

/// How entries are shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct EntryView<'a> {
    pub(super) zone: &'a TimeZone,
    /// Whether tool calls show what they changed and printed.
    pub(super) is_unfolded: bool,
    /// Whether this is the entry that was found.
    pub(super) is_cited: bool,
    /// What the transcript has about the entries.
    pub(super) originals: &'a LogOriginals,
}

/// Adds the lines of an entry.
pub(super) fn add_entry(page: &mut TextPage, entry: &Entry, session: &Session, view: &EntryView<'_>) {
    match &entry.tool {
        Some(tool) => add_call(page, entry, (tool, session), view),
        None => add_message(page, entry, view),
    }
}

fn add_message(page: &mut TextPage, entry: &Entry, view: &EntryView<'_>) {
    let (who, tone) = author_label(entry.kind);
    page.add(Tone::Match, if view.is_cited { "▶ " } else { "" });
    page.add(tone, who).line(Tone::Dim, &format!("  {}", local_time(entry.at, view.zone)));
    let (text_tone, limit) = match entry.kind {
        EntryKind::Prompt | EntryKind::Answer | EntryKind::AssistantText | EntryKind::Task => {
            (Tone::Plain, MAX_MESSAGE_LINES)
        }
        EntryKind::Failure | EntryKind::Interruption => (Tone::Error, MAX_MESSAGE_LINES),
        _ if view.is_unfolded => (Tone::Dim, MAX_MESSAGE_LINES),
        _ => (Tone::Dim, FOLDED_LINES),
    };
    let text = view.originals.text(entry).unwrap_or(&entry.text);
    add_lines(page, text_tone, text, "", limit);
}

/// One line: outcome, tool, target, size of the result. The line of an error and what the call changed follow.
fn add_call(page: &mut TextPage, entry: &Entry, (tool, session): (&ToolUse, &Session), view: &EntryView<'_>) {
    let width = page.width().unwrap_or(usize::MAX);
    let outcome = tool.outcome.as_ref();
    let (result, tone) = outcome_text(outcome);
    let result = result.strip_prefix("ok").unwrap_or(&result).trim().to_owned();
    let margin = if view.is_cited { "▶ " } else { "  " };
    let name = truncate_to_width(&tool.name, width / 3);
    let used = margin.width() + 2 + name.width() + 1;
    let result = truncate_to_width(&result, width.saturating_sub(used) / 2);
    let target = relative_path(&sanitize_line(&tool.target), session);
    let target = truncate_to_width(&target, width.saturating_sub(used + result.width() + 2));
    page.add(Tone::Match, margin).add(tone, outcome_sign(outcome)).add(Tone::Strong, &name);
    page.add(Tone::Plain, &format!(" {target}"));
    let gap = width.saturating_sub(used + target.width() + result.width());
    page.add(Tone::Plain, &" ".repeat(if result.is_empty() { 0 } else { gap.clamp(1, 200) }));
    page.line(if tone == Tone::Success { Tone::Dim } else { tone }, &result);
    if let Some(error) = error_text(outcome).filter(|_| !(view.is_unfolded && view.originals.has_output(entry))) {
        let limit = if view.is_unfolded { MAX_OUTPUT_LINES } else { 1 };
        add_lines(page, Tone::Error, error, "    ", limit);
    }
    let detail =
        if view.is_unfolded { CallDetail::Everything } else { CallDetail::Changes { max_rows: FOLDED_DIFF_ROWS } };
    let has_original = view.originals.render_call(page, entry, (tool, session), detail);
    if view.is_unfolded && !has_original {
        add_details(page, tool);
    }
}

/// What a call ran or changed, its arguments, and what it printed.
fn add_details(page: &mut TextPage, tool: &ToolUse) {
    match &tool.body {
        Some(body) => add_lines(page, Tone::Plain, body, "    ", MAX_OUTPUT_LINES),
        None => add_lines(page, Tone::Dim, &tool.arguments, "    ", MAX_OUTPUT_LINES),
    }
    if let Some(output) = tool.outcome.as_ref().and_then(|outcome| outcome.output.as_deref()) {
        add_lines(page, Tone::Dim, output, "    ", MAX_OUTPUT_LINES);
    }
}

fn outcome_sign(outcome: Option<&ToolOutcome>) -> &'static str {
    match outcome.map(|outcome| outcome.status) {
        Some(ToolStatus::Ok) => "✓ ",
        Some(ToolStatus::Error) => "✗ ",
        Some(ToolStatus::Rejected) => "⊘ ",
        None => "… ",
    }
}

/// Adds the first lines of a text, wrapped and indented.
fn add_lines(page: &mut TextPage, tone: Tone, text: &str, indent: &str, limit: usize) {
    let width = page.width().map(|width| width.saturating_sub(indent.len()).max(1));
    let lines = wrap(&sanitize(text), width);
    for (at, line) in lines.iter().take(limit).enumerate() {
        let cut = if at + 1 == limit && lines.len() > limit { " …" } else { "" };
        page.line(tone, &format!("{indent}{line}{cut}"));
    }
}
