//! Removing a session and everything that rests on it, for now or for good.

use rethread_model::{NativeKey, Session, Timestamp};
use rusqlite::params;

use super::Batch;
use crate::forgetting::{self, OF_AGENT_ID, UNWIPED};
use crate::{Marks, SessionKey, SessionNumber, StoreError};

impl Batch<'_> {
    /// Removes a session with all that was derived from it and all that only we knew of it. Its number stays taken, so
    /// that whoever follows the store learns that it is gone.
    pub fn forget_session(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM title_elsewhere WHERE space = ?1
             AND leaf IN (SELECT native FROM entry WHERE space = ?1 AND session = ?2)",
            params![self.space, session.0],
        )?;
        self.reset_session(session)?;
        let change = self.next_change();
        self.run(
            "DELETE FROM problem WHERE space = ?1
             AND transcript IN (SELECT num FROM transcript WHERE space = ?1 AND session = ?2)",
            params![self.space, session.0],
        )?;
        for table in OF_AGENT_ID {
            let sql = format!(
                "DELETE FROM {table} WHERE space = ?1 AND (agent, external_id) IN
                 (SELECT agent, external_id FROM session WHERE space = ?1 AND num = ?2)"
            );
            self.run(&sql, params![self.space, session.0])?;
        }
        for table in ["seen", "transcript"] {
            let sql = format!("DELETE FROM {table} WHERE space = ?1 AND session = ?2");
            self.run(&sql, params![self.space, session.0])?;
        }
        self.run(
            "UPDATE session SET kind = 'gone', alias = NULL, name = NULL, cwd = NULL, project = NULL, namespace = NULL,
             branch = NULL, model = NULL, transcript = NULL, parent_external = NULL, prompts = 0, messages = 0,
             tool_calls = 0, tool_errors = 0, files_edited = 0, episodes = 0, kept_tokens = 0, empty = 1, change = ?3,
             started_at = NULL, last_at = NULL
             WHERE space = ?1 AND num = ?2",
            params![self.space, session.0, change],
        )
    }

    /// Removes sessions for good: nothing that is read or heard later brings them back, nor what was copied from them.
    /// Texts given to others that may tell of them go too.
    pub fn bury(
        &mut self,
        sessions: &[(SessionNumber, Session)],
        marks: &Marks,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let told = forgetting::told_of(self.connection(), self.space, sessions, marks);
        for (number, _) in told.map_err(|cause| self.err(cause))? {
            self.run("DELETE FROM injection WHERE space = ?1 AND num = ?2", params![self.space, number])?;
        }
        for (number, session) in sessions {
            self.run(
                "INSERT OR IGNORE INTO tombstone (space, agent, external_id, at) VALUES (?1, ?2, ?3, ?4)",
                params![self.space, session.agent.as_str(), session.external_id, now.as_millis()],
            )?;
            for (table, key) in [("entry", "native"), ("node", "lineage")] {
                let sql = format!(
                    "INSERT OR IGNORE INTO forgotten (space, key) SELECT space, {key} FROM {table}
                     WHERE space = ?1 AND session = ?2"
                );
                self.run(&sql, params![self.space, number.0])?;
            }
            self.forget_session(*number)?;
        }
        self.note_unwiped()
    }

    /// Whether a session was forgotten for good.
    pub fn is_forgotten(&self, key: SessionKey<'_>) -> Result<bool, StoreError> {
        forgetting::is_forgotten(self.connection(), self.space, key).map_err(|cause| self.err(cause))
    }

    /// Whether that was forgotten for good.
    pub(crate) fn has_forgotten(&self, key: NativeKey) -> Result<bool, StoreError> {
        self.exists("SELECT 1 FROM forgotten WHERE space = ?1 AND key = ?2", params![self.space, key.as_stored()])
    }

    /// Notes that bytes of deleted rows may still be in the files.
    pub(crate) fn note_unwiped(&mut self) -> Result<(), StoreError> {
        self.run("INSERT OR REPLACE INTO counter (space, name, value) VALUES (?1, ?2, 1)", params![self.space, UNWIPED])
    }
}
