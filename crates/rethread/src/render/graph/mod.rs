//! The graph around an entity as Graphviz text and as a self-contained SVG. Output is deterministic.

mod layout;

use std::fmt::Write;

use rethread_engine::EntityGraph;
use rethread_model::FactState;

pub(crate) use layout::edge_label;
use layout::{EdgeLayout, LABEL_WIDTH, NODE_SIZE, NodeLayout, edge_description, graph_layout, node_name};

/// Colors for light and dark mode.
const STYLE: &str = "\
    svg { background: #ffffff; font: 13px ui-sans-serif, system-ui, sans-serif }
    .box { fill: #f3f4f6; stroke: #6b7280 } .middle { fill: #dbeafe; stroke: #1d4ed8; stroke-width: 2 }
    text { fill: #111827 } .kind { fill: #4b5563; font-size: 10px }
    line { stroke: #6b7280 } .refuted, .superseded { stroke-dasharray: 4 4 } .hypothesis { stroke-dasharray: 1 4 }
    .edge-label { fill: #374151; font-size: 11px; stroke: #ffffff; stroke-width: 4px; paint-order: stroke }
    #tip path { fill: #6b7280 }
    @media (prefers-color-scheme: dark) {
      svg { background: #111827 } .box { fill: #1f2937; stroke: #9ca3af } .middle { fill: #1e3a8a; stroke: #93c5fd }
      text { fill: #f9fafb } .kind { fill: #d1d5db } line { stroke: #9ca3af } #tip path { fill: #9ca3af }
      .edge-label { fill: #e5e7eb; stroke: #111827 }
    }";

/// The graph in the DOT language of Graphviz.
pub(crate) fn dot(graph: &EntityGraph) -> String {
    let mut out = String::from("digraph facts {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n");
    for (at, node) in graph.nodes.iter().enumerate() {
        let label = format!("{}\\n{}", node.item.kind(), escape_dot(&node_name(node, usize::MAX)));
        let middle = if at == 0 { ", penwidth=2" } else { "" };
        let _ = writeln!(out, "  n{at} [label=\"{label}\"{middle}];");
    }
    for edge in &graph.edges {
        let style = match edge.state {
            FactState::Confirmed => "solid",
            FactState::Hypothesis => "dotted",
            FactState::Refuted | FactState::Superseded => "dashed",
        };
        let (label, tip) = (escape_dot(&edge_label(graph, edge)), escape_dot(&edge_description(graph, edge)));
        let ends = format!("n{} -> n{}", edge.from, edge.to);
        let _ = writeln!(out, "  {ends} [label=\"{label}\", style={style}, tooltip=\"{tip}\"];");
    }
    out.push_str("}\n");
    out
}

/// The graph as an SVG with a text description for screen readers.
pub(crate) fn svg(graph: &EntityGraph) -> String {
    let drawing = graph_layout(graph);
    let (half_width, half_height) = drawing.half_size;
    let title = drawing.nodes.first().map(|node| node.name.as_str()).unwrap_or_default();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title desc\" width=\"{:.0}\" \
         height=\"{:.0}\" viewBox=\"{:.0} {:.0} {:.0} {:.0}\">\n<title id=\"title\">Facts about {}</title>\n\
         <desc id=\"desc\">{}</desc>\n<style>\n{STYLE}\n</style>\n",
        half_width * 2.0,
        half_height * 2.0,
        -half_width,
        -half_height,
        half_width * 2.0,
        half_height * 2.0,
        escape_xml(title),
        escape_xml(&graph_description(graph)),
    );
    out.push_str(
        "<defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0L10 5L0 10z\"/></marker></defs>\n",
    );
    for edge in &drawing.edges {
        draw_edge(&mut out, edge);
    }
    for edge in &drawing.edges {
        draw_label(&mut out, edge);
    }
    for node in &drawing.nodes {
        draw_node(&mut out, node);
    }
    out.push_str("</svg>\n");
    out
}

fn draw_edge(out: &mut String, edge: &EdgeLayout) {
    let (begin, end) = (edge.start, edge.end);
    let _ = writeln!(
        out,
        "<line class=\"{}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" marker-end=\"url(#tip)\"><title>{}</title></line>",
        edge.state.as_str(),
        begin.0,
        begin.1,
        end.0,
        end.1,
        escape_xml(&edge.description),
    );
}

fn draw_label(out: &mut String, edge: &EdgeLayout) {
    let (x, y) = edge.label_at;
    let _ = writeln!(
        out,
        "<text class=\"edge-label\" x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>",
        escape_xml(&edge.label)
    );
}

fn draw_node(out: &mut String, node: &NodeLayout) {
    let class = if node.is_root { "box middle" } else { "box" };
    let (x, y) = node.center;
    let _ = writeln!(
        out,
        "<g><title>{} {}</title><rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.0}\" height=\"{:.0}\" rx=\"6\"/>\
         <text class=\"kind\" x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text></g>",
        node.kind,
        escape_xml(&node.name),
        x - NODE_SIZE.0 / 2.0,
        y - NODE_SIZE.1 / 2.0,
        NODE_SIZE.0,
        NODE_SIZE.1,
        y - 5.0,
        node.kind,
        y + 12.0,
        escape_xml(&node.label),
    );
}

fn graph_description(graph: &EntityGraph) -> String {
    let label = |at: usize| graph.nodes.get(at).map(|node| node_name(node, LABEL_WIDTH)).unwrap_or_default();
    let edges =
        graph.edges.iter().map(|edge| format!("{} {} {}", label(edge.from), edge_label(graph, edge), label(edge.to)));
    let edges: Vec<String> = edges.collect();
    if edges.is_empty() { "No connections.".to_owned() } else { format!("{}.", edges.join("; ")) }
}

/// Escapes text for a quoted DOT string.
fn escape_dot(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Escapes text for XML.
fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use rethread_engine::{FactSource, GraphEdge, GraphItem, GraphNode};
    use rethread_model::{Agent, Entity, EntityKind, Predicate, SessionId, Timestamp};

    use super::layout::LayoutPoint;
    use super::*;

    fn graph(near: usize, far: usize) -> EntityGraph {
        let node =
            |name: String, depth| GraphNode { item: GraphItem::Entity(Entity::new(EntityKind::File, name)), depth };
        let nodes = std::iter::once(node("a <b> & \"c\"\u{1b}[2J".to_owned(), 0))
            .chain((0..near).map(|at| node(format!("near{at}"), 1)))
            .chain((0..far).map(|at| node(format!("far{at}"), 2)));
        let at = Timestamp::from_millis(0);
        let source = FactSource {
            session: SessionId::derive(Agent::Pi, "x", at),
            agent: Agent::Pi,
            session_name: None,
            project: None,
            episode: 1,
            line: 7,
            evidence: Vec::new(),
            at: Some(at),
        };
        let edge = |from, to| GraphEdge {
            from,
            to,
            predicate: Predicate::FixedBy,
            state: FactState::Superseded,
            fact_count: 2,
            succeeded: 1,
            failed: 1,
            valid_from: Some(at),
            valid_to: Some(at),
            last_at: Some(at),
            source: source.clone(),
            detail: String::new(),
        };
        let edges = (0..near).map(|other| edge(0, other + 1));
        let edges = edges.chain((0..far).map(|other| edge(1 + other % near.max(1), 1 + near + other)));
        EntityGraph { nodes: nodes.collect(), edges: edges.collect(), left_out: 0 }
    }

    #[test]
    fn node_boxes_do_not_overlap() {
        for (near, far) in [(0, 0), (1, 0), (2, 0), (5, 0), (12, 0), (3, 9), (12, 27)] {
            let places: Vec<LayoutPoint> =
                graph_layout(&graph(near, far)).nodes.iter().map(|node| node.center).collect();
            for (at, one) in places.iter().enumerate() {
                for other in &places[..at] {
                    let apart = (one.0 - other.0).abs() >= NODE_SIZE.0 || (one.1 - other.1).abs() >= NODE_SIZE.1;
                    assert!(apart, "{near} {far}: {one:?} {other:?}");
                }
            }
        }
    }

    #[test]
    fn svg_is_well_formed_sanitized_and_described() {
        let picture = svg(&graph(2, 1));
        assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"));
        assert!(picture.contains("<title id=\"title\">Facts about a &lt;b&gt; &amp; &quot;c&quot;</title>"));
        assert!(picture.contains("near0") && picture.contains("fixed in 2×") && picture.contains("until 1970"));
        assert!(picture.contains("prefers-color-scheme: dark") && !picture.contains("<script"));
        assert!(!picture.contains(|c: char| c != '\n' && rethread_model::is_unsafe_to_display(c)));
        for tag in ["<g>", "<text", "<line", "<svg", "<title"] {
            let name = tag.trim_matches(['<', '>']);
            assert_eq!(picture.matches(tag).count(), picture.matches(&format!("</{name}>")).count(), "{tag}");
        }
        assert_eq!(picture, svg(&graph(2, 1)));
    }

    #[test]
    fn dot_labels_are_quoted() {
        let text = dot(&graph(1, 0));
        assert!(text.contains("n0 [label=\"file\\na <b> & \\\"c\\\"\", penwidth=2];"), "{text}");
        assert!(text.contains("n0 -> n1 [label=\"fixed in 2×\", style=dashed"), "{text}");
    }
}
