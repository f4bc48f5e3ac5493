//! Compares a failed call with later ones: the same check, a broader one, or a corrected call.

use std::sync::LazyLock;

use super::super::command::{CommandClass, ShellCommand, is_same_command, is_same_name, word_similarity};
use super::super::errors::{is_missing_folder, is_usage_error};
use super::super::pattern::CuePattern;
use super::super::tables::{FORMATTING_FLAGS, NARROWING_FLAGS};
use super::change::repairs;
use super::verifies;

/// Commands whose arguments differ from call to call, though they do the same.
const NAMED_ONLY: [&str; 7] =
    ["git commit", "git push", "git rebase", "git merge", "git pull", "git cherry-pick", "git am"];

/// Whether the success of a later command shows that the failed one works: it is the same, or checks more.
pub(super) fn shows_success(failed: &ShellCommand, later: &ShellCommand) -> bool {
    is_same_call(failed, later)
        || (same_name(failed, later) && (NAMED_ONLY.contains(&failed.name.as_str()) || is_broader(failed, later)))
}

/// Whether two calls do the same: flags for the output do not count, and a path may be relative or absolute.
pub(super) fn is_same_call(one: &ShellCommand, other: &ShellCommand) -> bool {
    let covers = |all: &[String], word: &String| {
        FORMATTING_FLAGS.contains(word) || is_count_or_format(word) || all.iter().any(|known| is_same_word(known, word))
    };
    // Requests of the same address differ in what they print.
    let addresses = |command: &ShellCommand| -> Vec<String> {
        command.arguments.iter().filter(|word| word.contains("://")).cloned().collect()
    };
    if matches!(one.name.as_str(), "curl" | "wget") && one.name == other.name {
        return addresses(one) == addresses(other);
    }
    same_name(one, other)
        && (is_same_command(one, other)
            || (one.arguments.iter().all(|word| covers(&other.arguments, word))
                && other.arguments.iter().all(|word| covers(&one.arguments, word))))
}

fn same_name(one: &ShellCommand, other: &ShellCommand) -> bool {
    is_same_name(&one.name, &other.name)
}

/// Whether two words are equal, or the same path seen from another directory.
fn is_same_word(one: &str, other: &str) -> bool {
    let ends = |long: &str, short: &str| {
        short.contains('.') && long.starts_with('/') && long.strip_suffix(short).is_some_and(|rest| rest.ends_with('/'))
    };
    one == other || ends(one, other) || ends(other, one)
}

/// Whether the later call checks at least as much: it has no filter or path that the failed one did not have.
fn is_broader(failed: &ShellCommand, later: &ShellCommand) -> bool {
    let covers = |word: &String| {
        let folder = word.trim_end_matches("...").trim_end_matches('/');
        failed.arguments.contains(word)
            || (word.ends_with("...") && failed.arguments.iter().any(|other| other.starts_with(folder)))
            || (!word.starts_with('-') && failed.arguments.iter().any(|other| is_below(other, folder)))
            || is_count_or_format(word)
    };
    verifies(failed) && later.arguments.iter().all(covers)
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(['/', ':']))
}

/// Flags that do not change what is checked.
fn is_count_or_format(word: &str) -> bool {
    ["-count=", "--count=", "-v", "--tb=", "-timeout", "--timeout", "--reporter", "--color", "-race"]
        .iter()
        .any(|flag| word.starts_with(flag))
}

/// Whether the error is about how the command was called, so that another call fixes it. A failed test never is.
pub(super) fn is_call_error(signature: &str) -> bool {
    static OF_THE_CALL: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(
            r"(?i)main module|setup failed|statement separator|go\.mod|working directory|package\.json|could not determine",
        )
    });
    static OF_A_TEST: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(r"(?i)assert|^(---\s)?fail(ed)?\b|\bexpected\b.*\b(received|got|to be|but)\b")
    });
    let has =
        |pattern: &LazyLock<Option<CuePattern>>| pattern.as_ref().is_some_and(|pattern| pattern.is_match(signature));
    has(&OF_THE_CALL) || (is_usage_error(signature) && !has(&OF_A_TEST))
}

/// Whether a later call is the failed one, corrected.
pub(super) fn is_corrected_call(failed: &ShellCommand, later: &ShellCommand) -> bool {
    let is_same_name = same_name(failed, later);
    if (later.class == CommandClass::ReadOnly && !is_same_name) || is_narrower(failed, later) {
        return false;
    }
    // `go mod init` does not replace `go mod tidy`: it prepares it.
    let program = |command: &ShellCommand| command.name.split_once(' ').map(|(program, _)| program.to_owned());
    if !is_same_name && repairs(later) && program(later).is_some() && program(failed) == program(later) {
        return false;
    }
    is_same_name || is_same_program(failed, later) || word_similarity(failed, later) >= 0.5
}

/// Whether the shell or git could not make sense of a call, which also concerns commands that only read.
pub(super) fn is_malformed_call(message: &str) -> bool {
    static MALFORMED: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(
            r"(?i)statement separator|^fatal: (ambiguous argument|unrecognized argument|bad revision)|event not found|bad substitution",
        )
    });
    MALFORMED.as_ref().is_some_and(|pattern| pattern.is_match(message))
}

/// Whether a call was so wrong that nothing ran.
pub(super) fn ran_nothing(message: &str) -> bool {
    static NOTHING: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(
            r"(?i)^error: file or directory not found|command not found|unknown (option|flag)|unrecognized (option|argument)|missing script|unexpected argument|no such (command|option)|invalid option",
        )
    });
    is_missing_folder(message) || NOTHING.as_ref().is_some_and(|pattern| pattern.is_match(message))
}

/// Whether a later call adds a flag that the message names.
pub(super) fn follows_advice(message: &str, failed: &ShellCommand, later: &ShellCommand) -> bool {
    let named = |word: &String| {
        let flag = word.split('=').next().unwrap_or_default();
        flag.len() > 3 && flag.starts_with("--") && message.contains(flag.trim_start_matches('-'))
    };
    same_name(failed, later) && later.arguments.iter().any(|word| !failed.arguments.contains(word) && named(word))
}

/// Whether formatting was checked and found wanting, so that the program itself can put it right.
pub(super) fn is_format_issue(message: &str) -> bool {
    static FORMAT: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(r"(?i)(format|style) issues found|^would reformat |not formatted|needs formatting")
    });
    FORMAT.as_ref().is_some_and(|pattern| pattern.is_match(message))
}

/// Whether a later call formats what the failed one only checked.
pub(super) fn formats_same(failed: &ShellCommand, later: &ShellCommand) -> bool {
    let checks = |word: &&String| matches!(word.as_str(), "--check" | "-c" | "--list-different" | "-l" | "--diff");
    let writes = |word: &&String| matches!(word.as_str(), "--write" | "-w" | "--fix");
    let rest = |command: &ShellCommand| -> Vec<String> {
        command.arguments.iter().filter(|word| !checks(word) && !writes(word)).cloned().collect()
    };
    same_name(failed, later)
        && failed.arguments.iter().any(|word| checks(&word))
        && !later.arguments.iter().any(|word| checks(&word))
        && rest(failed) == rest(later)
}

/// Whether two commands run the same program or script under another name: `python` and `python3`, `npm run lnt` and
/// `npm run lint`.
fn is_same_program(failed: &ShellCommand, later: &ShellCommand) -> bool {
    let program = |name: &str| {
        name.split(' ').next().unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').to_owned()
    };
    let rest = |command: &ShellCommand| {
        let words: Vec<String> =
            command.name.split(' ').skip(1).map(str::to_owned).chain(command.arguments.iter().cloned()).collect();
        words
    };
    program(&failed.name) == program(&later.name) && rest(failed).iter().any(|word| rest(later).contains(word))
}

/// Whether the later call only looks at a part: it adds filters, or names of tests or files.
fn is_narrower(failed: &ShellCommand, later: &ShellCommand) -> bool {
    let (before, after) = (&failed.arguments, &later.arguments);
    let mut added = after.iter().filter(|word| !before.contains(word));
    let is_filter = |word: &String| NARROWING_FLAGS.contains(word.split('=').next().unwrap_or_default());
    added.clone().any(is_filter)
        || (verifies(failed)
            && before.iter().all(|word| after.contains(word))
            && added.any(|word| !word.starts_with('-')))
}

/// Whether a later command may run in the same directory: it sets the same one, or none, because shells keep theirs.
pub(super) fn same_folder(one: Option<&str>, later: Option<&str>) -> bool {
    let Some(other) = later else { return true };
    let Some(one) = one else { return false };
    let (one, other) = (one.trim_end_matches('/'), other.trim_end_matches('/'));
    let ends = |long: &str, short: &str| {
        !short.is_empty() && long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    one == other || ends(one, other) || ends(other, one)
}
