//! Compares a failed call with later ones: the same check, a broader one, or a corrected call.

use std::sync::LazyLock;

use super::super::command::{CommandClass, ShellCommand, is_same_command, is_same_name, word_similarity};
use super::super::command_kind::command_kind;
use super::super::errors::{is_missing_folder, is_usage_error};
use super::super::pattern::CuePattern;
use super::super::tables::{FORMATTING_FLAGS, INSTALL_COMMANDS, NARROWING_FLAGS};
use super::change::repairs;
use super::script_call::{is_same_file, runs_same_script, runs_script_elsewhere};
use super::verifies;

/// Commands whose arguments differ from call to call, though they do the same.
const NAMED_ONLY: [&str; 7] =
    ["git commit", "git push", "git rebase", "git merge", "git pull", "git cherry-pick", "git am"];

/// Flags that do not change what is checked, with anything after them.
const HARMLESS_FLAGS: [&str; 26] = [
    "-count=",
    "--count=",
    "-v",
    "--tb=",
    "-timeout",
    "--timeout",
    "--reporter",
    "--color",
    "-race",
    "--maxfail",
    "--no-cov",
    "--durations",
    "-rA",
    "-ra",
    "-rs",
    "--cov",
    "--watchAll=false",
    "--ci",
    "--runInBand",
    "--forceExit",
    "--no-daemon",
    "--no-coverage",
    "-auto-approve",
    "--auto-approve",
    "--yes",
    "--no-input",
];
/// Flags with which more is checked.
const BROADENING_FLAGS: [&str; 6] =
    ["--all-targets", "--all-features", "--workspace", "--tests", "--benches", "--recursive"];

/// Whether the success of a later command shows that the failed one works: it is the same, or checks more.
pub(super) fn shows_success(failed: &ShellCommand, later: &ShellCommand) -> bool {
    is_same_call(failed, later)
        || (same_name(failed, later) && (NAMED_ONLY.contains(&failed.name.as_str()) || is_broader(failed, later)))
}

/// Whether two calls do the same: flags for the output do not count, and a path may be relative or absolute.
pub(super) fn is_same_call(one: &ShellCommand, other: &ShellCommand) -> bool {
    // Requests of the same address differ in what they print.
    let addresses = |command: &ShellCommand| -> Vec<String> {
        command.arguments.iter().filter(|word| word.contains("://")).cloned().collect()
    };
    if matches!(one.name.as_str(), "curl" | "wget") && one.name == other.name {
        return addresses(one) == addresses(other);
    }
    // An image is built from the same files, whatever it is called.
    if one.name == "docker build" && one.name == other.name {
        return built_from(one) == built_from(other);
    }
    same_name(one, other) && (is_same_command(one, other) || is_same_arguments(one, other))
}

/// What an image is built from: the arguments without its name and how it is built.
fn built_from(command: &ShellCommand) -> Vec<&str> {
    let mut words = command.arguments.iter().map(String::as_str);
    let mut out = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "-t" | "--tag" | "--platform" | "--progress" => drop(words.next()),
            word if word.starts_with("--") && !word.starts_with("--file") && !word.starts_with("--target") => {}
            word => out.push(word),
        }
    }
    out
}

/// Whether two calls have the same arguments, apart from those that change nothing.
pub(super) fn is_same_arguments(one: &ShellCommand, other: &ShellCommand) -> bool {
    let covers =
        |all: &[String], word: &String| changes_nothing(word) || all.iter().any(|known| is_same_word(known, word));
    one.arguments.iter().all(|word| covers(&other.arguments, word))
        && other.arguments.iter().all(|word| covers(&one.arguments, word))
}

pub(super) fn same_name(one: &ShellCommand, other: &ShellCommand) -> bool {
    is_same_name(&one.name, &other.name) || runs_same_script(one, other)
}

/// Whether a call names a file: a script, or a path among its arguments.
pub(super) fn names_file(command: &ShellCommand) -> bool {
    let is_file = |word: &str| {
        let name = word.split("::").next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        !word.starts_with('-')
            && (1..=4).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    command.name.split(' ').skip(1).any(is_file) || command.arguments.iter().any(|word| is_file(word))
}

/// Whether two words are equal, or the same path seen from another directory.
fn is_same_word(one: &str, other: &str) -> bool {
    // Two relative paths may be different files.
    let is_path = [one, other].iter().any(|word| word.starts_with(['/', '.', '~']));
    one == other || (is_path && is_same_file(one, other))
}

/// Whether the later call checks at least as much: it has no filter or path that the failed one did not have.
fn is_broader(failed: &ShellCommand, later: &ShellCommand) -> bool {
    let covers = |word: &String| {
        let folder = word.trim_end_matches("...").trim_end_matches('/');
        failed.arguments.contains(word)
            || (word.ends_with("...") && failed.arguments.iter().any(|other| other.starts_with(folder)))
            || (!word.starts_with('-') && failed.arguments.iter().any(|other| is_below(other, folder)))
            || changes_nothing(word)
            || BROADENING_FLAGS.contains(&word.as_str())
    };
    verifies(failed) && later.arguments.iter().all(covers)
}

fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(['/', ':']))
}

/// Flags that do not change what is checked.
pub(super) fn changes_nothing(word: &str) -> bool {
    // pytest joins its short flags: `-xvs`.
    let is_joined = |flags: &str| (1..=5).contains(&flags.len()) && flags.bytes().all(|flag| b"xvsq".contains(&flag));
    // `make -j8` only runs faster.
    let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
    FORMATTING_FLAGS.contains(word)
        || word.strip_prefix('-').is_some_and(is_joined)
        || word.strip_prefix("-j").is_some_and(is_number)
        || HARMLESS_FLAGS.iter().any(|flag| word.starts_with(flag))
}

/// Whether the error is about how the command was called, so that another call fixes it. A failed test never is.
pub(super) fn is_call_error(signature: &str) -> bool {
    static OF_THE_CALL: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(
            r"(?i)main module|setup failed|statement separator|go\.mod|working directory|package\.json|could not determine",
        )
    });
    static OF_A_TEST: LazyLock<Option<CuePattern>> = LazyLock::new(|| {
        CuePattern::new(r"(?i)assert|^fixture\b|^(---\s)?fail(ed)?\b|\bexpected\b.*\b(received|got|to be|but)\b")
    });
    let has =
        |pattern: &LazyLock<Option<CuePattern>>| pattern.as_ref().is_some_and(|pattern| pattern.is_match(signature));
    has(&OF_THE_CALL) || (is_usage_error(signature) && !has(&OF_A_TEST))
}

/// Whether a later call is the failed one, corrected.
pub(super) fn is_corrected_call(failed: &ShellCommand, later: &ShellCommand) -> bool {
    let is_same_name = same_name(failed, later);
    // `pytest --markers` only prints something.
    let only_reads = later.class == CommandClass::ReadOnly && (!is_same_name || verifies(failed));
    if only_reads || is_narrower(failed, later) || runs_other_subcommand(failed, later) {
        return false;
    }
    // `go mod init` does not replace `go mod tidy`: it prepares it.
    let program = |command: &ShellCommand| command.name.split_once(' ').map(|(program, _)| program.to_owned());
    if !is_same_name && repairs(later) && program(later).is_some() && program(failed) == program(later) {
        return false;
    }
    is_same_name
        || is_same_program(failed, later)
        || runs_script_elsewhere(failed, later)
        || word_similarity(failed, later) >= 0.5
}

/// Whether a later call asks the same program for something else: `tool list` after `tool query`.
fn runs_other_subcommand(failed: &ShellCommand, later: &ShellCommand) -> bool {
    let first = |command: &ShellCommand| {
        let word = command.arguments.first().filter(|_| !command.name.contains(' ')).cloned().unwrap_or_default();
        let is_word = word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-');
        if is_word { word } else { String::new() }
    };
    let (before, after) = (first(failed), first(later));
    // A mistyped word is corrected.
    let is_alike = before.get(..3).is_some_and(|start| after.starts_with(start));
    failed.name == later.name && !before.is_empty() && !after.is_empty() && before != after && !is_alike
}

/// Whether a later call installs something else than the failed one, though the message is not about the name of a
/// package: that prepares the failed call.
pub(super) fn installs_other(message: &str, failed: &ShellCommand, later: &ShellCommand) -> bool {
    let is_install = |command: &ShellCommand| INSTALL_COMMANDS.contains(&command.name);
    if !(is_install(failed) && is_install(later)) {
        return false;
    }
    let names = |word: &&String| !word.starts_with('-') || matches!(word.as_str(), "-e" | "--editable" | "-r");
    let has_package = |command: &ShellCommand| command.arguments.iter().any(|word| !word.starts_with('-'));
    let is_shared = failed.arguments.iter().filter(names).any(|word| later.arguments.contains(word));
    let is_about_name = failed.arguments.iter().any(|word| word.len() >= 3 && message.contains(word.as_str()));
    !(is_shared || is_about_name) && has_package(later)
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
            r"(?i)^error: (file or directory )?not found|^error: file not found|can't open file|python[0-9.]*: No module named|command not found|unknown (option|flag)|unrecognized (option|argument)|missing script|unexpected argument|no such (command|option)|invalid option",
        )
    });
    is_missing_folder(message) || NOTHING.as_ref().is_some_and(|pattern| pattern.is_match(message))
}

/// Whether a message names an exception of the code that ran, other than a missing file.
pub(super) fn is_exception(message: &str) -> bool {
    static EXCEPTION: LazyLock<Option<CuePattern>> =
        LazyLock::new(|| CuePattern::new(r"^[A-Za-z_][\w.]*(Error|Exception)\b"));
    !message.starts_with("FileNotFound") && EXCEPTION.as_ref().is_some_and(|pattern| pattern.is_match(message))
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

/// Whether a later call formats what the failed one only checked, or lets a linter correct what it found.
pub(super) fn corrects_same(message: &str, failed: &ShellCommand, later: &ShellCommand) -> bool {
    let checks = |word: &&String| matches!(word.as_str(), "--check" | "-c" | "--list-different" | "-l" | "--diff");
    let writes = |word: &&String| {
        matches!(word.as_str(), "--write" | "-w" | "--fix" | "--apply" | "--unsafe-fixes" | "--unsafe" | "--")
    };
    let rest = |command: &ShellCommand| -> Vec<String> {
        command.arguments.iter().filter(|word| !checks(word) && !writes(word)).cloned().collect()
    };
    let has =
        |command: &ShellCommand, is_one: &dyn Fn(&&String) -> bool| command.arguments.iter().any(|word| is_one(&word));
    let formats = is_format_issue(message) && has(failed, &checks) && !has(later, &checks);
    let is_linter = matches!(command_kind(failed), Some("check" | "format"));
    let corrects = is_linter && has(later, &writes) && !has(failed, &writes) && !has(later, &checks);
    same_name(failed, later) && rest(failed) == rest(later) && (formats || corrects)
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
/// If the failed one set none, a later one that names the same file runs where that file is.
pub(super) fn same_folder(one: Option<&str>, later: Option<&str>, names_file: bool) -> bool {
    let Some(other) = later else { return true };
    let Some(one) = one else { return names_file };
    let (one, other) = (one.trim_end_matches('/'), other.trim_end_matches('/'));
    let ends = |long: &str, short: &str| {
        !short.is_empty() && long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    one == other || ends(one, other) || ends(other, one)
}
