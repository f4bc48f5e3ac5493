//! Where everything of a graph lies when it is drawn. Whoever draws it decides how it looks.

use std::f64::consts::TAU;

use rethread_engine::{Edge, Graph, Node};
use rethread_model::FactState;

use super::super::facts::linked;
use super::super::page::fit;

/// Columns of a name in the picture.
pub(super) const LABEL: usize = 26;
/// How wide and high a node is.
pub(crate) const NODE: (f64, f64) = (196.0, 40.0);
/// Half the width and height of the ellipse on which the neighbours of the middle lie, if that is enough for them.
const RING: (f64, f64) = (330.0, 150.0);
/// How far the second ring lies beyond the first.
const STEP: (f64, f64) = (250.0, 110.0);
/// Room around everything.
const MARGIN: f64 = 24.0;
/// Between two boxes.
const BETWEEN: f64 = 12.0;
/// What lies behind one node takes no more of the round than this.
const WIDEST_SECTOR: f64 = 0.4;
/// So often a ring is made larger; each time by a tenth.
const MOST_TRIES: usize = 40;

/// A point.
pub(crate) type Point = (f64, f64);

/// A graph with places for all of it; the middle of everything is at 0.
pub(crate) struct Drawing {
    /// Half the width and half the height of all of it.
    pub(crate) half: Point,
    /// Nodes, in the order of the graph.
    pub(crate) nodes: Vec<DrawnNode>,
    /// Edges, in the order of the graph.
    pub(crate) edges: Vec<DrawnEdge>,
}

/// A node: its middle, and what stands in its box.
pub(crate) struct DrawnNode {
    pub(crate) at: Point,
    pub(crate) kind: &'static str,
    /// As much of its name as fits.
    pub(crate) label: String,
    /// All of its name.
    pub(crate) name: String,
    pub(crate) is_middle: bool,
}

/// An edge: from the border of one box to that of another.
pub(crate) struct DrawnEdge {
    pub(crate) begin: Point,
    pub(crate) end: Point,
    pub(crate) state: FactState,
    /// What it says, and where: several edges between the same nodes say it below each other.
    pub(crate) said: String,
    pub(crate) said_at: Point,
    /// All that is known of it.
    pub(crate) explained: String,
}

/// The graph with places for all of it.
pub(crate) fn drawing(graph: &Graph) -> Drawing {
    let places = places(graph);
    let far = |pick: fn(&Point) -> f64| places.iter().map(|place| pick(place).abs()).fold(0.0, f64::max);
    let half = (far(|at| at.0) + NODE.0 / 2.0 + MARGIN, far(|at| at.1) + NODE.1 / 2.0 + MARGIN);
    let node = |(at, node): (usize, &Node)| DrawnNode {
        at: places[at],
        kind: node.thing.kind(),
        label: name(node, LABEL),
        name: name(node, usize::MAX),
        is_middle: at == 0,
    };
    let nodes = graph.nodes.iter().enumerate().map(node).collect();
    let edges = graph.edges.iter().map(|edge| drawn_edge(graph, edge, &places)).collect();
    Drawing { half, nodes, edges }
}

fn drawn_edge(graph: &Graph, edge: &Edge, places: &[Point]) -> DrawnEdge {
    let ends = |edge: &Edge| (edge.from.min(edge.to), edge.from.max(edge.to));
    let mut same = graph.edges.iter().filter(|other| ends(other) == ends(edge));
    let line = same.position(|other| other == edge).unwrap_or(0) as f64;
    let (from, to) = (places[edge.from], places[edge.to]);
    let (begin, end) = (border(from, to), border(to, from));
    DrawnEdge {
        begin,
        end,
        state: edge.state,
        said: said(graph, edge),
        said_at: (f64::midpoint(begin.0, end.0), f64::midpoint(begin.1, end.1) + 4.0 + 13.0 * line),
        explained: explained(graph, edge),
    }
}

/// Where each node lies: the middle in the middle, its neighbours on an ellipse, theirs on a larger one behind the node
/// they were met from. Who has more behind it gets more of the round.
fn places(graph: &Graph) -> Vec<Point> {
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
        let width = sector.min(WIDEST_SECTOR);
        let share = |at: usize| middle - width / 2.0 + width * (at as f64 + 0.5) / nodes.len() as f64;
        outer.extend((0..nodes.len()).map(share));
        outer_nodes.extend(nodes);
    }
    // The first neighbour lies at the top.
    let turn = inner.first().copied().unwrap_or(0.0);
    inner.truncate(near.len());
    let mut taken = vec![places[0]];
    let mut ring = RING;
    for (nodes, shares) in [(&near, &inner), (&outer_nodes, &outer)] {
        let shares: Vec<f64> = shares.iter().map(|share| (share - turn).rem_euclid(1.0)).collect();
        let found = free_places(&mut ring, &shares, &taken);
        for (node, place) in nodes.iter().zip(&found) {
            places[*node] = *place;
        }
        taken.extend(found);
        ring = (ring.0 + STEP.0, ring.1 + STEP.1);
    }
    places
}

/// Places on an ellipse that is made larger until no two boxes touch.
fn free_places(ring: &mut Point, shares: &[f64], taken: &[Point]) -> Vec<Point> {
    let apart = |one: &Point, other: &Point| {
        (one.0 - other.0).abs() > NODE.0 + BETWEEN || (one.1 - other.1).abs() > NODE.1 + BETWEEN
    };
    let is_free = |places: &[Point]| {
        let among = |at: usize| places[..at].iter().all(|other| apart(&places[at], other));
        (0..places.len()).all(|at| among(at) && taken.iter().all(|other| apart(&places[at], other)))
    };
    let mut found = spread(*ring, shares);
    for _ in 0..MOST_TRIES {
        if is_free(&found) {
            break;
        }
        *ring = (ring.0 * 1.1, ring.1 * 1.1);
        found = spread(*ring, shares);
    }
    found
}

/// Places on an ellipse, each so far along it as its share says, from the top on.
fn spread((width, height): Point, shares: &[f64]) -> Vec<Point> {
    const PIECES: usize = 720;
    let point = |piece: usize| {
        let angle = TAU * piece as f64 / PIECES as f64 - TAU / 4.0;
        (width * angle.cos(), height * angle.sin())
    };
    let length = |piece: usize| {
        let ((x, y), (other_x, other_y)) = (point(piece), point(piece + 1));
        (x - other_x).hypot(y - other_y)
    };
    let mut gone = vec![0.0];
    for piece in 0..PIECES {
        gone.push(gone[piece] + length(piece));
    }
    let along = |share: f64| {
        let wanted = gone[PIECES] * share;
        let piece = gone.partition_point(|length| *length <= wanted).clamp(1, PIECES) - 1;
        let (begin, end) = (point(piece), point(piece + 1));
        let part = (wanted - gone[piece]) / length(piece).max(f64::EPSILON);
        (begin.0 + (end.0 - begin.0) * part, begin.1 + (end.1 - begin.1) * part)
    };
    shares.iter().map(|share| along(*share)).collect()
}

/// Where the line from one node to another leaves its box.
fn border(from: Point, to: Point) -> Point {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let share = (NODE.0 / 2.0 / x.abs().max(0.1)).min(NODE.1 / 2.0 / y.abs().max(0.1)).min(1.0);
    (from.0 + x * share, from.1 + y * share)
}

pub(super) fn name(node: &Node, width: usize) -> String {
    fit(&node.thing.label(), width)
}

pub(crate) fn said(graph: &Graph, edge: &Edge) -> String {
    let words = linked(graph, edge);
    if edge.times > 1 { format!("{words} {}×", edge.times) } else { words }
}

/// All that an edge knows: how sure, how often, since and until when, and where it stands.
pub(super) fn explained(graph: &Graph, edge: &Edge) -> String {
    let mut parts = vec![said(graph, edge), edge.state.named(edge.predicate).to_owned()];
    if edge.succeeded + edge.failed > 0 {
        parts.push(format!("{} went well, {} failed", edge.succeeded, edge.failed));
    }
    parts.extend(edge.valid_from.map(|at| format!("since {at}")));
    parts.extend(edge.valid_to.map(|at| format!("until {at}")));
    parts.push(edge.source.citation());
    parts.join("; ")
}
