//! What is known: errors and what helped, decisions, how work is done, and the way into the graph.

mod parts;
mod workflows;

use maud::{Markup, html};
use rethread_engine::{
    DecisionRequest, ErrorsReport, ErrorsRequest, FactsReport, FactsRequest, KnownThing, Scope, WorkflowRequest,
};
use serde::Deserialize;

use super::links::{link, to_thing};
use super::parts::{Here, Line, choice, count, given, last_part, never_read, nothing, tabs};
use super::shell::{Page, Place};
use crate::render::number;
use crate::serve::{App, Refusal};

pub(super) use parts::{decision, error};

/// Of each kind on the overview.
const FEW: usize = 8;
/// On a page of its own.
const MANY: usize = 60;
/// Things of each kind that are named as a way into the graph.
const THINGS: usize = 6;

/// What is wanted of the memory.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    q: Option<String>,
    project: Option<String>,
    /// Also decisions that hold no more.
    all: Option<String>,
}

impl Wanted {
    fn query(&self) -> &str {
        given(self.q.as_ref()).unwrap_or_default()
    }

    fn scope(&self) -> Scope {
        given(self.project.as_ref()).map_or(Scope::AllProjects, |path| Scope::Project(path.to_owned()))
    }
}

/// The views of the memory: where, and what they are called.
const VIEWS: [(&str, &str); 5] = [
    ("/memory", "Overview"),
    ("/memory/errors", "Errors and fixes"),
    ("/memory/decisions", "Decisions"),
    ("/memory/workflows", "Workflows"),
    ("/memory/graph", "Graph"),
];

/// The views, and what they are confined to.
pub(super) fn views(
    app: &App,
    here: &str,
    q: Option<&str>,
    project: Option<&str>,
    label: &str,
) -> Result<Markup, Refusal> {
    let all: Vec<_> = VIEWS
        .into_iter()
        .map(|(path, name)| (link(path, &[("project", project)]), html! { (name) }, path == here))
        .collect();
    let mut projects = vec![(String::new(), "all projects".to_owned())];
    projects.extend(app.engine.projects()?.into_iter().map(|path| (path.clone(), last_part(&path).to_owned())));
    Ok(html! {
        div.filters {
            (tabs("Views of the memory", &all))
            form action=(here) role="search" aria-label="This view" data-filters {
                label.field {
                    span.sr { (label) }
                    input type="search" name=(if here == "/memory/graph" { "of" } else { "q" })
                        value=(Line(q.unwrap_or_default())) placeholder=(label) autocomplete="off" data-find;
                }
                (choice("project", "Project", project, &projects))
                button.plain.no-script { "Show" }
            }
        }
    })
}

fn page(app: &App, title: &str, path: &str, wanted: &Wanted, body: &Markup) -> Result<Page, Refusal> {
    let views = views(app, path, given(wanted.q.as_ref()), given(wanted.project.as_ref()), "Filter by words")?;
    Ok(Page::new(
        title,
        Place::Memory,
        html! { h1.sr { (title) } (views) @if path != VIEWS[0].0 { h2.sr { "What is known" } } (body) },
    ))
}

/// The newest of everything.
pub(super) fn overview(app: &App, wanted: &Wanted) -> Result<Page, Refusal> {
    let (engine, here) = (&app.engine, Here::of(app));
    let (scope, query) = (wanted.scope(), wanted.query().to_owned());
    let errors = engine.errors(&ErrorsRequest { query: query.clone(), scope: scope.clone(), limit: FEW })?;
    let decisions = engine.decisions(&DecisionRequest { query, scope: scope.clone(), ..DecisionRequest::default() })?;
    let workflows = engine.workflows(&WorkflowRequest { scope: scope.clone(), as_of: None })?;
    let things = engine.facts_about(&FactsRequest { scope, limit: THINGS, ..FactsRequest::default() })?;
    let things = match things {
        FactsReport::Things(things) => things,
        FactsReport::About { .. } => Vec::new(),
    };
    let is_nothing = errors.total == 0 && decisions.is_empty() && workflows.is_empty() && things.is_empty();
    let to = |path| link(path, &[("project", given(wanted.project.as_ref())), ("q", given(wanted.q.as_ref()))]);
    let body = html! {
        @if is_nothing { (unknown(wanted)) }
        @else {
            div.columns {
                section {
                    h2 { a href=(to("/memory/errors")) { "Errors and fixes" } " " span.number { (number(errors.total as u64)) } }
                    (error_list(here, &errors))
                    @if errors.total > FEW { (all_of(&to("/memory/errors"), errors.total, "error")) }
                }
                div.stack {
                    section {
                        h2 { a href=(to("/memory/decisions")) { "Decisions" } " " span.number { (number(decisions.len() as u64)) } }
                        @if decisions.is_empty() { p.dim { "None that holds." } }
                        @for one in decisions.iter().take(FEW) { (decision(here, one, false)) }
                        @if decisions.len() > FEW { (all_of(&to("/memory/decisions"), decisions.len(), "decision")) }
                    }
                    section {
                        h2 { a href=(to("/memory/graph")) { "Known things" } }
                        (thing_list(&things))
                    }
                    section {
                        h2 { a href=(to("/memory/workflows")) { "Workflows" } }
                        @if workflows.is_empty() { p.dim { "None so far." } }
                        @for one in workflows.iter().take(2) { (workflows::workflow(here, one, 4)) }
                    }
                }
            }
        }
    };
    page(app, "Memory", "/memory", wanted, &body)
}

/// Errors, with what helped and what did not.
pub(super) fn errors(app: &App, wanted: &Wanted) -> Result<Page, Refusal> {
    let request = ErrorsRequest { query: wanted.query().to_owned(), scope: wanted.scope(), limit: MANY };
    let report = app.engine.errors(&request)?;
    let body = html! {
        @if report.errors.is_empty() { (unknown(wanted)) }
        div.spread { (error_list(Here::of(app), &report)) }
        (narrow(report.errors.len(), report.total))
    };
    page(app, "Errors and fixes", "/memory/errors", wanted, &body)
}

/// What was decided, and whether it holds.
pub(super) fn decisions(app: &App, wanted: &Wanted) -> Result<Page, Refusal> {
    let is_all = given(wanted.all.as_ref()).is_some();
    let request = DecisionRequest { query: wanted.query().to_owned(), scope: wanted.scope(), all: true, as_of: None };
    let mut found = app.engine.decisions(&request)?;
    let closed = found.iter().filter(|one| !one.is_open()).count();
    if !is_all {
        found.retain(rethread_engine::Decision::is_open);
    }
    let here = Here::of(app);
    let (project, q) = (given(wanted.project.as_ref()), given(wanted.q.as_ref()));
    let other = link("/memory/decisions", &[("project", project), ("q", q), ("all", (!is_all).then_some("1"))]);
    let body = html! {
        @if found.is_empty() && closed == 0 { (unknown(wanted)) }
        @if closed > 0 {
            p.more {
                a.plain href=(other) {
                    @if is_all { "Only what holds" } @else { "Also " (count(closed as u64, "decision")) " that hold no more" }
                }
            }
        }
        div.spread { @for one in found.iter().take(MANY) { (decision(here, one, false)) } }
        (narrow(MANY.min(found.len()), found.len()))
    };
    page(app, "Decisions", "/memory/decisions", wanted, &body)
}

/// How work is done.
pub(super) fn workflows(app: &App, wanted: &Wanted) -> Result<Page, Refusal> {
    let mut found = app.engine.workflows(&WorkflowRequest { scope: wanted.scope(), as_of: None })?;
    let query = wanted.query().to_lowercase();
    for one in &mut found {
        one.commands.retain(|command| command.command.to_lowercase().contains(&query));
        one.patterns.retain(|pattern| pattern.commands.iter().any(|command| command.to_lowercase().contains(&query)));
    }
    found.retain(|one| !one.commands.is_empty() || !one.patterns.is_empty());
    let here = Here::of(app);
    let body = html! {
        @if found.is_empty() { (unknown(wanted)) }
        div.spread { @for one in found.iter().take(MANY) { (workflows::workflow(here, one, 30)) } }
    };
    page(app, "Workflows", "/memory/workflows", wanted, &body)
}

/// A way to all of a kind.
fn all_of(address: &str, many: usize, noun: &str) -> Markup {
    html! { p.more { a.plain href=(address) { "All " (count(many as u64, noun)) } } }
}

/// What to do where not all are shown.
fn narrow(shown: usize, all: usize) -> Markup {
    html! {
        @if all > shown { p.dim { "The newest " (number(shown as u64)) " of " (number(all as u64)) ". Words narrow them down." } }
    }
}

fn error_list(here: Here<'_>, report: &ErrorsReport) -> Markup {
    html! {
        @if report.errors.is_empty() { p.dim { "None so far." } }
        @for one in &report.errors { (error(here, one, false)) }
    }
}

/// Things as ways into the graph, by kind.
pub(super) fn thing_list(things: &[KnownThing]) -> Markup {
    html! {
        @for of_kind in things.chunk_by(|one, next| one.entity.kind == next.entity.kind) {
            @let kind = of_kind[0].entity.kind.as_str();
            h3.kind { (kind) }
            ul.things {
                @for thing in of_kind {
                    li data-item {
                        a href=(to_thing(kind, &thing.entity.name)) { (Line(&thing.entity.name)) }
                        span.number title=(count(thing.facts, "fact")) { (number(thing.facts)) }
                    }
                }
            }
        }
    }
}

fn unknown(wanted: &Wanted) -> Markup {
    if wanted.query().is_empty() && wanted.scope() == Scope::AllProjects {
        return never_read();
    }
    nothing(
        "Nothing of that is known",
        &html! { p { "No error, decision or command fits. " a href="/memory" { "Show all" } } },
    )
}
