//! Episodes of all sessions in chronological order.

use std::collections::HashSet;

use rethread_model::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

use crate::{EpisodeKey, ReadStore, SessionNumber, SessionScope, StoreError};

/// Selects episodes of the timeline.
#[derive(Clone, Debug, Default)]
pub struct EpisodeWindow {
    /// Only sessions in this scope.
    pub scope: SessionScope,
    /// Only this session.
    pub session: Option<SessionNumber>,
    /// Only episodes started at this time or later.
    pub from: Option<Timestamp>,
    /// Only episodes started before this time.
    pub to: Option<Timestamp>,
    /// Half of the episodes before this time and half after it; `None` for the last ones.
    pub anchor: Option<Timestamp>,
    /// Only these episodes.
    pub among: Option<Vec<EpisodeKey>>,
    /// Return at most this many.
    pub limit: usize,
}

/// Main sessions only: the work of sub-agents is part of their parent's episodes and would appear twice.
const MATCHES_WINDOW: &str = "episode.space = ?1 AND NOT episode.is_abandoned AND session.kind = 'main'
    AND (?2 IS NULL OR session.project = ?2 OR session.cwd = ?2 OR substr(session.cwd, 1, length(?2) + 1) = ?2 || '/')
    AND (?3 IS NULL OR episode.session = ?3)
    AND (?4 IS NULL OR episode.started_at >= ?4) AND (?5 IS NULL OR episode.started_at < ?5)";

impl ReadStore {
    /// Episodes of the window, in chronological order.
    pub fn episodes_in(&self, window: &EpisodeWindow) -> Result<Vec<EpisodeKey>, StoreError> {
        let Some(anchor) = window.anchor else {
            let mut last = self.walk(window, None, Direction::Backward, window.limit)?;
            last.reverse();
            return Ok(last);
        };
        let half = window.limit / 2;
        let mut around = self.walk(window, Some(anchor), Direction::Backward, half)?;
        around.reverse();
        around.extend(self.walk(window, Some(anchor), Direction::Forward, window.limit - around.len())?);
        Ok(around)
    }

    /// The episode with that id.
    pub fn episode_by_id(&self, id: &str) -> Result<Option<EpisodeKey>, StoreError> {
        let read = || {
            self.connection
                .prepare_cached(
                    "SELECT session, number FROM episode INDEXED BY episode_by_id WHERE space = ?1 AND id = ?2",
                )?
                .query_row(params![self.space.as_str(), id], key_from_row)
                .optional()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Episodes from the anchor in one direction, nearest first.
    fn walk(
        &self,
        window: &EpisodeWindow,
        anchor: Option<Timestamp>,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<EpisodeKey>, StoreError> {
        let (side, order) = match direction {
            Direction::Backward => ("<", "DESC"),
            Direction::Forward => (">=", "ASC"),
        };
        let project = match &window.scope {
            SessionScope::AllProjects => None,
            SessionScope::Project(path) => Some(path.as_str()),
        };
        let sql = format!(
            "SELECT episode.session, episode.number FROM episode INDEXED BY episode_by_time
             CROSS JOIN session ON session.space = episode.space AND session.number = episode.session
             WHERE {MATCHES_WINDOW} AND (?6 IS NULL OR episode.started_at {side} ?6)
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
                let key = key_from_row(row)?;
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
enum Direction {
    Backward,
    Forward,
}

fn key_from_row(row: &Row<'_>) -> rusqlite::Result<EpisodeKey> {
    Ok(EpisodeKey { session: SessionNumber(row.get(0)?), number: row.get::<_, i64>(1)? as u64 })
}
