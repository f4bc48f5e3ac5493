//! One line before an edit or a change of branch, when another session at work did the same a moment ago.

use rethread_model::{Entry, Timestamp, ToolKind, clip, one_line};
use rethread_store::{SessionKey, Store};

use super::neighbours::{is_neighbour, name_of};
use crate::{Engine, EngineError};

/// How long ago somebody else may have done it.
const RECENT_MILLIS: i64 = 30 * 60_000;
/// Characters of a session's name.
const NAME_CHARS: usize = 60;

/// What an agent is about to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Change a file.
    Edit(String),
    /// Work on another branch.
    SwitchBranch,
}

impl Intent {
    /// What a call is about to do, as far as it could collide.
    pub(crate) fn of(kind: ToolKind, target: &str) -> Option<Self> {
        match kind {
            ToolKind::Write | ToolKind::Edit if !target.is_empty() => Some(Intent::Edit(target.to_owned())),
            ToolKind::Command if switches_branch(target) => Some(Intent::SwitchBranch),
            _ => None,
        }
    }

    /// What is said only once is known by this.
    pub(super) fn key(&self) -> String {
        match self {
            Intent::Edit(path) => format!("collision:{path}"),
            Intent::SwitchBranch => "collision:branch".to_owned(),
        }
    }
}

impl Engine {
    /// What to say before somebody does that; nothing if nobody else did.
    pub(super) fn collision(
        store: &Store,
        reader: SessionKey<'_>,
        project: &str,
        intent: &Intent,
        now: Timestamp,
    ) -> Result<Option<String>, EngineError> {
        let since = Timestamp::from_millis(now.as_millis() - RECENT_MILLIS);
        for (number, session) in store.live_sessions(project, since)? {
            if !is_neighbour(&session, reader) {
                continue;
            }
            let deeds = store.deeds_since(number, None, since)?;
            let Some(entry) = deeds.entries.iter().rev().find(|entry| did(entry, intent)) else { continue };
            let minutes = entry.at.map_or(0, |at| now.millis_since(at).max(0) / 60_000);
            let when = if minutes == 0 { "just now".to_owned() } else { format!("{minutes}m ago") };
            let name = harmless(&clip(&one_line(&name_of(&session)), NAME_CHARS));
            return Ok(Some(match intent {
                Intent::Edit(path) => {
                    let file = harmless(path.rsplit('/').next().unwrap_or(path));
                    format!("Session \"{name}\" changed {file} {when}; look at the file again before you change it.")
                }
                Intent::SwitchBranch => format!("Session \"{name}\" switched the branch of this working tree {when}."),
            }));
        }
        Ok(None)
    }
}

fn harmless(text: &str) -> String {
    text.replace(['"', '<', '>'], "'")
}

fn did(entry: &Entry, intent: &Intent) -> bool {
    let Some(tool) = &entry.tool else { return false };
    if tool.outcome.as_ref().is_some_and(|outcome| outcome.status.is_error()) {
        return false;
    }
    match intent {
        Intent::Edit(path) => {
            tool.kind.is_some_and(ToolKind::changes_files) && tool.paths.iter().any(|other| same_file(other, path))
        }
        Intent::SwitchBranch => tool.kind == Some(ToolKind::Command) && switches_branch(&tool.target),
    }
}

/// The same path, or one of them written from the project's directory on.
fn same_file(one: &str, other: &str) -> bool {
    let ends = |long: &str, short: &str| long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'));
    one == other || (!one.starts_with('/') && ends(other, one)) || (!other.starts_with('/') && ends(one, other))
}

/// `git checkout NAME`, `git switch NAME`, not `git checkout -- FILE`.
fn switches_branch(command: &str) -> bool {
    command.split(['&', ';', '|', '\n']).any(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        match words.as_slice() {
            ["git", "switch", rest @ ..] => !rest.is_empty(),
            ["git", "checkout", rest @ ..] => !rest.is_empty() && !rest.contains(&"--") && !rest.contains(&"."),
            _ => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_is_switched_by_checkout_and_switch_and_not_by_restoring_files() {
        for command in ["git switch main", "git checkout -b x", "cd a && git checkout main"] {
            assert!(switches_branch(command), "{command}");
        }
        for command in ["git checkout -- a.rs", "git checkout .", "git status", "echo git switch", "git switch"] {
            assert!(!switches_branch(command), "{command}");
        }
    }

    #[test]
    fn a_file_is_the_same_however_it_is_written() {
        assert!(same_file("/p/src/a.rs", "/p/src/a.rs") && same_file("src/a.rs", "/p/src/a.rs"));
        assert!(!same_file("/p/a.rs", "/q/a.rs") && !same_file("a.rs", "/p/aa.rs"));
    }
}
