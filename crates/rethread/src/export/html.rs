//! Sessions as one HTML file: the colors of the web UI, no script, nothing loaded from anywhere.

use jiff::tz::TimeZone;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use rethread_engine::SessionLog;
use rethread_model::{Entry, EntryKind};

use super::{ExportedPart, author, facts, outcome, parts, title};
use crate::render::{local_time, relative_path, sanitize, sanitize_line};
use crate::web::markdown;

const STYLE: &str = include_str!("export.css");
/// Its first rule has the colors and fonts of both themes.
const PAGE_STYLE: &str = include_str!("../web/page.css");
/// Text of a session may contain anything; a browser loads and runs nothing of it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
/// Longer runs of calls are folded.
const MAX_UNFOLDED_CALLS: usize = 5;

/// All sessions, with a list of them if there are several.
pub(crate) fn html_document(logs: &[SessionLog], zone: &TimeZone) -> String {
    let name = logs.first().map_or_else(|| "Sessions".to_owned(), title);
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
                style { (PreEscaped(palette())) (PreEscaped(STYLE)) }
            }
            body {
                main {
                    @if logs.len() > 1 {
                        h1 { (heading) }
                        nav { ol { @for (at, log) in logs.iter().enumerate() {
                            li { a href={ "#s" (at) } { (title(log)) } }
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

fn session(log: &SessionLog, at: usize, zone: &TimeZone) -> Markup {
    html! {
        section id={ "s" (at) } {
            h1 { (title(log)) }
            dl.facts { @for (label, text) in facts(log, zone) { dt { (label) } dd { (text) } } }
            @for part in parts(log) {
                @match part {
                    ExportedPart::Message(entry) => { (message(entry, zone)) }
                    ExportedPart::Calls(calls) => { (call_group(log, calls)) }
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

fn call_group(log: &SessionLog, calls: &[Entry]) -> Markup {
    let list = html! { ul.calls { @for entry in calls { (call(log, entry)) } } };
    html! {
        @if calls.len() > MAX_UNFOLDED_CALLS { details { summary { (calls.len()) " tool calls" } (list) } }
        @else { (list) }
    }
}

fn call(log: &SessionLog, entry: &Entry) -> Markup {
    let Some(tool) = &entry.tool else { return Markup::default() };
    let target = sanitize_line(&relative_path(&tool.target, &log.listed.session));
    let is_failed = tool.outcome.as_ref().is_none_or(|outcome| outcome.status.is_error());
    html! {
        li {
            b { (sanitize_line(&tool.name)) } " " code { (target) } " "
            span.failed[is_failed] { (outcome(tool.outcome.as_ref())) }
            @if let Some(body) = &tool.body { details { summary { "Details" } pre { (sanitize(body)) } } }
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
