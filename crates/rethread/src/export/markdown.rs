//! Sessions as Markdown. Prompts are quoted, so that their text cannot be taken for a heading of ours.

use std::fmt::Write as _;

use jiff::tz::TimeZone;
use rethread_engine::SessionLog;
use rethread_model::{Entry, EntryKind};

use super::{ExportedPart, author, facts, outcome, parts, title};
use crate::render::{local_time, relative_path, sanitize, sanitize_line};

/// All sessions, one after the other.
pub(crate) fn markdown_document(logs: &[SessionLog], zone: &TimeZone) -> String {
    let documents: Vec<String> = logs.iter().map(|log| document(log, zone)).collect();
    documents.join("\n---\n\n")
}

fn document(log: &SessionLog, zone: &TimeZone) -> String {
    let mut out = format!("# {}\n\n", escape(&title(log)));
    for (label, text) in facts(log, zone) {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "- {label}: {}", code_span(&text));
    }
    for part in parts(log) {
        out.push('\n');
        match part {
            ExportedPart::Message(entry) => message(&mut out, entry, zone),
            ExportedPart::Calls(calls) => calls.iter().for_each(|entry| call(&mut out, log, entry)),
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
            let _ = writeln!(out, "{text}");
        }
        _ => text.lines().for_each(|line| {
            let _ = writeln!(out, "{}", format!("> {line}").trim_end());
        }),
    }
}

fn call(out: &mut String, log: &SessionLog, entry: &Entry) {
    let Some(tool) = &entry.tool else { return };
    let target = relative_path(&tool.target, &log.listed.session);
    let what = sanitize_line(&format!("{} {target}", tool.name));
    let _ = writeln!(out, "- {} {}", code_span(what.trim_end()), escape(&outcome(tool.outcome.as_ref())));
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
