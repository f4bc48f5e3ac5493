//! JSON of `resume`: the context of a session and the command that continues it.

use rethread_engine::{AgentCommand, ListedSession};
use serde::Serialize;

use super::SCHEMA;
use super::search::SessionNameJson;

/// Where a session left off, and the words of the command that continues it, to be run in `directory`.
#[derive(Serialize)]
pub(crate) struct ResumeCommandJson<'a> {
    schema: u8,
    session: SessionNameJson<'a>,
    /// Null if it is unknown.
    directory: Option<&'a str>,
    /// Null if the session cannot be resumed.
    command: Option<&'a [String]>,
    context: &'a str,
}

impl<'a> ResumeCommandJson<'a> {
    pub(crate) fn new(listed: &'a ListedSession, command: Option<&'a AgentCommand>, context: &'a str) -> Self {
        Self {
            schema: SCHEMA,
            session: SessionNameJson::new(&listed.session),
            directory: listed.session.cwd.as_deref(),
            command: command.map(|command| command.words.as_slice()),
            context,
        }
    }
}
