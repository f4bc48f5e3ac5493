//! The memory pages: overview, questions, errors and fixes, decisions, workflows.

mod ask;
mod components;
mod workflows;

use maud::{Markup, html};
use rethread_engine::{
    DecisionRequest, EntityFacts, ErrorsReport, ErrorsRequest, FactsReport, FactsRequest, SessionScope, WorkflowRequest,
};
use serde::Deserialize;

use super::components::{
    OneLine, PageContext, count, empty_state, non_blank, nothing_synced, project_choices, select_field, tabs,
};
use super::layout::{NavPage, WebPage};
use super::links::{link, to_entity};
use super::viewer::Viewer;
use crate::render::number;
use crate::serve::{ApiError, ServerState};

pub(super) use ask::page as ask;
use components::rule_card;
pub(super) use components::{decision_card, error_cards};

/// Items per section of the overview.
const OVERVIEW_ITEMS: usize = 8;
/// Items on a page of one kind.
const PAGE_ITEMS: usize = 60;
/// Entities of each kind on the overview.
const ENTITIES_PER_KIND: usize = 6;

/// Query parameters of the memory pages.
#[derive(Debug, Default, Deserialize)]
pub(super) struct MemoryPageParams {
    q: Option<String>,
    project: Option<String>,
    /// Also show decisions that are no longer active.
    all: Option<String>,
}

impl MemoryPageParams {
    fn query(&self) -> &str {
        non_blank(self.q.as_ref()).unwrap_or_default()
    }

    fn scope(&self) -> SessionScope {
        non_blank(self.project.as_ref())
            .map_or(SessionScope::AllProjects, |path| SessionScope::Project(path.to_owned()))
    }
}

/// The tabs: path and name.
const VIEWS: [(&str, &str); 6] = [
    ("/memory", "Overview"),
    ("/memory/ask", "Ask"),
    ("/memory/errors", "Errors and fixes"),
    ("/memory/decisions", "Decisions"),
    ("/memory/workflows", "Workflows"),
    ("/memory/graph", "Graph"),
];

/// The tabs, the filter field and the project filter.
pub(super) fn views(
    app: &ServerState,
    current: &str,
    q: Option<&str>,
    project: Option<&str>,
    label: &str,
) -> Result<Markup, ApiError> {
    let all: Vec<_> = VIEWS
        .into_iter()
        .map(|(path, name)| (link(path, &[("project", project)]), html! { (name) }, path == current))
        .collect();
    let mut projects = vec![(String::new(), "all projects".to_owned())];
    projects.extend(project_choices(&app.engine.sessions().projects()?));
    Ok(html! {
        div.filters {
            (tabs("Memory views", &all))
            form action=(current) role="search" aria-label="Filter this view" data-filters {
                label.field {
                    span.sr { (label) }
                    input type="search" name=(if current == "/memory/graph" { "of" } else { "q" })
                        value=(OneLine(q.unwrap_or_default())) placeholder=(label) autocomplete="off" data-find;
                }
                (select_field("project", "Project", project, &projects))
                button.plain.no-script { "Show" }
            }
        }
    })
}

fn page(
    app: &ServerState,
    title: &str,
    path: &str,
    params: &MemoryPageParams,
    body: &Markup,
) -> Result<WebPage, ApiError> {
    let views = views(app, path, non_blank(params.q.as_ref()), non_blank(params.project.as_ref()), "Filter by words")?;
    Ok(WebPage::new(
        title,
        NavPage::Memory,
        html! { h1.sr { (title) } (views) @if path != VIEWS[0].0 { h2.sr { "Results" } } (body) },
    ))
}

/// The newest items of each kind.
pub(super) fn overview(app: &Viewer<'_>, params: &MemoryPageParams) -> Result<WebPage, ApiError> {
    let (engine, context) = (&app.engine, PageContext::new(app));
    let (scope, query) = (params.scope(), params.query().to_owned());
    let errors =
        engine.facts().errors(&ErrorsRequest { query: query.clone(), scope: scope.clone(), limit: OVERVIEW_ITEMS })?;
    let decisions =
        engine.facts().decisions(&DecisionRequest { query, scope: scope.clone(), ..DecisionRequest::default() })?;
    let workflows = engine.facts().workflows(&WorkflowRequest { scope: scope.clone(), as_of: None })?;
    let entities =
        engine.facts().about(&FactsRequest { scope, limit: ENTITIES_PER_KIND, ..FactsRequest::default() })?;
    let entities = match entities {
        FactsReport::Entities(entities) => entities,
        FactsReport::About { .. } => Vec::new(),
    };
    let is_nothing = errors.total == 0 && decisions.is_empty() && workflows.is_empty() && entities.is_empty();
    let to = |path| link(path, &[("project", non_blank(params.project.as_ref())), ("q", non_blank(params.q.as_ref()))]);
    let body = html! {
        @if is_nothing { (nothing_found(params)) }
        @else {
            div.columns {
                section {
                    h2 { a href=(to("/memory/errors")) { "Errors and fixes" } " " span.number { (number(errors.total as u64)) } }
                    (error_list(app, &errors)?)
                    @if errors.total > OVERVIEW_ITEMS { (link_to_all(&to("/memory/errors"), errors.total, "error")) }
                }
                div.stack {
                    section {
                        h2 { a href=(to("/memory/decisions")) { "Decisions" } " " span.number { (number(decisions.len() as u64)) } }
                        @if decisions.is_empty() { p.dim { "No active decisions." } }
                        @for one in decisions.iter().take(OVERVIEW_ITEMS) { (decision_card(context, one, false)) }
                        @if decisions.len() > OVERVIEW_ITEMS { (link_to_all(&to("/memory/decisions"), decisions.len(), "decision")) }
                    }
                    section {
                        h2 { a href=(to("/memory/graph")) { "Entities" } }
                        (entity_list(&entities))
                    }
                    section {
                        h2 { a href=(to("/memory/workflows")) { "Workflows" } }
                        @if workflows.is_empty() { p.dim { "No workflows yet." } }
                        @for one in workflows.iter().take(2) { (workflows::workflow(context, one, 4)) }
                    }
                }
            }
        }
    };
    page(app, "Memory", "/memory", params, &body)
}

/// Errors with their fixes and failed attempts.
pub(super) fn errors(app: &Viewer<'_>, params: &MemoryPageParams) -> Result<WebPage, ApiError> {
    let request = ErrorsRequest { query: params.query().to_owned(), scope: params.scope(), limit: PAGE_ITEMS };
    let report = app.engine.facts().errors(&request)?;
    let body = html! {
        @if report.errors.is_empty() { (nothing_found(params)) }
        div.spread { (error_list(app, &report)?) }
        (truncation_note(report.errors.len(), report.total))
    };
    page(app, "Errors and fixes", "/memory/errors", params, &body)
}

/// Decisions with their state.
pub(super) fn decisions(app: &Viewer<'_>, params: &MemoryPageParams) -> Result<WebPage, ApiError> {
    let is_all = non_blank(params.all.as_ref()).is_some();
    let request = DecisionRequest {
        query: params.query().to_owned(),
        scope: params.scope(),
        include_inactive: true,
        as_of: None,
    };
    let mut found = app.engine.facts().decisions(&request)?;
    let rules = app.engine.facts().file_rules(&request)?;
    let closed = found.iter().filter(|one| !one.is_open()).count();
    if !is_all {
        found.retain(rethread_engine::Decision::is_open);
    }
    let context = PageContext::new(app);
    let (project, q) = (non_blank(params.project.as_ref()), non_blank(params.q.as_ref()));
    let other = link("/memory/decisions", &[("project", project), ("q", q), ("all", (!is_all).then_some("1"))]);
    let body = html! {
        @if found.is_empty() && closed == 0 && rules.is_empty() { (nothing_found(params)) }
        @if closed > 0 {
            p.more {
                a.plain href=(other) {
                    @if is_all { "Show active only" } @else { "Show " (count(closed as u64, "inactive decision")) }
                }
            }
        }
        div.spread { @for one in found.iter().take(PAGE_ITEMS) { (decision_card(context, one, false)) } }
        (truncation_note(PAGE_ITEMS.min(found.len()), found.len()))
        @if !rules.is_empty() {
            h2 { "Rules in files" }
            div.spread { @for one in rules.iter().take(PAGE_ITEMS) { (rule_card(one)) } }
            (truncation_note(PAGE_ITEMS.min(rules.len()), rules.len()))
        }
    };
    page(app, "Decisions", "/memory/decisions", params, &body)
}

/// Commands and recurring sequences by project.
pub(super) fn workflows(app: &Viewer<'_>, params: &MemoryPageParams) -> Result<WebPage, ApiError> {
    let mut found = app.engine.facts().workflows(&WorkflowRequest { scope: params.scope(), as_of: None })?;
    let query = params.query().to_lowercase();
    for one in &mut found {
        one.commands.retain(|command| command.command.to_lowercase().contains(&query));
        for found in [&mut one.sequences, &mut one.retries] {
            found.retain(|sequence| sequence.steps.iter().any(|step| step.to_lowercase().contains(&query)));
        }
    }
    found.retain(|one| !one.commands.is_empty() || !one.sequences.is_empty());
    let context = PageContext::new(app);
    let body = html! {
        @if found.is_empty() { (nothing_found(params)) }
        div.spread { @for one in found.iter().take(PAGE_ITEMS) { (workflows::workflow(context, one, 30)) } }
    };
    page(app, "Workflows", "/memory/workflows", params, &body)
}

/// A link to all items of a kind.
fn link_to_all(address: &str, many: usize, noun: &str) -> Markup {
    html! { p.more { a.plain href=(address) { "All " (count(many as u64, noun)) } } }
}

/// A note that not all items are shown.
fn truncation_note(shown: usize, all: usize) -> Markup {
    html! {
        @if all > shown { p.dim { "The newest " (number(shown as u64)) " of " (number(all as u64)) ". Filter by words to narrow the list." } }
    }
}

fn error_list(app: &ServerState, report: &ErrorsReport) -> Result<Markup, ApiError> {
    let cards = error_cards(app, &report.errors, false)?;
    Ok(html! {
        @if cards.is_empty() { p.dim { "No errors yet." } }
        @for card in cards { (card) }
    })
}

/// Entities by kind, as links to the graph.
pub(super) fn entity_list(entities: &[EntityFacts]) -> Markup {
    html! {
        @for of_kind in entities.chunk_by(|one, next| one.entity.kind == next.entity.kind) {
            @let kind = of_kind[0].entity.kind.as_str();
            h3.kind { (kind) }
            ul.things {
                @for entity in of_kind {
                    li data-item {
                        a href=(to_entity(kind, &entity.entity.name)) { (OneLine(&entity.entity.name)) }
                        span.number title=(count(entity.facts, "fact")) { (number(entity.facts)) }
                    }
                }
            }
        }
    }
}

fn nothing_found(params: &MemoryPageParams) -> Markup {
    if params.query().is_empty() && params.scope() == SessionScope::AllProjects {
        return nothing_synced();
    }
    empty_state(
        "No results",
        &html! { p { "No error, decision or command matches. " a href="/memory" { "Show all" } } },
    )
}
