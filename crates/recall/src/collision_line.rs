//! The line about another session's recent change that a tool call may collide with.
//!
//! Agents pass the line on together with the result of the call, so it speaks of the call as done.

use crate::quote_short;

/// Maximum length of session, file and branch names in the line.
const NAME_CHARS: usize = 60;

/// What another session changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CollidingChange<'a> {
    /// The file at this path, which the call changed too.
    File(&'a str),
    /// The branch, which the call switched too.
    Branch,
    /// The branch that the call committed to; its name, if it has one.
    BranchBeforeCommit(Option<String>),
}

/// What a session changed, how many minutes before the call.
pub fn collision_line(session: &str, change: &CollidingChange<'_>, minutes: i64) -> String {
    let quote = |text: &str| quote_short(text, NAME_CHARS);
    let (name, lead) = (quote(session), lead(minutes));
    match change {
        CollidingChange::File(path) => format!(
            "Session \"{name}\" changed {} {lead} this edit, and this session has not read it since. \
             Read it again and check that both changes are in it.",
            quote(path.rsplit('/').next().unwrap_or(path))
        ),
        CollidingChange::Branch => format!(
            "Session \"{name}\" switched the branch of this working tree {lead} this command and may still be \
             working on that branch."
        ),
        CollidingChange::BranchBeforeCommit(branch) => {
            let branch = branch.as_ref().map(|branch| format!(", which goes to \"{}\"", quote(branch)));
            format!(
                "Session \"{name}\" switched the branch of this working tree {lead} this commit{}. \
                 Check that this is the branch you want.",
                branch.unwrap_or_default()
            )
        }
    }
}

/// `2m before`. Relative to the call, so that it stays true later in the conversation.
fn lead(minutes: i64) -> String {
    match minutes {
        ..1 => "just before".to_owned(),
        1..60 => format!("{minutes}m before"),
        _ => format!("{}h before", minutes / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_session_change_and_time() {
        let line = collision_line("Fix the parser", &CollidingChange::File("/app/src/cart.rs"), 2);
        assert!(line.starts_with("Session \"Fix the parser\" changed cart.rs 2m before this edit"), "{line}");
        let commit = CollidingChange::BranchBeforeCommit(Some("main".to_owned()));
        let line = collision_line("Fix the parser", &commit, 90);
        assert!(line.contains("1h before this commit, which goes to \"main\"."), "{line}");
        assert!(collision_line("x", &CollidingChange::Branch, 0).contains("just before this command"));
    }
}
