//! Cached answers of models to questions about sessions, and how many questions an agent asked in a turn.

use rethread_model::Timestamp;

use crate::sql::values;
use crate::{ReadStore, SessionNumber, Store, StoreError};

/// No turn takes longer, so older counts can be deleted.
const LONGEST_TURN_MILLIS: i64 = 86_400_000;

/// Begins the key of an answer to a project question. It is stored with the session of its best evidence but may quote
/// others, so such answers are removed when any session loses its rows.
pub const PROJECT_QUESTION_MARK: &str = "project:\n";

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
        self.sql.count("SELECT change FROM session WHERE space = ?1 AND number = ?2", values![session])
    }

    /// The cached answer and the model that gave it: of `model`, or the newest of any model.
    pub fn cached_answer(
        &self,
        question: SessionQuestion<'_>,
        model: Option<&str>,
    ) -> Result<Option<(String, String)>, StoreError> {
        self.sql.one(
            "SELECT model, text FROM cached_answer WHERE space = ?1 AND session = ?2 AND question = ?3
             AND session_change = ?4 AND (?5 IS NULL OR model = ?5) ORDER BY at DESC, model LIMIT 1",
            values![question.session, question.question, question.change, model],
            |row| Ok((row.string("model")?, row.string("text")?)),
        )
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
        self.sql.run(
            "INSERT INTO cached_answer (space, session, question, model, session_change, at, text)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE EXISTS
             (SELECT 1 FROM session WHERE space = ?1 AND number = ?2 AND change = ?5 AND kind <> 'removed')
             ON CONFLICT (space, session, question, model) DO UPDATE SET session_change = excluded.session_change,
             at = excluded.at, text = excluded.text",
            values![question.session, question.question, model, question.change, now, text],
        )
    }

    /// Counts a model call of a turn. Returns false, without counting, if the turn already has `limit` calls.
    pub fn count_model_call(&mut self, turn: &str, limit: u64, now: Timestamp) -> Result<bool, StoreError> {
        let batch = self.begin()?;
        let old = now.as_millis() - LONGEST_TURN_MILLIS;
        batch.sql.run("DELETE FROM turn_call_count WHERE space = ?1 AND last_call_at < ?2", values![old])?;
        let counted = batch.sql.change(
            "INSERT INTO turn_call_count (space, turn_id, calls, last_call_at) SELECT ?1, ?2, 1, ?3 WHERE ?4 > 0
             ON CONFLICT (space, turn_id) DO UPDATE SET calls = turn_call_count.calls + 1,
             last_call_at = excluded.last_call_at WHERE turn_call_count.calls < ?4",
            values![turn, now, limit.min(1 << 31)],
        )?;
        batch.commit()?;
        Ok(counted > 0)
    }

    /// Reverts the count for a call that was never sent.
    pub fn uncount_model_call(&self, turn: &str) -> Result<(), StoreError> {
        self.sql.run(
            "UPDATE turn_call_count SET calls = calls - 1 WHERE space = ?1 AND turn_id = ?2 AND calls > 0",
            values![turn],
        )
    }
}
