//! Compares a failed call with later ones: the same check, a broader one, or a corrected call.

use std::sync::LazyLock;

use regex::Regex;

use super::super::command::{CommandClass, ShellCommand, is_same_command, is_same_name, word_similarity};
use super::super::errors::is_usage_error;
use super::super::tables::{FORMATTING_FLAGS, NARROWING_FLAGS};
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
    static OF_THE_CALL: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)main module|setup failed|statement separator|go\.mod|working directory|package\.json|could not determine").ok()
    });
    static OF_A_TEST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)assert|^(---\s)?fail(ed)?\b|\bexpected\b.*\b(received|got|to be|but)\b").ok()
    });
    let has = |pattern: &LazyLock<Option<Regex>>| pattern.as_ref().is_some_and(|pattern| pattern.is_match(signature));
    has(&OF_THE_CALL) || (is_usage_error(signature) && !has(&OF_A_TEST))
}

/// Whether a later call is the failed one, corrected.
pub(super) fn is_corrected_call(failed: &ShellCommand, later: &ShellCommand) -> bool {
    if later.class == CommandClass::ReadOnly || is_narrower(failed, later) {
        return false;
    }
    same_name(failed, later) || is_same_program(failed, later) || word_similarity(failed, later) >= 0.5
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
