//! What was found, for people: where, the piece that fits with its words marked, and how to cite it.

use rethread_engine::{Hit, Recalled, SearchReport};
use rethread_model::{Session, SessionKind, Status, Timestamp, clip};
use unicode_width::UnicodeWidthStr;

use super::marked::marked;
use super::page::fit;
use super::sessions::{name_of, project_name};
use super::words::{age, count, number};
use super::wrap::wrap;
use super::{Page, Side, Tone, WIDEST_TEXT, single};

/// How many lines of a prompt or an answer are shown beside a hit.
const EXCHANGE_LINES: usize = 3;
/// And how many characters, where lines are not broken.
const EXCHANGE_CHARACTERS: usize = 320;
/// What is known about a hit goes on a line of its own rather than leave less than this for the name.
const NARROWEST_NAME: usize = 16;

/// How hits are to be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub(crate) now: Timestamp,
    /// Whether to say of which project a session is.
    pub(crate) with_project: bool,
}

/// Hits, best first.
pub(crate) fn search(page: &mut Page, report: &SearchReport, wanted: Wanted) {
    let rank_width = report.hits.len().to_string().len();
    let indent = " ".repeat(rank_width + 2);
    for (at, found) in report.hits.iter().enumerate() {
        if at > 0 {
            page.end();
        }
        let hit = &found.hit;
        page.cell(Tone::Dim, &(at + 1).to_string(), rank_width, Side::Right).add(Tone::Plain, "  ");
        let about = [Some(age(hit.entry.at, wanted.now)), Some(kind(hit))];
        heading(page, &hit.session, wanted, about, indent.len());
        body(page, found, &indent);
        page.add(Tone::Plain, &indent).line(Tone::Dim, &hit.session.citation(hit.entry.place.line));
    }
}

/// Hits by session, in the order of their best.
pub(crate) fn grouped(page: &mut Page, report: &SearchReport, wanted: Wanted) {
    let mut groups: Vec<Vec<&Recalled>> = Vec::new();
    for found in &report.hits {
        let same = |group: &&mut Vec<&Recalled>| group[0].hit.session.id == found.hit.session.id;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    for (at, group) in groups.iter().enumerate() {
        if at > 0 {
            page.end();
        }
        let session = &group[0].hit.session;
        let about = [(group.len() > 1).then(|| count(group.len() as u64, "hit")), None];
        heading(page, session, wanted, about, 0);
        page.line(Tone::Dim, &session.id.to_string());
        for found in group {
            let entry = &found.hit.entry;
            page.end().add(Tone::Plain, "  ");
            let line = format!("line {}", entry.place.line);
            page.row(&[kind(&found.hit), age(entry.at, wanted.now), line].map(|part| (Tone::Dim, part)), 2);
            body(page, found, "  ");
        }
    }
}

/// How much was found among how much, and how long it took.
pub(crate) fn summary(report: &SearchReport) -> String {
    let entries = if report.matched == 1 { "matching entry" } else { "matching entries" };
    let found = format!("{} of {} {entries}", number(report.hits.len() as u64), number(report.matched));
    let millis = (report.seconds * 1e3).round() as u64;
    format!("{found} · {} searched · {} ms", number(report.searched), number(millis))
}

/// What kind of entry was found. A call that failed is found as an error too.
fn kind(hit: &Hit) -> String {
    let outcome = hit.entry.tool.as_ref().and_then(|tool| tool.outcome.as_ref());
    let failed = if outcome.is_some_and(|outcome| outcome.status == Status::Error) { ", failed" } else { "" };
    format!("{}{failed}", hit.kind)
}

/// The name of a session, and what is to be known about it or the hit.
fn heading(page: &mut Page, session: &Session, wanted: Wanted, about: [Option<String>; 2], column: usize) {
    let project = wanted.with_project.then(|| project_name(session));
    let parts: Vec<String> =
        [Some(session.agent.as_str().to_owned())].into_iter().chain(about).chain([project]).flatten().collect();
    let aside = parts.join(" · ");
    let child = if session.kind == SessionKind::Child { "↳ " } else { "" };
    let name = format!("{child}{}", name_of(session));
    let room = page.width().map_or(usize::MAX, |width| width.saturating_sub(column));
    let beside = room.saturating_sub(aside.width() + 2);
    if beside >= NARROWEST_NAME {
        page.add(Tone::Strong, &fit(&name, beside)).add(Tone::Plain, "  ");
    } else {
        page.line(Tone::Strong, &fit(&name, room)).add(Tone::Plain, &" ".repeat(column));
    }
    page.line(Tone::Dim, &aside);
}

/// The text that was found, and the exchange around it where that is wanted.
fn body(page: &mut Page, found: &Recalled, indent: &str) {
    let snippet = &found.hit.snippet;
    let width = page.width().map(|width| width.min(WIDEST_TEXT).saturating_sub(indent.len()).max(1));
    marked(page, &snippet.text, &snippet.matches, indent, width);
    let agent = found.hit.session.agent.as_str();
    for (who, tone, text) in [("you", Tone::You, &found.prompt), (agent, Tone::Agent, &found.answer)] {
        // What was found needs no repeating.
        let other = text.as_deref().filter(|text| *text != found.hit.entry.text);
        if let Some(text) = other.map(single).filter(|text| !text.is_empty()) {
            spoken(page, (who, tone), &text, indent, width);
        }
    }
}

/// The first lines of what somebody said, after who it was.
fn spoken(page: &mut Page, (who, tone): (&str, Tone), text: &str, indent: &str, width: Option<usize>) {
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
