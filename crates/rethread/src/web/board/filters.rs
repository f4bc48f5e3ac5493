//! The filters of the board: states as tabs, everything else as fields.

use maud::{Markup, html};
use rethread_engine::Board;

use super::super::components::{self, OneLine, day_field, non_blank, select_field, tabs};
use super::{BoardParams, NO_PROJECT, STATES, sort};
use crate::render::{number, project_names, state_name};

/// Choices of the cost filter, in dollars.
const COSTS: [(&str, &str); 5] =
    [("", "any cost"), ("1", "$1 or more"), ("5", "$5 or more"), ("20", "$20 or more"), ("100", "$100 or more")];
/// Choices of the failure filter.
const FAILURES: [(&str, &str); 4] =
    [("", "any failures"), ("1", "1 or more failed"), ("5", "5 or more failed"), ("20", "20 or more failed")];

pub(super) fn filters(params: &BoardParams, board: &Board) -> Markup {
    html! {
        div.filters.board-filters {
            (states(params, board))
            form action="/" data-filters role="search" aria-label="Filter sessions" {
                @if let Some(state) = non_blank(params.state.as_ref()) { input type="hidden" name="state" value=(OneLine(state)); }
                @if let Some(year) = non_blank(params.year.as_ref()) { input type="hidden" name="year" value=(OneLine(year)); }
                (day_field("since", "From", params.since.as_ref()))
                (day_field("until", "To", params.until.as_ref()))
                (select_field("project", "Project", non_blank(params.project.as_ref()), &projects(board)))
                (select_field("agent", "Agent", non_blank(params.agent.as_ref()), &agents(board)))
                (select_field("cost", "Cost", non_blank(params.cost.as_ref()), &steps(&COSTS, params.cost.as_ref(), |cost| format!("${cost} or more"))))
                (select_field("failures", "Failures", non_blank(params.failures.as_ref()), &steps(&FAILURES, params.failures.as_ref(), |many| format!("{many} or more failed"))))
                @if !board.all_tags.is_empty() { (select_field("tag", "Tag", non_blank(params.tag.as_ref()), &tag_choices(board))) }
                // On wide screens, the head of the table sorts it.
                span.sort-choice { (select_field("sort", "Sort", non_blank(params.sort.as_ref()), &sort::choices())) }
                label.choice.check {
                    input type="checkbox" name="pinned" value="1" checked[non_blank(params.pinned.as_ref()).is_some()] data-submit;
                    "Pinned"
                }
                button.plain.no-script { "Show" }
                @if params.has_filter() { a.plain.quiet href="/" { "Clear filters" } }
            }
        }
    }
}

/// The steps of a filter, and the number in the URL if it is none of them.
fn steps(choices: &[(&str, &str)], chosen: Option<&String>, name: impl Fn(&str) -> String) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> =
        choices.iter().map(|(value, text)| ((*value).to_owned(), (*text).to_owned())).collect();
    if let Some(other) = non_blank(chosen).filter(|other| choices.iter().all(|(value, _)| value != other)) {
        all.push((other.to_owned(), name(other)));
    }
    all
}

fn states(params: &BoardParams, board: &Board) -> Markup {
    let current = non_blank(params.state.as_ref());
    let tab = |state: Option<_>| {
        let name = state.map(state_name);
        let many = state.map_or(board.states.total(), |state| board.states.count(state));
        let text = html! {
            @if let Some(state) = state { (components::state(state)) } @else { "all" }
            " " span.number { (number(many)) }
        };
        (params.link(&[("state", name)]), text, current == name)
    };
    tabs("By state", &[None].into_iter().chain(STATES.map(Some)).map(tab).collect::<Vec<_>>())
}

fn projects(board: &Board) -> Vec<(String, String)> {
    let paths: Vec<&str> = board.all_projects.iter().map(|(path, _)| path.as_deref().unwrap_or("no project")).collect();
    let named = board.all_projects.iter().zip(project_names(&paths)).map(|((path, many), name)| {
        (path.clone().unwrap_or_else(|| NO_PROJECT.to_owned()), format!("{name} ({})", number(*many)))
    });
    std::iter::once((String::new(), "all projects".to_owned())).chain(named).collect()
}

fn agents(board: &Board) -> Vec<(String, String)> {
    let named = board.all_agents.iter().map(|agent| (agent.to_string(), agent.to_string()));
    std::iter::once((String::new(), "all agents".to_owned())).chain(named).collect()
}

fn tag_choices(board: &Board) -> Vec<(String, String)> {
    let named = board.all_tags.iter().map(|(tag, many)| (tag.clone(), format!("{tag} ({})", number(*many))));
    std::iter::once((String::new(), "all tags".to_owned())).chain(named).collect()
}
