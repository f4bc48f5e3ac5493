//! The entities facts are about, and how many facts there are about each.

use rethread_model::{Entity, EntityKind, Timestamp};
use rusqlite::params;

use crate::{ReadStore, SessionScope, StoreError};

/// An entity with the number of its facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntityFacts {
    /// Kind and name.
    pub entity: Entity,
    /// Facts that have it as subject or object.
    pub facts: u64,
    /// Sessions those facts come from.
    pub sessions: u64,
    /// Time of the latest fact.
    pub last_fact_at: Option<Timestamp>,
}

/// Selects entities.
#[derive(Clone, Debug, Default)]
pub struct EntityQuery<'a> {
    /// Only facts of sessions in this scope count.
    pub scope: SessionScope,
    /// Only entities of this kind.
    pub kind: Option<EntityKind>,
    /// Only names that contain this, ignoring ASCII case.
    pub name_contains: Option<&'a str>,
    /// Only facts until this time count.
    pub until: Option<Timestamp>,
}

impl ReadStore {
    /// Entities that match the query, those with the most facts first.
    pub fn entities_with_facts(&self, query: &EntityQuery<'_>) -> Result<Vec<EntityFacts>, StoreError> {
        let project = match &query.scope {
            SessionScope::AllProjects => None,
            SessionScope::Project(path) => Some(path.as_str()),
        };
        let read = || -> rusqlite::Result<Vec<EntityFacts>> {
            let mut statement = self.connection.prepare_cached(
                "WITH mention (entity, session, at) AS (
                     SELECT subject, session, at FROM fact WHERE space = ?1 AND (?5 IS NULL OR at IS NULL OR at <= ?5)
                     UNION ALL SELECT object, session, at FROM fact
                     WHERE space = ?1 AND object IS NOT NULL AND (?5 IS NULL OR at IS NULL OR at <= ?5)),
                 counted (entity, facts, sessions, last) AS (
                     SELECT mention.entity, count(*), count(DISTINCT mention.session), max(mention.at) FROM mention
                     JOIN session ON session.space = ?1 AND session.number = mention.session
                     WHERE ?2 IS NULL OR session.project = ?2 OR session.cwd = ?2
                         OR substr(session.cwd, 1, length(?2) + 1) = ?2 || '/'
                     GROUP BY mention.entity)
                 SELECT entity.kind, entity.name, counted.facts, counted.sessions, counted.last
                 FROM counted CROSS JOIN entity ON entity.space = ?1 AND entity.number = counted.entity
                 WHERE (?3 IS NULL OR entity.kind = ?3) AND (?4 IS NULL OR instr(lower(entity.name), lower(?4)) > 0)
                 ORDER BY counted.facts DESC, counted.last DESC, entity.name",
            )?;
            let values = params![
                self.space.as_str(),
                project,
                query.kind.map(EntityKind::as_str),
                query.name_contains,
                query.until.map(Timestamp::as_millis),
            ];
            let rows = statement.query_map(values, |row| {
                let kind = EntityKind::from_stored(row.get_ref(0)?.as_str()?);
                Ok(kind.map(|kind| EntityFacts {
                    entity: Entity { kind, name: row.get(1).unwrap_or_default() },
                    facts: row.get::<_, i64>(2).unwrap_or(0) as u64,
                    sessions: row.get::<_, i64>(3).unwrap_or(0) as u64,
                    last_fact_at: row.get::<_, Option<i64>>(4).unwrap_or(None).map(Timestamp::from_millis),
                }))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}
