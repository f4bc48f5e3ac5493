//! Answers of models about sessions, kept so that nobody pays twice; and how often a model was asked in a turn.

use rethread_model::Timestamp;
use rusqlite::{OptionalExtension, TransactionBehavior, params};

use crate::{SessionNumber, Store, StoreError};

/// Turns are over long before that, so that their counts can go.
const LONGEST_TURN_MILLIS: i64 = 86_400_000;

/// A question about a session as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedOf<'a> {
    /// The session.
    pub session: SessionNumber,
    /// Its last change: another one means that it says more by now.
    pub change: u64,
    /// The question, however it is normalised.
    pub question: &'a str,
}

impl Store {
    /// The number of a session's last change: whatever is read of it changes this.
    pub fn last_change(&self, session: SessionNumber) -> Result<u64, StoreError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT change FROM session WHERE space = ?1 AND num = ?2")?
                .query_row(params![self.space.as_str(), session.0], |row| row.get::<_, i64>(0))
                .optional()
        };
        read().map(|change| change.unwrap_or(0) as u64).map_err(|cause| self.err(cause))
    }

    /// The model that answered and what it said, of that model or of the one that was asked last.
    pub fn kept_answer(&self, asked: AskedOf<'_>, model: Option<&str>) -> Result<Option<(String, String)>, StoreError> {
        let read = || {
            self.connection
                .prepare_cached(
                    "SELECT model, text FROM answer WHERE space = ?1 AND session = ?2 AND question = ?3 AND change = ?4
                     AND (?5 IS NULL OR model = ?5) ORDER BY at DESC, model LIMIT 1",
                )?
                .query_row(
                    params![self.space.as_str(), asked.session.0, asked.question, asked.change as i64, model],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .optional()
        };
        read().map_err(|cause| self.err(cause))
    }

    /// Keeps an answer in place of the one to the same question when the session said less. Nothing is kept of a session
    /// that has changed meanwhile or is gone.
    pub fn keep_answer(&self, asked: AskedOf<'_>, model: &str, text: &str, now: Timestamp) -> Result<(), StoreError> {
        let write = || {
            self.connection.execute(
                "INSERT OR REPLACE INTO answer (space, session, question, model, change, at, text)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS
                 (SELECT 1 FROM session WHERE space = ?1 AND num = ?2 AND change = ?5 AND kind <> 'gone')",
                params![
                    self.space.as_str(),
                    asked.session.0,
                    asked.question,
                    model,
                    asked.change as i64,
                    now.as_millis(),
                    text,
                ],
            )
        };
        write().map(drop).map_err(|cause| self.err(cause))
    }

    /// Counts one more call to a model in a turn; false, and not counted, if there were that many already.
    pub fn count_call(&mut self, turn: &str, most: u64, now: Timestamp) -> Result<bool, StoreError> {
        let space = self.space.as_str();
        let mut count = || -> rusqlite::Result<bool> {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let old = now.as_millis() - LONGEST_TURN_MILLIS;
            transaction.execute("DELETE FROM asked_turn WHERE space = ?1 AND at < ?2", params![space, old])?;
            let counted = transaction.execute(
                "INSERT INTO asked_turn (space, turn, calls, at) SELECT ?1, ?2, 1, ?3 WHERE ?4 > 0
                 ON CONFLICT DO UPDATE SET calls = calls + 1, at = excluded.at WHERE calls < ?4",
                params![space, turn, now.as_millis(), most.min(1 << 31) as i64],
            )?;
            transaction.commit()?;
            Ok(counted > 0)
        };
        count().map_err(|cause| StoreError::at(&self.path, cause))
    }

    /// Takes back a call that was counted but never sent.
    pub fn uncount_call(&self, turn: &str) -> Result<(), StoreError> {
        let uncount = || {
            self.connection.execute(
                "UPDATE asked_turn SET calls = calls - 1 WHERE space = ?1 AND turn = ?2 AND calls > 0",
                params![self.space.as_str(), turn],
            )
        };
        uncount().map(drop).map_err(|cause| self.err(cause))
    }
}
