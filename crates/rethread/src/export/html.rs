//! Sessions as one HTML file: the colors of the web UI, no script, nothing loaded from anywhere.

use jiff::tz::TimeZone;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use rethread_model::{Entry, EntryKind};

use super::{ExportedLog, ExportedPart, author, facts, outcome, parts, title};
use crate::render::{local_time, relative_path, sanitize, sanitize_line};
use crate::web::{file_diff, markdown};

const STYLE: &str = include_str!("export.css");
/// Its first rule has the colors and fonts of both themes.
const PAGE_STYLE: &str = include_str!("../web/page.css");
/// How diffs look on the page.
const DIFF_STYLE: &str = include_str!("../web/original.css");
/// Text of a session may contain anything; a browser loads and runs nothing of it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Longer runs of calls are folded.
const MAX_UNFOLDED_CALLS: usize = 5;

/// All sessions, with a list of them if there are several.
pub(super) fn html_document(logs: &[ExportedLog], zone: &TimeZone) -> String {
    let name = logs.first().map_or_else(|| "Sessions".to_owned(), |one| title(&one.log));
    let heading = if logs.len() > 1 { format!("{} sessions", logs.len()) } else { name };
    let document = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (heading) " · Rethread" }
                style { (PreEscaped(palette())) (PreEscaped(DIFF_STYLE)) (PreEscaped(STYLE)) }
            }
            body {
                main {
                    @if logs.len() > 1 {
                        h1 { (heading) }
                        nav { ol { @for (at, log) in logs.iter().enumerate() {
                            li { a href={ "#s" (at) } { (title(&log.log)) } }
                        } } }
                    }
                    @for (at, log) in logs.iter().enumerate() { (session(log, at, zone)) }
                }
                footer { "Exported by Rethread" }
            }
        }
    };
    document.into_string()
}

/// The first rule of the style sheet of the web UI.
fn palette() -> &'static str {
    let start = PAGE_STYLE.find(":root {").unwrap_or(0);
    let end = PAGE_STYLE[start..].find("\n}").map_or(PAGE_STYLE.len(), |at| start + at + 2);
    &PAGE_STYLE[start..end]
}

fn session(exported: &ExportedLog, at: usize, zone: &TimeZone) -> Markup {
    let log = &exported.log;
    html! {
        section id={ "s" (at) } {
            h1 { (title(log)) }
            dl.facts { @for (label, text) in facts(log, zone) { dt { (label) } dd { (text) } } }
            @for part in parts(log) {
                @match part {
                    ExportedPart::Message(entry) => { (message(entry, zone)) }
                    ExportedPart::Calls(calls) => { (call_group(exported, calls)) }
                }
            }
        }
    }
}

fn message(entry: &Entry, zone: &TimeZone) -> Markup {
    let class = match entry.kind {
        EntryKind::Prompt | EntryKind::Task | EntryKind::Answer => "prompt",
        EntryKind::Failure | EntryKind::Interruption => "failure",
        EntryKind::AssistantText => "agent",
        _ => "machine",
    };
    let is_markdown = matches!(entry.kind, EntryKind::AssistantText | EntryKind::Summary | EntryKind::Recap);
    html! {
        article class={ "entry " (class) } {
            p.who { (author(entry.kind)) @if entry.at.is_some() { time { (local_time(entry.at, zone)) } } }
            @if is_markdown { div.md { (markdown(&entry.text)) } }
            @else { div.typed dir="auto" { (sanitize(&entry.text)) } }
        }
    }
}

fn call_group(exported: &ExportedLog, calls: &[Entry]) -> Markup {
    let list = html! { ul.calls { @for entry in calls { (call(exported, entry)) } } };
    html! {
        @if calls.len() > MAX_UNFOLDED_CALLS { details { summary { (calls.len()) " tool calls" } (list) } }
        @else { (list) }
    }
}

fn call(exported: &ExportedLog, entry: &Entry) -> Markup {
    let (Some(tool), session) = (&entry.tool, &exported.log.listed.session) else { return Markup::default() };
    let target = sanitize_line(&relative_path(&tool.target, session));
    let is_failed = tool.outcome.as_ref().is_none_or(|outcome| outcome.status.is_error());
    html! {
        li {
            b { (sanitize_line(&tool.name)) } " " code { (target) } " "
            span.failed[is_failed] { (outcome(tool.outcome.as_ref())) }
            @if let Some((call, output)) = exported.originals.call(entry) {
                @if !call.changes.is_empty() {
                    div.original { @for change in &call.changes { (file_diff(change, is_failed, session)) } }
                }
                @if !output.head.is_empty() && (call.changes.is_empty() || is_failed) {
                    details { summary { "Output" } pre { (output.shown_lines().join("\n")) } }
                }
            } @else if let Some(body) = &tool.body {
                details { summary { "Details" } pre { (sanitize(body)) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_palette_has_both_themes() {
        for part in ["color-scheme: light dark", "--paper: light-dark(", "--accent: light-dark(", "--mono:"] {
            assert!(palette().contains(part), "{part}");
        }
        assert!(palette().ends_with('}') && !palette()[1..].contains(":root"));
    }
}
