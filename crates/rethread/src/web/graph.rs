//! The graph around a thing: drawn, with every node a way on, and told in words.

use maud::{Markup, html};
use rethread_engine::{Edge, FactsReport, FactsRequest, Graph, KnownFact, KnownThing, Scope, Source, Thing};
use rethread_model::{EntityKind, FactState};
use serde::Deserialize;

use super::links::{link, to_line, to_session, to_thing};
use super::memory::{thing_list, views};
use super::parts::{Here, Line, because, cited, count, given, never_read, nothing};
use super::shell::{Page, Place};
use crate::render::{Drawing, DrawnEdge, DrawnNode, NODE, drawing, number, said};
use crate::serve::{App, Refusal};

/// Facts of a thing that are told.
const FACTS: usize = 40;
/// Things of each kind, where nothing is asked for.
const THINGS: usize = 24;

/// What is wanted.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    of: Option<String>,
    kind: Option<String>,
    project: Option<String>,
}

/// The graph around a thing, or the things there are.
pub(super) fn page(app: &App, wanted: &Wanted) -> Result<Page, Refusal> {
    let (of, project) = (given(wanted.of.as_ref()), given(wanted.project.as_ref()));
    let kind = given(wanted.kind.as_ref()).map(|name| {
        EntityKind::from_stored(name).ok_or_else(|| Refusal::bad(format!("there are no things of the kind {name:?}")))
    });
    let kind = kind.transpose()?;
    let scope = project.map_or(Scope::AllProjects, |path| Scope::Project(path.to_owned()));
    let limit = if of.is_some() { FACTS } else { THINGS };
    let request = FactsRequest { entity: of.map(str::to_owned), kind, scope, as_of: None, limit };
    let report = app.engine.facts_about(&request)?;
    let here = Here::of(app);
    let body = html! {
        h1.sr { "Graph" }
        (views(app, "/memory/graph", of, project, "A file, command, error, choice…")?)
        @match &report {
            FactsReport::Things(things) if things.is_empty() => { (unknown(of)) }
            FactsReport::Things(things) => { (list(things, of)) }
            FactsReport::About { thing, facts, graph, others } => {
                (heading(here, thing, graph))
                (drawn(graph))
                div.columns.two {
                    (in_words(here, graph))
                    (told(here, facts, &others.iter().map(|other| (other.kind.as_str(), other.name.as_str())).collect::<Vec<_>>()))
                }
            }
        }
    };
    let title = of.map_or_else(|| "Graph".to_owned(), |of| format!("Around {of}"));
    Ok(Page::new(title, Place::Memory, body))
}

fn unknown(of: Option<&str>) -> Markup {
    match of {
        None => never_read(),
        Some(of) => nothing(
            "Nothing is known of it",
            &html! {
                p { "No file, command, error, choice, rule, commit, branch or package is called " code { (Line(of)) } "." }
                p {
                    a.plain href="/memory/graph" { "All things" } " "
                    a.plain href=(link("/search", &[("q", Some(of))])) { "Search for it" }
                }
            },
        ),
    }
}

fn list(things: &[KnownThing], of: Option<&str>) -> Markup {
    html! {
        @if let Some(of) = of { h2.sr { "Things" } p.dim { "Several things fit " code { (Line(of)) } ":" } }
        @else { h2.sr { "Things" } p.dim { "The things most is known of. Choose one to see what surrounds it." } }
        div.spread.narrow {
            @for of_kind in things.chunk_by(|one, next| one.entity.kind == next.entity.kind) { section { (thing_list(of_kind)) } }
        }
    }
}

fn heading(here: Here<'_>, thing: &KnownThing, graph: &Graph) -> Markup {
    html! {
        header.thing {
            p.dim { (thing.entity.kind.as_str()) }
            h2 { (Line(&thing.entity.name)) }
            p.dim {
                (count(thing.facts, "fact")) " in " (count(thing.sessions, "session")) " · last " (here.since(thing.last_at))
                @if graph.left_out > 0 { " · " (number(graph.left_out as u64)) " neighbours had no room" }
            }
        }
    }
}

/// The picture. Whoever uses keys or hears the page finds the same links in it, and all of it in words below.
fn drawn(graph: &Graph) -> Markup {
    let Drawing { half, nodes, edges } = drawing(graph);
    let frame = format!("{:.0} {:.0} {:.0} {:.0}", -half.0, -half.1, half.0 * 2.0, half.1 * 2.0);
    html! {
        @if !edges.is_empty() {
            div.drawing tabindex="0" role="region" aria-label="The graph, drawn" data-middle {
                svg.graph viewBox=(frame) width=(format!("{:.0}", half.0 * 2.0)) height=(format!("{:.0}", half.1 * 2.0)) {
                    defs {
                        marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto" {
                            path d="M0 0L10 5L0 10z" {}
                        }
                    }
                    @for edge in &edges { (line(edge)) }
                    @for edge in &edges {
                        @let (x, y) = edge.said_at;
                        text.said x=(tenth(x)) y=(tenth(y)) text-anchor="middle" { (Line(&edge.said)) }
                    }
                    @for (node, of) in nodes.iter().zip(&graph.nodes) { (linked_node(node, &of.thing)) }
                }
            }
        }
    }
}

fn line(edge: &DrawnEdge) -> Markup {
    html! {
        line class=(edge.state.as_str()) x1=(tenth(edge.begin.0)) y1=(tenth(edge.begin.1)) x2=(tenth(edge.end.0))
            y2=(tenth(edge.end.1)) marker-end="url(#tip)" { title { (Line(&edge.explained)) } }
    }
}

fn linked_node(node: &DrawnNode, thing: &Thing) -> Markup {
    let (x, y) = node.at;
    let class = if node.is_middle { "node middle" } else { "node" };
    html! {
        a class=(class) href=(address(thing)) {
            title { (node.kind) " " (Line(&node.name)) }
            rect x=(tenth(x - NODE.0 / 2.0)) y=(tenth(y - NODE.1 / 2.0)) width=(tenth(NODE.0)) height=(tenth(NODE.1)) rx="8" {}
            text.kind x=(tenth(x)) y=(tenth(y - 5.0)) text-anchor="middle" { (node.kind) " " }
            text.name x=(tenth(x)) y=(tenth(y + 12.0)) text-anchor="middle" { (Line(&node.label)) }
        }
    }
}

fn tenth(number: f64) -> String {
    format!("{number:.1}")
}

fn address(thing: &Thing) -> String {
    match thing {
        Thing::Entity(entity) => to_thing(entity.kind.as_str(), &entity.name),
        Thing::Session { id, .. } => to_session(*id),
    }
}

/// The same in words, with where each stands.
fn in_words(here: Here<'_>, graph: &Graph) -> Markup {
    html! {
        section {
            h3 { "In words" }
            @if graph.edges.is_empty() { p.dim { "Nothing is linked to it." } }
            ul.links { @for edge in &graph.edges { (link_in_words(here, graph, edge)) } }
        }
    }
}

fn link_in_words(here: Here<'_>, graph: &Graph, edge: &Edge) -> Markup {
    let thing = |at: usize| &graph.nodes[at].thing;
    let end = |at: usize| {
        let thing = thing(at);
        html! {
            @if at == 0 { strong { (Line(thing.label())) } }
            @else { a href=(address(thing)) { (Line(thing.label())) } }
        }
    };
    html! {
        li data-item {
            p { (end(edge.from)) " " span class={ "said " (tone(edge.state)) } { (said(graph, edge)) } " " (end(edge.to)) }
            p.dim {
                (edge.state.named(edge.predicate)) " · "
                a href=(to_line(edge.source.session, edge.source.line)) { "line " (number(edge.source.line)) }
                " · " (here.since(edge.last_at))
            }
        }
    }
}

fn tone(state: FactState) -> &'static str {
    match state {
        FactState::Confirmed => "good",
        FactState::Hypothesis => "careful",
        FactState::Refuted => "bad",
        FactState::Superseded => "gone",
    }
}

/// What was said of it last.
fn told(here: Here<'_>, facts: &[KnownFact], others: &[(&str, &str)]) -> Markup {
    html! {
        section {
            h3 { "What was said of it" }
            @if !others.is_empty() {
                p.dim { "Other things of that name: " @for (kind, name) in others { a href=(to_thing(kind, name)) { (kind) } " " } }
            }
            ul.links {
                @for known in facts {
                    @let fact = &known.fact;
                    li data-item {
                        p {
                            span class={ "badge " (tone(fact.state)) } { (fact.predicate.as_str().replace('_', " ")) } " "
                            @if fact.detail.is_empty() { (Line(&fact.subject.name)) } @else { (Line(&fact.detail)) }
                        }
                        (because(fact.reason.as_ref(), &fact.detail))
                        (cited(here, &Source::of(known)))
                    }
                }
            }
        }
    }
}
