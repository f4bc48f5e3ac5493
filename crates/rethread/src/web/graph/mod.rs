//! The graph page: an entity with its neighbors, drawn as SVG and listed as text.

mod columns;

use maud::{Markup, html};
use rethread_engine::{
    EntityFacts, EntityGraph, FactRow, FactSource, FactsReport, FactsRequest, GraphEdge, GraphItem, SessionScope,
};
use rethread_model::{EntityKind, FactState};
use serde::Deserialize;

use super::components::{OneLine, PageContext, citation, count, empty_state, non_blank, nothing_synced, reason};
use super::layout::{NavPage, WebPage};
use super::links::{link, to_entity, to_line, to_session};
use super::memory::{entity_list, views};
use super::viewer::Viewer;
use crate::render::{edge_label, number, truncate_to_width};
use crate::serve::ApiError;
use columns::{NODE, PlacedNode, column_graph};

/// Facts shown for an entity.
const MAX_FACTS: usize = 40;
/// Entities of each kind when no entity is given.
const ENTITIES_PER_KIND: usize = 24;

/// Characters of a name, and of a relation, that fit into a node.
const NAME_WIDTH: usize = 30;
const RELATION_WIDTH: usize = 36;

/// Longer names get a smaller heading.
const LONG_NAME_CHARS: usize = 60;

/// Query parameters of the graph page.
#[derive(Debug, Default, Deserialize)]
pub(super) struct GraphPageParams {
    of: Option<String>,
    kind: Option<String>,
    project: Option<String>,
}

/// The graph around an entity, or the list of entities.
pub(super) fn page(app: &Viewer<'_>, params: &GraphPageParams) -> Result<WebPage, ApiError> {
    let (of, project) = (non_blank(params.of.as_ref()), non_blank(params.project.as_ref()));
    let kind = non_blank(params.kind.as_ref()).map(|name| {
        EntityKind::from_stored(name).ok_or_else(|| ApiError::bad_request(format!("unknown kind {name:?}")))
    });
    let kind = kind.transpose()?;
    let scope = project.map_or(SessionScope::AllProjects, |path| SessionScope::Project(path.to_owned()));
    let limit = if of.is_some() { MAX_FACTS } else { ENTITIES_PER_KIND };
    let request = FactsRequest { entity: of.map(str::to_owned), kind, scope, as_of: None, limit };
    let report = app.engine.facts().about(&request)?;
    let context = PageContext::new(app);
    let body = html! {
        h1.sr { "Graph" }
        (views(app, "/memory/graph", of, project, "File, command, error, decision…")?)
        @match &report {
            FactsReport::Entities(things) if things.is_empty() => { (nothing_known(of)) }
            FactsReport::Entities(things) => { (entities_by_kind(things, of)) }
            FactsReport::About { subject: entity, facts, graph, others } => {
                (heading(context, entity, graph))
                (drawing_svg(graph))
                div.columns.two {
                    (relations(context, graph))
                    (fact_list(context, facts, &others.iter().map(|other| (other.kind.as_str(), other.name.as_str())).collect::<Vec<_>>()))
                }
            }
        }
    };
    let title = of.map_or_else(|| "Graph".to_owned(), |of| format!("Graph of {of}"));
    Ok(WebPage::new(title, NavPage::Memory, body))
}

fn nothing_known(of: Option<&str>) -> Markup {
    match of {
        None => nothing_synced(),
        Some(of) => empty_state(
            "Nothing known",
            &html! {
                p { "No file, command, error, decision, preference, commit, branch, package, setting or topic is named " code { (OneLine(of)) } "." }
                p {
                    a.plain href="/memory/graph" { "All entities" } " "
                    a.plain href=(link("/search", &[("q", Some(of))])) { "Search for it" }
                }
            },
        ),
    }
}

fn entities_by_kind(entities: &[EntityFacts], of: Option<&str>) -> Markup {
    html! {
        @if let Some(of) = of { h2.sr { "Entities" } p.dim { "Several entities match " code { (OneLine(of)) } ":" } }
        @else { h2.sr { "Entities" } p.dim { "The entities with the most facts. Choose one to see its graph." } }
        div.spread.narrow {
            @for of_kind in entities.chunk_by(|one, next| one.entity.kind == next.entity.kind) { section { (entity_list(of_kind)) } }
        }
    }
}

fn heading(context: PageContext<'_>, entity: &EntityFacts, graph: &EntityGraph) -> Markup {
    html! {
        header.thing {
            p.dim { (entity.entity.kind.as_str()) }
            h2.long[entity.entity.name.chars().count() > LONG_NAME_CHARS] { (OneLine(&entity.entity.name)) }
            p.dim {
                (count(entity.facts, "fact")) " in " (count(entity.sessions, "session")) " · last " (context.since(entity.last_fact_at))
                @if graph.left_out > 0 { " · " (number(graph.left_out as u64)) " more not shown" }
            }
        }
    }
}

/// The drawing. Its nodes are links, and everything in it is also listed as text below, for keyboards, screen readers and
/// narrow screens.
fn drawing_svg(graph: &EntityGraph) -> Markup {
    let drawn = column_graph(graph);
    let (width, height) = (format!("{:.0}", drawn.size.0), format!("{:.0}", drawn.size.1));
    html! {
        @if !graph.edges.is_empty() {
            div.zoom role="group" aria-label="Zoom" {
                button.plain data-zoom="1.25" { "Zoom in" }
                button.plain data-zoom="0.8" { "Zoom out" }
                button.plain data-zoom="fit" { "Fit" }
                button.plain data-zoom="1" { "100 %" }
            }
            div.drawing tabindex="0" role="region" aria-label="Graph drawing" data-drawing {
                svg.graph viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) {
                    @for ((path, state), edge) in drawn.edges.iter().zip(&graph.edges) {
                        path class={ "edge " (state.as_str()) @if edge.from != 0 && edge.to != 0 { " far" } } d=(path) data-ends={ (edge.from) " " (edge.to) } { title { (OneLine(edge_label(graph, edge))) } }
                    }
                    @for (title, x, y) in &drawn.headings { text.heading x=(one_decimal(*x)) y=(one_decimal(*y)) { (title) } }
                    @for (at, (node, of)) in drawn.nodes.iter().zip(&graph.nodes).enumerate() { (linked_node(at, node, &of.item)) }
                }
            }
        }
    }
}

fn linked_node(at: usize, node: &PlacedNode, item: &GraphItem) -> Markup {
    let name = item.label();
    let (x, y) = (node.x, node.y);
    let clip = format!("node-{at}");
    let above = if at == 0 { item.kind() } else { &node.relation };
    html! {
        a class={ "node" @if at == 0 { " middle" } } href=(node_url(item)) data-node=(at) {
            title { (item.kind()) " " (OneLine(&name)) }
            clipPath id=(clip) { rect x=(one_decimal(x)) y=(one_decimal(y)) width=(one_decimal(NODE.0 - 8.0)) height=(one_decimal(NODE.1)) {} }
            rect x=(one_decimal(x)) y=(one_decimal(y)) width=(one_decimal(NODE.0)) height=(one_decimal(NODE.1)) rx="8" {}
            text.kind x=(one_decimal(x + 12.0)) y=(one_decimal(y + 19.0)) clip-path={ "url(#" (clip) ")" } { (OneLine(truncate_to_width(above, RELATION_WIDTH))) " " }
            text.name x=(one_decimal(x + 12.0)) y=(one_decimal(y + 38.0)) clip-path={ "url(#" (clip) ")" } { (OneLine(short_name(item, &name))) }
        }
    }
}

/// The end of a path says more than its beginning.
fn short_name(item: &GraphItem, name: &str) -> String {
    let (too_long, is_file) = (name.chars().count() > NAME_WIDTH, item.kind() == EntityKind::File.as_str());
    if !(too_long && is_file) {
        return truncate_to_width(name, NAME_WIDTH);
    }
    let skipped = name.chars().count() + 1 - NAME_WIDTH;
    format!("…{}", name.chars().skip(skipped).collect::<String>())
}

fn one_decimal(number: f64) -> String {
    format!("{number:.1}")
}

fn node_url(item: &GraphItem) -> String {
    match item {
        GraphItem::Entity(entity) => to_entity(entity.kind.as_str(), &entity.name),
        GraphItem::Session { id, .. } => to_session(*id),
    }
}

/// The edges as text, with their sources.
fn relations(context: PageContext<'_>, graph: &EntityGraph) -> Markup {
    html! {
        section {
            h3 { "Relations" }
            @if graph.edges.is_empty() { p.dim { "No relations." } }
            ul.links { @for edge in &graph.edges { (relation(context, graph, edge)) } }
        }
    }
}

fn relation(context: PageContext<'_>, graph: &EntityGraph, edge: &GraphEdge) -> Markup {
    let item = |at: usize| &graph.nodes[at].item;
    let end = |at: usize| {
        let item = item(at);
        html! {
            @if at == 0 { strong { (OneLine(item.label())) } }
            @else { a href=(node_url(item)) { (OneLine(item.label())) } }
        }
    };
    html! {
        li data-item {
            p { (end(edge.from)) " " span class={ "edge-label " (state_class(edge.state)) } { (edge_label(graph, edge)) } " " (end(edge.to)) }
            p.dim {
                (edge.state.display_name(edge.predicate)) " · "
                a href=(to_line(edge.source.session, edge.source.line)) { "line " (number(edge.source.line)) }
                " · " (context.since(edge.last_at))
            }
        }
    }
}

fn state_class(state: FactState) -> &'static str {
    match state {
        FactState::Confirmed => "good",
        FactState::Hypothesis => "careful",
        FactState::Refuted => "bad",
        FactState::Superseded => "gone",
    }
}

/// The latest facts.
fn fact_list(context: PageContext<'_>, facts: &[FactRow], others: &[(&str, &str)]) -> Markup {
    html! {
        section {
            h3 { "Facts" }
            @if !others.is_empty() {
                p.dim { "Other entities with this name: " @for (kind, name) in others { a href=(to_entity(kind, name)) { (kind) } " " } }
            }
            ul.links {
                @for known in facts {
                    @let fact = &known.fact;
                    li data-item {
                        p {
                            span class={ "badge " (state_class(fact.state)) } { (fact.predicate.as_str().replace('_', " ")) } " "
                            @if fact.detail.is_empty() { (OneLine(&fact.subject.name)) } @else { (OneLine(&fact.detail)) }
                        }
                        (reason(fact.reason.as_ref(), &fact.detail))
                        (citation(context, &FactSource::of_fact(known)))
                    }
                }
            }
        }
    }
}
