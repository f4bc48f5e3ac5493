//! The board: what runs now, when there was work, and all sessions in one table by day.

mod filters;
mod heat_map;
mod now;
mod outcome;
mod sort;
mod table;
mod weekdays;

pub(super) use now::live_status;

use maud::html;
use rethread_engine::{Board, BoardRequest, ListRange, NanoUsd, ProjectFilter};
use rethread_model::{Agent, SessionState};
use serde::Deserialize;

use super::components::{self, PageContext, non_blank, reversed_dates};
use super::layout::{NavPage, WebPage};
use super::links::link;
use super::session::new_thread_button;
use super::viewer::Viewer;
use crate::serve::ApiError;

/// Sessions per page.
const SESSIONS_PER_PAGE: usize = 100;
/// Cards of running sessions.
const MAX_RUNNING: usize = 12;
/// The `project` parameter for sessions without a project.
const NO_PROJECT: &str = "-";

/// All states, the most active first.
pub(super) const STATES: [SessionState; 4] =
    [SessionState::Active, SessionState::Idle, SessionState::Suspended, SessionState::Ended];

/// Query parameters of the board.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct BoardParams {
    project: Option<String>,
    agent: Option<String>,
    state: Option<String>,
    /// First day.
    since: Option<String>,
    /// Last day.
    until: Option<String>,
    /// Least cost in dollars.
    cost: Option<String>,
    /// Least number of failed calls.
    failures: Option<String>,
    tag: Option<String>,
    /// Only pinned sessions.
    pinned: Option<String>,
    /// The year of the heat map; the last twelve months if missing.
    year: Option<String>,
    /// The column that sorts the table, with `-` before it to reverse its order.
    sort: Option<String>,
    /// Sessions to skip.
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
        let failures = non_blank(self.failures.as_ref()).map(|number| parse_number(number, "failures")).transpose()?;
        let min_cost = non_blank(self.cost.as_ref()).map(parse_dollars).transpose()?;
        Ok(BoardRequest {
            project,
            agent: parse_agent(self.agent.as_ref())?,
            state: non_blank(self.state.as_ref()).map(parse_state).transpose()?,
            since: non_blank(self.since.as_ref()).map(str::to_owned),
            until: non_blank(self.until.as_ref()).map(str::to_owned),
            min_cost,
            min_failures: failures.unwrap_or(0),
            only_pinned: non_blank(self.pinned.as_ref()).is_some(),
            tag: non_blank(self.tag.as_ref()).map(str::to_owned),
            order: non_blank(self.sort.as_ref()).map(sort::parse).transpose()?.unwrap_or_default(),
            sessions: ListRange { skip: self.from, limit: SESSIONS_PER_PAGE },
            max_running: MAX_RUNNING,
        })
    }

    /// The filters as they are in a URL.
    fn query(&self) -> [(&'static str, Option<&str>); 11] {
        [
            ("project", non_blank(self.project.as_ref())),
            ("agent", non_blank(self.agent.as_ref())),
            ("state", non_blank(self.state.as_ref())),
            ("since", non_blank(self.since.as_ref())),
            ("until", non_blank(self.until.as_ref())),
            ("cost", non_blank(self.cost.as_ref())),
            ("failures", non_blank(self.failures.as_ref())),
            ("tag", non_blank(self.tag.as_ref())),
            ("pinned", non_blank(self.pinned.as_ref())),
            ("year", non_blank(self.year.as_ref())),
            ("sort", non_blank(self.sort.as_ref())),
        ]
    }

    /// The same page with other values of some filters.
    fn link(&self, changed: &[(&str, Option<&str>)]) -> String {
        let kept = self.query().into_iter().filter(|(name, _)| changed.iter().all(|(other, _)| other != name));
        link("/", &kept.chain(changed.iter().copied()).collect::<Vec<_>>())
    }

    fn has_filter(&self) -> bool {
        self.query().iter().any(|(name, value)| !matches!(*name, "year" | "sort") && value.is_some())
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

/// Parses an amount in dollars.
fn parse_dollars(text: &str) -> Result<NanoUsd, ApiError> {
    let dollars = text.parse::<f64>().ok().filter(|dollars| (0.0..=1e9).contains(dollars));
    let nanos = dollars.map(|dollars| (dollars * 1e9).round() as u64);
    let invalid =
        || ApiError::bad_request(format!("invalid cost {text:?}")).hint("use a number of dollars, such as 1.5");
    nanos.map(NanoUsd::new).ok_or_else(invalid)
}

fn parse_number(text: &str, name: &str) -> Result<u64, ApiError> {
    text.parse().map_err(|_| ApiError::bad_request(format!("invalid {name} {text:?}")).hint("use a whole number"))
}

pub(super) fn page(app: &Viewer<'_>, params: &BoardParams) -> Result<WebPage, ApiError> {
    let board = app.engine.sessions().board(&params.request()?)?;
    let body = html! {
        h1.sr { "Board" }
        @if board.all_projects.is_empty() { (components::nothing_synced()) }
        @else { (sessions(app, params, &board)?) }
    };
    Ok(WebPage::new("Board", NavPage::Board, body).live())
}

fn sessions(app: &Viewer<'_>, params: &BoardParams, board: &Board) -> Result<maud::Markup, ApiError> {
    let context = PageContext::new(app);
    Ok(html! {
        @if !board.sessions.is_empty() { a.skip href="#sessions" { "Skip to sessions" } }
        (now::strip(context, board, &new_thread_button(app)))
        (heat_map::section(context, params, board)?)
        (filters::filters(params, board))
        @if board.sessions.is_empty() {
            (components::empty_state("No sessions found", &html! {
                p { (reversed_dates(params.since.as_ref(), params.until.as_ref()).unwrap_or("No session matches these filters.")) " " a href="/" { "Show all" } }
            }))
        } @else {
            (table::table(context, params, board, app.may_write))
            (table::pager(params, board))
        }
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_names_are_shortened() {
        assert_eq!(short_model("claude-opus-4-5-20251101"), "opus-4-5");
        assert_eq!(short_model("google/gemini-3-flash"), "gemini-3-flash");
    }

    #[test]
    fn amounts_in_dollars_may_have_cents() {
        assert_eq!(parse_dollars("1.5").unwrap(), NanoUsd::new(1_500_000_000));
        for invalid in ["much", "-1", "NaN", "inf"] {
            assert!(parse_dollars(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn links_keep_the_other_filters() {
        let text = |text: &str| Some(text.to_owned());
        let params = BoardParams { agent: text("pi"), state: text("idle"), year: text("2025"), ..Default::default() };
        assert_eq!(params.link(&[("state", None)]), "/?agent=pi&year=2025");
        assert_eq!(params.link(&[("tag", Some("a b"))]), "/?agent=pi&state=idle&year=2025&tag=a%20b");
    }
}
