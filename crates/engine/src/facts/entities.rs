//! The graph around an entity, and an overview of the best-known entities.

use rethread_model::{Entity, EntityKind, Predicate};
use rethread_recall::{EntityGraph, GraphItem, GraphLimits, entity_graph};
use rethread_store::{EntityFacts, EntityQuery, FactQuery, FactRow, ReadStore, SessionScope};

use super::naming::{command_entity, error_signature};
use crate::{EngineError, FactService};

/// Selects an entity, or an overview.
#[derive(Clone, Debug, Default)]
pub struct FactsRequest {
    /// Name of an entity or part of it; `None` for an overview.
    pub entity: Option<String>,
    /// Only entities of this kind.
    pub kind: Option<EntityKind>,
    /// One project or all.
    pub scope: SessionScope,
    /// Show the state at this time instead of now.
    pub as_of: Option<String>,
    /// Maximum number of facts, or of entities per kind.
    pub limit: usize,
}

/// The result of an entity lookup.
#[derive(Clone, Debug)]
pub enum FactsReport {
    /// An overview, or all entities that match an ambiguous name, by kind.
    Entities(Vec<EntityFacts>),
    /// Details of one entity.
    About {
        /// The entity, with the number of facts about it.
        subject: EntityFacts,
        /// Facts about it, newest first.
        facts: Vec<FactRow>,
        /// Connected entities and sessions.
        graph: EntityGraph,
        /// Other entities with the same name.
        others: Vec<Entity>,
    },
}

impl FactsReport {
    /// Whether no entity matched.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Entities(entities) if entities.is_empty())
    }
}

impl FactService<'_> {
    /// Facts and graph of an entity, or an overview.
    pub fn about(self, request: &FactsRequest) -> Result<FactsReport, EngineError> {
        let until = self.parse_as_of(request.as_of.as_deref())?;
        let Some(store) = self.engine.reader()? else { return Ok(FactsReport::Entities(Vec::new())) };
        let entities = |name_contains: Option<&str>| {
            store.entities_with_facts(&EntityQuery {
                scope: request.scope.clone(),
                kind: request.kind,
                name_contains,
                until,
            })
        };
        let Some(name) = request.entity.as_deref().map(str::trim).filter(|name| !name.is_empty()) else {
            return Ok(FactsReport::Entities(first_of_each_kind(&entities(None)?, request.limit)));
        };
        let mut fitting = entities(Some(name))?;
        if fitting.is_empty() {
            // Full commands and printed errors are stored under normalized names.
            for other in [command_entity(name), error_signature(name)].into_iter().flatten() {
                fitting = entities(Some(&other))?;
                fitting.retain(|entity| entity.entity.name == other);
                if !fitting.is_empty() {
                    break;
                }
            }
        }
        let Some(at) = best_match(&fitting, name) else {
            return Ok(FactsReport::Entities(first_of_each_kind(&fitting, request.limit)));
        };
        let entity = fitting.remove(at);
        let same = |other: &EntityFacts| other.entity.name.eq_ignore_ascii_case(&entity.entity.name);
        let others = fitting.iter().filter(|other| same(other)).map(|other| other.entity.clone()).collect();
        let query = FactQuery {
            scope: request.scope.clone(),
            about: Some(&entity.entity),
            until,
            limit: Some(request.limit as u64),
            ..FactQuery::default()
        };
        let facts = store.facts(&query)?;
        let graph = entity_graph(&entity.entity, GraphLimits::default(), |node| {
            connected_facts(&store, node, &FactQuery { scope: request.scope.clone(), until, ..FactQuery::default() })
        })?;
        Ok(FactsReport::About { subject: entity, facts, graph, others })
    }
}

/// Maximum number of facts per node that are read for its connections.
const MAX_FACTS_PER_NODE: u64 = 2_000;

fn connected_facts(store: &ReadStore, node: &GraphItem, query: &FactQuery<'_>) -> Result<Vec<FactRow>, EngineError> {
    // What a session only read says little about it.
    let actions: Vec<Predicate> =
        Predicate::ALL.into_iter().filter(|predicate| *predicate != Predicate::Read).collect();
    let query = FactQuery { limit: Some(MAX_FACTS_PER_NODE), ..query.clone() };
    let facts = match node {
        GraphItem::Entity(entity) => store.facts(&FactQuery { about: Some(entity), ..query })?,
        GraphItem::Session { id, .. } => {
            store.facts(&FactQuery { session: Some(*id), predicates: &actions, ..query })?
        }
    };
    Ok(facts)
}

/// The entity meant by a name: an exact match, else a match ignoring case, else the only candidate. Of several exact
/// matches, the first, which has the most facts.
fn best_match(fitting: &[EntityFacts], name: &str) -> Option<usize> {
    let exact = fitting.iter().position(|entity| entity.entity.name == name);
    let exact = exact.or_else(|| fitting.iter().position(|entity| entity.entity.name.eq_ignore_ascii_case(name)));
    exact.or((fitting.len() == 1).then_some(0))
}

/// The first `limit` entities of each kind.
fn first_of_each_kind(entities: &[EntityFacts], limit: usize) -> Vec<EntityFacts> {
    let mut all = Vec::new();
    for kind in EntityKind::ALL {
        all.extend(entities.iter().filter(|entity| entity.entity.kind == kind).take(limit).cloned());
    }
    all
}
