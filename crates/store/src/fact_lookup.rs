//! Which things facts are about, and how much is known of each.

use rethread_model::{Entity, EntityKind, Timestamp};
use rusqlite::params;

use crate::{Scope, Store, StoreError};

/// A thing, and how much is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownThing {
    /// The thing.
    pub entity: Entity,
    /// How many facts say something of it, as subject or object.
    pub facts: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// When something was said of it last.
    pub last_at: Option<Timestamp>,
}

/// Which things are wanted; those most is known of first.
#[derive(Clone, Debug, Default)]
pub struct ThingQuery<'a> {
    /// Where something was said of them.
    pub scope: Scope,
    /// What they are.
    pub kind: Option<EntityKind>,
    /// What their names hold, in any case.
    pub named: Option<&'a str>,
    /// Only by what was said until then.
    pub until: Option<Timestamp>,
}

impl Store {
    /// Things that facts are about, those most is known of first.
    pub fn known_things(&self, query: &ThingQuery<'_>) -> Result<Vec<KnownThing>, StoreError> {
        let project = match &query.scope {
            Scope::AllProjects => None,
            Scope::Project(path) => Some(path.as_str()),
        };
        let read = || -> rusqlite::Result<Vec<KnownThing>> {
            let mut statement = self.connection.prepare_cached(
                "WITH said (thing, session, at) AS (
                     SELECT subject, session, at FROM fact WHERE space = ?1 AND (?5 IS NULL OR at IS NULL OR at <= ?5)
                     UNION ALL SELECT object, session, at FROM fact
                     WHERE space = ?1 AND object IS NOT NULL AND (?5 IS NULL OR at IS NULL OR at <= ?5)),
                 counted (thing, facts, sessions, last) AS (
                     SELECT said.thing, count(*), count(DISTINCT said.session), max(said.at) FROM said
                     JOIN session ON session.space = ?1 AND session.num = said.session
                     WHERE ?2 IS NULL OR session.project = ?2 OR session.cwd = ?2
                         OR substr(session.cwd, 1, length(?2) + 1) = ?2 || '/'
                     GROUP BY said.thing)
                 SELECT entity.kind, entity.name, counted.facts, counted.sessions, counted.last
                 FROM counted CROSS JOIN entity ON entity.space = ?1 AND entity.num = counted.thing
                 WHERE (?3 IS NULL OR entity.kind = ?3) AND (?4 IS NULL OR instr(lower(entity.name), lower(?4)) > 0)
                 ORDER BY counted.facts DESC, counted.last DESC, entity.name",
            )?;
            let values = params![
                self.space.as_str(),
                project,
                query.kind.map(EntityKind::as_str),
                query.named,
                query.until.map(Timestamp::as_millis),
            ];
            let rows = statement.query_map(values, |row| {
                let kind = EntityKind::from_stored(row.get_ref(0)?.as_str()?);
                Ok(kind.map(|kind| KnownThing {
                    entity: Entity { kind, name: row.get(1).unwrap_or_default() },
                    facts: row.get::<_, i64>(2).unwrap_or(0) as u64,
                    sessions: row.get::<_, i64>(3).unwrap_or(0) as u64,
                    last_at: row.get::<_, Option<i64>>(4).unwrap_or(None).map(Timestamp::from_millis),
                }))
            })?;
            rows.filter_map(Result::transpose).collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}
