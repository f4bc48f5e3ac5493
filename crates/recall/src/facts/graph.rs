//! Builds the graph around an entity: its facts, and those of its neighbors.

use rethread_model::{Agent, Entity, FactState, Predicate, SessionId, Timestamp};
use rethread_store::FactRow;

use super::{FactSource, oldest_first};

/// What a node stands for: an entity, or a session that did something to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphItem {
    /// An entity that facts are about.
    Entity(Entity),
    /// A session that did something.
    Session {
        /// Session id.
        id: SessionId,
        /// Agent that ran the session.
        agent: Agent,
        /// Session name, if it has one.
        name: Option<String>,
    },
}

impl GraphItem {
    /// `session`, or the entity kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Entity(entity) => entity.kind.as_str(),
            Self::Session { .. } => "session",
        }
    }

    /// Display name: the entity's name, or the session's name or id.
    pub fn label(&self) -> String {
        match self {
            Self::Entity(entity) => entity.name.clone(),
            Self::Session { id, name, .. } => name.clone().unwrap_or_else(|| id.to_string()),
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Session { id, .. }, Self::Session { id: other, .. }) => id == other,
            (Self::Entity(one), Self::Entity(other)) => one == other,
            _ => false,
        }
    }
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// The entity or session.
    pub item: GraphItem,
    /// Distance from the center node, in edges.
    pub depth: usize,
}

/// All facts with one predicate between two nodes, merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphEdge {
    /// Index of the source node.
    pub from: usize,
    /// Index of the target node.
    pub to: usize,
    /// How the two are related.
    pub predicate: Predicate,
    /// State of the newest fact.
    pub state: FactState,
    /// Number of facts merged.
    pub fact_count: u64,
    /// Number of successes.
    pub succeeded: u64,
    /// Number of failures.
    pub failed: u64,
    /// When it became valid.
    pub valid_from: Option<Timestamp>,
    /// When it stopped being valid, if it was revoked.
    pub valid_to: Option<Timestamp>,
    /// Time of the newest fact.
    pub last_at: Option<Timestamp>,
    /// Source of the newest fact.
    pub source: FactSource,
    /// What the newest fact says: the sentence of a decision or cause, what fixed an error.
    pub detail: String,
}

/// Predicates of what was learned, in contrast to what was done.
pub const KNOWLEDGE_PREDICATES: [Predicate; 8] = [
    Predicate::Decided,
    Predicate::Prefers,
    Predicate::Forbids,
    Predicate::FixedBy,
    Predicate::NotFixedBy,
    Predicate::CausedBy,
    Predicate::Requires,
    Predicate::ConflictsWith,
];

/// The place of a predicate in a list about an entity: decisions, fixes, causes, changes, commands, and reads last.
pub const fn knowledge_rank(predicate: Predicate) -> u8 {
    match predicate {
        Predicate::Decided | Predicate::Prefers | Predicate::Forbids => 0,
        Predicate::FixedBy => 1,
        Predicate::NotFixedBy => 2,
        Predicate::CausedBy | Predicate::Requires | Predicate::ConflictsWith => 3,
        Predicate::Ran | Predicate::FailedWith | Predicate::Sequence => 5,
        Predicate::Read => 6,
        _ => 4,
    }
}

/// The graph around an entity. The first node is the center.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntityGraph {
    /// In order of discovery.
    pub nodes: Vec<GraphNode>,
    /// Edges of the center first.
    pub edges: Vec<GraphEdge>,
    /// Number of neighbors of the center that did not fit.
    pub left_out: usize,
}

/// Size limits of a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphLimits {
    /// Maximum number of nodes.
    pub max_nodes: usize,
    /// Maximum number of neighbors of the center.
    pub direct_neighbors: usize,
    /// Maximum number of new neighbors of every other node.
    pub neighbors_per_node: usize,
    /// Maximum distance from the center.
    pub max_depth: usize,
}

impl Default for GraphLimits {
    fn default() -> Self {
        Self { max_nodes: 40, direct_neighbors: 12, neighbors_per_node: 3, max_depth: 2 }
    }
}

/// Builds the graph around an entity. `facts_about` is called lazily; neighbors with the most evidence come first.
pub fn entity_graph<E>(
    middle: &Entity,
    limits: GraphLimits,
    mut facts_about: impl FnMut(&GraphItem) -> Result<Vec<FactRow>, E>,
) -> Result<EntityGraph, E> {
    let mut graph = EntityGraph::default();
    graph.nodes.push(GraphNode { item: GraphItem::Entity(middle.clone()), depth: 0 });
    let mut at = 0;
    while at < graph.nodes.len() {
        let GraphNode { item, depth } = graph.nodes[at].clone();
        if depth >= limits.max_depth {
            break;
        }
        let facts = facts_about(&item)?;
        let max_links = if depth == 0 { limits.direct_neighbors } else { limits.neighbors_per_node };
        graph.add_links(at, collect_links(&item, &facts), max_links, limits.max_nodes);
        at += 1;
    }
    Ok(graph)
}

/// A neighbor of a node, and the edge to it.
struct GraphLink {
    other: GraphItem,
    is_outward: bool,
    edge: GraphEdge,
}

impl EntityGraph {
    fn add_links(&mut self, at: usize, links: Vec<GraphLink>, max_links: usize, max_nodes: usize) {
        let depth = self.nodes[at].depth + 1;
        let mut added = 0;
        for link in links {
            let known = self.nodes.iter().position(|node| node.item.is_same(&link.other));
            let other = match known {
                Some(other) => other,
                None if added >= max_links || self.nodes.len() >= max_nodes => {
                    self.left_out += usize::from(depth == 1);
                    continue;
                }
                None => {
                    added += 1;
                    self.nodes.push(GraphNode { item: link.other, depth });
                    self.nodes.len() - 1
                }
            };
            let (from, to) = if link.is_outward { (at, other) } else { (other, at) };
            let is_known =
                |edge: &GraphEdge| edge.from == from && edge.to == to && edge.predicate == link.edge.predicate;
            if from != to && !self.edges.iter().any(is_known) {
                self.edges.push(GraphEdge { from, to, ..link.edge });
            }
        }
    }
}

/// Neighbors of a node: what was learned first, then those with most facts, then newest.
fn collect_links(item: &GraphItem, facts: &[FactRow]) -> Vec<GraphLink> {
    let mut all: Vec<GraphLink> = Vec::new();
    for known in oldest_first(facts) {
        let Some((other, outward)) = other_end(item, known) else { continue };
        let same = |link: &&mut GraphLink| {
            link.is_outward == outward && link.edge.predicate == known.fact.predicate && link.other.is_same(&other)
        };
        match all.iter_mut().find(same) {
            Some(link) => add_evidence(&mut link.edge, known),
            None => all.push(GraphLink { other, is_outward: outward, edge: new_edge(known) }),
        }
    }
    let rank = |link: &GraphLink| {
        let predicate = link.edge.predicate;
        // What else a session learned is not about the entity in the middle.
        let is_session = matches!(item, GraphItem::Session { .. });
        let class = if is_session { u8::from(predicate == Predicate::Read) } else { knowledge_rank(predicate) };
        (class, std::cmp::Reverse(link.edge.fact_count))
    };
    all.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.edge.last_at.cmp(&a.edge.last_at)));
    all
}

/// The other end of a fact, and whether the edge points there. A fact without an object links to its session, and one
/// that only names the node in its text links to its subject.
fn other_end(item: &GraphItem, known: &FactRow) -> Option<(GraphItem, bool)> {
    let fact = &known.fact;
    let session = || GraphItem::Session { id: known.session, agent: known.agent, name: known.session_name.clone() };
    match (item, &fact.object) {
        (_, _) if fact.predicate == Predicate::Sequence => None,
        // For a session, the `ran` fact already says this.
        (GraphItem::Session { .. }, _) if fact.predicate == Predicate::FailedWith => None,
        (GraphItem::Session { .. }, _) => Some((GraphItem::Entity(fact.subject.clone()), true)),
        (GraphItem::Entity(this), Some(object)) if fact.subject == *this => {
            Some((GraphItem::Entity(object.clone()), true))
        }
        (GraphItem::Entity(this), None) if fact.subject == *this => Some((session(), false)),
        (GraphItem::Entity(_), _) => Some((GraphItem::Entity(fact.subject.clone()), false)),
    }
}

fn new_edge(known: &FactRow) -> GraphEdge {
    let mut edge = GraphEdge {
        from: 0,
        to: 0,
        predicate: known.fact.predicate,
        state: known.fact.state,
        fact_count: 0,
        succeeded: 0,
        failed: 0,
        valid_from: known.fact.at,
        valid_to: None,
        last_at: None,
        source: FactSource::of_fact(known),
        detail: String::new(),
    };
    add_evidence(&mut edge, known);
    edge
}

fn add_evidence(edge: &mut GraphEdge, known: &FactRow) {
    let fact = &known.fact;
    let is_over = matches!(fact.state, FactState::Refuted | FactState::Superseded);
    if edge.valid_to.is_some() && !is_over {
        edge.valid_from = fact.at;
    }
    edge.valid_to = if is_over { fact.at } else { None };
    edge.state = fact.state;
    edge.fact_count += 1;
    edge.succeeded += fact.success_count;
    edge.failed += fact.failure_count;
    edge.last_at = fact.at;
    edge.source = FactSource::of_fact(known);
    edge.detail.clone_from(&fact.detail);
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rethread_model::EntityKind;

    use super::super::testing::{KnownFactExt, known_fact};
    use super::*;

    fn graph(facts: &[FactRow], middle: &Entity, limits: GraphLimits) -> EntityGraph {
        let about = |item: &GraphItem| {
            let is_about = |known: &&FactRow| match item {
                GraphItem::Session { id, .. } => known.session == *id,
                GraphItem::Entity(entity) => {
                    known.fact.subject == *entity || known.fact.object.as_ref() == Some(entity)
                }
            };
            Ok::<_, Infallible>(facts.iter().filter(is_about).cloned().collect())
        };
        entity_graph(middle, limits, about).unwrap()
    }

    fn rendered(graph: &EntityGraph) -> Vec<String> {
        let label = |at: usize| graph.nodes[at].item.label();
        let edges = graph.edges.iter();
        edges
            .map(|edge| {
                format!("{} {} {} x{}", label(edge.from), edge.predicate.as_str(), label(edge.to), edge.fact_count)
            })
            .collect()
    }

    #[test]
    fn a_graph_reaches_two_steps_and_counts_repeated_facts() {
        let error = (EntityKind::Error, "E1");
        let facts = [
            known_fact("a", 1, Predicate::FailedWith, (EntityKind::Command, "make")).object(EntityKind::Error, "E1"),
            known_fact("a", 2, Predicate::FailedWith, (EntityKind::Command, "make")).object(EntityKind::Error, "E1"),
            known_fact("a", 3, Predicate::FixedBy, error).object(EntityKind::Command, "make"),
            known_fact("b", 4, Predicate::Ran, (EntityKind::Command, "make")),
            known_fact("b", 5, Predicate::Edited, (EntityKind::File, "x.c")),
        ];
        let found = graph(&facts, &Entity::new(EntityKind::Error, "E1"), GraphLimits::default());
        assert_eq!(rendered(&found), ["E1 fixed_by make x1", "make failed_with E1 x2", "b ran make x1"]);
        assert_eq!(found.nodes.iter().map(|node| node.depth).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn what_was_learned_about_a_busy_file_comes_before_what_was_done_to_it() {
        let file = (EntityKind::File, "src/db.ts");
        let mut facts: Vec<FactRow> = (0..40)
            .flat_map(|at| {
                let session = format!("s{at}");
                [known_fact(&session, at, Predicate::Edited, file), known_fact(&session, at, Predicate::Read, file)]
            })
            .collect();
        facts.push(known_fact("a", 50, Predicate::CausedBy, (EntityKind::Error, "E1")).object(file.0, file.1));
        // Both only name the file.
        facts.push(
            known_fact("a", 51, Predicate::FixedBy, (EntityKind::Error, "E1")).object(EntityKind::Command, "make"),
        );
        facts.push(known_fact("a", 52, Predicate::Decided, (EntityKind::Decision, "pool in src/db.ts")));
        let middle = Entity::new(file.0, file.1);
        let about = |item: &GraphItem| {
            Ok::<_, Infallible>(if *item == GraphItem::Entity(middle.clone()) { facts.clone() } else { Vec::new() })
        };
        let found = entity_graph(&middle, GraphLimits::default(), about).unwrap();
        let predicates: Vec<&str> = found.edges.iter().map(|edge| edge.predicate.as_str()).collect();
        assert_eq!(predicates[..4], ["decided", "fixed_by", "caused_by", "edited"]);
        assert_eq!(predicates.last(), Some(&"read"), "reads come last: {predicates:?}");
        assert_eq!(rendered(&found)[1], "E1 fixed_by src/db.ts x1");
    }

    #[test]
    fn a_revoked_fact_has_an_end_and_can_become_valid_again() {
        let chosen = |minute, state| {
            known_fact("a", minute, Predicate::Decided, (EntityKind::Decision, "tabs"))
                .object(EntityKind::Decision, "spaces")
                .state(state)
        };
        let facts =
            [chosen(1, FactState::Confirmed), chosen(2, FactState::Superseded), chosen(3, FactState::Confirmed)];
        let middle = Entity::new(EntityKind::Decision, "tabs");
        let minute = |minute: i64| Some(Timestamp::from_millis(minute * 60_000));
        let then = &graph(&facts[..2], &middle, GraphLimits::default()).edges[0];
        assert_eq!((then.valid_from, then.valid_to), (minute(1), minute(2)));
        let now = &graph(&facts, &middle, GraphLimits::default()).edges[0];
        assert_eq!((now.valid_from, now.valid_to), (minute(3), None));
    }

    #[test]
    fn a_graph_stays_within_its_limits_and_counts_what_was_left_out() {
        let file =
            |minute: i64| known_fact(&format!("s{minute}"), minute, Predicate::Edited, (EntityKind::File, "x.c"));
        let facts: Vec<FactRow> = (0..30).map(file).collect();
        let limits = GraphLimits { max_nodes: 8, direct_neighbors: 5, ..GraphLimits::default() };
        let found = graph(&facts, &Entity::new(EntityKind::File, "x.c"), limits);
        assert_eq!((found.nodes.len(), found.left_out), (6, 25));
    }
}
