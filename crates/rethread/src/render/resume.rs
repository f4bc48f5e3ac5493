//! How to go on with a session in its own agent.

use rethread_model::{Agent, Session};

use super::single;

/// The agent's own command, where it takes a session by its id.
pub(crate) fn resume_command(session: &Session) -> Option<String> {
    if session.agent != Agent::ClaudeCode {
        return None;
    }
    let go = session.cwd.as_deref().map_or_else(String::new, |cwd| format!("cd {} && ", quoted(&single(cwd))));
    Some(format!("{go}claude --resume {}", quoted(&single(&session.external_id))))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_shell_would_take_apart_are_quoted() {
        assert_eq!(quoted("/home/me/app"), "/home/me/app");
        assert_eq!(quoted("it's $(touch x)"), "'it'\\''s $(touch x)'");
    }
}
