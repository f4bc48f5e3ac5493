//! Watermarks: how far a session has seen each other session.

use crate::lifecycle::BY_EXTERNAL_ID;
use crate::sql::{columns, values};
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
        let sql = format!("SELECT session, generation, last_seq FROM watermark WHERE {BY_EXTERNAL_ID}");
        self.sql.all(&sql, values![reader.agent, reader.external_id], |row| {
            let watermark = Watermark { generation: row.u64("generation")?, seq: row.u64("last_seq")? };
            Ok((row.session("session")?, watermark))
        })
    }
}

impl Batch<'_> {
    /// Moves a watermark of a reader. Returns false, without moving it, if it is not at `mark.from` any more: then
    /// another process has informed the reader since.
    pub fn move_watermark(&mut self, reader: SessionKey<'_>, mark: WatermarkMove) -> Result<bool, StoreError> {
        let (agent, external_id, session) = (reader.agent, reader.external_id, mark.session);
        let Watermark { generation, seq } = mark.to;
        let Some(from) = mark.from else {
            let row = columns! {
                agent: agent,
                external_id: external_id,
                session: session,
                generation: generation,
                last_seq: seq,
            };
            return self.insert_new("watermark", row);
        };
        let moved = self.sql.change(
            &format!(
                "UPDATE watermark SET generation = ?5, last_seq = ?6 WHERE {BY_EXTERNAL_ID} AND session = ?4
                 AND generation = ?7 AND last_seq = ?8"
            ),
            values![agent, external_id, session, generation, seq, from.generation, from.seq],
        )?;
        Ok(moved > 0)
    }
}
