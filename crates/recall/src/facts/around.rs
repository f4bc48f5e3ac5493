//! The graph around a thing: what is said of it, and of its neighbours.

use rethread_model::{Agent, Entity, FactState, Predicate, SessionId, Timestamp};
use rethread_store::KnownFact;

use super::{Source, oldest_first};

/// What a graph is made of: things, and the sessions that did something to them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Thing {
    /// A thing that facts are about.
    Entity(Entity),
    /// A session that did something.
    Session {
        /// Its id.
        id: SessionId,
        /// Whose session.
        agent: Agent,
        /// Its name.
        name: Option<String>,
    },
}

impl Thing {
    /// What it is, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Entity(entity) => entity.kind.as_str(),
            Self::Session { .. } => "session",
        }
    }

    /// What it is called.
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

/// A thing in the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it is.
    pub thing: Thing,
    /// How many steps it is away from the middle.
    pub depth: usize,
}

/// What is said of two things, put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node it begins at.
    pub from: usize,
    /// The node it ends at.
    pub to: usize,
    /// What is said.
    pub predicate: Predicate,
    /// How sure it is, as it was said last.
    pub state: FactState,
    /// How often it was said.
    pub times: u64,
    /// How often it went well.
    pub succeeded: u64,
    /// How often it did not.
    pub failed: u64,
    /// Since when it holds.
    pub valid_from: Option<Timestamp>,
    /// Until when it held, where it was taken back.
    pub valid_to: Option<Timestamp>,
    /// When it was said last.
    pub last_at: Option<Timestamp>,
    /// Where it was said last.
    pub source: Source,
}

/// A graph; the first node is its middle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// In the order they were met.
    pub nodes: Vec<Node>,
    /// Those of the middle first.
    pub edges: Vec<Edge>,
    /// Neighbours that had no room.
    pub left_out: usize,
}

/// How large a graph may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Nodes in all.
    pub nodes: usize,
    /// Neighbours of the middle.
    pub near: usize,
    /// New neighbours of each of those.
    pub far: usize,
    /// Steps from the middle.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { nodes: 40, near: 12, far: 3, depth: 2 }
    }
}

/// The graph around a thing. Facts about a thing are asked for as they are needed; those with most evidence go first.
pub fn around<E>(
    middle: &Entity,
    limits: Limits,
    mut facts_about: impl FnMut(&Thing) -> Result<Vec<KnownFact>, E>,
) -> Result<Graph, E> {
    let mut graph = Graph::default();
    graph.nodes.push(Node { thing: Thing::Entity(middle.clone()), depth: 0 });
    let mut at = 0;
    while at < graph.nodes.len() {
        let Node { thing, depth } = graph.nodes[at].clone();
        if depth >= limits.depth {
            break;
        }
        let facts = facts_about(&thing)?;
        let room = if depth == 0 { limits.near } else { limits.far };
        graph.grow(at, links(&thing, &facts), room, limits.nodes);
        at += 1;
    }
    Ok(graph)
}

/// What a thing is linked to, and what is said of both.
struct Link {
    other: Thing,
    outward: bool,
    edge: Edge,
}

impl Graph {
    fn grow(&mut self, at: usize, links: Vec<Link>, room: usize, most: usize) {
        let depth = self.nodes[at].depth + 1;
        let mut added = 0;
        for link in links {
            let known = self.nodes.iter().position(|node| node.thing.is_same(&link.other));
            let other = match known {
                Some(other) => other,
                None if added >= room || self.nodes.len() >= most => {
                    self.left_out += usize::from(depth == 1);
                    continue;
                }
                None => {
                    added += 1;
                    self.nodes.push(Node { thing: link.other, depth });
                    self.nodes.len() - 1
                }
            };
            let (from, to) = if link.outward { (at, other) } else { (other, at) };
            let is_known = |edge: &Edge| edge.from == from && edge.to == to && edge.predicate == link.edge.predicate;
            if from != to && !self.edges.iter().any(is_known) {
                self.edges.push(Edge { from, to, ..link.edge });
            }
        }
    }
}

/// Links of a thing, those that were said most often first, then the newest.
fn links(thing: &Thing, facts: &[KnownFact]) -> Vec<Link> {
    let mut all: Vec<Link> = Vec::new();
    for known in oldest_first(facts) {
        let Some((other, outward)) = other_end(thing, known) else { continue };
        let same = |link: &&mut Link| {
            link.outward == outward && link.edge.predicate == known.fact.predicate && link.other.is_same(&other)
        };
        match all.iter_mut().find(same) {
            Some(link) => note(&mut link.edge, known),
            None => all.push(Link { other, outward, edge: edge(known) }),
        }
    }
    // Reading is what happens most and says least.
    let rank = |link: &Link| (link.edge.predicate == Predicate::Read, std::cmp::Reverse(link.edge.times));
    all.sort_by(|a, b| rank(a).cmp(&rank(b)).then(b.edge.last_at.cmp(&a.edge.last_at)));
    all
}

/// The thing at the other end of a fact; what has no object was done by a session.
fn other_end(thing: &Thing, known: &KnownFact) -> Option<(Thing, bool)> {
    let fact = &known.fact;
    let session = || Thing::Session { id: known.session, agent: known.agent, name: known.session_name.clone() };
    match (thing, &fact.object) {
        (_, _) if fact.predicate == Predicate::Sequence => None,
        // That it ran says as much of a session.
        (Thing::Session { .. }, _) if fact.predicate == Predicate::FailedWith => None,
        (Thing::Session { .. }, _) => Some((Thing::Entity(fact.subject.clone()), true)),
        (Thing::Entity(this), Some(object)) if fact.subject == *this => Some((Thing::Entity(object.clone()), true)),
        (Thing::Entity(_), Some(_)) => Some((Thing::Entity(fact.subject.clone()), false)),
        (Thing::Entity(_), None) => Some((session(), false)),
    }
}

fn edge(known: &KnownFact) -> Edge {
    let mut edge = Edge {
        from: 0,
        to: 0,
        predicate: known.fact.predicate,
        state: known.fact.state,
        times: 0,
        succeeded: 0,
        failed: 0,
        valid_from: known.fact.at,
        valid_to: None,
        last_at: None,
        source: Source::of(known),
    };
    note(&mut edge, known);
    edge
}

fn note(edge: &mut Edge, known: &KnownFact) {
    let fact = &known.fact;
    let is_over = matches!(fact.state, FactState::Refuted | FactState::Superseded);
    if edge.valid_to.is_some() && !is_over {
        edge.valid_from = fact.at;
    }
    edge.valid_to = if is_over { fact.at } else { None };
    edge.state = fact.state;
    edge.times += 1;
    edge.succeeded += fact.succeeded;
    edge.failed += fact.failed;
    edge.last_at = fact.at;
    edge.source = Source::of(known);
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rethread_model::EntityKind;

    use super::super::testing::{With, known};
    use super::*;

    fn graph(facts: &[KnownFact], middle: &Entity, limits: Limits) -> Graph {
        let about = |thing: &Thing| {
            let is_about = |known: &&KnownFact| match thing {
                Thing::Session { id, .. } => known.session == *id,
                Thing::Entity(entity) => known.fact.subject == *entity || known.fact.object.as_ref() == Some(entity),
            };
            Ok::<_, Infallible>(facts.iter().filter(is_about).cloned().collect())
        };
        around(middle, limits, about).unwrap()
    }

    fn told(graph: &Graph) -> Vec<String> {
        let label = |at: usize| graph.nodes[at].thing.label();
        let edges = graph.edges.iter();
        edges
            .map(|edge| format!("{} {} {} x{}", label(edge.from), edge.predicate.as_str(), label(edge.to), edge.times))
            .collect()
    }

    #[test]
    fn a_graph_reaches_two_steps_and_counts_what_is_said_twice() {
        let error = (EntityKind::Error, "E1");
        let facts = [
            known("a", 1, Predicate::FailedWith, (EntityKind::Command, "make")).object(EntityKind::Error, "E1"),
            known("a", 2, Predicate::FailedWith, (EntityKind::Command, "make")).object(EntityKind::Error, "E1"),
            known("a", 3, Predicate::FixedBy, error).object(EntityKind::Command, "make"),
            known("b", 4, Predicate::Ran, (EntityKind::Command, "make")),
            known("b", 5, Predicate::Edited, (EntityKind::File, "x.c")),
        ];
        let found = graph(&facts, &Entity::new(EntityKind::Error, "E1"), Limits::default());
        assert_eq!(told(&found), ["make failed_with E1 x2", "E1 fixed_by make x1", "b ran make x1"]);
        assert_eq!(found.nodes.iter().map(|node| node.depth).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn what_was_taken_back_has_an_end_and_may_begin_again() {
        let chosen = |minute, state| {
            known("a", minute, Predicate::Decided, (EntityKind::Choice, "tabs"))
                .object(EntityKind::Choice, "spaces")
                .state(state)
        };
        let facts =
            [chosen(1, FactState::Confirmed), chosen(2, FactState::Superseded), chosen(3, FactState::Confirmed)];
        let middle = Entity::new(EntityKind::Choice, "tabs");
        let minute = |minute: i64| Some(Timestamp::from_millis(minute * 60_000));
        let then = &graph(&facts[..2], &middle, Limits::default()).edges[0];
        assert_eq!((then.valid_from, then.valid_to), (minute(1), minute(2)));
        let now = &graph(&facts, &middle, Limits::default()).edges[0];
        assert_eq!((now.valid_from, now.valid_to), (minute(3), None));
    }

    #[test]
    fn a_graph_stays_within_its_limits_and_says_what_was_left_out() {
        let file = |minute: i64| known(&format!("s{minute}"), minute, Predicate::Edited, (EntityKind::File, "x.c"));
        let facts: Vec<KnownFact> = (0..30).map(file).collect();
        let limits = Limits { nodes: 8, near: 5, ..Limits::default() };
        let found = graph(&facts, &Entity::new(EntityKind::File, "x.c"), limits);
        assert_eq!((found.nodes.len(), found.left_out), (6, 25));
    }
}
