//! Injects one line before an edit or branch switch when another active session recently did the same.

use std::path::{Path, PathBuf};
use std::time::Instant;

use rethread_model::{Entry, Timestamp, ToolKind};
use rethread_recall::{InjectionSection, SectionKind, compose_injection, format_age, quote_short};
use rethread_store::Store;

use super::inject::{Caller, injection_record, text_hash};
use super::other_sessions::{display_name, is_other_session, is_session};
use crate::{Engine, EngineError};

/// How recent the other session's change must be.
const COLLISION_WINDOW_MILLIS: i64 = 30 * 60_000;
/// Maximum length of session and file names in the line.
const NAME_CHARS: usize = 60;

/// A tool call that could collide with another session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CollisionIntent {
    /// Change the file at this path.
    Edit(String),
    /// Switch the branch of the working tree.
    SwitchBranch,
}

impl CollisionIntent {
    /// Returns `None` for calls that cannot collide.
    pub(crate) fn from_call(kind: ToolKind, target: &str) -> Option<Self> {
        match kind {
            ToolKind::Write | ToolKind::Edit if !target.is_empty() => Some(CollisionIntent::Edit(target.to_owned())),
            ToolKind::Command if switches_branch(target) => Some(CollisionIntent::SwitchBranch),
            _ => None,
        }
    }
}

impl Engine {
    /// The line to inject before a call that may collide with another session. It is injected once per file and other
    /// session, and not if the caller has changed the file since.
    pub(crate) fn inject_before_call(
        &self,
        caller: &Caller,
        intent: &CollisionIntent,
    ) -> Result<Option<String>, EngineError> {
        let (began, now) = (Instant::now(), self.now());
        let Some(mut store) = self.reader()? else { return Ok(None) };
        let project = self.project_of(&store, caller)?;
        self.catch_up(&mut store, &project, Some(caller), now)?;
        self.sync_caller_transcript(&mut store, caller)?;
        let Some(collision) = find_collision(&store, caller, &project, intent, now)? else { return Ok(None) };
        let part = InjectionSection {
            kind: SectionKind::Collision,
            text: collision.text,
            reason: collision.dedupe_text,
            dedupe_keys: Vec::new(),
        };
        // A sub-agent has a context of its own.
        let hash = text_hash(&format!("{}{}", part.reason, caller.subagent.as_deref().unwrap_or_default()));
        let Some(composed) = compose_injection(vec![part], u64::MAX, false) else { return Ok(None) };
        let mut batch = store.begin()?;
        let is_first = batch.mark_injected(caller.key(), hash, now)?;
        if is_first {
            batch.add_injection(caller.key(), &injection_record(&composed, "PreToolUse", now, began))?;
        }
        batch.commit()?;
        Ok(is_first.then_some(composed.text))
    }
}

/// The text to inject, and the key that keeps it from being injected twice.
struct Collision {
    text: String,
    dedupe_text: String,
}

/// The most recent time another session did what the caller is about to do.
fn find_collision(
    store: &Store,
    caller: &Caller,
    project: &str,
    intent: &CollisionIntent,
    now: Timestamp,
) -> Result<Option<Collision>, EngineError> {
    let since = Timestamp::from_millis(now.as_millis() - COLLISION_WINDOW_MILLIS);
    let active = store.active_sessions(project, since)?;
    let own = match active.iter().find(|one| is_session(&one.session, caller.key())) {
        Some(own) => store.recent_entries(own, since)?,
        None => Vec::new(),
    };
    let cwd = caller.cwd.to_string_lossy();
    for other in &active {
        let session = &other.session;
        if !is_other_session(session, caller.key()) {
            continue;
        }
        let there = session.cwd.clone().unwrap_or_else(|| cwd.clone().into_owned());
        let actions = store.recent_entries(other, since)?;
        let Some(entry) = actions.iter().rev().find(|entry| made_same_change(entry, intent, &there, &cwd)) else {
            continue;
        };
        if own.iter().any(|mine| mine.at >= entry.at && has_newer_change(mine, intent, &cwd)) {
            continue;
        }
        let when = format_age(entry.at, now);
        let name = quote_short(&display_name(session), NAME_CHARS);
        let (line, what) = match intent {
            CollisionIntent::Edit(path) => {
                let file = quote_short(path.rsplit('/').next().unwrap_or(path), NAME_CHARS);
                let line =
                    format!("Session \"{name}\" changed {file} {when}; look at the file again before you change it.");
                (line, absolute_path(path, &cwd).to_string_lossy().into_owned())
            }
            CollisionIntent::SwitchBranch => (
                format!("Session \"{name}\" switched the branch of this working tree {when}."),
                "the branch".to_owned(),
            ),
        };
        return Ok(Some(Collision { text: line, dedupe_text: format!("{} changed {what}", session.id) }));
    }
    Ok(None)
}

/// Whether a successful call made the same kind of change to the same file or working tree.
fn made_same_change(entry: &Entry, intent: &CollisionIntent, there: &str, here: &str) -> bool {
    let Some(tool) = &entry.tool else { return false };
    if tool.outcome.as_ref().is_some_and(|outcome| outcome.status.is_error()) {
        return false;
    }
    match intent {
        CollisionIntent::Edit(path) => {
            let changes = tool.kind.is_some_and(ToolKind::changes_files);
            changes && tool.paths.iter().any(|other| absolute_path(other, there) == absolute_path(path, here))
        }
        CollisionIntent::SwitchBranch => {
            let command = tool.target.as_str();
            let restores = |word: &str| Path::new(there).join(word).is_file();
            tool.kind == Some(ToolKind::Command)
                && switches_branch(command)
                && !command.split_whitespace().any(restores)
                && work_tree(there) == work_tree(here)
        }
    }
}

/// Whether the caller already changed the file after the other session did. Reading it proves nothing, because agents
/// read before every change. A call without a result does not count either: it may be the one being checked.
fn has_newer_change(entry: &Entry, intent: &CollisionIntent, here: &str) -> bool {
    let CollisionIntent::Edit(path) = intent else { return false };
    entry.tool.as_ref().is_some_and(|tool| {
        let is_done = tool.outcome.as_ref().is_some_and(|outcome| !outcome.status.is_error());
        let changes = tool.kind.is_some_and(ToolKind::changes_files);
        is_done && changes && tool.paths.iter().any(|own| absolute_path(own, here) == absolute_path(path, here))
    })
}

/// Resolves a path against a directory.
fn absolute_path(path: &str, from: &str) -> PathBuf {
    Path::new(from).join(path)
}

/// The root of the git working tree that contains a directory.
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
    fn checkout_and_switch_change_the_branch_but_restoring_files_does_not() {
        for command in ["git switch main", "git checkout -b x", "cd a && git checkout main"] {
            assert!(switches_branch(command), "{command}");
        }
        for command in ["git checkout -- a.rs", "git checkout .", "git status", "echo git switch", "git switch"] {
            assert!(!switches_branch(command), "{command}");
        }
    }
}
