//! Removes a session with everything derived from it, once or for good.

use rethread_model::{Session, Timestamp};

use super::Batch;
use crate::forgetting::{EXTERNAL_ID_TABLES, UNWIPED};
use crate::sql::{columns, values};
use crate::{MentionMatcher, SessionNumber, StoreError};

impl Batch<'_> {
    /// Removes a session with everything derived from it and everything keyed by its external id. Its number stays in
    /// use, so that readers of the feed see the removal. Reading the transcript again would bring the session back.
    pub fn remove_session(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        self.sql.run(
            "DELETE FROM other_session_title WHERE space = ?1
             AND leaf_key IN (SELECT native_key FROM entry WHERE space = ?1 AND session = ?2)",
            values![session],
        )?;
        self.reset_session(session)?;
        let change = self.next_change();
        self.sql.run(
            "DELETE FROM transcript_problem WHERE space = ?1
             AND transcript IN (SELECT number FROM transcript WHERE space = ?1 AND session = ?2)",
            values![session],
        )?;
        for table in EXTERNAL_ID_TABLES {
            let sql = format!(
                "DELETE FROM {table} WHERE space = ?1 AND (agent, external_id) IN
                 (SELECT agent, external_id FROM session WHERE space = ?1 AND number = ?2)"
            );
            self.sql.run(&sql, values![session])?;
        }
        self.delete_session_rows(["watermark", "shown_name", "transcript"], session)?;
        self.sql.run(
            "UPDATE session SET kind = 'removed', alias = NULL, name = NULL, cwd = NULL, project = NULL,
             namespace = NULL, branch = NULL, model = NULL, transcript_path = NULL, parent_external_id = NULL,
             prompts = 0, messages = 0, tool_calls = 0, tool_errors = 0, files_edited = 0, episodes = 0,
             kept_tokens = 0, is_empty = TRUE, change = ?3, started_at = NULL, last_activity_at = NULL
             WHERE space = ?1 AND number = ?2",
            values![session, change],
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
        for (number, _) in self.injections_mentioning(sessions, marks)? {
            self.sql.run("DELETE FROM injection WHERE space = ?1 AND number = ?2", values![number])?;
        }
        for (number, session) in sessions {
            let forgotten = columns! { agent: session.agent, external_id: session.external_id, at: now };
            self.insert_new("forgotten_session", forgotten)?;
            let keys = self.tombstone_keys(*number, session.agent, None)?;
            self.add_forgotten_keys(keys)?;
            self.sql.run(
                "INSERT INTO forgotten_key (space, key) SELECT DISTINCT space, lineage_key FROM tree_node
                 WHERE space = ?1 AND session = ?2 ON CONFLICT DO NOTHING",
                values![number],
            )?;
            self.tombstones.reset();
            self.remove_session(*number)?;
        }
        self.mark_unwiped()
    }

    /// Bytes of deleted rows may be in the files until [`crate::Store::wipe`] has run.
    pub(crate) fn mark_unwiped(&mut self) -> Result<(), StoreError> {
        self.set_counter(UNWIPED, 1)
    }
}
