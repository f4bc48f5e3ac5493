//! Search hits as text: session, snippet with highlighted matches, and citation.

use rethread_engine::{HitWithExchange, SearchHit, SearchReport};
use rethread_model::{Session, SessionKind, Timestamp, ToolStatus, clip, short_id};
use unicode_width::UnicodeWidthStr;

use super::format::{age, count, number};
use super::highlight::highlighted_text;
use super::sessions::{project_name, session_label};
use super::text_page::truncate_to_width;
use super::wrap::wrap;
use super::{CellAlign, MAX_TEXT_WIDTH, TextPage, Tone, sanitize_line};

/// Lines of the prompt and of the answer shown with a hit.
const EXCHANGE_LINES: usize = 3;
/// Maximum characters of each, for output that is not wrapped.
const EXCHANGE_CHARACTERS: usize = 320;
/// Maximum characters of the name of a session that is not shown itself.
const NAME_CHARACTERS: usize = 60;
/// If the name would get fewer columns than this, the details go on a line of their own.
const MIN_NAME_WIDTH: usize = 16;

/// How to render hits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchView {
    pub(crate) now: Timestamp,
    /// Whether to show the project of each session.
    pub(crate) with_project: bool,
}

/// Renders hits, most relevant first.
pub(crate) fn search(page: &mut TextPage, report: &SearchReport, view: SearchView) {
    let rank_width = report.hits.len().to_string().len();
    let indent = " ".repeat(rank_width + 2);
    for (at, found) in report.hits.iter().enumerate() {
        if at > 0 {
            page.end_line();
        }
        let hit = &found.hit;
        page.cell(Tone::Dim, &(at + 1).to_string(), rank_width, CellAlign::Right).add(Tone::Plain, "  ");
        let about = [Some(age(hit.entry.at, view.now)), Some(kind_label(hit))];
        heading(page, &hit.session, view, about, indent.len());
        body(page, found, &indent);
        also_in(page, hit, &indent);
        page.add(Tone::Plain, &indent).line(Tone::Dim, &hit.session.citation(hit.entry.location.line));
    }
}

/// Renders hits grouped by session, in the order of their best hit.
pub(crate) fn search_by_session(page: &mut TextPage, report: &SearchReport, view: SearchView) {
    let mut groups: Vec<Vec<&HitWithExchange>> = Vec::new();
    for found in &report.hits {
        let same = |group: &&mut Vec<&HitWithExchange>| group[0].hit.session.id == found.hit.session.id;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    for (at, group) in groups.iter().enumerate() {
        if at > 0 {
            page.end_line();
        }
        let session = &group[0].hit.session;
        let about = [(group.len() > 1).then(|| count(group.len() as u64, "hit")), None];
        heading(page, session, view, about, 0);
        page.line(Tone::Dim, &session.id.to_string());
        for found in group {
            let entry = &found.hit.entry;
            page.end_line().add(Tone::Plain, "  ");
            let line = format!("line {}", entry.location.line);
            page.row(&[kind_label(&found.hit), age(entry.at, view.now), line].map(|part| (Tone::Dim, part)), 2);
            body(page, found, "  ");
            also_in(page, &found.hit, "  ");
        }
    }
}

/// Number of hits, matches and searched entries, and the time it took.
pub(crate) fn search_summary(report: &SearchReport) -> String {
    let entries = if report.matched == 1 { "matching entry" } else { "matching entries" };
    let found = format!("{} of {} {entries}", number(report.hits.len() as u64), number(report.matched));
    let millis = (report.seconds * 1e3).round() as u64;
    format!("{found} · {} searched · {} ms", number(report.searched), number(millis))
}

/// Hint for transcripts that a search could not read first.
pub(crate) fn unsynced_transcripts(count: u64) -> String {
    let transcripts = if count == 1 { "transcript has" } else { "transcripts have" };
    format!("{} {transcripts} new content that was not searched: rethread sync", number(count))
}

/// The kind of the entry; a failed tool call is marked, because it also matches as an error.
pub(crate) fn kind_label(hit: &SearchHit) -> String {
    let outcome = hit.entry.tool.as_ref().and_then(|tool| tool.outcome.as_ref());
    let failed = if outcome.is_some_and(|outcome| outcome.status == ToolStatus::Error) { ", failed" } else { "" };
    format!("{}{failed}", hit.kind)
}

/// Renders the name of a session with details about it or the hit.
fn heading(page: &mut TextPage, session: &Session, view: SearchView, about: [Option<String>; 2], column: usize) {
    let project = view.with_project.then(|| project_name(session));
    let parts: Vec<String> =
        [Some(session.agent.as_str().to_owned())].into_iter().chain(about).chain([project]).flatten().collect();
    let aside = parts.join(" · ");
    let child = if session.kind == SessionKind::Child { "↳ " } else { "" };
    let name = format!("{child}{}", session_label(session));
    let max_width = page.width().map_or(usize::MAX, |width| width.saturating_sub(column));
    let beside = max_width.saturating_sub(aside.width() + 2);
    if beside >= MIN_NAME_WIDTH {
        page.add(Tone::Strong, &truncate_to_width(&name, beside)).add(Tone::Plain, "  ");
    } else {
        page.line(Tone::Strong, &truncate_to_width(&name, max_width)).add(Tone::Plain, &" ".repeat(column));
    }
    page.line(Tone::Dim, &aside);
}

/// Names the sessions that are nearly the same as the one shown.
fn also_in(page: &mut TextPage, hit: &SearchHit, indent: &str) {
    if hit.also_in.is_empty() {
        return;
    }
    // Copies have the same name, so the id is needed.
    let names = hit.also_in.iter().map(|session| {
        let id = session.id.to_string();
        format!("{} ({})", clip(&session_label(session), NAME_CHARACTERS), short_id(&id))
    });
    let names = sanitize_line(&names.collect::<Vec<_>>().join(", "));
    page.add(Tone::Plain, indent).line(Tone::Dim, &format!("also in: {names}"));
}

/// Renders the snippet, and the prompt and answer around it if they were requested.
fn body(page: &mut TextPage, found: &HitWithExchange, indent: &str) {
    let snippet = &found.hit.snippet;
    let width = page.width().map(|width| width.min(MAX_TEXT_WIDTH).saturating_sub(indent.len()).max(1));
    highlighted_text(page, &snippet.text, &snippet.matches, indent, width);
    let agent = found.hit.session.agent.as_str();
    for (who, tone, text) in [("you", Tone::User, &found.prompt), (agent, Tone::Agent, &found.answer)] {
        // Skip the text that the snippet already shows.
        let other = text.as_deref().filter(|text| *text != found.hit.entry.text);
        if let Some(text) = other.map(sanitize_line).filter(|text| !text.is_empty()) {
            message_excerpt(page, (who, tone), &text, indent, width);
        }
    }
}

/// Renders the first lines of a message after its author.
fn message_excerpt(page: &mut TextPage, (who, tone): (&str, Tone), text: &str, indent: &str, width: Option<usize>) {
    let label = format!("{who}: ");
    let text = clip(text, EXCHANGE_CHARACTERS);
    let lines = wrap(&text, width.map(|width| width.saturating_sub(label.width() + 2).max(1)));
    for (at, line) in lines.iter().take(EXCHANGE_LINES).enumerate() {
        page.add(Tone::Plain, indent);
        if at == 0 {
            page.add(tone, &label);
        } else {
            page.add(Tone::Plain, &" ".repeat(label.width()));
        }
        let cut = if at + 1 == EXCHANGE_LINES && lines.len() > EXCHANGE_LINES { " …" } else { "" };
        page.line(Tone::Plain, &format!("{line}{cut}"));
    }
}
