//! The graph around a thing as text for Graphviz and as a picture that needs nothing else. Equal for equal graphs.

use std::f64::consts::TAU;
use std::fmt::Write;

use rethread_engine::{Edge, Graph, Node};
use rethread_model::FactState;

use super::facts::linked;
use super::page::fit;

/// Columns of a name in the picture.
const LABEL: usize = 26;
/// How wide and high a node is.
const NODE: (f64, f64) = (196.0, 40.0);
/// Half the width and height of the ellipse on which the neighbours of the middle lie, if that is enough for them.
const RING: (f64, f64) = (330.0, 210.0);
/// How far the second ring lies beyond the first.
const STEP: (f64, f64) = (250.0, 150.0);
/// Room around everything.
const MARGIN: f64 = 24.0;
/// Between two boxes.
const BETWEEN: f64 = 12.0;
/// So often a ring is made larger; each time by a tenth.
const MOST_TRIES: usize = 40;

/// Colours for a light and for a dark page.
const STYLE: &str = "\
    svg { background: #ffffff; font: 13px ui-sans-serif, system-ui, sans-serif }
    .box { fill: #f3f4f6; stroke: #6b7280 } .middle { fill: #dbeafe; stroke: #1d4ed8; stroke-width: 2 }
    text { fill: #111827 } .kind { fill: #4b5563; font-size: 10px }
    line { stroke: #6b7280 } .refuted, .superseded { stroke-dasharray: 4 4 } .hypothesis { stroke-dasharray: 1 4 }
    .said { fill: #374151; font-size: 11px; stroke: #ffffff; stroke-width: 4px; paint-order: stroke }
    #tip path { fill: #6b7280 }
    @media (prefers-color-scheme: dark) {
      svg { background: #111827 } .box { fill: #1f2937; stroke: #9ca3af } .middle { fill: #1e3a8a; stroke: #93c5fd }
      text { fill: #f9fafb } .kind { fill: #d1d5db } line { stroke: #9ca3af } #tip path { fill: #9ca3af }
      .said { fill: #e5e7eb; stroke: #111827 }
    }";

/// The graph in the language of Graphviz.
pub(crate) fn dot(graph: &Graph) -> String {
    let mut out = String::from("digraph facts {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n");
    for (at, node) in graph.nodes.iter().enumerate() {
        let label = format!("{}\\n{}", node.thing.kind(), quoted(&name(node, usize::MAX)));
        let middle = if at == 0 { ", penwidth=2" } else { "" };
        let _ = writeln!(out, "  n{at} [label=\"{label}\"{middle}];");
    }
    for edge in &graph.edges {
        let style = match edge.state {
            FactState::Confirmed => "solid",
            FactState::Hypothesis => "dotted",
            FactState::Refuted | FactState::Superseded => "dashed",
        };
        let (label, tip) = (quoted(&said(graph, edge)), quoted(&explained(graph, edge)));
        let ends = format!("n{} -> n{}", edge.from, edge.to);
        let _ = writeln!(out, "  {ends} [label=\"{label}\", style={style}, tooltip=\"{tip}\"];");
    }
    out.push_str("}\n");
    out
}

/// The graph as a picture, with a description for those who do not see it.
pub(crate) fn svg(graph: &Graph) -> String {
    let places = places(graph);
    let far = |pick: fn(&(f64, f64)) -> f64| places.iter().map(|place| pick(place).abs()).fold(0.0, f64::max);
    let (half_width, half_height) = (far(|at| at.0) + NODE.0 / 2.0 + MARGIN, far(|at| at.1) + NODE.1 / 2.0 + MARGIN);
    let title = graph.nodes.first().map(|node| name(node, usize::MAX)).unwrap_or_default();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title desc\" width=\"{:.0}\" \
         height=\"{:.0}\" viewBox=\"{:.0} {:.0} {:.0} {:.0}\">\n<title id=\"title\">What is known about {}</title>\n\
         <desc id=\"desc\">{}</desc>\n<style>\n{STYLE}\n</style>\n",
        half_width * 2.0,
        half_height * 2.0,
        -half_width,
        -half_height,
        half_width * 2.0,
        half_height * 2.0,
        escaped(&title),
        escaped(&described(graph)),
    );
    out.push_str(
        "<defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0L10 5L0 10z\"/></marker></defs>\n",
    );
    for edge in &graph.edges {
        draw_edge(&mut out, graph, edge, &places);
    }
    for edge in &graph.edges {
        draw_words(&mut out, graph, edge, &places);
    }
    for (at, node) in graph.nodes.iter().enumerate() {
        draw_node(&mut out, node, places[at], at == 0);
    }
    out.push_str("</svg>\n");
    out
}

/// Where each node lies: the middle in the middle, its neighbours on an ellipse, theirs on a larger one, each near the
/// node it was met from.
fn places(graph: &Graph) -> Vec<(f64, f64)> {
    let mut places = vec![(0.0, 0.0); graph.nodes.len().max(1)];
    let on = |depth: usize| (0..graph.nodes.len()).filter(|at| graph.nodes[*at].depth == depth).collect::<Vec<_>>();
    let near = on(1);
    let mut far = on(2);
    let met_from = |at: usize| {
        let edges = graph.edges.iter().filter(|edge| edge.from == at || edge.to == at);
        let others = edges.map(|edge| if edge.from == at { edge.to } else { edge.from });
        others.filter_map(|other| near.iter().position(|node| *node == other)).min().unwrap_or(0)
    };
    far.sort_by_key(|at| (met_from(*at), *at));
    let mut taken = vec![places[0]];
    let mut ring = RING;
    for nodes in [&near, &far] {
        let found = free_places(&mut ring, nodes.len(), &taken);
        for (node, place) in nodes.iter().zip(&found) {
            places[*node] = *place;
        }
        taken.extend(found);
        ring = (ring.0 + STEP.0, ring.1 + STEP.1);
    }
    places
}

/// Places on an ellipse that is made larger until no two boxes touch.
fn free_places(ring: &mut (f64, f64), count: usize, taken: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let apart = |one: &(f64, f64), other: &(f64, f64)| {
        (one.0 - other.0).abs() > NODE.0 + BETWEEN || (one.1 - other.1).abs() > NODE.1 + BETWEEN
    };
    let is_free = |places: &[(f64, f64)]| {
        let among = |at: usize| places[..at].iter().all(|other| apart(&places[at], other));
        (0..places.len()).all(|at| among(at) && taken.iter().all(|other| apart(&places[at], other)))
    };
    let mut found = spread(*ring, count);
    for _ in 0..MOST_TRIES {
        if is_free(&found) {
            break;
        }
        *ring = (ring.0 * 1.1, ring.1 * 1.1);
        found = spread(*ring, count);
    }
    found
}

/// Places on an ellipse, from the top on, equally far from each other along it.
fn spread((width, height): (f64, f64), count: usize) -> Vec<(f64, f64)> {
    const PIECES: usize = 720;
    let point = |piece: usize| {
        let angle = TAU * piece as f64 / PIECES as f64 - TAU / 4.0;
        (width * angle.cos(), height * angle.sin())
    };
    let length = |piece: usize| {
        let ((x, y), (other_x, other_y)) = (point(piece), point(piece + 1));
        (x - other_x).hypot(y - other_y)
    };
    let around: f64 = (0..PIECES).map(length).sum();
    let mut found = Vec::with_capacity(count);
    let mut gone = 0.0;
    for piece in 0..PIECES {
        if found.len() < count && gone >= around * found.len() as f64 / count as f64 {
            found.push(point(piece));
        }
        gone += length(piece);
    }
    found.resize(count, point(0));
    found
}

fn draw_edge(out: &mut String, graph: &Graph, edge: &Edge, places: &[(f64, f64)]) {
    let (from, to) = (places[edge.from], places[edge.to]);
    let (begin, end) = (border(from, to), border(to, from));
    let _ = writeln!(
        out,
        "<line class=\"{}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" marker-end=\"url(#tip)\"><title>{}</title></line>",
        edge.state.as_str(),
        begin.0,
        begin.1,
        end.0,
        end.1,
        escaped(&explained(graph, edge)),
    );
}

/// What an edge says, beside its middle; several edges between the same nodes are told below each other.
fn draw_words(out: &mut String, graph: &Graph, edge: &Edge, places: &[(f64, f64)]) {
    let ends = |edge: &Edge| (edge.from.min(edge.to), edge.from.max(edge.to));
    let mut same = graph.edges.iter().filter(|other| ends(other) == ends(edge));
    let line = same.position(|other| other == edge).unwrap_or(0) as f64;
    let (from, to) = (places[edge.from], places[edge.to]);
    let (begin, end) = (border(from, to), border(to, from));
    let (x, y) = (f64::midpoint(begin.0, end.0), f64::midpoint(begin.1, end.1) + 4.0 + 13.0 * line);
    let _ = writeln!(
        out,
        "<text class=\"said\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>",
        escaped(&said(graph, edge))
    );
}

fn draw_node(out: &mut String, node: &Node, (x, y): (f64, f64), is_middle: bool) {
    let class = if is_middle { "box middle" } else { "box" };
    let _ = writeln!(
        out,
        "<g><title>{} {}</title><rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.0}\" height=\"{:.0}\" rx=\"6\"/>\
         <text class=\"kind\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>",
        node.thing.kind(),
        escaped(&name(node, usize::MAX)),
        x - NODE.0 / 2.0,
        y - NODE.1 / 2.0,
        NODE.0,
        NODE.1,
        y - 5.0,
        node.thing.kind(),
        y + 12.0,
        escaped(&name(node, LABEL)),
    );
}

/// Where the line from one node to another leaves its box.
fn border(from: (f64, f64), to: (f64, f64)) -> (f64, f64) {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let share = (NODE.0 / 2.0 / x.abs().max(0.1)).min(NODE.1 / 2.0 / y.abs().max(0.1)).min(1.0);
    (from.0 + x * share, from.1 + y * share)
}

fn name(node: &Node, width: usize) -> String {
    fit(&node.thing.label(), width)
}

fn said(graph: &Graph, edge: &Edge) -> String {
    let words = linked(graph, edge);
    if edge.times > 1 { format!("{words} {}×", edge.times) } else { words }
}

/// All that an edge knows: how sure, how often, since and until when, and where it stands.
fn explained(graph: &Graph, edge: &Edge) -> String {
    let mut parts = vec![said(graph, edge), edge.state.named(edge.predicate).to_owned()];
    if edge.succeeded + edge.failed > 0 {
        parts.push(format!("{} went well, {} failed", edge.succeeded, edge.failed));
    }
    parts.extend(edge.valid_from.map(|at| format!("since {at}")));
    parts.extend(edge.valid_to.map(|at| format!("until {at}")));
    parts.push(edge.source.citation());
    parts.join("; ")
}

fn described(graph: &Graph) -> String {
    let label = |at: usize| graph.nodes.get(at).map(|node| name(node, LABEL)).unwrap_or_default();
    let edges = graph.edges.iter().map(|edge| format!("{} {} {}", label(edge.from), said(graph, edge), label(edge.to)));
    let edges: Vec<String> = edges.collect();
    if edges.is_empty() { "Nothing is linked to it.".to_owned() } else { format!("{}.", edges.join("; ")) }
}

/// Inside quotes of Graphviz.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Inside XML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use rethread_engine::{Source, Thing};
    use rethread_model::{Agent, Entity, EntityKind, Predicate, SessionId, Timestamp};

    use super::*;

    fn graph(near: usize, far: usize) -> Graph {
        let node = |name: String, depth| Node { thing: Thing::Entity(Entity::new(EntityKind::File, name)), depth };
        let nodes = std::iter::once(node("a <b> & \"c\"\u{1b}[2J".to_owned(), 0))
            .chain((0..near).map(|at| node(format!("near{at}"), 1)))
            .chain((0..far).map(|at| node(format!("far{at}"), 2)));
        let at = Timestamp::from_millis(0);
        let source = Source {
            session: SessionId::derive(Agent::Pi, "x", at),
            agent: Agent::Pi,
            session_name: None,
            project: None,
            episode: 1,
            line: 7,
            evidence: Vec::new(),
            at: Some(at),
        };
        let edge = |from, to| Edge {
            from,
            to,
            predicate: Predicate::FixedBy,
            state: FactState::Superseded,
            times: 2,
            succeeded: 1,
            failed: 1,
            valid_from: Some(at),
            valid_to: Some(at),
            last_at: Some(at),
            source: source.clone(),
        };
        let edges = (0..near).map(|other| edge(0, other + 1));
        let edges = edges.chain((0..far).map(|other| edge(1 + other % near.max(1), 1 + near + other)));
        Graph { nodes: nodes.collect(), edges: edges.collect(), left_out: 0 }
    }

    #[test]
    fn boxes_do_not_lie_on_each_other() {
        for (near, far) in [(0, 0), (1, 0), (2, 0), (5, 0), (12, 0), (3, 9), (12, 27)] {
            let places = places(&graph(near, far));
            for (at, one) in places.iter().enumerate() {
                for other in &places[..at] {
                    let apart = (one.0 - other.0).abs() >= NODE.0 || (one.1 - other.1).abs() >= NODE.1;
                    assert!(apart, "{near} {far}: {one:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn a_picture_is_well_formed_harmless_and_tells_itself() {
        let picture = svg(&graph(2, 1));
        assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"));
        assert!(picture.contains("<title id=\"title\">What is known about a &lt;b&gt; &amp; &quot;c&quot;</title>"));
        assert!(picture.contains("near0") && picture.contains("fixed, shown by 2×") && picture.contains("until 1970"));
        assert!(picture.contains("prefers-color-scheme: dark") && !picture.contains("<script"));
        assert!(!picture.contains(|c: char| c != '\n' && rethread_model::is_dangerous(c)));
        for tag in ["<g>", "<text", "<line", "<svg", "<title"] {
            let name = tag.trim_matches(['<', '>']);
            assert_eq!(picture.matches(tag).count(), picture.matches(&format!("</{name}>")).count(), "{tag}");
        }
        assert_eq!(picture, svg(&graph(2, 1)));
    }

    #[test]
    fn a_drawing_for_graphviz_is_quoted() {
        let text = dot(&graph(1, 0));
        assert!(text.contains("n0 [label=\"file\\na <b> & \\\"c\\\"\", penwidth=2];"), "{text}");
        assert!(text.contains("n0 -> n1 [label=\"fixed, shown by 2×\", style=dashed"), "{text}");
    }
}
