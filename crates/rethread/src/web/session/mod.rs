//! The session page: the conversation, with a sidebar about the whole session.

mod chat;
mod conversation;
mod find;
mod header;
mod original;
mod preview;
mod rail;
mod sidebar;

use maud::{Markup, html};
pub(crate) use original::file_diff;
pub(super) use original::page as original_page;
use rethread_engine::{EntryRange, EpisodePrompt, SessionPage, SessionPageRequest};
use rethread_model::{Session, SessionId, SessionKind, SessionState};
use serde::Deserialize;

use super::components::{OneLine, PageContext, non_blank};
use super::layout::{NavPage, WebPage};
use super::links::link;
use super::viewer::Viewer;
use crate::render::{number, session_label};
use crate::serve::ApiError;

/// Most prompts listed; beyond that, those nearest to the shown entries.
const MAX_PROMPTS: usize = 80;

/// Most sessions listed as similar work.
const MAX_SIMILAR: usize = 5;

/// The view that shows only prompts and final answers.
const FOCUSED: &str = "focused";

/// Query parameters of the session page.
#[derive(Clone, Debug, Default, Deserialize)]
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
    /// `focused` shows only prompts and final answers.
    view: Option<String>,
    /// Words to find in the session.
    find: Option<String>,
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

    /// The same at a line, unless it has a position.
    fn at_hit(&self, line: Option<u64>) -> Self {
        let has_position = self.line.is_some() || self.from.is_some() || self.until.is_some() || self.wants_last();
        Self { line: if has_position { self.line } else { line }, ..self.clone() }
    }

    fn wants_last(&self) -> bool {
        non_blank(self.last.as_ref()).is_some()
    }

    fn shows_everything(&self) -> bool {
        non_blank(self.all.as_ref()).is_some()
    }

    fn is_focused(&self) -> bool {
        non_blank(self.view.as_ref()) == Some(FOCUSED)
    }

    /// A page of the session in the same view.
    fn link(&self, session: &Session, query: &[(&str, Option<&str>)]) -> String {
        let kept = [
            ("all", self.shows_everything().then_some("1")),
            ("view", self.is_focused().then_some(FOCUSED)),
            ("find", non_blank(self.find.as_ref())),
        ];
        link(&format!("/sessions/{}", session.id), &[query, &kept].concat())
    }
}

pub(super) fn page(app: &Viewer<'_>, id: SessionId, params: &SessionPageParams) -> Result<WebPage, ApiError> {
    let state = app.engine.sessions().resolve(&id.to_string())?.state;
    let found = find::find(app, id, params)?;
    // A search opens at its first match.
    let first_hit = found.as_ref().and_then(|found| found.entries.first()).map(|one| one.line);
    let params = &params.at_hit(first_hit);
    let range = params.position(state);
    let request = SessionPageRequest { range, include_all: params.shows_everything(), is_focused: params.is_focused() };
    let reading = app.engine.sessions().page(id, request)?;
    let similar = app.engine.search().similar(id, MAX_SIMILAR)?;
    let context = PageContext::new(app);
    let session = &reading.listed.session;
    let title = session_label(session);
    let opens_at_end = range == EntryRange::Last && reading.page.has_earlier;
    let body = html! {
        div.reader {
            (rail::rail(app, context, session)?)
            div.reading {
                (header::header(context, &reading, params, &app.engine.sessions().agents()?, app.may_write))
                (find::found(session, params, found.as_ref(), params.line))
                div.session {
                    section.talk id="talk" aria-label="Conversation" data-opens-at-end[opens_at_end] {
                        (conversation::conversation(context, &reading, params))
                        (chat::chat(app, session))
                    }
                    div.side id="about" {
                        (prompts(context, &reading, params))
                        (sidebar::sidebar(app, &reading, &similar)?)
                    }
                }
            }
        }
    };
    Ok(WebPage::new(title, NavPage::Other, body).live_for_session(id))
}

pub(super) use chat::new_thread_button;
pub(super) use preview::page as preview;

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
    let line = one.line.to_string();
    let page = params.link(session, &[("line", Some(&line))]);
    if is_here { format!("#L{line}") } else { format!("{page}#L{line}") }
}
