//! Watermarks: how far a session has seen each other session.

use rusqlite::params;

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::{Batch, ReadStore, SessionKey, SessionNumber, StoreError};

/// How far a session was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watermark {
    /// Generation of the session. In another one the seq says nothing: the transcript was replaced.
    pub generation: u64,
    /// Seq of the last entry seen.
    pub seq: u64,
}

/// A move of a watermark: how far a reader had seen another session, and how far it has seen it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatermarkMove {
    /// The session that was read.
    pub session: SessionNumber,
    /// The stored watermark; `None` if the session was never seen.
    pub from: Option<Watermark>,
    /// The new watermark.
    pub to: Watermark,
}

impl ReadStore {
    /// The watermarks of a reader, by session.
    pub fn watermarks(&self, reader: SessionKey<'_>) -> Result<Vec<(SessionNumber, Watermark)>, StoreError> {
        let sql =
            format!("SELECT session, generation, last_seq FROM watermark WHERE {BY_EXTERNAL_ID} AND last_seq >= ?4");
        self.query_by_external_id(&sql, reader, 0, |row| {
            let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
            Ok((SessionNumber(row.get(0)?), Watermark { generation: count(1)?, seq: count(2)? }))
        })
    }
}

impl Batch<'_> {
    /// Moves a watermark of a reader. Returns false, without moving it, if it is not at `mark.from` any more: then
    /// another process has informed the reader since.
    pub fn move_watermark(&mut self, reader: SessionKey<'_>, mark: WatermarkMove) -> Result<bool, StoreError> {
        let (agent, id, session) = (reader.agent.as_str(), reader.external_id, mark.session.0);
        let to = (mark.to.generation as i64, mark.to.seq as i64);
        match mark.from {
            None => self.insert(
                "INSERT OR IGNORE INTO watermark (space, agent, external_id, session, generation, last_seq)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![self.space(), agent, id, session, to.0, to.1],
            ),
            Some(from) => self.insert(
                &format!(
                    "UPDATE watermark SET generation = ?5, last_seq = ?6 WHERE {BY_EXTERNAL_ID} AND session = ?4
                     AND generation = ?7 AND last_seq = ?8"
                ),
                params![self.space(), agent, id, session, to.0, to.1, from.generation as i64, from.seq as i64],
            ),
        }
    }
}
