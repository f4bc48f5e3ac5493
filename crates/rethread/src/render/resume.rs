//! The agent's own command to continue a session.

use rethread_model::{Agent, Session, quote_for_shell};

use super::sanitize_line;

/// The command, or `None` for agents that cannot resume a session by id.
pub(crate) fn resume_command(session: &Session) -> Option<String> {
    if session.agent != Agent::ClaudeCode {
        return None;
    }
    let go = session
        .cwd
        .as_deref()
        .map_or_else(String::new, |cwd| format!("cd {} && ", quote_for_shell(&sanitize_line(cwd))));
    Some(format!("{go}claude --resume {}", quote_for_shell(&sanitize_line(&session.external_id))))
}
