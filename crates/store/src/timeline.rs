//! Episodes of all sessions in chronological order.

use std::collections::HashSet;

use rethread_model::Timestamp;

use crate::sessions::IN_SCOPE;
use crate::sql::values;
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
        let index = self.sql.index("episode_by_id");
        let sql = format!("SELECT session, number FROM episode {index} WHERE space = ?1 AND id = ?2");
        self.sql.one(&sql, values![id], EpisodeKey::from_row)
    }

    /// Episodes from the anchor in one direction, nearest first.
    fn walk(
        &self,
        window: &EpisodeWindow,
        anchor: Option<Timestamp>,
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<EpisodeKey>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let (side, order, nulls) = match direction {
            Direction::Backward => ("<", "DESC", "NULLS LAST"),
            Direction::Forward => (">=", "ASC", "NULLS FIRST"),
        };
        let sql = format!(
            "SELECT episode.session, episode.number FROM episode {} {} session
             ON session.space = episode.space AND session.number = episode.session
             WHERE {MATCHES_WINDOW} AND {IN_SCOPE} AND (?6 IS NULL OR episode.started_at {side} ?6)
             ORDER BY episode.started_at {order} {nulls}, episode.session {order}, episode.number {order}",
            self.sql.index("episode_by_time"),
            self.sql.dialect().ordered_join(),
        );
        let among: Option<HashSet<EpisodeKey>> = window.among.as_ref().map(|keys| keys.iter().copied().collect());
        let (mut found, project) = (Vec::new(), window.scope.project());
        let values = values![project, window.session, window.from, window.to, anchor];
        self.sql.stream_while(&sql, values, |row| {
            let key = EpisodeKey::from_row(row)?;
            if among.as_ref().is_none_or(|among| among.contains(&key)) {
                found.push(key);
            }
            Ok::<_, StoreError>(found.len() < limit)
        })?;
        Ok(found)
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Backward,
    Forward,
}
