//! The graph around a thing, and the things most is known of.

use rethread_model::{Entity, EntityKind, Predicate};
use rethread_recall::{Graph, Limits, Thing, around};
use rethread_store::{FactQuery, KnownFact, KnownThing, Scope, Store, ThingQuery};

use super::naming::{command_entity, signature};
use crate::{Engine, EngineError};

/// What to tell about.
#[derive(Clone, Debug, Default)]
pub struct FactsRequest {
    /// A thing by its name, or a part of it; nothing for an overview.
    pub entity: Option<String>,
    /// Only things of this kind.
    pub kind: Option<EntityKind>,
    /// Where.
    pub scope: Scope,
    /// As it was then.
    pub as_of: Option<String>,
    /// At most so many facts, or so many things of each kind.
    pub limit: usize,
}

/// What is known.
#[derive(Clone, Debug)]
pub enum FactsReport {
    /// The things most is known of, or all that fit a name, by kind.
    Things(Vec<KnownThing>),
    /// One thing.
    About {
        /// The thing.
        thing: KnownThing,
        /// What is said of it, newest first.
        facts: Vec<KnownFact>,
        /// What surrounds it.
        graph: Graph,
        /// Other things of that name.
        others: Vec<Entity>,
    },
}

impl FactsReport {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Things(things) if things.is_empty())
    }
}

impl Engine {
    /// What is known of a thing, or the things most is known of.
    pub fn facts_about(&self, request: &FactsRequest) -> Result<FactsReport, EngineError> {
        let until = self.as_of(request.as_of.as_deref())?;
        let Some(store) = self.reader()? else { return Ok(FactsReport::Things(Vec::new())) };
        let things = |named: Option<&str>| {
            store.known_things(&ThingQuery { scope: request.scope.clone(), kind: request.kind, named, until })
        };
        let Some(name) = request.entity.as_deref().map(str::trim).filter(|name| !name.is_empty()) else {
            return Ok(FactsReport::Things(by_kind(&things(None)?, request.limit)));
        };
        let mut fitting = things(Some(name))?;
        if fitting.is_empty() {
            // Whole commands and printed errors are known by shorter names.
            for other in [command_entity(name), signature(name)].into_iter().flatten() {
                fitting = things(Some(&other))?;
                fitting.retain(|thing| thing.entity.name == other);
                if !fitting.is_empty() {
                    break;
                }
            }
        }
        let Some(at) = meant(&fitting, name) else {
            return Ok(FactsReport::Things(by_kind(&fitting, request.limit)));
        };
        let thing = fitting.remove(at);
        let same = |other: &KnownThing| other.entity.name.eq_ignore_ascii_case(&thing.entity.name);
        let others = fitting.iter().filter(|other| same(other)).map(|other| other.entity.clone()).collect();
        let query = FactQuery {
            scope: request.scope.clone(),
            about: Some(&thing.entity),
            until,
            limit: Some(request.limit as u64),
            ..FactQuery::default()
        };
        let facts = store.facts(&query)?;
        let graph = around(&thing.entity, Limits::default(), |node| {
            neighbourhood(&store, node, &FactQuery { scope: request.scope.clone(), until, ..FactQuery::default() })
        })?;
        Ok(FactsReport::About { thing, facts, graph, others })
    }
}

/// So many facts of one thing are looked at for its neighbours.
const MOST_FACTS: u64 = 2_000;

fn neighbourhood(store: &Store, node: &Thing, query: &FactQuery<'_>) -> Result<Vec<KnownFact>, EngineError> {
    // What a session read says little about it.
    let deeds: Vec<Predicate> = Predicate::ALL.into_iter().filter(|predicate| *predicate != Predicate::Read).collect();
    let query = FactQuery { limit: Some(MOST_FACTS), ..query.clone() };
    let facts = match node {
        Thing::Entity(entity) => store.facts(&FactQuery { about: Some(entity), ..query })?,
        Thing::Session { id, .. } => store.facts(&FactQuery { session: Some(*id), predicates: &deeds, ..query })?,
    };
    Ok(facts)
}

/// The thing that is meant by a name: the only one that is called so, or whose name holds it; of several with the very
/// same name, the one most is known of.
fn meant(fitting: &[KnownThing], name: &str) -> Option<usize> {
    let exact = fitting.iter().position(|thing| thing.entity.name == name);
    let exact = exact.or_else(|| fitting.iter().position(|thing| thing.entity.name.eq_ignore_ascii_case(name)));
    exact.or((fitting.len() == 1).then_some(0))
}

/// The first things of each kind.
fn by_kind(things: &[KnownThing], limit: usize) -> Vec<KnownThing> {
    let mut all = Vec::new();
    for kind in EntityKind::ALL {
        all.extend(things.iter().filter(|thing| thing.entity.kind == kind).take(limit).cloned());
    }
    all
}
