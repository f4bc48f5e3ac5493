//! Sessions that a hook reported before their transcript was read. The first read of the transcript completes the row.

use rethread_model::Timestamp;

use crate::sql::values;
use crate::{Batch, SessionKey, StoreError};

/// What a hook knows about a session.
#[derive(Clone, Copy, Debug)]
pub struct HookSession<'a> {
    /// Identifies the session.
    pub key: SessionKey<'a>,
    /// Its current working directory.
    pub cwd: &'a str,
    /// The project that contains `cwd`.
    pub project: &'a str,
    /// Name of the project that does not reveal its path.
    pub namespace: &'a str,
    /// A name until the transcript gives a better one.
    pub name: Option<&'a str>,
    /// Where the agent writes the transcript, if it says so.
    pub transcript_path: Option<&'a str>,
    /// Time of the event.
    pub at: Timestamp,
    /// Whether something worth listing happened: a prompt, a tool call or an answer.
    pub has_work: bool,
}

impl Batch<'_> {
    /// Adds or updates the row of a session whose transcript was not read yet. Does nothing for other sessions, and for
    /// forgotten ones.
    ///
    /// The session's id gets its start time only from the transcript, so that it is the same whether the hook or the
    /// transcript came first.
    pub fn save_hook_session(&mut self, session: &HookSession<'_>) -> Result<(), StoreError> {
        if self.is_forgotten(session.key)? {
            return Ok(());
        }
        let opened = self.open_session(session.key.agent, session.key.external_id)?;
        if opened.assembler_state.is_some() {
            return Ok(());
        }
        let change = self.next_change();
        self.sql.run(
            "UPDATE session SET cwd = coalesce(cwd, ?3), project = coalesce(project, ?4),
             namespace = coalesce(namespace, ?5), transcript_path = coalesce(transcript_path, ?6),
             started_at = coalesce(started_at, ?7),
             last_activity_at = CASE WHEN last_activity_at > ?7 THEN last_activity_at ELSE ?7 END,
             is_empty = is_empty AND NOT ?8, change = ?9, name = coalesce(name, ?10)
             WHERE space = ?1 AND number = ?2 AND assembler_state IS NULL AND kind <> 'removed'",
            values![
                opened.number,
                session.cwd,
                session.project,
                session.namespace,
                session.transcript_path,
                session.at,
                session.has_work,
                change,
                session.name,
            ],
        )
    }
}
