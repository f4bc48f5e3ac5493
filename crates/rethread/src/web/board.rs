//! The board page: all sessions by project and state, with the last prompt and the current action of each.

use maud::{Markup, html};
use rethread_engine::{Board, BoardProject, BoardRequest, BoardSession, ListRange, ProjectFilter, StateCounts};
use rethread_model::{Agent, Entry, EntryKind, Session, SessionState, ToolStatus, clip, first_line};
use serde::Deserialize;

use super::components::{self, OneLine, PageContext, cost, count, last_part, non_blank, select_field, tabs};
use super::layout::{NavPage, WebPage};
use super::links::{link, to_session};
use crate::render::{number, project_names, relative_path, session_label};
use crate::serve::{ApiError, ServerState};

/// Projects per page.
const PROJECTS_PER_PAGE: usize = 24;
/// Sessions per project when several projects are shown; sessions that have not ended may exceed it.
const SESSIONS_PER_PROJECT: usize = 6;
/// Sessions of a project whose sessions have all ended.
const SESSIONS_PER_ENDED_PROJECT: usize = 4;
/// Sessions per page when one project is shown.
const SESSIONS_PER_PAGE: usize = 60;
/// The `project` parameter for sessions without a project.
const NO_PROJECT: &str = "-";
/// Characters of a prompt on a card; more would not be visible.
const MAX_PROMPT_CHARS: usize = 220;
const MAX_ACTION_CHARS: usize = 120;

/// All states, the most active first.
pub(super) const STATES: [SessionState; 4] =
    [SessionState::Active, SessionState::Idle, SessionState::Suspended, SessionState::Ended];

/// Query parameters of the board.
#[derive(Debug, Default, Deserialize)]
pub(super) struct BoardParams {
    project: Option<String>,
    agent: Option<String>,
    state: Option<String>,
    /// Projects, or sessions of one project, to skip.
    #[serde(default)]
    from: usize,
}

impl BoardParams {
    fn request(&self) -> Result<BoardRequest, ApiError> {
        let project = match non_blank(self.project.as_ref()) {
            None => ProjectFilter::Any,
            Some(NO_PROJECT) => ProjectFilter::Unknown,
            Some(path) => ProjectFilter::Named(path.to_owned()),
        };
        let is_alone = project != ProjectFilter::Any;
        let (beside, alone) =
            (ListRange { skip: self.from, limit: PROJECTS_PER_PAGE }, ListRange { skip: 0, limit: 1 });
        let one = ListRange { skip: self.from, limit: SESSIONS_PER_PAGE };
        Ok(BoardRequest {
            project,
            agent: parse_agent(self.agent.as_ref())?,
            state: non_blank(self.state.as_ref()).map(parse_state).transpose()?,
            projects: if is_alone { alone } else { beside },
            sessions: if is_alone { one } else { ListRange { skip: 0, limit: SESSIONS_PER_PROJECT } },
        })
    }

    fn link(&self, state: Option<&str>, from: usize) -> String {
        let from = (from > 0).then(|| from.to_string());
        link(
            "/",
            &[
                ("project", non_blank(self.project.as_ref())),
                ("agent", non_blank(self.agent.as_ref())),
                ("state", state),
                ("from", from.as_deref()),
            ],
        )
    }
}

/// Parses the `agent` parameter.
pub(super) fn parse_agent(name: Option<&String>) -> Result<Option<Agent>, ApiError> {
    let agent = non_blank(name).map(str::parse).transpose();
    agent.map_err(|error: rethread_model::UnknownAgent| ApiError::bad_request(error.to_string()))
}

fn parse_state(name: &str) -> Result<SessionState, ApiError> {
    let found = STATES.into_iter().find(|state| crate::render::state_name(*state) == name);
    found.ok_or_else(|| ApiError::bad_request(format!("unknown state {name:?}")))
}

pub(super) fn page(app: &ServerState, params: &BoardParams) -> Result<WebPage, ApiError> {
    let request = params.request()?;
    let board = app.engine.sessions().board(&request)?;
    let context = PageContext::new(app);
    let is_alone = request.project != ProjectFilter::Any;
    let body = html! {
        h1.sr { "Board" }
        @if board.all_projects.is_empty() {
            (components::nothing_synced())
        } @else {
            (filters(params, &board, &request))
            @if board.projects.is_empty() {
                (components::empty_state("No sessions found", &html! { p { "No session matches these filters. " a href="/" { "Show all" } } }))
            }
            @let (live, quiet): (Vec<_>, Vec<_>) = board.projects.iter().partition(|project| is_alone || is_live(project));
            @for project in live { (live_project(context, project, is_alone, params)) }
            @if !quiet.is_empty() { div.quiet-bands { @for project in quiet { (ended_project(context, project, params)) } } }
            (pager(params, &board, is_alone))
        }
    };
    Ok(WebPage::new("Board", NavPage::Board, body).live())
}

fn filters(params: &BoardParams, board: &Board, request: &BoardRequest) -> Markup {
    let tab = |state: Option<SessionState>| {
        let name = state.map(crate::render::state_name);
        let many = state.map_or(board.states.total(), |state| board.states.count(state));
        let text = html! {
            @if let Some(state) = state { (components::state(state)) } @else { "all" }
            " " span.number { (number(many)) }
        };
        (params.link(name, 0), text, request.state == state)
    };
    let states: Vec<_> = [None].into_iter().chain(STATES.map(Some)).map(tab).collect();
    let every = |word: &str| vec![(String::new(), word.to_owned())];
    let mut projects = every("all projects");
    let paths: Vec<&str> = board.all_projects.iter().map(|(path, _)| path.as_deref().unwrap_or("no project")).collect();
    projects.extend(board.all_projects.iter().zip(project_names(&paths)).map(|((path, many), name)| {
        (path.clone().unwrap_or_else(|| NO_PROJECT.to_owned()), format!("{name} ({})", number(*many)))
    }));
    let mut agents = every("all agents");
    agents.extend(board.all_agents.iter().map(|agent| (agent.to_string(), agent.to_string())));
    html! {
        div.filters {
            (tabs("By state", &states))
            form action="/" data-filters {
                @if let Some(state) = non_blank(params.state.as_ref()) { input type="hidden" name="state" value=(OneLine(state)); }
                (select_field("project", "Project", non_blank(params.project.as_ref()), &projects))
                (select_field("agent", "Agent", non_blank(params.agent.as_ref()), &agents))
                button.plain.no-script { "Show" }
            }
        }
    }
}

fn is_live(project: &BoardProject) -> bool {
    project.states.total() > project.states.ended
}

/// A project with its sessions as cards.
fn live_project(context: PageContext<'_>, project: &BoardProject, is_alone: bool, params: &BoardParams) -> Markup {
    let cards = html! { div.cards { @for session in &project.sessions { (session_card(context, session)) } } };
    project_frame(project, (!is_alone).then_some(project.sessions.len()), params, &cards)
}

/// A project whose sessions have all ended: a few of them, one line each.
fn ended_project(context: PageContext<'_>, project: &BoardProject, params: &BoardParams) -> Markup {
    let shown = project.sessions.iter().take(SESSIONS_PER_ENDED_PROJECT);
    let rows = html! {
        ul.rows {
            @for BoardSession { listed, .. } in shown {
                @let session = &listed.session;
                li id={ "s-" (session.id) } data-item {
                    a href=(to_session(session.id)) { (OneLine(session_label(session))) }
                    span.agent { (session.agent.as_str()) }
                    (context.ago(session.last_activity_at))
                }
            }
        }
    };
    project_frame(project, Some(project.sessions.len().min(SESSIONS_PER_ENDED_PROJECT)), params, &rows)
}

/// The frame of a project. `beside` is the number of sessions shown when there are other projects; then a link leads to
/// the rest.
fn project_frame(project: &BoardProject, beside: Option<usize>, params: &BoardParams, inside: &Markup) -> Markup {
    let path = project.project.as_deref();
    let name = path.map_or("no project", last_part);
    let own = path.unwrap_or(NO_PROJECT);
    let (agent, state) = (non_blank(params.agent.as_ref()), non_blank(params.state.as_ref()));
    let alone = link("/", &[("project", Some(own)), ("agent", agent), ("state", state)]);
    let all = project.states.total();
    html! {
        section.band id={ "p-" (html_id(own)) } aria-label={ "Project " (OneLine(name)) } {
            header {
                h2 { @if beside.is_some() { a href=(alone) { (OneLine(name)) } } @else { (OneLine(name)) } }
                @if let Some(path) = path { p.path { bdi { (OneLine(path)) } } }
                (counts(&project.states))
            }
            (inside)
            @if beside.is_some_and(|shown| all > shown as u64) {
                p.more { a.plain href=(alone) { "All " (count(all, "session")) " of " (OneLine(name)) } }
            }
        }
    }
}

fn counts(states: &StateCounts) -> Markup {
    let some = STATES.into_iter().filter(|state| states.count(*state) > 0);
    html! { p.counts { @for state in some { span { (number(states.count(state))) " " (crate::render::state_name(state)) } } } }
}

fn session_card(context: PageContext<'_>, on_board: &BoardSession) -> Markup {
    let (session, state) = (&on_board.listed.session, on_board.listed.state);
    let prompt = on_board
        .task
        .as_deref()
        .or(on_board.last_prompt.as_deref())
        .map(|text| clip(text, MAX_PROMPT_CHARS).into_owned());
    let is_over = state == SessionState::Ended;
    html! {
        article class={ "card " (crate::render::state_name(state)) } id={ "s-" (session.id) } data-item {
            header {
                h3 { a href=(to_session(session.id)) { (OneLine(session_label(session))) } }
                (context.ago(session.last_activity_at))
            }
            p.about {
                (components::state(state))
                @if let Some((status, _)) = &on_board.listed.live { span { (status.as_str()) } }
                span { (session.agent.as_str()) }
                @if let Some(branch) = &session.branch { span.branch { (OneLine(branch)) } }
                @if let Some(model) = &session.model { span { (OneLine(short_model(model))) } }
                @if let Some(parent) = &on_board.parent { span { "fork of " (components::session_link(parent)) } }
            }
            @if let Some(prompt) = prompt { p.last-prompt { (OneLine(prompt)) } }
            @if let Some(last) = on_board.last_entry.as_ref().filter(|_| !is_over) { (last_action(session, last)) }
            footer { (session_counts(session)) (cost(&on_board.usage)) }
        }
    }
}

/// The last message or action of a session.
fn last_action(session: &Session, last: &Entry) -> Markup {
    html! {
        p.doing {
            @if let Some(tool) = &last.tool {
                @let outcome = tool.outcome.as_ref();
                @let how = outcome.map_or("pending", |outcome| if outcome.status == ToolStatus::Ok { "ok" } else { "failed" });
                span class={ "action-line " (how) } { (OneLine(&tool.name)) " " code { (OneLine(clip(&relative_path(&tool.target, session), MAX_ACTION_CHARS))) } }
                @if how == "pending" { span.dim { "running" } }
                @if how == "failed" { span.bad { "failed" } }
            } @else if last.kind == EntryKind::AssistantText {
                span.action-line { (OneLine(clip(first_line(&last.text), MAX_ACTION_CHARS))) }
            } @else {
                span.action-line.failed { (OneLine(clip(first_line(&last.text), MAX_ACTION_CHARS))) }
            }
        }
    }
}

/// The counts that are not zero.
fn session_counts(session: &Session) -> Markup {
    let counts = session.counts;
    let known = [
        (counts.prompts, "prompt", ""),
        (counts.tool_calls, "call", ""),
        (counts.tool_errors, "failed", "bad"),
        (counts.files_edited, "file", ""),
    ];
    html! {
        span.numbers {
            @for (many, noun, class) in known.into_iter().filter(|(many, ..)| *many > 0) {
                span class=(class) { @if noun == "failed" { (number(many)) " failed" } @else { (count(many, noun)) } }
            }
        }
    }
}

/// Links to the previous and the next page.
fn pager(params: &BoardParams, board: &Board, is_alone: bool) -> Markup {
    let (all, shown, noun) = match board.projects.first().filter(|_| is_alone) {
        Some(only) => (only.states.total() as usize, only.sessions.len(), "session"),
        None => (board.matching_project_count, board.projects.len(), "project"),
    };
    let step = if is_alone { SESSIONS_PER_PAGE } else { PROJECTS_PER_PAGE };
    let (from, until) = (params.from, params.from + shown);
    let state = non_blank(params.state.as_ref());
    html! {
        @if from > 0 || until < all {
            nav.around aria-label="More" {
                @if from > 0 { a.plain href=(params.link(state, from.saturating_sub(step))) rel="prev" { "Newer" } }
                span.dim { (number((from as u64).saturating_add(1))) "–" (number(until as u64)) " of " (count(all as u64, noun)) }
                @if until < all {
                    a.plain href=(params.link(state, until)) rel="next" { "Show " (number(step.min(all - until) as u64)) " more" }
                }
            }
        }
    }
}

/// A model name without its vendor and date.
pub(super) fn short_model(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("claude-").unwrap_or(name);
    match name.rsplit_once('-') {
        Some((rest, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => rest.to_owned(),
        _ => name.to_owned(),
    }
}

/// A stable HTML id for a text.
fn html_id(text: &str) -> String {
    let plain = text.bytes().map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte) } else { '-' });
    let sum = text.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    format!("{}-{sum:x}", plain.collect::<String>().trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_names_are_shortened_and_ids_are_stable() {
        assert_eq!(short_model("claude-opus-4-5-20251101"), "opus-4-5");
        assert_eq!(short_model("google/gemini-3-flash"), "gemini-3-flash");
        assert_eq!(html_id("/a b"), html_id("/a b"));
        assert_ne!(html_id("/a b"), html_id("/a-b"));
    }
}
