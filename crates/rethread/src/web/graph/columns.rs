//! Places the nodes of a graph in columns by kind: the center on the left, then decisions, fixes and errors, then the rest.

use rethread_engine::{EntityGraph, GraphEdge};
use rethread_model::{FactState, Predicate};

use crate::render::edge_label;

/// Width and height of a node, in pixels.
pub(super) const NODE: (f64, f64) = (270.0, 50.0);
/// Distance between columns, and between nodes of a column.
const COLUMN_GAP: f64 = 84.0;
const NODE_GAP: f64 = 12.0;
/// Height of a heading, and the space above one that follows other nodes.
const HEADING: f64 = 24.0;
const GROUP_GAP: f64 = 16.0;
const MARGIN: f64 = 16.0;
/// A group that would make a column longer than this starts a new one.
const MAX_IN_COLUMN: usize = 9;

/// The order of the groups: what was learned, then what was done.
const GROUPS: [&str; 13] = [
    "decision",
    "fix",
    "did not help",
    "error",
    "preference",
    "topic",
    "package",
    "setting",
    "file",
    "command",
    "commit",
    "branch",
    "session",
];

pub(super) struct ColumnGraph {
    pub(super) size: (f64, f64),
    /// Title and position of each group.
    pub(super) headings: Vec<(String, f64, f64)>,
    /// Position of the upper left corner and relation to its neighbor, in the order of the graph.
    pub(super) nodes: Vec<PlacedNode>,
    /// Path and state, in the order of the graph.
    pub(super) edges: Vec<(String, FactState)>,
}

#[derive(Clone, Default)]
pub(super) struct PlacedNode {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) relation: String,
}

pub(super) fn column_graph(graph: &EntityGraph) -> ColumnGraph {
    let mut nodes = vec![PlacedNode::default(); graph.nodes.len()];
    let (mut headings, mut column, mut in_column) = (Vec::new(), 1, 0);
    let (mut y, mut bottom) = (MARGIN, MARGIN + NODE.1);
    for group in GROUPS {
        let members: Vec<usize> = (1..graph.nodes.len()).filter(|at| group_of(graph, *at) == group).collect();
        if members.is_empty() {
            continue;
        }
        if in_column > 0 && in_column + members.len() > MAX_IN_COLUMN {
            (column, in_column, y) = (column + 1, 0, MARGIN);
        } else if in_column > 0 {
            y += GROUP_GAP;
        }
        headings.push((title(group, members.len()), column_x(column), y + 12.0));
        y += HEADING;
        for at in members {
            nodes[at] = PlacedNode { x: column_x(column), y, relation: relation(graph, at) };
            y += NODE.1 + NODE_GAP;
            in_column += 1;
        }
        bottom = bottom.max(y);
    }
    nodes[0] = PlacedNode { x: column_x(0), y: ((bottom - NODE.1) / 2.0).max(MARGIN), relation: String::new() };
    let edges = graph.edges.iter().map(|edge| (path(&nodes[edge.from], &nodes[edge.to]), edge.state)).collect();
    ColumnGraph { size: (column_x(column) + NODE.0 + MARGIN, bottom + MARGIN), headings, nodes, edges }
}

fn column_x(column: usize) -> f64 {
    MARGIN + column as f64 * (NODE.0 + COLUMN_GAP)
}

/// What fixed an error is a fix, whatever it is; everything else goes by its kind.
fn group_of(graph: &EntityGraph, at: usize) -> &'static str {
    match first_edge(graph, at).map(|edge| edge.predicate) {
        Some(Predicate::FixedBy) if graph.nodes[at].item.kind() != "error" => "fix",
        Some(Predicate::NotFixedBy) if graph.nodes[at].item.kind() != "error" => "did not help",
        _ => graph.nodes[at].item.kind(),
    }
}

/// The edge by which a node was found: edges of the center come first.
fn first_edge(graph: &EntityGraph, at: usize) -> Option<&GraphEdge> {
    graph.edges.iter().find(|edge| edge.from == at || edge.to == at)
}

fn relation(graph: &EntityGraph, at: usize) -> String {
    let Some(edge) = first_edge(graph, at) else { return String::new() };
    let label = edge_label(graph, edge);
    if edge.to == at { label } else { format!("{label} …") }
}

fn title(group: &str, many: usize) -> String {
    let mut letters = group.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    let plural = match (group, many) {
        ("did not help", _) | (_, 1) => "",
        ("fix" | "branch", _) => "es",
        _ => "s",
    };
    let name = format!("{first}{}{plural}", letters.as_str());
    if group == "commit" || !name.ends_with("ys") { name } else { format!("{}ies", name.trim_end_matches("ys")) }
}

/// A curve from the side of one box to that of the other.
fn path(from: &PlacedNode, to: &PlacedNode) -> String {
    let middle = |node: &PlacedNode| node.y + NODE.1 / 2.0;
    let (left, right) = if from.x <= to.x { (from, to) } else { (to, from) };
    let (y, end_y) = (middle(left), middle(right));
    if (left.x - right.x).abs() < 1.0 {
        let x = left.x;
        return format!("M{x:.1} {y:.1}C{:.1} {y:.1} {:.1} {end_y:.1} {x:.1} {end_y:.1}", x - 44.0, x - 44.0);
    }
    let (x, end_x) = (left.x + NODE.0, right.x);
    let bend = COLUMN_GAP * 0.7;
    format!("M{x:.1} {y:.1}C{:.1} {y:.1} {:.1} {end_y:.1} {end_x:.1} {end_y:.1}", x + bend, end_x - bend)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_have_titles_in_the_plural() {
        let titles = [("decision", 2), ("fix", 2), ("fix", 1), ("branch", 3), ("did not help", 2)];
        let expect = ["Decisions", "Fixes", "Fix", "Branches", "Did not help"];
        assert_eq!(titles.map(|(group, many)| title(group, many)), expect);
    }

    #[test]
    fn edges_run_from_the_right_side_of_one_box_to_the_left_side_of_the_next() {
        let node = |x| PlacedNode { x, y: 0.0, relation: String::new() };
        assert!(path(&node(0.0), &node(400.0)).starts_with("M270.0 25.0C"));
        assert_eq!(path(&node(0.0), &node(400.0)), path(&node(400.0), &node(0.0)));
        assert!(path(&node(400.0), &node(400.0)).starts_with("M400.0 25.0C356.0"));
    }
}
