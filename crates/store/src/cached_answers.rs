//! Cached answers of models to questions about sessions, and how many questions an agent asked in a turn.

use rethread_model::Timestamp;
use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use crate::{ReadStore, SessionNumber, Store, StoreError};

/// No turn takes longer, so older counts can be deleted.
const LONGEST_TURN_MILLIS: i64 = 86_400_000;

/// A question about a session in its current state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionQuestion<'a> {
    /// The session the question is about.
    pub session: SessionNumber,
    /// Its change number: an answer for another one is out of date.
    pub change: u64,
    /// The question, normalized by the caller.
    pub question: &'a str,
}

impl ReadStore {
    /// The change number of a session. It grows with everything that is read of the session; 0 if there is no session.
    pub fn last_change(&self, session: SessionNumber) -> Result<u64, StoreError> {
        let read = || {
            self.connection
                .prepare_cached("SELECT change FROM session WHERE space = ?1 AND number = ?2")?
                .query_row(params![self.space.as_str(), session.0], |row| row.get::<_, i64>(0))
                .optional()
        };
        read().map(|change| change.unwrap_or(0) as u64).map_err(|cause| self.err(cause))
    }

    /// The cached answer and the model that gave it: of `model`, or the newest of any model.
    pub fn cached_answer(
        &self,
        question: SessionQuestion<'_>,
        model: Option<&str>,
    ) -> Result<Option<(String, String)>, StoreError> {
        let read = || {
            self.connection
                .prepare_cached(
                    "SELECT model, text FROM cached_answer WHERE space = ?1 AND session = ?2 AND question = ?3
                     AND session_change = ?4 AND (?5 IS NULL OR model = ?5) ORDER BY at DESC, model LIMIT 1",
                )?
                .query_row(
                    params![self.space.as_str(), question.session.0, question.question, question.change as i64, model],
                    |row| Ok((row.get(0)?, row.get(1)?)),
                )
                .optional()
        };
        read().map_err(|cause| self.err(cause))
    }
}

impl Store {
    /// Caches an answer and replaces an older one to the same question. Does nothing if the session has changed since
    /// or was removed.
    pub fn cache_answer(
        &self,
        question: SessionQuestion<'_>,
        model: &str,
        text: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let write = || {
            self.connection.execute(
                "INSERT OR REPLACE INTO cached_answer (space, session, question, model, session_change, at, text)
                 SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS
                 (SELECT 1 FROM session WHERE space = ?1 AND number = ?2 AND change = ?5 AND kind <> 'removed')",
                params![
                    self.space.as_str(),
                    question.session.0,
                    question.question,
                    model,
                    question.change as i64,
                    now.as_millis(),
                    text,
                ],
            )
        };
        write().map(drop).map_err(|cause| self.err(cause))
    }

    /// Counts a model call of a turn. Returns false, without counting, if the turn already has `limit` calls.
    pub fn count_model_call(&mut self, turn: &str, limit: u64, now: Timestamp) -> Result<bool, StoreError> {
        let space = self.space.as_str();
        let count = || -> rusqlite::Result<bool> {
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let old = now.as_millis() - LONGEST_TURN_MILLIS;
            transaction
                .execute("DELETE FROM turn_call_count WHERE space = ?1 AND last_call_at < ?2", params![space, old])?;
            let counted = transaction.execute(
                "INSERT INTO turn_call_count (space, turn_id, calls, last_call_at) SELECT ?1, ?2, 1, ?3 WHERE ?4 > 0
                 ON CONFLICT DO UPDATE SET calls = calls + 1, last_call_at = excluded.last_call_at WHERE calls < ?4",
                params![space, turn, now.as_millis(), limit.min(1 << 31) as i64],
            )?;
            transaction.commit()?;
            Ok(counted > 0)
        };
        count().map_err(|cause| self.err(cause))
    }

    /// Reverts the count for a call that was never sent.
    pub fn uncount_model_call(&self, turn: &str) -> Result<(), StoreError> {
        let uncount = || {
            self.connection.execute(
                "UPDATE turn_call_count SET calls = calls - 1 WHERE space = ?1 AND turn_id = ?2 AND calls > 0",
                params![self.space.as_str(), turn],
            )
        };
        uncount().map(drop).map_err(|cause| self.err(cause))
    }
}
