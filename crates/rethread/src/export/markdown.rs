//! Sessions as Markdown. Prompts are quoted and texts of agents contained, so that nothing of them can be taken for a
//! part of ours.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use rethread_engine::FileDiff;
use rethread_model::{Entry, EntryKind};

use super::contained::{contained_markdown, plain_line};
use super::{ExportedLog, ExportedPart, author, facts, fenced, outcome, parts, title};
use crate::render::{
    MAX_ROW_CHARS, SHOWN_DIFF_ROWS, about_diff, code_line, count, local_time, relative_path, sanitize, sanitize_line,
};

/// All sessions, one after the other.
pub(super) fn markdown_document(logs: &[ExportedLog], zone: &TimeZone) -> String {
    let documents: Vec<String> = logs.iter().map(|log| document(log, zone)).collect();
    documents.join("\n---\n\n")
}

fn document(exported: &ExportedLog, zone: &TimeZone) -> String {
    let log = &exported.log;
    let mut out = format!("# {}\n\n", escape(&title(log)));
    for (label, text) in facts(log, zone) {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "- {label}: {}", code_span(&text));
    }
    for part in parts(log) {
        out.push('\n');
        match part {
            ExportedPart::Message(entry) => message(&mut out, entry, zone),
            ExportedPart::Calls(calls) => calls.iter().for_each(|entry| call(&mut out, exported, entry)),
        }
    }
    out
}

fn message(out: &mut String, entry: &Entry, zone: &TimeZone) {
    let text = sanitize(entry.text.trim_end());
    let level = if entry.kind.starts_episode() { "##" } else { "###" };
    let time = entry.at.map_or_else(String::new, |at| format!(" · {}", local_time(Some(at), zone)));
    let _ = writeln!(out, "{level} {}{time}\n", author(entry.kind));
    match entry.kind {
        EntryKind::AssistantText | EntryKind::Summary | EntryKind::Recap => {
            let _ = writeln!(out, "{}", contained_markdown(&text));
        }
        _ => text.lines().for_each(|line| {
            let _ = writeln!(out, "{}", format!("> {}", plain_line(line)).trim_end());
        }),
    }
}

/// A call on one line, with what it changed or returned below it.
fn call(out: &mut String, exported: &ExportedLog, entry: &Entry) {
    let (Some(tool), session) = (&entry.tool, &exported.log.listed.session) else { return };
    let target = relative_path(&tool.target, session);
    let what = sanitize_line(&format!("{} {target}", tool.name));
    let _ = writeln!(out, "- {} {}", code_span(what.trim_end()), escape(&outcome(tool.outcome.as_ref())));
    let Some((call, output)) = exported.originals.call(entry) else { return };
    for change in &call.changes {
        let path = relative_path(&change.path, session);
        let moved = change.moved_to.as_deref().map_or_else(String::new, |path| format!(" → {path}"));
        let about = about_diff(change.kind).trim();
        let heading = format!("  {} {about}", code_span(&sanitize_line(&format!("{path}{moved}"))));
        let _ = writeln!(out, "\n{}", heading.trim_end());
        block(out, &diff_lines(change), "diff");
    }
    let is_failed = tool.outcome.as_ref().is_none_or(|outcome| outcome.status.is_error());
    if !output.head.is_empty() && (call.changes.is_empty() || is_failed) {
        block(out, &output.shown_lines(), "");
    }
}

fn diff_lines(change: &FileDiff) -> Vec<String> {
    let rows = change.hunks.iter().enumerate().flat_map(|(at, hunk)| {
        let gap = (at > 0).then(|| "⋮".to_owned());
        gap.into_iter()
            .chain(hunk.rows.iter().map(|row| row.sign.mark().to_owned() + &code_line(&row.text, MAX_ROW_CHARS)))
    });
    let mut lines: Vec<String> = rows.collect();
    let hidden = lines.len().saturating_sub(SHOWN_DIFF_ROWS) as u64 + change.cut_lines;
    lines.truncate(SHOWN_DIFF_ROWS);
    lines.extend((hidden > 0).then(|| format!("⋮ {} more", count(hidden, "line"))));
    lines
}

/// A code block that belongs to the item of a list.
fn block(out: &mut String, lines: &[String], language: &str) {
    if lines.is_empty() {
        return;
    }
    out.push('\n');
    for line in fenced(&lines.join("\n"), language).lines() {
        let _ = writeln!(out, "  {line}");
    }
    out.push('\n');
}

/// A code span, fenced by more backticks than it has.
fn code_span(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest == 0 { format!("`{text}`") } else { format!("{fence} {text} {fence}") }
}

/// Text in which Markdown finds nothing to format.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if "\\`*_[]<>#|!".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_leave_its_span_or_become_markup() {
        assert_eq!(code_span("ls"), "`ls`");
        assert_eq!(code_span("a `b` ``c``"), "``` a `b` ``c`` ```");
        assert_eq!(escape("# <b>[x](y)"), "\\# \\<b\\>\\[x\\](y)");
    }
}
