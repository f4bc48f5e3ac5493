//! The agent's own command to continue a session.

use rethread_model::{Agent, Session};

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

/// Quotes a word for a shell.
fn quote_for_shell(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_words_with_special_characters() {
        assert_eq!(quote_for_shell("/home/me/app"), "/home/me/app");
        assert_eq!(quote_for_shell("it's $(touch x)"), "'it'\\''s $(touch x)'");
    }
}
