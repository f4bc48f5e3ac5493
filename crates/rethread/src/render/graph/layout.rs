//! Positions of all nodes and edges of a graph. Colors and fonts are up to the caller. Lengths are in pixels.

use std::f64::consts::TAU;

use rethread_engine::{EntityGraph, GraphEdge, GraphNode};
use rethread_model::FactState;

use super::super::facts::edge_phrase;
use super::super::text_page::truncate_to_width;

/// Maximum width of a node label, in characters.
pub(super) const LABEL_WIDTH: usize = 26;
/// Width and height of a node.
pub(crate) const NODE_SIZE: (f64, f64) = (196.0, 40.0);
/// Initial half axes of the ellipse for the neighbors of the center; it grows until they fit.
const FIRST_RING: (f64, f64) = (330.0, 150.0);
/// How much larger the second ring is than the first.
const RING_STEP: (f64, f64) = (250.0, 110.0);
/// Space around the whole graph.
const MARGIN: f64 = 24.0;
/// Minimum gap between two boxes.
const BOX_GAP: f64 = 12.0;
/// Maximum share of a full turn for the outer nodes behind one inner node.
const MAX_SECTOR: f64 = 0.4;
/// How often a ring may grow, by a tenth each time.
const MAX_RING_GROWTH: usize = 40;

/// X and Y, relative to the center of the graph.
pub(crate) type LayoutPoint = (f64, f64);

/// A graph with positions; the center is at (0, 0).
pub(crate) struct GraphLayout {
    /// Half the width and half the height of the whole graph.
    pub(crate) half_size: LayoutPoint,
    /// In the order of the graph.
    pub(crate) nodes: Vec<NodeLayout>,
    /// In the order of the graph.
    pub(crate) edges: Vec<EdgeLayout>,
}

/// A node with the position of its center.
pub(crate) struct NodeLayout {
    pub(crate) center: LayoutPoint,
    pub(crate) kind: &'static str,
    /// The name, truncated to fit.
    pub(crate) label: String,
    /// The full name.
    pub(crate) name: String,
    pub(crate) is_root: bool,
}

/// An edge from the border of one box to that of another.
pub(crate) struct EdgeLayout {
    pub(crate) start: LayoutPoint,
    pub(crate) end: LayoutPoint,
    pub(crate) state: FactState,
    /// Its label and position; labels of edges between the same nodes are placed below each other.
    pub(crate) label: String,
    pub(crate) label_at: LayoutPoint,
    /// State, counts, validity and citation.
    pub(crate) description: String,
}

/// Calculates the positions of all nodes and edges.
pub(crate) fn graph_layout(graph: &EntityGraph) -> GraphLayout {
    let places = node_positions(graph);
    let far = |pick: fn(&LayoutPoint) -> f64| places.iter().map(|place| pick(place).abs()).fold(0.0, f64::max);
    let half = (far(|at| at.0) + NODE_SIZE.0 / 2.0 + MARGIN, far(|at| at.1) + NODE_SIZE.1 / 2.0 + MARGIN);
    let node = |(at, node): (usize, &GraphNode)| NodeLayout {
        center: places[at],
        kind: node.item.kind(),
        label: node_name(node, LABEL_WIDTH),
        name: node_name(node, usize::MAX),
        is_root: at == 0,
    };
    let nodes = graph.nodes.iter().enumerate().map(node).collect();
    let edges = graph.edges.iter().map(|edge| edge_layout(graph, edge, &places)).collect();
    GraphLayout { half_size: half, nodes, edges }
}

fn edge_layout(graph: &EntityGraph, edge: &GraphEdge, places: &[LayoutPoint]) -> EdgeLayout {
    let ends = |edge: &GraphEdge| (edge.from.min(edge.to), edge.from.max(edge.to));
    let mut same = graph.edges.iter().filter(|other| ends(other) == ends(edge));
    let line = same.position(|other| other == edge).unwrap_or(0) as f64;
    let (from, to) = (places[edge.from], places[edge.to]);
    let (start, end) = (box_border_point(from, to), box_border_point(to, from));
    EdgeLayout {
        start,
        end,
        state: edge.state,
        label: edge_label(graph, edge),
        label_at: (f64::midpoint(start.0, end.0), f64::midpoint(start.1, end.1) + 4.0 + 13.0 * line),
        description: edge_description(graph, edge),
    }
}

/// Node positions: node 0 in the center, its neighbors on an ellipse, their neighbors on a larger ellipse behind the
/// node that leads to them. A node with more nodes behind it gets a larger sector.
fn node_positions(graph: &EntityGraph) -> Vec<LayoutPoint> {
    let mut places = vec![(0.0, 0.0); graph.nodes.len().max(1)];
    let on = |depth: usize| (0..graph.nodes.len()).filter(|at| graph.nodes[*at].depth == depth).collect::<Vec<_>>();
    let (near, far) = (on(1), on(2));
    let met_from = |at: usize| {
        let edges = graph.edges.iter().filter(|edge| edge.from == at || edge.to == at);
        let others = edges.map(|edge| if edge.from == at { edge.to } else { edge.from });
        others.filter_map(|other| near.iter().position(|node| *node == other)).min().unwrap_or(0)
    };
    let mut behind: Vec<Vec<usize>> = vec![Vec::new(); near.len().max(1)];
    for at in &far {
        behind[met_from(*at)].push(*at);
    }
    let all: usize = behind.iter().map(|nodes| nodes.len().max(1)).sum();
    let (mut inner, mut outer, mut outer_nodes, mut before) = (Vec::new(), Vec::new(), Vec::new(), 0.0);
    for nodes in &behind {
        let sector = nodes.len().max(1) as f64 / all as f64;
        let middle = before + sector / 2.0;
        before += sector;
        inner.push(middle);
        let width = sector.min(MAX_SECTOR);
        let share = |at: usize| middle - width / 2.0 + width * (at as f64 + 0.5) / nodes.len() as f64;
        outer.extend((0..nodes.len()).map(share));
        outer_nodes.extend(nodes);
    }
    // The first neighbor is at the top.
    let turn = inner.first().copied().unwrap_or(0.0);
    inner.truncate(near.len());
    let mut taken = vec![places[0]];
    let mut ring = FIRST_RING;
    for (nodes, shares) in [(&near, &inner), (&outer_nodes, &outer)] {
        let shares: Vec<f64> = shares.iter().map(|share| (share - turn).rem_euclid(1.0)).collect();
        let found = non_overlapping_positions(&mut ring, &shares, &taken);
        for (node, place) in nodes.iter().zip(&found) {
            places[*node] = *place;
        }
        taken.extend(found);
        ring = (ring.0 + RING_STEP.0, ring.1 + RING_STEP.1);
    }
    places
}

/// Positions on an ellipse that grows until no two boxes touch.
fn non_overlapping_positions(ring: &mut LayoutPoint, shares: &[f64], taken: &[LayoutPoint]) -> Vec<LayoutPoint> {
    let apart = |one: &LayoutPoint, other: &LayoutPoint| {
        (one.0 - other.0).abs() > NODE_SIZE.0 + BOX_GAP || (one.1 - other.1).abs() > NODE_SIZE.1 + BOX_GAP
    };
    let is_free = |places: &[LayoutPoint]| {
        let among = |at: usize| places[..at].iter().all(|other| apart(&places[at], other));
        (0..places.len()).all(|at| among(at) && taken.iter().all(|other| apart(&places[at], other)))
    };
    let mut found = points_on_ellipse(*ring, shares);
    for _ in 0..MAX_RING_GROWTH {
        if is_free(&found) {
            break;
        }
        *ring = (ring.0 * 1.1, ring.1 * 1.1);
        found = points_on_ellipse(*ring, shares);
    }
    found
}

/// Points on an ellipse, each at its share of the circumference, starting at the top.
fn points_on_ellipse((width, height): LayoutPoint, shares: &[f64]) -> Vec<LayoutPoint> {
    const SEGMENTS: usize = 720;
    let point = |piece: usize| {
        let angle = TAU * piece as f64 / SEGMENTS as f64 - TAU / 4.0;
        (width * angle.cos(), height * angle.sin())
    };
    let length = |piece: usize| {
        let ((x, y), (other_x, other_y)) = (point(piece), point(piece + 1));
        (x - other_x).hypot(y - other_y)
    };
    let mut gone = vec![0.0];
    for piece in 0..SEGMENTS {
        gone.push(gone[piece] + length(piece));
    }
    let along = |share: f64| {
        let target = gone[SEGMENTS] * share;
        let piece = gone.partition_point(|length| *length <= target).clamp(1, SEGMENTS) - 1;
        let (begin, end) = (point(piece), point(piece + 1));
        let part = (target - gone[piece]) / length(piece).max(f64::EPSILON);
        (begin.0 + (end.0 - begin.0) * part, begin.1 + (end.1 - begin.1) * part)
    };
    shares.iter().map(|share| along(*share)).collect()
}

/// The point where the line from one node to another leaves its box.
fn box_border_point(from: LayoutPoint, to: LayoutPoint) -> LayoutPoint {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let share = (NODE_SIZE.0 / 2.0 / x.abs().max(0.1)).min(NODE_SIZE.1 / 2.0 / y.abs().max(0.1)).min(1.0);
    (from.0 + x * share, from.1 + y * share)
}

pub(super) fn node_name(node: &GraphNode, width: usize) -> String {
    truncate_to_width(&node.item.label(), width)
}

pub(crate) fn edge_label(graph: &EntityGraph, edge: &GraphEdge) -> String {
    let words = edge_phrase(graph, edge);
    if edge.fact_count > 1 { format!("{words} {}×", edge.fact_count) } else { words }
}

/// Label, state, counts, validity and citation of an edge.
pub(super) fn edge_description(graph: &EntityGraph, edge: &GraphEdge) -> String {
    let mut parts = vec![edge_label(graph, edge), edge.state.display_name(edge.predicate).to_owned()];
    if edge.succeeded + edge.failed > 0 {
        parts.push(format!("{} succeeded, {} failed", edge.succeeded, edge.failed));
    }
    parts.extend(edge.valid_from.map(|at| format!("since {at}")));
    parts.extend(edge.valid_to.map(|at| format!("until {at}")));
    parts.push(edge.source.citation());
    parts.join("; ")
}
