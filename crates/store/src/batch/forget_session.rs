//! Removes a session with everything derived from it, once or for good.

use rethread_model::{Session, Timestamp};
use rusqlite::params;

use super::Batch;
use crate::forgetting::{self, EXTERNAL_ID_TABLES, UNWIPED};
use crate::{MentionMatcher, SessionKey, SessionNumber, StoreError};

impl Batch<'_> {
    /// Removes a session with everything derived from it and everything keyed by its external id. Its number stays in
    /// use, so that readers of the feed see the removal. Reading the transcript again would bring the session back.
    pub fn remove_session(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        self.run(
            "DELETE FROM other_session_title WHERE space = ?1
             AND leaf_key IN (SELECT native_key FROM entry WHERE space = ?1 AND session = ?2)",
            params![self.space, session.0],
        )?;
        self.reset_session(session)?;
        let change = self.next_change();
        self.run(
            "DELETE FROM transcript_problem WHERE space = ?1
             AND transcript IN (SELECT number FROM transcript WHERE space = ?1 AND session = ?2)",
            params![self.space, session.0],
        )?;
        for table in EXTERNAL_ID_TABLES {
            let sql = format!(
                "DELETE FROM {table} WHERE space = ?1 AND (agent, external_id) IN
                 (SELECT agent, external_id FROM session WHERE space = ?1 AND number = ?2)"
            );
            self.run(&sql, params![self.space, session.0])?;
        }
        for table in ["watermark", "shown_name", "transcript"] {
            let sql = format!("DELETE FROM {table} WHERE space = ?1 AND session = ?2");
            self.run(&sql, params![self.space, session.0])?;
        }
        self.run(
            "UPDATE session SET kind = 'removed', alias = NULL, name = NULL, cwd = NULL, project = NULL,
             namespace = NULL, branch = NULL, model = NULL, transcript_path = NULL, parent_external_id = NULL,
             prompts = 0, messages = 0, tool_calls = 0, tool_errors = 0, files_edited = 0, episodes = 0,
             kept_tokens = 0, is_empty = 1, change = ?3, started_at = NULL, last_activity_at = NULL
             WHERE space = ?1 AND number = ?2",
            params![self.space, session.0, change],
        )
    }

    /// Removes sessions for good: neither they nor copies of their entries come back, whatever transcripts and hooks
    /// say. Also removes injections into other sessions that may mention them.
    pub fn forget_sessions(
        &mut self,
        sessions: &[(SessionNumber, Session)],
        marks: &MentionMatcher,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mentioning = forgetting::injections_mentioning(self.connection(), self.space, sessions, marks);
        for (number, _) in mentioning.map_err(|cause| self.err(cause))? {
            self.run("DELETE FROM injection WHERE space = ?1 AND number = ?2", params![self.space, number])?;
        }
        for (number, session) in sessions {
            self.run(
                "INSERT OR IGNORE INTO forgotten_session (space, agent, external_id, at) VALUES (?1, ?2, ?3, ?4)",
                params![self.space, session.agent.as_str(), session.external_id, now.as_millis()],
            )?;
            let keys = self.tombstone_keys(*number, session.agent, None)?;
            self.add_forgotten_keys(keys)?;
            self.run(
                "INSERT OR IGNORE INTO forgotten_key (space, key) SELECT space, lineage_key FROM tree_node
                 WHERE space = ?1 AND session = ?2",
                params![self.space, number.0],
            )?;
            self.remove_session(*number)?;
        }
        self.mark_unwiped()
    }

    /// Whether the user had the session forgotten.
    pub fn is_forgotten(&self, key: SessionKey<'_>) -> Result<bool, StoreError> {
        forgetting::is_forgotten(self.connection(), self.space, key).map_err(|cause| self.err(cause))
    }

    /// Bytes of deleted rows may be in the files until [`crate::Store::wipe`] has run.
    pub(crate) fn mark_unwiped(&mut self) -> Result<(), StoreError> {
        self.run("INSERT OR REPLACE INTO counter (space, name, value) VALUES (?1, ?2, 1)", params![self.space, UNWIPED])
    }
}
