//! Removing a session and everything that rests on it.

use rusqlite::params;

use super::Batch;
use crate::{SessionNumber, StoreError};

impl Batch<'_> {
    /// Removes a session with all that was derived from it. Its number stays taken, so that whoever follows the store
    /// learns that it is gone.
    pub fn forget_session(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        self.reset_session(session)?;
        let change = self.next_change();
        self.run(
            "DELETE FROM problem WHERE space = ?1
             AND transcript IN (SELECT num FROM transcript WHERE space = ?1 AND session = ?2)",
            params![self.space, session.0],
        )?;
        self.run(
            "DELETE FROM card WHERE space = ?1 AND (agent, external_id) IN
             (SELECT agent, external_id FROM session WHERE space = ?1 AND num = ?2)",
            params![self.space, session.0],
        )?;
        self.run("DELETE FROM transcript WHERE space = ?1 AND session = ?2", params![self.space, session.0])?;
        self.run(
            "UPDATE session SET kind = 'gone', alias = NULL, name = NULL, cwd = NULL, project = NULL, namespace = NULL,
             branch = NULL, model = NULL, transcript = NULL, parent_external = NULL, prompts = 0, messages = 0,
             tool_calls = 0, tool_errors = 0, files_edited = 0, episodes = 0, kept_tokens = 0, empty = 1, change = ?3
             WHERE space = ?1 AND num = ?2",
            params![self.space, session.0, change],
        )
    }
}
