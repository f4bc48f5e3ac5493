//! A session as a conversation, and beside it what is known of all of it.

mod about;
mod talk;

use maud::{Markup, html};
use rethread_engine::{Piece, Prompted, Reading, ReadingRequest};
use rethread_model::{Session, SessionId, SessionKind};
use serde::Deserialize;

use super::board::short_model;
use super::links::link;
use super::parts::{self, Here, Line, count, given, session_link};
use super::shell::{Page, Place};
use crate::render::{name_of, number, period};
use crate::serve::{App, Refusal};

/// Prompts that are listed; of more, those nearest to what is shown.
const MOST_PROMPTS: usize = 80;

/// Longer names are whole sentences, and not set as titles.
const LONG_NAME: usize = 60;

/// What is wanted of a session.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    /// The piece around this line.
    line: Option<u64>,
    /// The piece that begins with this entry.
    from: Option<u64>,
    /// The piece that ends before this entry.
    until: Option<u64>,
    /// Also what machines wrote, and branches that were left.
    all: Option<String>,
}

impl Wanted {
    fn piece(&self) -> Piece {
        match (self.line, self.from, self.until) {
            (Some(line), ..) => Piece::Around(line),
            (_, Some(seq), _) => Piece::From(seq),
            (_, _, Some(seq)) => Piece::Before(seq),
            _ => Piece::Last,
        }
    }

    fn is_everything(&self) -> bool {
        given(self.all.as_ref()).is_some()
    }
}

/// A session.
pub(super) fn page(app: &App, id: SessionId, wanted: &Wanted) -> Result<Page, Refusal> {
    let request = ReadingRequest { piece: wanted.piece(), everything: wanted.is_everything() };
    let reading = app.engine.reading(id, request)?;
    let here = Here::of(app);
    let session = &reading.listed.session;
    let title = name_of(session);
    let body = html! {
        (heading(here, &reading))
        div.session {
            section.talk aria-label="Conversation" {
                (talk::talk(here, &reading, wanted))
            }
            div.side {
                (prompts(here, &reading, wanted))
                (about::about(here, &reading))
            }
        }
    };
    Ok(Page::new(title, Place::Elsewhere, body).live_for(id))
}

fn heading(here: Here<'_>, reading: &Reading) -> Markup {
    let session = &reading.listed.session;
    let counts = session.counts;
    html! {
        header.session-head {
            p.trail {
                a href="/" { "Board" } span aria-hidden="true" { "/" }
                @if let Some(project) = session.project.as_deref().or(session.cwd.as_deref()) {
                    a href=(link("/", &[("project", Some(project))])) { (parts::project(Some(project))) }
                } @else { (parts::project(None)) }
                @if let Some(parent) = &reading.parent { span aria-hidden="true" { "/" } (session_link(parent)) }
            }
            @let name = name_of(session);
            h1.long[name.chars().count() > LONG_NAME] { (Line(&name)) }
            p.about {
                (parts::state(reading.listed.state))
                span { (session.agent.as_str()) @if session.kind == SessionKind::Child { ", a sub-agent" } }
                @if let Some(branch) = &session.branch { span.branch { (Line(branch)) } }
                @if let Some(model) = &session.model { span { (Line(short_model(model))) } }
                span { (period(session.started_at, session.last_activity_at, here.zone)) }
                span { (count(counts.prompts, "prompt")) ", " (count(counts.tool_calls, "call")) }
                @if counts.tool_errors > 0 { span.bad { (number(counts.tool_errors)) " failed" } }
                (parts::cost(&reading.used))
            }
            p.jump { a.plain href="#about" { "Summary, files, cost" } }
        }
    }
}

/// All prompts, to jump to.
fn prompts(here: Here<'_>, reading: &Reading, wanted: &Wanted) -> Markup {
    let (first, last) = shown(reading);
    let asked = near(&reading.asked, first);
    let session = &reading.listed.session;
    html! {
        nav.prompts aria-labelledby="prompts-title" {
            h2 id="prompts-title" { "Prompts" " " span.number { (number(reading.asked.len() as u64)) } }
            @if asked.is_empty() { p.dim { "None so far." } }
            ol {
                @for one in asked {
                    @let is_here = first <= one.seq && one.seq <= last;
                    li { a href=(jump(session, one, is_here, wanted)) { span.what { (Line(&one.text)) } span.at { (here.hour(one.at)) } } }
                }
            }
        }
    }
}

/// The first and the last entry that are shown.
fn shown(reading: &Reading) -> (u64, u64) {
    let entries = &reading.piece.entries;
    (entries.first().map_or(0, |entry| entry.seq), entries.last().map_or(0, |entry| entry.seq))
}

/// So many of the prompts as can be listed, around where one is.
fn near(asked: &[Prompted], first: u64) -> &[Prompted] {
    let at = asked.partition_point(|one| one.seq < first);
    let from = at.saturating_sub(MOST_PROMPTS / 2).min(asked.len().saturating_sub(MOST_PROMPTS));
    &asked[from..asked.len().min(from + MOST_PROMPTS)]
}

/// Within the page where that is possible.
fn jump(session: &Session, one: &Prompted, is_here: bool, wanted: &Wanted) -> String {
    let all = wanted.is_everything().then_some("1");
    let line = one.line.to_string();
    let page = link(&format!("/sessions/{}", session.id), &[("line", Some(&line)), ("all", all)]);
    if is_here { format!("#L{line}") } else { format!("{page}#L{line}") }
}
