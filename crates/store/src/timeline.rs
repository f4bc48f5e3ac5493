//! Episodes of all sessions in the order they happened.

use std::collections::HashSet;

use rethread_model::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

use crate::{EpisodeKey, Scope, SessionNumber, Store, StoreError};

/// Which episodes are wanted.
#[derive(Clone, Debug, Default)]
pub struct EpisodeWindow {
    /// Where.
    pub scope: Scope,
    /// Of one session.
    pub session: Option<SessionNumber>,
    /// Not before.
    pub from: Option<Timestamp>,
    /// Before.
    pub to: Option<Timestamp>,
    /// Those around this moment; the last ones if nothing is given.
    pub anchor: Option<Timestamp>,
    /// Only these, if given.
    pub among: Option<Vec<EpisodeKey>>,
    /// At most this many.
    pub limit: usize,
}

/// Sub-agents do their parent's work: on a line of what was done they would show it twice.
const WANTED: &str = "episode.space = ?1 AND NOT episode.abandoned AND session.kind = 'main'
    AND (?2 IS NULL OR session.project = ?2 OR session.cwd = ?2 OR substr(session.cwd, 1, length(?2) + 1) = ?2 || '/')
    AND (?3 IS NULL OR episode.session = ?3)
    AND (?4 IS NULL OR episode.started_at >= ?4) AND (?5 IS NULL OR episode.started_at < ?5)";

impl Store {
    /// Episodes in the order they happened.
    pub fn episodes_in(&self, window: &EpisodeWindow) -> Result<Vec<EpisodeKey>, StoreError> {
        let Some(anchor) = window.anchor else {
            let mut last = self.walk(window, None, Way::Back, window.limit)?;
            last.reverse();
            return Ok(last);
        };
        let half = window.limit / 2;
        let mut around = self.walk(window, Some(anchor), Way::Back, half)?;
        around.reverse();
        around.extend(self.walk(window, Some(anchor), Way::On, window.limit - around.len())?);
        Ok(around)
    }

    /// The episode with that id.
    pub fn episode_by_id(&self, id: &str) -> Result<Option<EpisodeKey>, StoreError> {
        let read = || {
            self.connection
                .prepare_cached(
                    "SELECT session, number FROM episode INDEXED BY episode_by_id WHERE space = ?1 AND id = ?2",
                )?
                .query_row(params![self.space.as_str(), id], key)
                .optional()
        };
        read().map_err(|cause| self.err(cause))
    }

    fn walk(
        &self,
        window: &EpisodeWindow,
        anchor: Option<Timestamp>,
        way: Way,
        limit: usize,
    ) -> Result<Vec<EpisodeKey>, StoreError> {
        let (side, order) = match way {
            Way::Back => ("<", "DESC"),
            Way::On => (">=", "ASC"),
        };
        let project = match &window.scope {
            Scope::AllProjects => None,
            Scope::Project(path) => Some(path.as_str()),
        };
        let sql = format!(
            "SELECT episode.session, episode.number FROM episode INDEXED BY episode_by_time
             CROSS JOIN session ON session.space = episode.space AND session.num = episode.session
             WHERE {WANTED} AND (?6 IS NULL OR episode.started_at {side} ?6)
             ORDER BY episode.started_at {order}, episode.session {order}, episode.number {order}"
        );
        let among: Option<HashSet<EpisodeKey>> = window.among.as_ref().map(|keys| keys.iter().copied().collect());
        let read = || -> rusqlite::Result<Vec<EpisodeKey>> {
            let mut statement = self.connection.prepare_cached(&sql)?;
            let millis = |at: Option<Timestamp>| at.map(Timestamp::as_millis);
            let values = params![
                self.space.as_str(),
                project,
                window.session.map(|session| session.0),
                millis(window.from),
                millis(window.to),
                millis(anchor)
            ];
            let mut rows = statement.query(values)?;
            let mut found = Vec::new();
            while found.len() < limit
                && let Some(row) = rows.next()?
            {
                let key = key(row)?;
                if among.as_ref().is_none_or(|among| among.contains(&key)) {
                    found.push(key);
                }
            }
            Ok(found)
        };
        read().map_err(|cause| self.err(cause))
    }
}

#[derive(Clone, Copy)]
enum Way {
    Back,
    On,
}

fn key(row: &Row<'_>) -> rusqlite::Result<EpisodeKey> {
    Ok(EpisodeKey { session: SessionNumber(row.get(0)?), number: row.get::<_, i64>(1)? as u64 })
}
