//! Extracts facts from git commands: commits, branches, merges and reverts.

use rethread_model::{Entity, EntityKind, Entry, Predicate, clip};

use super::command::ShellCommand;
use super::sink::{FactSink, file_entity, observed_fact};

/// Maximum length of a stored commit message, in characters.
const MAX_MESSAGE_CHARS: usize = 100;

const COMMITTED: &str = "committed on ";
const NOTHING_MERGED: &str = "already up to date";

/// A note on a commit or merge from git's own output; stored with the outcome of the call.
pub fn git_note(output: &str) -> Option<String> {
    let lines = || output.lines().take(12).map(str::trim);
    let commit = |line: &str| {
        let (inside, _) = line.strip_prefix('[')?.split_once("] ")?;
        let (branch, hash) = inside.rsplit_once(' ')?;
        let branch = branch.trim_end_matches(" (root-commit)");
        let is_hash = hash.len() >= 7 && hash.chars().all(|c| c.is_ascii_hexdigit());
        (is_hash && !branch.contains(' ')).then(|| format!("{COMMITTED}{branch} as {hash}"))
    };
    let up_to_date = || lines().any(|line| line.starts_with("Already up to date")).then(|| NOTHING_MERGED.to_owned());
    lines().find_map(commit).or_else(up_to_date)
}

/// Whether git's output confirms what the command does.
pub(super) fn is_confirmed(command: &ShellCommand, note: &str) -> bool {
    command.name == "git commit" && note.contains(COMMITTED)
}

/// The branch in such a note.
fn branch_in_note(note: &str) -> Option<&str> {
    let at = note.find(COMMITTED)?;
    note[at + COMMITTED.len()..].split(' ').next()
}

/// Extracts the facts of a git command that succeeded.
pub(super) fn extract(
    command: &ShellCommand,
    note: &str,
    branch: &mut Option<String>,
    entry: &Entry,
    sink: &mut FactSink,
) {
    let Some(subcommand) = command.name.strip_prefix("git ") else { return };
    let flags = |flag: &str| command.arguments.iter().any(|word| word == flag);
    let words: Vec<&str> = command.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    match subcommand {
        "commit" if !flags("--dry-run") => {
            let Some(message) = commit_message(&command.arguments) else { return };
            let mut fact = observed_fact(entry, Predicate::Committed, Entity::new(EntityKind::Commit, message));
            fact.object = branch_in_note(note).or(branch.as_deref()).map(|name| Entity::new(EntityKind::Branch, name));
            sink.push(fact);
        }
        "revert" => {
            let subject = words.first().copied().unwrap_or("HEAD");
            sink.push(observed_fact(entry, Predicate::Reverted, Entity::new(EntityKind::Commit, subject)));
        }
        "reset" if flags("--hard") => {
            let subject = words.first().copied().unwrap_or("HEAD");
            sink.push(observed_fact(entry, Predicate::Reverted, Entity::new(EntityKind::Commit, subject)));
        }
        "restore" if !flags("--staged") => push_reverted_files(&words, entry, sink),
        "checkout" | "switch" => extract_switch(command, &words, branch, entry, sink),
        "merge" if !flags("--abort") && !flags("--continue") && !note.contains(NOTHING_MERGED) => {
            if let Some(name) = words.first() {
                sink.push(observed_fact(entry, Predicate::Merged, Entity::new(EntityKind::Branch, *name)));
            }
        }
        _ => {}
    }
}

fn extract_switch(
    command: &ShellCommand,
    words: &[&str],
    branch: &mut Option<String>,
    entry: &Entry,
    sink: &mut FactSink,
) {
    let creates = command
        .arguments
        .iter()
        .any(|word| matches!(word.as_str(), "-b" | "-B" | "-c" | "-C" | "--create" | "--orphan"));
    if let Some(at) = command.arguments.iter().position(|word| word == "--") {
        let files: Vec<&str> = command.arguments[at + 1..].iter().map(String::as_str).collect();
        push_reverted_files(&files, entry, sink);
        return;
    }
    let Some(name) = words.first() else { return };
    if creates {
        sink.push(observed_fact(entry, Predicate::Branched, Entity::new(EntityKind::Branch, *name)));
        *branch = Some((*name).to_owned());
    } else if words.len() == 1 && !name.contains('.') {
        *branch = Some((*name).to_owned());
    } else if words.iter().all(|word| word.contains('.')) {
        push_reverted_files(words, entry, sink);
    }
}

fn push_reverted_files(files: &[&str], entry: &Entry, sink: &mut FactSink) {
    for path in files {
        sink.count(observed_fact(entry, Predicate::Reverted, file_entity(path)));
    }
}

/// The first line of the message passed with `-m`.
fn commit_message(arguments: &[String]) -> Option<String> {
    let at = arguments
        .iter()
        .position(|word| matches!(word.as_str(), "-m" | "-am" | "--message" | "-a -m" | "-qm" | "-sm" | "-nm"));
    let inline =
        || arguments.iter().find_map(|word| word.strip_prefix("--message=").or_else(|| word.strip_prefix("-m")));
    let text = match at {
        Some(at) => arguments.get(at + 1)?.as_str(),
        None => inline()?,
    };
    let text = text.rsplit_once(" #").map_or(text, |(text, _)| text);
    let text = text.trim_start_matches("$(cat <<").trim_start_matches(['\'', '"', '-']);
    let text = text.trim_start_matches("EOF").trim_start_matches(['\'', '"']).trim();
    let first = text.lines().next().unwrap_or_default().trim();
    (!first.is_empty()).then(|| clip(first, MAX_MESSAGE_CHARS).into_owned())
}
