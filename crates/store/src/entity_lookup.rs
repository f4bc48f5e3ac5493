//! The entities facts are about, and how many facts there are about each.

use rethread_model::{Entity, EntityKind, Timestamp};

use crate::sessions::IN_SCOPE;
use crate::sql::values;
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
        let dialect = self.sql.dialect();
        let sql = format!(
            "WITH mention (entity, session, at) AS (
                 SELECT subject, session, at FROM fact WHERE space = ?1 AND (?5 IS NULL OR at IS NULL OR at <= ?5)
                 UNION ALL SELECT object, session, at FROM fact
                 WHERE space = ?1 AND object IS NOT NULL AND (?5 IS NULL OR at IS NULL OR at <= ?5)),
             counted (entity, facts, sessions, last) AS (
                 SELECT mention.entity, count(*), count(DISTINCT mention.session), max(mention.at) FROM mention
                 JOIN session ON session.space = ?1 AND session.number = mention.session
                 WHERE {IN_SCOPE} GROUP BY mention.entity)
             SELECT entity.kind, entity.name, counted.facts, counted.sessions, counted.last
             FROM counted {} entity ON entity.space = ?1 AND entity.number = counted.entity
             WHERE (?3 IS NULL OR entity.kind = ?3) AND (?4 IS NULL OR {})
             ORDER BY counted.facts DESC, counted.last DESC NULLS LAST, entity.name, entity.number",
            dialect.ordered_join(),
            dialect.contains("lower(entity.name)", "lower(?4)"),
        );
        let (project, kind) = (query.scope.project(), query.kind.map(EntityKind::as_str));
        let values = values![project, kind, query.name_contains, query.until];
        self.sql.known(&sql, values, |row| {
            let Some(kind) = EntityKind::from_stored(row.text("kind")?) else { return Ok(None) };
            Ok(Some(EntityFacts {
                entity: Entity { kind, name: row.string("name")? },
                facts: row.u64("facts")?,
                sessions: row.u64("sessions")?,
                last_fact_at: row.opt_time("last")?,
            }))
        })
    }
}
