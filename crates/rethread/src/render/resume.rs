//! The agent's own command to continue a session.

use rethread_engine::format_of;
use rethread_model::{Session, quote_for_shell};

use super::sanitize_line;

/// The command, or `None` for agents that cannot resume a session by id.
pub(crate) fn resume_command(session: &Session) -> Option<String> {
    let command = format_of(session.agent).resume_command(&quote_for_shell(&sanitize_line(&session.external_id)))?;
    let go = session
        .cwd
        .as_deref()
        .map_or_else(String::new, |cwd| format!("cd {} && ", quote_for_shell(&sanitize_line(cwd))));
    Some(format!("{go}{command}"))
}
