//! What a session did, as short phrases: files changed and read, commands run, what failed.

use rethread_model::{Entry, ToolKind, ToolStatus, relative_path};

use super::OtherSession;
use super::bullet::BulletDetail;
use super::key_command::{does_something, key_command, short_form};
use crate::quote::quote_short;

/// What was done, by kind. Each file counts once; a single file or command is named in any case.
pub(super) fn describe_actions(other: &OtherSession, own_files: &[String], detail: BulletDetail) -> Vec<String> {
    let mut listed = Vec::new();
    let mut edited = changed_files(other);
    // Files that the reader works on too are named first.
    edited.sort_by_key(|path| !own_files.iter().any(|own| own == path));
    listed.extend(describe_files("updated", "edited", &edited, other, detail));
    let read = paths(other, |kind| kind == ToolKind::Read);
    let only_read: Vec<&str> = read.into_iter().filter(|path| !edited.contains(path)).collect();
    let commands = describe_commands(other, detail);
    // In the shortest form, changes and commands leave no room for the rest.
    let has_rest = detail.has_minor_actions || (listed.is_empty() && commands.is_empty());
    if has_rest {
        listed.extend(describe_files("read", "read", &only_read, other, detail.without_files()));
    }
    listed.extend(commands);
    let rest =
        calls(other, |kind| !matches!(kind, ToolKind::Read | ToolKind::Write | ToolKind::Edit | ToolKind::Command));
    match rest.count() {
        1 if has_rest => listed.push("1 other tool use".to_owned()),
        many if has_rest && many > 1 => listed.push(format!("{many} other tool uses")),
        _ => {}
    }
    listed
}

fn describe_files(one: &str, many: &str, paths: &[&str], other: &OtherSession, detail: BulletDetail) -> Option<String> {
    let show = |path: &&str| quote_short(relative_path(path, other.project.as_deref()), detail.target_chars);
    let named = detail.files;
    match (paths, paths.len()) {
        ([], _) => None,
        ([path], _) => Some(format!("{one} {}", show(path))),
        (_, count) if named == 0 => Some(format!("{many} {count} files")),
        (_, count) => {
            let mut names: Vec<String> = paths.iter().take(named).map(show).collect();
            if count > named {
                names.push("…".to_owned());
            }
            Some(format!("{many} {count} files ({})", names.join(", ")))
        }
    }
}

fn describe_commands(other: &OtherSession, detail: BulletDetail) -> Vec<String> {
    // The user rejected the others, so they never ran.
    let commands: Vec<&Entry> = calls(other, |kind| kind == ToolKind::Command)
        .filter(|entry| status(entry) != Some(ToolStatus::Rejected))
        .collect();
    let failed = failures(other);
    let show = |command: &str| quote_short(short_form(command), detail.target_chars);
    let mut listed = Vec::new();
    match commands.as_slice() {
        [] => {}
        [one] if !failed.is_empty() => return vec![format!("ran {} (failed)", show(target(one)))],
        [one] => listed.push(format!("ran {}", show(target(one)))),
        many => {
            let worked = many.iter().filter(|entry| !status(entry).is_some_and(ToolStatus::is_error));
            let key = key_command(worked.map(|entry| target(entry))).filter(|_| detail.names_command);
            let key = key.map(|command| format!(" ({})", show(command)));
            listed.push(format!("ran {} commands{}", many.len(), key.unwrap_or_default()));
        }
    }
    if !failed.is_empty() {
        let named: Vec<String> = failed.iter().copied().take(detail.failures).map(show).collect();
        listed.push(format!("failed: {}", named.join(" and ")));
    }
    listed
}

/// Commands whose last run failed, newest first. Commands rejected by the user never ran, and a search without a match
/// is not a failure.
pub(super) fn failures(other: &OtherSession) -> Vec<&str> {
    let mut seen = Vec::new();
    let mut failed = Vec::new();
    let commands: Vec<&Entry> = calls(other, |kind| kind == ToolKind::Command).collect();
    for entry in commands.into_iter().rev().filter(|entry| status(entry) != Some(ToolStatus::Rejected)) {
        let command = short_form(target(entry));
        if seen.contains(&command) {
            continue;
        }
        seen.push(command);
        if status(entry).is_some_and(ToolStatus::is_error) && does_something(target(entry)) {
            failed.push(target(entry));
        }
    }
    failed
}

/// Files it changed, the latest first. A failed or rejected edit changed nothing.
pub(super) fn changed_files(other: &OtherSession) -> Vec<&str> {
    paths(other, ToolKind::changes_files)
}

fn paths(other: &OtherSession, is_included: impl Fn(ToolKind) -> bool) -> Vec<&str> {
    let project = other.project.as_deref();
    let mut found: Vec<&str> = Vec::new();
    let done = calls(other, is_included).filter(|entry| !status(entry).is_some_and(ToolStatus::is_error));
    for path in done.filter_map(|entry| entry.tool.as_ref()).flat_map(|tool| &tool.paths) {
        // Agents write the path of a file in full or relative to the project.
        found.retain(|known| relative_path(known, project) != relative_path(path, project));
        found.push(path);
    }
    found.reverse();
    found
}

fn calls(other: &OtherSession, is_included: impl Fn(ToolKind) -> bool) -> impl Iterator<Item = &Entry> {
    let kind = |entry: &Entry| entry.tool.as_ref().map(|tool| tool.kind.unwrap_or(ToolKind::Other));
    other.entries.iter().filter(move |entry| kind(entry).is_some_and(&is_included))
}

fn target(entry: &Entry) -> &str {
    entry.tool.as_ref().map_or("", |tool| tool.target.as_str())
}

fn status(entry: &Entry) -> Option<ToolStatus> {
    Some(entry.tool.as_ref()?.outcome.as_ref()?.status)
}
