//! The session page: the conversation, with a sidebar about the whole session.

mod conversation;
mod original;
mod sidebar;

use maud::{Markup, html};
pub(super) use original::page as original_page;
use rethread_engine::{EntryRange, EpisodePrompt, SessionPage, SessionPageRequest};
use rethread_model::{Session, SessionId, SessionKind, SessionState};
use serde::Deserialize;

use super::board::short_model;
use super::components::{self, OneLine, PageContext, count, non_blank, session_link};
use super::layout::{NavPage, WebPage};
use super::links::link;
use crate::render::{number, session_label, time_range};
use crate::serve::{ApiError, ServerState};

/// Most prompts listed; beyond that, those nearest to the shown entries.
const MAX_PROMPTS: usize = 80;

/// Most sessions listed as similar work.
const MAX_SIMILAR: usize = 5;

/// Longer names get a smaller heading.
const LONG_NAME_CHARS: usize = 60;

/// Query parameters of the session page.
#[derive(Debug, Default, Deserialize)]
pub(super) struct SessionPageParams {
    /// Show the entries around this line.
    line: Option<u64>,
    /// Show the entries from this one on.
    from: Option<u64>,
    /// Show the entries before this one.
    until: Option<u64>,
    /// Show the last entries.
    last: Option<String>,
    /// Also show thinking, machine text and abandoned branches.
    all: Option<String>,
}

impl SessionPageParams {
    /// The entries to show. A link without a position leads to the end of a session that goes on, and to the beginning
    /// of one that has ended.
    fn position(&self, state: SessionState) -> EntryRange {
        match (self.line, self.from, self.until) {
            (Some(line), ..) => EntryRange::Around(line),
            (_, Some(seq), _) => EntryRange::From(seq),
            (_, _, Some(seq)) => EntryRange::Before(seq),
            _ if state == SessionState::Ended && !self.wants_last() => EntryRange::From(0),
            _ => EntryRange::Last,
        }
    }

    fn wants_last(&self) -> bool {
        non_blank(self.last.as_ref()).is_some()
    }

    fn shows_everything(&self) -> bool {
        non_blank(self.all.as_ref()).is_some()
    }
}

pub(super) fn page(app: &ServerState, id: SessionId, params: &SessionPageParams) -> Result<WebPage, ApiError> {
    let state = app.engine.sessions().resolve(&id.to_string())?.state;
    let range = params.position(state);
    let request = SessionPageRequest { range, include_all: params.shows_everything() };
    let reading = app.engine.sessions().page(id, request)?;
    let similar = app.engine.search().similar(id, MAX_SIMILAR)?;
    let context = PageContext::new(app);
    let session = &reading.listed.session;
    let title = session_label(session);
    let body = html! {
        (heading(context, &reading))
        div.session {
            section.talk aria-label="Conversation" data-opens-at-end[range == EntryRange::Last && reading.page.has_earlier] {
                (conversation::conversation(context, &reading, params))
            }
            div.side {
                (prompts(context, &reading, params))
                (sidebar::sidebar(context, &reading, &similar))
            }
        }
    };
    Ok(WebPage::new(title, NavPage::Other, body).live_for_session(id))
}

fn heading(context: PageContext<'_>, reading: &SessionPage) -> Markup {
    let session = &reading.listed.session;
    let counts = session.counts;
    html! {
        header.session-head {
            p.trail {
                a href="/" { "Board" } span aria-hidden="true" { "/" }
                @if let Some(project) = session.project.as_deref().or(session.cwd.as_deref()) {
                    a href=(link("/", &[("project", Some(project))])) { (components::project(Some(project))) }
                } @else { (components::project(None)) }
                @if let Some(parent) = &reading.parent { span aria-hidden="true" { "/" } (session_link(parent)) }
            }
            @let name = session_label(session);
            h1.long[name.chars().count() > LONG_NAME_CHARS] { (OneLine(&name)) }
            p.about {
                (components::state(reading.listed.state))
                @if let Some((status, _)) = &reading.listed.live { span { (status.as_str()) } }
                span { (session.agent.as_str()) @if session.kind == SessionKind::Child { ", sub-agent" } @else if reading.parent.is_some() { ", fork" } }
                @if let Some(branch) = &session.branch { span.branch { (OneLine(branch)) } }
                @if let Some(model) = &session.model { span { (OneLine(short_model(model))) } }
                span { (time_range(session.started_at, session.last_activity_at, context.zone)) }
                span { (count(counts.prompts, "prompt")) ", " (count(counts.tool_calls, "call")) }
                @if counts.tool_errors > 0 { span.bad { (number(counts.tool_errors)) " failed" } }
                (components::cost(&reading.usage))
            }
            p.jump { a.plain href="#about" { "Summary, files and cost" } }
        }
    }
}

/// The list of prompts, as links.
fn prompts(context: PageContext<'_>, reading: &SessionPage, params: &SessionPageParams) -> Markup {
    let (first, last) = shown_range(reading);
    let prompts = nearby_prompts(&reading.prompts, first);
    let session = &reading.listed.session;
    html! {
        nav.prompts aria-labelledby="prompts-title" {
            @let title = if session.kind == SessionKind::Child { "Tasks" } else { "Prompts" };
            h2 id="prompts-title" { (title) " " span.number { (number(reading.prompts.len() as u64)) } }
            @if prompts.is_empty() { p.dim { "No prompts yet." } }
            ol {
                @for one in prompts {
                    @let is_here = first <= one.seq && one.seq <= last;
                    li { a href=(prompt_link(session, one, is_here, params)) { span.what { (OneLine(&one.text)) } span.at { (context.time_of_day(one.at)) } } }
                }
            }
        }
    }
}

/// `seq` of the first and the last shown entry.
fn shown_range(reading: &SessionPage) -> (u64, u64) {
    let entries = &reading.page.entries;
    (entries.first().map_or(0, |entry| entry.seq), entries.last().map_or(0, |entry| entry.seq))
}

/// At most [`MAX_PROMPTS`] prompts around the shown entries.
fn nearby_prompts(prompts: &[EpisodePrompt], first: u64) -> &[EpisodePrompt] {
    let at = prompts.partition_point(|one| one.seq < first);
    let from = at.saturating_sub(MAX_PROMPTS / 2).min(prompts.len().saturating_sub(MAX_PROMPTS));
    &prompts[from..prompts.len().min(from + MAX_PROMPTS)]
}

/// A link to a prompt: within the page if it is shown.
fn prompt_link(session: &Session, one: &EpisodePrompt, is_here: bool, params: &SessionPageParams) -> String {
    let all = params.shows_everything().then_some("1");
    let line = one.line.to_string();
    let page = link(&format!("/sessions/{}", session.id), &[("line", Some(&line)), ("all", all)]);
    if is_here { format!("#L{line}") } else { format!("{page}#L{line}") }
}
