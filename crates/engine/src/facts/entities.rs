//! The graph around an entity, and an overview of the best-known entities.

use rethread_model::{Entity, EntityKind, Predicate, Timestamp};
use rethread_recall::{
    EntityGraph, GraphItem, GraphLimits, KNOWLEDGE_PREDICATES, entity_graph, knowledge_rank, mentions_path,
};
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
        /// Facts about it: decisions, fixes and causes first, then what was done; each newest first.
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
        let scope = &request.scope;
        let entities = |name: Option<&str>| self.entities(&store, (scope, request.kind), until, name);
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
        let query = FactQuery { scope: request.scope.clone(), until, ..FactQuery::default() };
        let naming = self.facts_naming_file(&store, &entity.entity, &query)?;
        let facts = known_about(&store, &entity.entity, &query, &naming, request.limit)?;
        let mut naming = Some(naming);
        let graph = entity_graph(&entity.entity, GraphLimits::default(), |node| {
            // The entity itself is asked for first.
            let mut facts = naming.take().unwrap_or_default();
            facts.extend(connected_facts(&store, node, &query)?);
            Ok::<_, EngineError>(facts)
        })?;
        Ok(FactsReport::About { subject: entity, facts, graph, others })
    }
}

impl FactService<'_> {
    /// The entities of a request, or those whose name contains a text, those with the most facts first. All of today are
    /// counted once and kept.
    fn entities(
        self,
        store: &ReadStore,
        (scope, kind): (&SessionScope, Option<EntityKind>),
        until: Option<Timestamp>,
        name: Option<&str>,
    ) -> Result<Vec<EntityFacts>, EngineError> {
        if until.is_some() {
            let query = EntityQuery { scope: scope.clone(), kind, name_contains: name, until };
            return Ok(store.entities_with_facts(&query)?);
        }
        let fold = || Ok(store.entities_with_facts(&EntityQuery { scope: scope.clone(), ..EntityQuery::default() })?);
        let all = self.engine.folds.entities.get(store.head()?, scope.clone(), fold)?;
        let name = name.map(str::to_ascii_lowercase);
        let is_asked = |one: &&EntityFacts| {
            let has_kind = kind.is_none_or(|kind| one.entity.kind == kind);
            has_kind && name.as_ref().is_none_or(|name| one.entity.name.to_ascii_lowercase().contains(name))
        };
        Ok(all.iter().filter(is_asked).cloned().collect())
    }

    /// Facts of what was learned that name a file in their text: a fix that changed it, a decision or cause about it. A
    /// file name without its directory counts if only one file has it.
    fn facts_naming_file(
        self,
        store: &ReadStore,
        entity: &Entity,
        query: &FactQuery<'_>,
    ) -> Result<Vec<FactRow>, EngineError> {
        if entity.kind != EntityKind::File {
            return Ok(Vec::new());
        }
        let last = entity.name.rsplit('/').next().unwrap_or(&entity.name);
        let files = self.entities(store, (&query.scope, Some(entity.kind)), query.until, Some(last))?;
        let is_only = files.iter().filter(|file| file.entity.name.rsplit('/').next() == Some(last)).count() == 1;
        let names_file = |known: &&FactRow| {
            let fact = &known.fact;
            let is_linked = fact.subject == *entity || fact.object.as_ref() == Some(entity);
            let names = |text: &str| mentions_path(text, &entity.name) || (is_only && mentions_path(text, last));
            !is_linked && (names(&fact.detail) || names(&fact.subject.name))
        };
        let load = || Ok(store.facts(&FactQuery { predicates: &KNOWLEDGE_PREDICATES, ..query.clone() })?);
        if query.until.is_some() {
            return Ok(load()?.iter().filter(names_file).cloned().collect());
        }
        let learned = self.engine.folds.learned.get(store.head()?, query.scope.clone(), load)?;
        Ok(learned.iter().filter(names_file).cloned().collect())
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

/// The facts to list about an entity, at most `limit`.
fn known_about(
    store: &ReadStore,
    entity: &Entity,
    query: &FactQuery<'_>,
    naming: &[FactRow],
    limit: usize,
) -> Result<Vec<FactRow>, EngineError> {
    let query = FactQuery { about: Some(entity), limit: Some(limit as u64), ..query.clone() };
    let mut facts = naming.to_vec();
    facts.extend(store.facts(&FactQuery { predicates: &KNOWLEDGE_PREDICATES, ..query.clone() })?);
    for known in store.facts(&query)? {
        if !facts.contains(&known) {
            facts.push(known);
        }
    }
    facts.sort_by_key(|known| (knowledge_rank(known.fact.predicate), std::cmp::Reverse(known.fact.at)));
    facts.truncate(limit);
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
