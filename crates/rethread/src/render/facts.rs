//! Facts about an entity as text, and the table of entities.

use jiff::tz::TimeZone;
use rethread_engine::{EntityFacts, EntityGraph, FactRow, FactSource, GraphEdge, GraphItem, KNOWLEDGE_PREDICATES};
use rethread_model::{EntityKind, FactState, Predicate, Timestamp};
use unicode_width::UnicodeWidthStr;

use super::format::{age, count, local_time, number};
use super::text_page::truncate_to_width;
use super::wrap::wrap;
use super::{CellAlign, MAX_TEXT_WIDTH, TextPage, Tone, sanitize_line};

/// Columns before the details of an item.
pub(super) const INDENT: usize = 2;
/// Maximum width of a name in a table.
const MAX_NAME_WIDTH: usize = 60;

/// Renders entities as a table, by kind.
pub(crate) fn entity_table(page: &mut TextPage, entities: &[EntityFacts], now: Timestamp) {
    let max_width = page.width().map_or(MAX_NAME_WIDTH, |width| width.saturating_sub(39).clamp(16, MAX_NAME_WIDTH));
    let name = |entity: &EntityFacts| truncate_to_width(&entity.entity.name, max_width);
    let width = entities.iter().map(|entity| name(entity).width()).max().unwrap_or(0);
    let mut last = None;
    for entity in entities {
        let kind = entity.entity.kind.as_str();
        let heading = if last == Some(kind) { "" } else { kind };
        last = Some(kind);
        page.cell(Tone::Dim, heading, "preference".len(), CellAlign::Left).add(Tone::Plain, "  ");
        page.cell(Tone::Strong, &name(entity), width, CellAlign::Left).add(Tone::Plain, "  ");
        page.cell(Tone::Plain, &count(entity.facts, "fact"), "9,999 facts".len(), CellAlign::Right)
            .add(Tone::Plain, "  ");
        page.line(Tone::Dim, &age(entity.last_fact_at, now));
    }
}

/// Renders one entity: what it is connected to, then its latest facts.
pub(crate) fn entity_facts(
    page: &mut TextPage,
    (entity, facts, graph): (&EntityFacts, &[FactRow], &EntityGraph),
    zone: &TimeZone,
    with_project: bool,
) {
    page.add(Tone::Dim, entity.entity.kind.as_str()).add(Tone::Plain, " ");
    page.add(Tone::Strong, &sanitize_line(&entity.entity.name)).add(Tone::Plain, "  ");
    let sessions = count(entity.sessions, "session");
    page.line(Tone::Dim, &format!("{} in {sessions}", count(entity.facts, "fact")));
    for edge in graph.edges.iter().filter(|edge| edge.from == 0 || edge.to == 0) {
        edge_line(page, graph, edge, zone);
    }
    if graph.left_out > 0 {
        indented(page, Tone::Dim, &format!("… and {} more", number(graph.left_out as u64)), INDENT);
    }
    for known in facts {
        page.end_line();
        let fact = &known.fact;
        let object = fact.object.as_ref().map(|object| format!(" {}", sanitize_line(&object.name))).unwrap_or_default();
        let phrase = predicate_phrase(fact.predicate);
        let phrase = if object.is_empty() { phrase.trim_end_matches(", verified by") } else { &phrase };
        page.add(state_tone(fact.state), fact.state.display_name(fact.predicate)).add(Tone::Plain, "  ");
        page.line(Tone::Plain, &format!("{} {phrase}{object}", sanitize_line(&fact.subject.name)));
        if !fact.detail.is_empty() {
            indented(page, Tone::Plain, &fact.detail, INDENT);
        }
        if let Some(reason) = &fact.reason {
            indented(page, Tone::Plain, &format!("why: {reason}"), INDENT);
        }
        source_line(page, &FactSource::of_fact(known), zone, with_project);
    }
}

/// A predicate as a phrase. The object of a fix is the command that verified it, not what fixed it.
pub(super) fn predicate_phrase(predicate: Predicate) -> String {
    match predicate {
        Predicate::FixedBy => "fixed, verified by".to_owned(),
        Predicate::NotFixedBy => "not fixed, verified by".to_owned(),
        other => other.as_str().replace('_', " "),
    }
}

/// The phrase of an edge. A session is the actor of a fix, so its phrase differs.
pub(super) fn edge_phrase(graph: &EntityGraph, edge: &GraphEdge) -> String {
    let by_session = matches!(graph.nodes[edge.from].item, GraphItem::Session { .. });
    let to_file = matches!(&graph.nodes[edge.to].item, GraphItem::Entity(entity) if entity.kind == EntityKind::File);
    match edge.predicate {
        Predicate::FixedBy if to_file => "fixed in".to_owned(),
        Predicate::NotFixedBy if to_file => "not fixed in".to_owned(),
        Predicate::Decided | Predicate::Prefers | Predicate::Forbids if to_file => {
            format!("{} about", edge.predicate.as_str())
        }
        Predicate::FixedBy if by_session => "fixed".to_owned(),
        Predicate::NotFixedBy if by_session => "did not fix".to_owned(),
        other => predicate_phrase(other),
    }
}

/// The color for the state of a fact.
pub(super) fn state_tone(state: FactState) -> Tone {
    match state {
        FactState::Confirmed => Tone::Success,
        FactState::Hypothesis => Tone::Warning,
        FactState::Refuted => Tone::Error,
        FactState::Superseded => Tone::Dim,
    }
}

/// Renders a wrapped text, indented by `indent` columns.
pub(super) fn indented(page: &mut TextPage, tone: Tone, text: &str, indent: usize) {
    let width = page.width().map(|width| width.min(MAX_TEXT_WIDTH).saturating_sub(indent).max(1));
    for line in wrap(&sanitize_line(text), width) {
        page.add(Tone::Plain, &" ".repeat(indent)).line(tone, &line);
    }
}

/// Renders time, session and citation of a source on a line.
pub(super) fn source_line(page: &mut TextPage, source: &FactSource, zone: &TimeZone, with_project: bool) {
    let name = source.session_name.as_deref().map(|name| truncate_to_width(name, MAX_NAME_WIDTH)).unwrap_or_default();
    let project = source.project.as_deref().filter(|_| with_project).map(last_path_component).unwrap_or_default();
    let parts = [local_time(source.at, zone), source.agent.as_str().to_owned(), name, project, source.citation()];
    page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts.map(|part| (Tone::Dim, part)), INDENT);
}

pub(super) fn last_path_component(path: &str) -> String {
    sanitize_line(path.trim_end_matches('/').rsplit('/').next().unwrap_or(path))
}

fn edge_line(page: &mut TextPage, graph: &EntityGraph, edge: &GraphEdge, zone: &TimeZone) {
    let (arrow, other) = if edge.from == 0 { ("→", edge.to) } else { ("←", edge.from) };
    let other = &graph.nodes[other].item;
    let times = if edge.fact_count > 1 { format!("{}×", number(edge.fact_count)) } else { String::new() };
    let until = edge.valid_to.map(|at| format!("until {}", local_time(Some(at), zone))).unwrap_or_default();
    let parts = [
        (state_tone(edge.state), format!("{arrow} {}", edge_phrase(graph, edge))),
        (Tone::Plain, format!("{} {}", other.kind(), truncate_to_width(&other.label(), MAX_NAME_WIDTH))),
        (Tone::Dim, times),
        (Tone::Dim, until),
        (Tone::Dim, edge.source.citation()),
    ];
    page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts, INDENT);
    if KNOWLEDGE_PREDICATES.contains(&edge.predicate) && !edge.detail.is_empty() && edge.detail != other.label() {
        indented(page, Tone::Plain, &edge.detail, 2 * INDENT);
    }
}
