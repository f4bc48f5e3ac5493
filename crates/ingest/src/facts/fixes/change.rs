//! A change made while a failure was open: what it did, and how likely it is to have fixed the error.

use rethread_model::clip;
use serde::{Deserialize, Serialize};

use super::super::command::{CommandClass, ShellCommand};
use super::bypass::{is_bypass_command, is_bypass_edit};
use super::inline_script::{inline_script, only_looks};
use super::relation::ErrorWords;
use super::verifies;

/// Maximum length of a described command, in characters.
const MAX_COMMAND_CHARS: usize = 120;

/// A change made while a failure was open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct AttemptedChange {
    pub(super) kind: ChangeKind,
    /// The path of the file, or the command.
    pub(super) what: String,
    /// What an edit changed, one place on each line; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) pieces: String,
    pub(super) line: u64,
    /// Position among all changes of the session.
    pub(super) number: u64,
    /// Whether it wrote a script that was then run by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) was_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum ChangeKind {
    /// A part of a file was changed.
    Edited,
    /// A whole file was written.
    Wrote,
    /// A command that changes files, packages or services.
    Ran,
    /// A command that may have changed something.
    RanOther,
    /// A sub-agent was given a task. What it changed is not known, only what for.
    Delegated,
    /// A script without a name: what it did is unknown.
    Hidden,
}

/// How likely a change is to be the fix, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likelihood {
    /// Says nothing about what was done.
    Unknown,
    /// Documents, generated files, other checks.
    Unlikely,
    /// A command that may have changed something.
    Possible,
    /// An edit, or a command that changes something.
    Likely,
    /// Names what the error names.
    Related,
}

impl AttemptedChange {
    /// Whether it only switched a check off.
    pub(super) fn is_bypass(&self) -> bool {
        match self.kind {
            ChangeKind::Edited | ChangeKind::Wrote => is_bypass_edit(&self.what, &self.pieces),
            ChangeKind::Delegated => false,
            _ => is_bypass_command(&self.what),
        }
    }

    /// Whether a later change takes this one back.
    pub(super) fn is_reverted_by(&self, later: &Self) -> bool {
        let reversed = || {
            let mut pieces = self.pieces.lines().map(|piece| {
                let (old, new) = super::bypass::sides(piece);
                match (old.is_empty(), new.is_empty()) {
                    (true, _) => format!("- {new}"),
                    (_, true) => format!("+ {old}"),
                    _ => format!("{new} → {old}"),
                }
            });
            pieces.next().is_some_and(|first| pieces.next().is_none() && first == later.pieces)
        };
        self.kind == ChangeKind::Edited && later.kind == self.kind && later.what == self.what && reversed()
    }

    /// Whether it changed or removed this file and nothing else.
    pub(super) fn is_in_file(&self, path: &str) -> bool {
        match self.kind {
            ChangeKind::Edited | ChangeKind::Wrote => self.what == path,
            ChangeKind::Ran => {
                let mut words = self.what.split_whitespace().skip(1).filter(|word| !word.starts_with('-'));
                self.what.starts_with("rm ")
                    && words.next().is_some_and(|word| word.ends_with(path))
                    && words.next().is_none()
            }
            ChangeKind::RanOther | ChangeKind::Delegated | ChangeKind::Hidden => false,
        }
    }

    /// How likely it is to have fixed the error of a command.
    pub(super) fn likelihood(&self, failed: &str, words: &ErrorWords) -> Likelihood {
        match self.kind {
            ChangeKind::Hidden => Likelihood::Unknown,
            // What a sub-agent with another task did on the side cannot be seen.
            ChangeKind::Delegated if !is_repair_task(&self.what) => Likelihood::Unknown,
            ChangeKind::Edited | ChangeKind::Wrote if words.name_file(&self.what) || words.occur_in(&self.pieces) => {
                Likelihood::Related
            }
            ChangeKind::Edited | ChangeKind::Wrote if is_document(&self.what) || is_generated(&self.what) => {
                Likelihood::Unlikely
            }
            ChangeKind::Ran | ChangeKind::RanOther if is_bookkeeping(&self.what, failed) => Likelihood::Unlikely,
            ChangeKind::Ran if words.occur_in(&self.what) => Likelihood::Related,
            ChangeKind::Edited | ChangeKind::Wrote | ChangeKind::Ran => Likelihood::Likely,
            ChangeKind::RanOther | ChangeKind::Delegated => Likelihood::Possible,
        }
    }

    /// The change as text: one part for each place.
    pub(super) fn describe(&self, words: &ErrorWords) -> Vec<String> {
        match self.kind {
            ChangeKind::Edited if !self.pieces.is_empty() => {
                let mut pieces: Vec<&str> = self.pieces.lines().collect();
                // The place that the error names comes first.
                pieces.sort_by_key(|piece| !words.occur_in(piece));
                pieces.into_iter().map(|piece| format!("{}: {piece}", self.what)).collect()
            }
            ChangeKind::Edited => vec![format!("edited {}", self.what)],
            ChangeKind::Wrote => vec![format!("wrote {}", self.what)],
            ChangeKind::Delegated => vec![format!("sub-agent: {}", clip(&self.what, MAX_COMMAND_CHARS))],
            _ => vec![format!("ran `{}`", clip(&self.what, MAX_COMMAND_CHARS))],
        }
    }
}

/// What a command may have changed; `None` if it only reads or checks.
pub(super) fn change_kind(command: &ShellCommand) -> Option<ChangeKind> {
    let name = command.name.as_str();
    if matches!(name, "kill" | "pkill" | "killall") {
        // Which process a number was is unknown.
        let is_number = command.arguments.iter().any(|word| is_process_id(word));
        return Some(if is_number { ChangeKind::RanOther } else { ChangeKind::Ran });
    }
    let inline = inline_script(command);
    if inline.is_some_and(only_looks) {
        return None;
    }
    if inline.is_some() || (command.text.contains("<<") && !matches!(name, "cat" | "tee")) {
        return Some(ChangeKind::Hidden);
    }
    // Requests and queries look at something.
    if matches!(name, "curl" | "wget" | "http" | "gh" | "jq") || name.starts_with("gh ") || name.starts_with("git log")
    {
        return None;
    }
    match command.class {
        CommandClass::ReadOnly => None,
        CommandClass::Mutating => Some(ChangeKind::Ran),
        CommandClass::Check if repairs(command) => Some(ChangeKind::Ran),
        CommandClass::Check if verifies(command) => None,
        CommandClass::Check => Some(ChangeKind::RanOther),
    }
}

/// A command without values that only meant something on that machine at that time: process and container ids.
pub(super) fn without_fleeting_ids(command: &ShellCommand) -> String {
    let stops = command.name == "kill";
    let is_container = matches!(command.name.split(' ').next(), Some("docker" | "podman"));
    let general = command.text.split(' ').map(|word| match word {
        word if stops && is_process_id(word) => "PID",
        word if is_container && is_container_id(word) => "CONTAINER",
        word => word,
    });
    let mut words: Vec<&str> = general.collect();
    words.dedup_by(|next, before| next == before && matches!(*next, "PID" | "CONTAINER"));
    words.join(" ")
}

fn is_process_id(word: &str) -> bool {
    word.len() >= 2 && word.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_container_id(word: &str) -> bool {
    (12..=64).contains(&word.len())
        && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        && word.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether the words of a command say that it changes something.
pub(super) fn repairs(command: &ShellCommand) -> bool {
    let is_one = |word: &str| {
        matches!(
            word,
            "fix"
                | "autofix"
                | "format"
                | "fmt"
                | "generate"
                | "gen"
                | "codegen"
                | "migrate"
                | "migration"
                | "setup"
                | "install"
                | "configure"
                | "init"
                | "seed"
                | "sync"
                | "update"
                | "upgrade"
                | "restart"
                | "start"
                | "up"
                | "clean"
                | "reset"
                | "prettier"
                | "gofmt"
                | "goimports"
                | "gofumpt"
                | "oxfmt"
                | "black"
                | "isort"
                | "rustfmt"
                | "bootstrap"
                | "prepare"
                | "login"
                | "create"
                | "reload"
        )
    };
    let only_checks =
        command.arguments.iter().any(|word| matches!(word.as_str(), "--check" | "--list-different" | "-l"));
    let fixes = command
        .arguments
        .iter()
        .any(|word| matches!(word.as_str(), "--fix" | "--write" | "-w" | "--apply" | "--unsafe-fixes"));
    // `pnpm drizzle-kit migrate` runs a program of a package.
    let runs_package = ["pnpm ", "yarn ", "bun "].iter().any(|runner| command.name.starts_with(runner));
    let subcommand = command.arguments.first().filter(|_| runs_package).map_or("", String::as_str);
    let mut words = command.name.split([' ', ':', '-', '_', '/', '.']).chain([subcommand]);
    fixes || (!only_checks && words.any(is_one))
}

/// Whether a command only records work, unless another command of the same program failed.
fn is_bookkeeping(text: &str, failed: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_record = words.windows(2).any(|pair| {
        pair[0] == "git" && matches!(pair[1], "add" | "commit" | "push" | "fetch" | "stash" | "tag" | "notes")
    });
    let is_scratch = words.iter().any(|word| word.starts_with("/tmp/"));
    (is_record && !failed.starts_with("git") && !failed.starts_with("gh ")) || is_scratch
}

/// Whether a file is documentation.
fn is_document(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, end)| end);
    matches!(extension, "md" | "mdx" | "txt" | "rst" | "adoc") && name != "CMakeLists.txt" && name != "requirements.txt"
        || matches!(name, "LICENSE" | "CHANGELOG" | "README")
}

/// Whether a file is written by a program.
fn is_generated(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_lock = matches!(name, "package-lock.json" | "pnpm-lock.yaml" | "go.sum" | "bun.lockb")
        || name.rsplit_once('.').is_some_and(|(_, extension)| extension == "lock");
    is_lock
        || [".snap", ".min.js", ".map", ".log"].iter().any(|end| name.ends_with(end))
        || path.split('/').any(|part| matches!(part, "dist" | "node_modules" | "target" | "__pycache__"))
}

/// Whether the task of a sub-agent asks to repair something.
fn is_repair_task(task: &str) -> bool {
    const REPAIRS: [&str; 9] = ["fix", "repair", "resolve", "debug", "correct", "error", "fail", "bug", "make the"];
    let lower = task.to_lowercase();
    REPAIRS.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
mod tests {
    use super::super::super::command::parse_command_line;
    use super::*;

    #[test]
    fn ids_of_one_machine_are_left_out() {
        for (line, expected) in [
            ("kill 4121", "kill PID"),
            ("kill -9 4121 4122", "kill -9 PID"),
            ("pkill vite", "pkill vite"),
            ("lsof -ti:3000 | xargs kill -9", "lsof -ti:3000 | xargs kill -9"),
            ("docker rm -f 3f2a1b0c9d8e", "docker rm -f CONTAINER"),
            ("docker rm -f db", "docker rm -f db"),
        ] {
            let parsed = parse_command_line(line).unwrap();
            assert_eq!(without_fleeting_ids(parsed.main()), expected, "{line}");
            assert!(change_kind(parsed.main()).is_some(), "{line}");
        }
    }
}
