//! The board: all sessions by project and state, with what each was last asked and does now.

use maud::{Markup, html};
use rethread_engine::{Board, BoardProject, BoardRequest, OfProject, OnBoard, Portion, StateCounts};
use rethread_model::{Agent, Entry, Session, Speech, State, Status, clip, first_line};
use serde::Deserialize;

use super::links::{link, to_session};
use super::parts::{self, Here, Line, choice, cost, count, given, last_part, tabs};
use super::shell::{Page, Place};
use crate::render::{name_of, number, shortened};
use crate::serve::{App, Refusal};

/// Projects on a board.
const PROJECTS: usize = 24;
/// Sessions of a project beside others; those that have not ended may be more.
const SESSIONS_BESIDE: usize = 6;
/// Sessions of a project in which nothing goes on.
const SESSIONS_QUIET: usize = 4;
/// Sessions of a project that is looked at alone, at a time.
const SESSIONS_ALONE: usize = 60;
/// How a session without a project is asked for.
const UNKNOWN: &str = "-";
/// Characters of a prompt or an answer on a card; more would not be seen.
const PROMPT: usize = 220;
const DEED: usize = 120;

/// All states, the liveliest first.
pub(super) const STATES: [State; 4] = [State::Active, State::Idle, State::Suspended, State::Ended];

/// What is wanted of the board.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    project: Option<String>,
    agent: Option<String>,
    state: Option<String>,
    /// How many projects, or sessions of one project, are left out before those shown.
    #[serde(default)]
    from: usize,
}

impl Wanted {
    fn request(&self) -> Result<BoardRequest, Refusal> {
        let project = match given(self.project.as_ref()) {
            None => OfProject::Any,
            Some(UNKNOWN) => OfProject::Unknown,
            Some(path) => OfProject::Named(path.to_owned()),
        };
        let is_alone = project != OfProject::Any;
        let (beside, alone) = (Portion { skip: self.from, most: PROJECTS }, Portion { skip: 0, most: 1 });
        let one = Portion { skip: self.from, most: SESSIONS_ALONE };
        Ok(BoardRequest {
            project,
            agent: agent(self.agent.as_ref())?,
            state: given(self.state.as_ref()).map(state_named).transpose()?,
            projects: if is_alone { alone } else { beside },
            sessions: if is_alone { one } else { Portion { skip: 0, most: SESSIONS_BESIDE } },
        })
    }

    fn link(&self, state: Option<&str>, from: usize) -> String {
        let from = (from > 0).then(|| from.to_string());
        link(
            "/",
            &[
                ("project", given(self.project.as_ref())),
                ("agent", given(self.agent.as_ref())),
                ("state", state),
                ("from", from.as_deref()),
            ],
        )
    }
}

/// The agent that is wanted, if one is.
pub(super) fn agent(name: Option<&String>) -> Result<Option<Agent>, Refusal> {
    let agent = given(name).map(str::parse).transpose();
    agent.map_err(|error: rethread_model::UnknownAgent| Refusal::bad(error.to_string()))
}

fn state_named(name: &str) -> Result<State, Refusal> {
    let found = STATES.into_iter().find(|state| crate::render::state(*state) == name);
    found.ok_or_else(|| Refusal::bad(format!("no session is ever {name:?}")))
}

/// The board.
pub(super) fn page(app: &App, wanted: &Wanted) -> Result<Page, Refusal> {
    let request = wanted.request()?;
    let board = app.engine.board(&request)?;
    let here = Here::of(app);
    let is_alone = request.project != OfProject::Any;
    let body = html! {
        h1.sr { "Board" }
        @if board.known_projects.is_empty() {
            (parts::never_read())
        } @else {
            (filters(wanted, &board, &request))
            @if board.projects.is_empty() {
                (parts::nothing("No such session", &html! { p { "Nothing fits all of these filters. " a href="/" { "Show all" } } }))
            }
            @let (live, quiet): (Vec<_>, Vec<_>) = board.projects.iter().partition(|project| is_alone || is_live(project));
            @for project in live { (band(here, project, is_alone, wanted)) }
            @if !quiet.is_empty() { div.quiet-bands { @for project in quiet { (quiet_band(here, project, wanted)) } } }
            (around(wanted, &board, is_alone))
        }
    };
    Ok(Page::new("Board", Place::Board, body).live())
}

fn filters(wanted: &Wanted, board: &Board, request: &BoardRequest) -> Markup {
    let tab = |state: Option<State>| {
        let name = state.map(crate::render::state);
        let many = state.map_or(board.states.all(), |state| board.states.of(state));
        let text = html! {
            @if let Some(state) = state { (parts::state(state)) } @else { "all" }
            " " span.number { (number(many)) }
        };
        (wanted.link(name, 0), text, request.state == state)
    };
    let states: Vec<_> = [None].into_iter().chain(STATES.map(Some)).map(tab).collect();
    let every = |word: &str| vec![(String::new(), word.to_owned())];
    let mut projects = every("all projects");
    projects.extend(board.known_projects.iter().map(|(path, many)| match path {
        Some(path) => (path.clone(), format!("{} ({})", last_part(path), number(*many))),
        None => (UNKNOWN.to_owned(), format!("no project ({})", number(*many))),
    }));
    let mut agents = every("all agents");
    agents.extend(board.known_agents.iter().map(|agent| (agent.to_string(), agent.to_string())));
    html! {
        div.filters {
            (tabs("By state", &states))
            form action="/" data-filters {
                @if let Some(state) = given(wanted.state.as_ref()) { input type="hidden" name="state" value=(Line(state)); }
                (choice("project", "Project", given(wanted.project.as_ref()), &projects))
                (choice("agent", "Agent", given(wanted.agent.as_ref()), &agents))
                button.plain.no-script { "Show" }
            }
        }
    }
}

fn is_live(project: &BoardProject) -> bool {
    project.states.all() > project.states.ended
}

/// A project with its sessions.
fn band(here: Here<'_>, project: &BoardProject, is_alone: bool, wanted: &Wanted) -> Markup {
    let cards = html! { div.cards { @for session in &project.sessions { (card(here, session)) } } };
    framed(project, (!is_alone).then_some(project.sessions.len()), wanted, &cards)
}

/// A project in which nothing goes on: a few of its sessions, a line for each.
fn quiet_band(here: Here<'_>, project: &BoardProject, wanted: &Wanted) -> Markup {
    let shown = project.sessions.iter().take(SESSIONS_QUIET);
    let rows = html! {
        ul.rows {
            @for OnBoard { listed, .. } in shown {
                @let session = &listed.session;
                li id={ "s-" (session.id) } data-item {
                    a href=(to_session(session.id)) { (Line(name_of(session))) }
                    span.agent { (session.agent.as_str()) }
                    (here.ago(session.last_activity_at))
                }
            }
        }
    };
    framed(project, Some(project.sessions.len().min(SESSIONS_QUIET)), wanted, &rows)
}

/// A project around what is shown of it; with a way to the rest, where so many of it are shown beside others.
fn framed(project: &BoardProject, beside: Option<usize>, wanted: &Wanted, inside: &Markup) -> Markup {
    let path = project.project.as_deref();
    let name = path.map_or("no project", last_part);
    let own = path.unwrap_or(UNKNOWN);
    let (agent, state) = (given(wanted.agent.as_ref()), given(wanted.state.as_ref()));
    let alone = link("/", &[("project", Some(own)), ("agent", agent), ("state", state)]);
    let all = project.states.all();
    html! {
        section.band id={ "p-" (identifier(own)) } aria-label={ "Project " (Line(name)) } {
            header {
                h2 { @if beside.is_some() { a href=(alone) { (Line(name)) } } @else { (Line(name)) } }
                @if let Some(path) = path { p.path { bdi { (Line(path)) } } }
                (counts(&project.states))
            }
            (inside)
            @if beside.is_some_and(|shown| all > shown as u64) {
                p.more { a.plain href=(alone) { "All " (count(all, "session")) " of " (Line(name)) } }
            }
        }
    }
}

fn counts(states: &StateCounts) -> Markup {
    let some = STATES.into_iter().filter(|state| states.of(*state) > 0);
    html! { p.counts { @for state in some { span { (number(states.of(state))) " " (crate::render::state(state)) } } } }
}

/// One session.
fn card(here: Here<'_>, on_board: &OnBoard) -> Markup {
    let (session, state) = (&on_board.listed.session, on_board.listed.state);
    let asked = on_board.task.as_deref().or(on_board.prompt.as_deref()).map(|text| clip(text, PROMPT).into_owned());
    let is_over = state == State::Ended;
    html! {
        article class={ "card " (crate::render::state(state)) } id={ "s-" (session.id) } data-item {
            header {
                h3 { a href=(to_session(session.id)) { (Line(name_of(session))) } }
                (here.ago(session.last_activity_at))
            }
            p.about {
                (parts::state(state))
                span { (session.agent.as_str()) }
                @if let Some(branch) = &session.branch { span.branch { (Line(branch)) } }
                @if let Some(model) = &session.model { span { (Line(short_model(model))) } }
            }
            @if let Some(asked) = asked { p.asked { (Line(asked)) } }
            @if let Some(last) = on_board.last.as_ref().filter(|_| !is_over) { (doing(session, last)) }
            footer { (numbers(session)) (cost(&on_board.used)) }
        }
    }
}

/// What a session said or did last.
fn doing(session: &Session, last: &Entry) -> Markup {
    html! {
        p.doing {
            @if let Some(tool) = &last.tool {
                @let outcome = tool.outcome.as_ref();
                @let how = outcome.map_or("pending", |outcome| if outcome.status == Status::Ok { "ok" } else { "failed" });
                span class={ "deed " (how) } { (Line(&tool.name)) " " code { (Line(clip(&shortened(&tool.target, session), DEED))) } }
                @if how == "pending" { span.dim { "running" } }
                @if how == "failed" { span.bad { "failed" } }
            } @else if last.speech == Speech::Said {
                span.deed.said { (Line(clip(first_line(&last.text), DEED))) }
            } @else {
                span.deed.failed { (Line(clip(first_line(&last.text), DEED))) }
            }
        }
    }
}

/// What was counted, as far as there is any.
fn numbers(session: &Session) -> Markup {
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

/// Ways to what comes before and after, where a board is not shown at once.
fn around(wanted: &Wanted, board: &Board, is_alone: bool) -> Markup {
    let (all, shown, noun) = match board.projects.first().filter(|_| is_alone) {
        Some(only) => (only.states.all() as usize, only.sessions.len(), "session"),
        None => (board.fitting, board.projects.len(), "project"),
    };
    let step = if is_alone { SESSIONS_ALONE } else { PROJECTS };
    let (from, until) = (wanted.from, wanted.from + shown);
    let state = given(wanted.state.as_ref());
    html! {
        @if from > 0 || until < all {
            nav.around aria-label="More" {
                @if from > 0 { a.plain href=(wanted.link(state, from.saturating_sub(step))) rel="prev" { "Newer" } }
                span.dim { (number((from as u64).saturating_add(1))) "–" (number(until as u64)) " of " (count(all as u64, noun)) }
                @if until < all {
                    a.plain href=(wanted.link(state, until)) rel="next" { "Show " (number(step.min(all - until) as u64)) " more" }
                }
            }
        }
    }
}

/// A model's name without its maker and its date.
pub(super) fn short_model(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model);
    let name = name.strip_prefix("claude-").unwrap_or(name);
    match name.rsplit_once('-') {
        Some((rest, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => rest.to_owned(),
        _ => name.to_owned(),
    }
}

/// Something that can stand in an id, and stays the same for the same text.
fn identifier(text: &str) -> String {
    let plain = text.bytes().map(|byte| if byte.is_ascii_alphanumeric() { char::from(byte) } else { '-' });
    let sum = text.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
    format!("{}-{sum:x}", plain.collect::<String>().trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_told_shortly() {
        assert_eq!(short_model("claude-opus-4-5-20251101"), "opus-4-5");
        assert_eq!(short_model("google/gemini-3-flash"), "gemini-3-flash");
        assert_eq!(identifier("/a b"), identifier("/a b"));
        assert_ne!(identifier("/a b"), identifier("/a-b"));
    }
}
