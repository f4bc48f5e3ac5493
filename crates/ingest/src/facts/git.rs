//! What git commands did: commits, branches, merges, and what was taken back.

use rethread_model::{Entity, EntityKind, Entry, Predicate, clip};

use super::command::Command;
use super::sink::{Sink, file, seen};

/// The longest commit message kept, in characters.
const MESSAGE_CHARS: usize = 100;

const COMMITTED: &str = "committed on ";
const NOTHING_MERGED: &str = "already up to date";

/// What git's own output says about a commit or a merge, in words that are kept with the outcome.
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

/// Whether git itself says that it did what the command asks for.
pub(super) fn is_noted(done: &Command, note: &str) -> bool {
    done.name == "git commit" && note.contains(COMMITTED)
}

/// The branch in such words.
fn branch_in(note: &str) -> Option<&str> {
    let at = note.find(COMMITTED)?;
    note[at + COMMITTED.len()..].split(' ').next()
}

/// What a git command that went well did.
pub(super) fn tell(done: &Command, note: &str, branch: &mut Option<String>, entry: &Entry, sink: &mut Sink) {
    let Some(what) = done.name.strip_prefix("git ") else { return };
    let flags = |flag: &str| done.arguments.iter().any(|word| word == flag);
    let words: Vec<&str> = done.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    match what {
        "commit" if !flags("--dry-run") => {
            let Some(message) = message(&done.arguments) else { return };
            let mut fact = seen(entry, Predicate::Committed, Entity::new(EntityKind::Commit, message));
            fact.object = branch_in(note).or(branch.as_deref()).map(|name| Entity::new(EntityKind::Branch, name));
            sink.push(fact);
        }
        "revert" => {
            let subject = words.first().copied().unwrap_or("HEAD");
            sink.push(seen(entry, Predicate::Reverted, Entity::new(EntityKind::Commit, subject)));
        }
        "reset" if flags("--hard") => {
            let subject = words.first().copied().unwrap_or("HEAD");
            sink.push(seen(entry, Predicate::Reverted, Entity::new(EntityKind::Commit, subject)));
        }
        "restore" if !flags("--staged") => revert_files(&words, entry, sink),
        "checkout" | "switch" => switch(done, &words, branch, entry, sink),
        "merge" if !flags("--abort") && !flags("--continue") && !note.contains(NOTHING_MERGED) => {
            if let Some(name) = words.first() {
                sink.push(seen(entry, Predicate::Merged, Entity::new(EntityKind::Branch, *name)));
            }
        }
        _ => {}
    }
}

fn switch(done: &Command, words: &[&str], branch: &mut Option<String>, entry: &Entry, sink: &mut Sink) {
    let makes =
        done.arguments.iter().any(|word| matches!(word.as_str(), "-b" | "-B" | "-c" | "-C" | "--create" | "--orphan"));
    if let Some(at) = done.arguments.iter().position(|word| word == "--") {
        let files: Vec<&str> = done.arguments[at + 1..].iter().map(String::as_str).collect();
        revert_files(&files, entry, sink);
        return;
    }
    let Some(name) = words.first() else { return };
    if makes {
        sink.push(seen(entry, Predicate::Branched, Entity::new(EntityKind::Branch, *name)));
        *branch = Some((*name).to_owned());
    } else if words.len() == 1 && !name.contains('.') {
        *branch = Some((*name).to_owned());
    } else if words.iter().all(|word| word.contains('.')) {
        revert_files(words, entry, sink);
    }
}

fn revert_files(files: &[&str], entry: &Entry, sink: &mut Sink) {
    for path in files {
        sink.count(seen(entry, Predicate::Reverted, file(path)));
    }
}

/// The first line of the message that `-m` gives.
fn message(arguments: &[String]) -> Option<String> {
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
    (!first.is_empty()).then(|| clip(first, MESSAGE_CHARS).into_owned())
}
