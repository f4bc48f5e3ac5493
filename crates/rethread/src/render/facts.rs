//! What is known of a thing, and the things most is known of.

use jiff::tz::TimeZone;
use rethread_engine::{Edge, Graph, KnownFact, KnownThing, Source, Thing};
use rethread_model::{FactState, Predicate, Timestamp};
use unicode_width::UnicodeWidthStr;

use super::page::fit;
use super::words::{age, count, moment, number};
use super::wrap::wrap;
use super::{Page, Side, Tone, WIDEST_TEXT, single};

/// Columns before what belongs to something above it.
pub(super) const INDENT: usize = 2;
/// The widest name in a table.
const WIDEST_NAME: usize = 60;

/// Things as a table, by kind.
pub(crate) fn things(page: &mut Page, things: &[KnownThing], now: Timestamp) {
    let room = page.width().map_or(WIDEST_NAME, |width| width.saturating_sub(36).clamp(16, WIDEST_NAME));
    let name = |thing: &KnownThing| fit(&thing.entity.name, room);
    let width = things.iter().map(|thing| name(thing).width()).max().unwrap_or(0);
    let mut last = None;
    for thing in things {
        let kind = thing.entity.kind.as_str();
        let heading = if last == Some(kind) { "" } else { kind };
        last = Some(kind);
        page.cell(Tone::Dim, heading, "command".len(), Side::Left).add(Tone::Plain, "  ");
        page.cell(Tone::Strong, &name(thing), width, Side::Left).add(Tone::Plain, "  ");
        page.cell(Tone::Plain, &count(thing.facts, "fact"), "9,999 facts".len(), Side::Right).add(Tone::Plain, "  ");
        page.line(Tone::Dim, &age(thing.last_at, now));
    }
}

/// One thing: what it is linked to, and what was said of it last.
pub(crate) fn about(
    page: &mut Page,
    (thing, facts, graph): (&KnownThing, &[KnownFact], &Graph),
    zone: &TimeZone,
    with_project: bool,
) {
    page.add(Tone::Dim, thing.entity.kind.as_str()).add(Tone::Plain, " ");
    page.add(Tone::Strong, &single(&thing.entity.name)).add(Tone::Plain, "  ");
    let sessions = count(thing.sessions, "session");
    page.line(Tone::Dim, &format!("{} in {sessions}", count(thing.facts, "fact")));
    for edge in graph.edges.iter().filter(|edge| edge.from == 0 || edge.to == 0) {
        link(page, graph, edge, zone);
    }
    if graph.left_out > 0 {
        indented(page, Tone::Dim, &format!("… and {} more", number(graph.left_out as u64)), INDENT);
    }
    for known in facts {
        page.end();
        let fact = &known.fact;
        let object = fact.object.as_ref().map(|object| format!(" {}", single(&object.name))).unwrap_or_default();
        let said = spoken(fact.predicate);
        let said = if object.is_empty() { said.trim_end_matches(", shown by") } else { &said };
        page.add(state_tone(fact.state), fact.state.named(fact.predicate)).add(Tone::Plain, "  ");
        page.line(Tone::Plain, &format!("{} {said}{object}", single(&fact.subject.name)));
        if !fact.detail.is_empty() {
            indented(page, Tone::Plain, &fact.detail, INDENT);
        }
        if let Some(reason) = &fact.reason {
            indented(page, Tone::Plain, &format!("why: {reason}"), INDENT);
        }
        cited(page, &Source::of(known), zone, with_project);
    }
}

/// What is said, as people say it. The object of a fix is not what fixed it but what shows it.
pub(super) fn spoken(predicate: Predicate) -> String {
    match predicate {
        Predicate::FixedBy => "fixed, shown by".to_owned(),
        Predicate::NotFixedBy => "not fixed, shown by".to_owned(),
        other => other.as_str().replace('_', " "),
    }
}

/// What an edge says; sessions do things, of others something is said.
pub(super) fn linked(graph: &Graph, edge: &Edge) -> String {
    let by_session = matches!(graph.nodes[edge.from].thing, Thing::Session { .. });
    match edge.predicate {
        Predicate::FixedBy if by_session => "fixed".to_owned(),
        Predicate::NotFixedBy if by_session => "did not fix".to_owned(),
        other => spoken(other),
    }
}

/// How sure something is, as a colour.
pub(super) fn state_tone(state: FactState) -> Tone {
    match state {
        FactState::Confirmed => Tone::Good,
        FactState::Hypothesis => Tone::Careful,
        FactState::Refuted => Tone::Bad,
        FactState::Superseded => Tone::Dim,
    }
}

/// A text in lines below something, from a column on.
pub(super) fn indented(page: &mut Page, tone: Tone, text: &str, indent: usize) {
    let width = page.width().map(|width| width.min(WIDEST_TEXT).saturating_sub(indent).max(1));
    for line in wrap(&single(text), width) {
        page.add(Tone::Plain, &" ".repeat(indent)).line(tone, &line);
    }
}

/// When and where something was said, on a line of its own.
pub(super) fn cited(page: &mut Page, source: &Source, zone: &TimeZone, with_project: bool) {
    let name = source.session_name.as_deref().map(|name| fit(name, WIDEST_NAME)).unwrap_or_default();
    let project = source.project.as_deref().filter(|_| with_project).map(last_part).unwrap_or_default();
    let parts = [moment(source.at, zone), source.agent.as_str().to_owned(), name, project, source.citation()];
    page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts.map(|part| (Tone::Dim, part)), INDENT);
}

/// The last part of a path.
pub(super) fn last_part(path: &str) -> String {
    single(path.trim_end_matches('/').rsplit('/').next().unwrap_or(path))
}

fn link(page: &mut Page, graph: &Graph, edge: &Edge, zone: &TimeZone) {
    let (arrow, other) = if edge.from == 0 { ("→", edge.to) } else { ("←", edge.from) };
    let other = &graph.nodes[other].thing;
    let times = if edge.times > 1 { format!("{}×", number(edge.times)) } else { String::new() };
    let until = edge.valid_to.map(|at| format!("until {}", moment(Some(at), zone))).unwrap_or_default();
    let parts = [
        (state_tone(edge.state), format!("{arrow} {}", linked(graph, edge))),
        (Tone::Plain, format!("{} {}", other.kind(), fit(&other.label(), WIDEST_NAME))),
        (Tone::Dim, times),
        (Tone::Dim, until),
        (Tone::Dim, edge.source.citation()),
    ];
    page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts, INDENT);
}
