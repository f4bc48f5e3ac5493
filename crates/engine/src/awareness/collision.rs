//! One line before an edit or a change of branch, when another session at work did the same a moment ago.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rethread_model::{Entry, Timestamp, ToolKind};
use rethread_recall::{Part, PartKind, age, compose, short};
use rethread_store::Store;

use super::inject::{Caller, hash_of, record};
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
}

impl Engine {
    /// One line before a call that may collide with another session: once for each file and each other session, and not
    /// if the caller has changed it since.
    pub(crate) fn told_before_call(&self, caller: &Caller, intent: &Intent) -> Result<Option<String>, EngineError> {
        let (began, now) = (Instant::now(), self.now());
        let Some(mut store) = self.reader()? else { return Ok(None) };
        let project = self.project_of(&store, caller)?;
        self.catch_up(&mut store, &project, now)?;
        self.read_own(&mut store, caller)?;
        let Some(collision) = collision(&store, caller, &project, intent, now)? else { return Ok(None) };
        let part = Part { kind: PartKind::Collision, text: collision.line, reason: collision.key, says: Vec::new() };
        let says = hash_of(&part.reason);
        let Some(composed) = compose(vec![part], u64::MAX, false) else { return Ok(None) };
        let mut batch = store.begin()?;
        let is_first = batch.tell(caller.key(), says, now)?;
        if is_first {
            batch.add_injection(caller.key(), &record(&composed, "PreToolUse", now, began))?;
        }
        batch.commit()?;
        Ok(is_first.then_some(composed.text))
    }
}

/// What to say, and what it is known by.
struct Collision {
    line: String,
    key: String,
}

/// The last time another session did what somebody is about to do.
fn collision(
    store: &Store,
    caller: &Caller,
    project: &str,
    intent: &Intent,
    now: Timestamp,
) -> Result<Option<Collision>, EngineError> {
    let since = Timestamp::from_millis(now.as_millis() - RECENT_MILLIS);
    let own = match store.session_of(caller.key())? {
        Some((number, _)) => store.deeds_since(number, None, since)?.entries,
        None => Vec::new(),
    };
    let cwd = caller.cwd.to_string_lossy();
    for (number, session) in store.live_sessions(project, since)? {
        if !is_neighbour(&session, caller.key()) {
            continue;
        }
        let there = session.cwd.clone().unwrap_or_else(|| cwd.clone().into_owned());
        let deeds = store.deeds_since(number, None, since)?;
        let Some(entry) = deeds.entries.iter().rev().find(|entry| did(entry, intent, &there, &cwd)) else { continue };
        if own.iter().any(|mine| mine.at >= entry.at && knows(mine, intent, &cwd)) {
            continue;
        }
        let when = age(entry.at, now);
        let name = short(&name_of(&session), NAME_CHARS);
        let (line, what) = match intent {
            Intent::Edit(path) => {
                let file = short(path.rsplit('/').next().unwrap_or(path), NAME_CHARS);
                let line =
                    format!("Session \"{name}\" changed {file} {when}; look at the file again before you change it.");
                (line, full(path, &cwd).to_string_lossy().into_owned())
            }
            Intent::SwitchBranch => (
                format!("Session \"{name}\" switched the branch of this working tree {when}."),
                "the branch".to_owned(),
            ),
        };
        return Ok(Some(Collision { line, key: format!("{} changed {what}", session.id) }));
    }
    Ok(None)
}

/// Whether a call did the same, in the same place.
fn did(entry: &Entry, intent: &Intent, there: &str, here: &str) -> bool {
    let Some(tool) = &entry.tool else { return false };
    if tool.outcome.as_ref().is_some_and(|outcome| outcome.status.is_error()) {
        return false;
    }
    match intent {
        Intent::Edit(path) => {
            let changes = tool.kind.is_some_and(ToolKind::changes_files);
            changes && tool.paths.iter().any(|other| full(other, there) == full(path, here))
        }
        Intent::SwitchBranch => {
            let command = tool.target.as_str();
            let restores = |word: &str| Path::new(there).join(word).is_file();
            tool.kind == Some(ToolKind::Command)
                && switches_branch(command)
                && !command.split_whitespace().any(restores)
                && work_tree(there) == work_tree(here)
        }
    }
}

/// Whether somebody who did this worked on the file as the other session left it. Agents read before every change, so
/// reading it proves nothing; nor does a call that is not done yet, which may be the one that is asked about.
fn knows(entry: &Entry, intent: &Intent, here: &str) -> bool {
    let Intent::Edit(path) = intent else { return false };
    entry.tool.as_ref().is_some_and(|tool| {
        let is_done = tool.outcome.as_ref().is_some_and(|outcome| !outcome.status.is_error());
        let changes = tool.kind.is_some_and(ToolKind::changes_files);
        is_done && changes && tool.paths.iter().any(|own| full(own, here) == full(path, here))
    })
}

/// A path from the root on.
fn full(path: &str, from: &str) -> PathBuf {
    Path::new(from).join(path)
}

/// The directory that is checked out, of the repository a directory is in.
fn work_tree(folder: &str) -> Option<&Path> {
    Path::new(folder).ancestors().find(|folder| folder.join(".git").exists())
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
}
