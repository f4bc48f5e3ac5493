//! Injects one line with an edit, branch switch or commit that another session's recent change may affect.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rethread_ingest::CallTarget;
use rethread_ingest::facts::{GitCall, git_calls};
use rethread_model::{Entry, Session, Timestamp, ToolKind, ToolUse};
use rethread_recall::{CollidingChange, InjectionSection, SectionKind, collision_line};
use rethread_store::ReadStore;

use super::caller::Caller;
use super::inject::{inject_once, text_hash};
use super::other_sessions::{ACTIVE_WINDOW_MILLIS, display_name, is_other_session, is_session};
use crate::EngineError;
use crate::awareness::AwarenessService;

/// How recent the other session's change must be.
const COLLISION_WINDOW_MILLIS: i64 = 30 * 60_000;

/// A tool call that could collide with another session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CollisionIntent {
    /// Change the file at this path.
    Edit(String),
    /// Switch the branch of the working tree that contains this directory.
    SwitchBranch(PathBuf),
    /// Commit in the working tree that contains this directory.
    Commit(PathBuf),
}

impl CollisionIntent {
    /// What a call is about to do that can collide.
    pub(crate) fn of_call(kind: ToolKind, target: CallTarget) -> Vec<Self> {
        match kind {
            ToolKind::Write | ToolKind::Edit => target.paths.into_iter().map(Self::Edit).collect(),
            ToolKind::Command => {
                let mut calls = git_calls(&target.command).into_iter();
                // What follows a switch of its own happens on a branch that the caller chose.
                let call = calls.find(|call| call.switches_branch() || call.commits());
                let git = call.map(|call| {
                    if call.switches_branch() { Self::SwitchBranch(call.folder) } else { Self::Commit(call.folder) }
                });
                // A command can also apply a patch.
                target.paths.into_iter().map(Self::Edit).chain(git).collect()
            }
            _ => Vec::new(),
        }
    }

    /// How long ago the other session's change may be. A commit on the wrong branch stays wrong for longer.
    const fn window_millis(&self) -> i64 {
        match self {
            CollisionIntent::Commit(_) => ACTIVE_WINDOW_MILLIS,
            CollisionIntent::Edit(_) | CollisionIntent::SwitchBranch(_) => COLLISION_WINDOW_MILLIS,
        }
    }
}

impl AwarenessService<'_> {
    /// The line to inject with a call that may collide with another session. It is injected once per file and other
    /// session, and not if the caller has seen the change: read or changed the file since, or looked at the branch.
    pub(crate) fn inject_before_call(
        self,
        caller: &Caller,
        intents: &[CollisionIntent],
    ) -> Result<Option<String>, EngineError> {
        if intents.is_empty() {
            return Ok(None);
        }
        let (began, now) = (Instant::now(), self.engine.now());
        let Some(mut store) = self.engine.existing_writer()? else { return Ok(None) };
        let project = self.project_of(&store, caller)?;
        self.catch_up(&mut store, &project, Some(caller), now)?;
        self.sync_caller_transcript(&mut store, caller)?;
        let mut found = None;
        for intent in intents {
            found = find_collision(&store, caller, &project, intent, now)?;
            if found.is_some() {
                break;
            }
        }
        let Some(Collision { text, dedupe_text: reason }) = found else { return Ok(None) };
        // A sub-agent has a context of its own.
        let key = text_hash(&format!("{reason}{}", caller.subagent.as_deref().unwrap_or_default()));
        let section = InjectionSection { kind: SectionKind::Collision, text, reason, dedupe_keys: vec![key] };
        inject_once(&mut store, caller, section, u64::MAX, "PreToolUse", now, began)
    }
}

/// The text to inject, and the key that keeps it from being injected twice.
struct Collision {
    text: String,
    dedupe_text: String,
}

/// The most recent change of another session that the caller has not seen.
fn find_collision(
    store: &ReadStore,
    caller: &Caller,
    project: &str,
    intent: &CollisionIntent,
    now: Timestamp,
) -> Result<Option<Collision>, EngineError> {
    let since = Timestamp::from_millis(now.as_millis() - intent.window_millis());
    let active = store.active_sessions(project, since)?;
    let own = match active.iter().find(|one| is_session(&one.session, caller.key())) {
        Some(own) => store.recent_entries(own, since)?,
        None => Vec::new(),
    };
    let began_at = store.session_by_external_id(caller.key())?.and_then(|(_, session)| session.started_at);
    let here = caller.cwd.as_path();
    for other in &active {
        let session = &other.session;
        if !is_other_session(session, caller.key()) {
            continue;
        }
        let there = session.cwd.as_deref().map_or(here, Path::new).to_owned();
        let actions = store.recent_entries(other, since)?;
        let Some(entry) = actions.iter().rev().find(|entry| made_change(entry, intent, &there, here)) else {
            continue;
        };
        if own.iter().any(|mine| mine.at >= entry.at && has_seen_change(mine, intent, here)) {
            continue;
        }
        // A session that began later got the branch from its agent.
        if matches!(intent, CollisionIntent::Commit(_)) && began_at.is_none_or(|began| Some(began) > entry.at) {
            continue;
        }
        let minutes = entry.at.map_or(0, |at| now.millis_since(at) / 60_000);
        return Ok(Some(Collision::new(session, intent, minutes, here)));
    }
    Ok(None)
}

impl Collision {
    /// The change was made so many minutes before the call.
    fn new(session: &Session, intent: &CollisionIntent, minutes: i64, here: &Path) -> Self {
        let (change, what) = match intent {
            CollisionIntent::Edit(path) => {
                (CollidingChange::File(path), here.join(path).to_string_lossy().into_owned())
            }
            CollisionIntent::SwitchBranch(_) => (CollidingChange::Branch, "the branch".to_owned()),
            CollisionIntent::Commit(folder) => {
                let branch = work_tree(&here.join(folder)).and_then(current_branch);
                (CollidingChange::BranchBeforeCommit(branch), "the branch before a commit".to_owned())
            }
        };
        let text = collision_line(&display_name(session), &change, minutes);
        Self { text, dedupe_text: format!("{} changed {what}", session.id) }
    }
}

/// Whether a successful call of the other session changed the same file, or switched the branch of the same tree.
fn made_change(entry: &Entry, intent: &CollisionIntent, there: &Path, here: &Path) -> bool {
    let Some(tool) = &entry.tool else { return false };
    if tool.outcome.as_ref().is_some_and(|outcome| outcome.status.is_error()) {
        return false;
    }
    match intent {
        CollisionIntent::Edit(path) => {
            let changes = tool.kind.is_some_and(ToolKind::changes_files);
            changes && tool.paths.iter().any(|other| there.join(other) == here.join(path))
        }
        CollisionIntent::SwitchBranch(folder) | CollisionIntent::Commit(folder) => {
            let tree = work_tree(&here.join(folder)).map(Path::to_owned);
            git_calls_of(tool).iter().any(|call| {
                let restores = |word: &str| there.join(&call.folder).join(word).exists();
                call.switches_branch()
                    && !call.targets().any(restores)
                    && work_tree(&there.join(&call.folder)) == tree.as_deref()
            })
        }
    }
}

/// Whether a call of the caller showed it the change. A call without a result does not count: it may be the one being
/// checked.
fn has_seen_change(entry: &Entry, intent: &CollisionIntent, here: &Path) -> bool {
    let Some(tool) = &entry.tool else { return false };
    if tool.outcome.as_ref().is_none_or(|outcome| outcome.status.is_error()) {
        return false;
    }
    match intent {
        CollisionIntent::Edit(path) => {
            let reads_or_changes = tool.kind.is_some_and(|kind| kind == ToolKind::Read || kind.changes_files());
            reads_or_changes && tool.paths.iter().any(|own| here.join(own) == here.join(path))
        }
        CollisionIntent::SwitchBranch(_) => false,
        CollisionIntent::Commit(folder) => {
            let tree = work_tree(&here.join(folder)).map(Path::to_owned);
            let in_tree = |call: &GitCall| work_tree(&here.join(&call.folder)) == tree.as_deref();
            git_calls_of(tool).iter().any(|call| call.shows_branch() && in_tree(call))
        }
    }
}

fn git_calls_of(tool: &ToolUse) -> Vec<GitCall> {
    if tool.kind == Some(ToolKind::Command) { git_calls(&tool.target) } else { Vec::new() }
}

/// The root of the git working tree that contains a directory.
fn work_tree(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

/// The branch of a working tree; `None` if there is none, as during a rebase.
fn current_branch(tree: &Path) -> Option<String> {
    let git = tree.join(".git");
    // In an added working tree, it is a file that names the directory.
    let folder = match fs::read_to_string(&git) {
        Ok(text) => tree.join(text.strip_prefix("gitdir:")?.trim()),
        Err(_) => git,
    };
    let head = fs::read_to_string(folder.join("HEAD")).ok()?;
    head.trim().strip_prefix("ref: refs/heads/").map(str::to_owned)
}
