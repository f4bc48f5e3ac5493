//! Recognizes a run of only the part of a check that failed, or of what was changed.

use std::sync::LazyLock;

use super::super::command::ShellCommand;
use super::super::command_kind::command_kind;
use super::super::errors::compile;
use super::super::pattern::CuePattern;
use super::super::tables::NARROWING_FLAGS;
use super::bypass::is_test_file;
use super::call::{changes_nothing, same_name};
use super::verifies;

/// Flags that select what is run; the other narrowing flags leave something out.
const SELECTING_FLAGS: [&str; 10] =
    ["-run", "--run", "-k", "-t", "--grep", "--testNamePattern", "--testPathPattern", "--test", "-p", "--package"];
/// Shorter names occur in any text.
const MIN_NAME_CHARS: usize = 4;

/// Whether the success of a later run, which is narrower than the failed one, shows that its error is gone. `changes` says
/// what was changed in these files.
pub(super) fn settles_failed_part(
    message: &str,
    failed: &ShellCommand,
    later: &ShellCommand,
    changed_files: &[String],
    changes: &str,
) -> bool {
    let Some(parts) = selected_parts(failed, later).filter(|parts| !parts.is_empty()) else { return false };
    let is_same_check = same_name(failed, later) || runs_tests_of_script(failed, later);
    // What other commands do is known only if the message names it.
    let is_named = || parts.iter().all(|part| names_part(message, part));
    let is_part =
        is_same_check && (verifies(failed) || is_named()) && parts.iter().all(|part| is_part_of(part, failed));
    // A test that was written since did not fail.
    if !is_part || changed_files.is_empty() || parts.iter().any(|part| was_written(part, changes)) {
        return false;
    }
    let is_tested = |part: &str| changed_files.iter().any(|file| !is_test_file(file) && is_about(part, file));
    match command_kind(failed) {
        // The checks of a file are complete.
        Some("check" | "format") => parts.iter().all(|part| changed_files.iter().any(|file| is_path_of(part, file))),
        _ if names_failed_part(message) => parts.iter().any(|part| names_part(message, part)),
        _ => is_named() || parts.iter().any(|part| is_tested(part)),
    }
}

/// Whether a later command is the program that runs the tests of a script: `npx vitest run` and `npm test`.
fn runs_tests_of_script(failed: &ShellCommand, later: &ShellCommand) -> bool {
    const SCRIPTS: [&str; 8] = ["npm ", "pnpm ", "yarn ", "bun ", "make ", "just ", "task ", "mise "];
    let is_script = |command: &ShellCommand| SCRIPTS.iter().any(|runner| command.name.starts_with(runner));
    is_script(failed)
        && !is_script(later)
        && command_kind(failed) == Some("test")
        && command_kind(later) == Some("test")
}

/// Whether a change wrote the test that a word selects.
fn was_written(part: &str, changes: &str) -> bool {
    let name = part.rsplit("::").next().unwrap_or(part).trim_matches(['^', '$']);
    ["def ", "fn ", "func ", "'", "\""].iter().any(|before| changes.contains(&format!("{before}{name}")))
}

/// Whether the failed call ran what a word selects: it named no paths, or one that contains it.
fn is_part_of(part: &str, failed: &ShellCommand) -> bool {
    let is_path = |word: &str| !word.starts_with('-') && word.contains(['/', '.', ':']);
    let bare = |word: &str| word.trim_start_matches("./").trim_end_matches("...").trim_end_matches('/').to_owned();
    let mut paths = failed.arguments.iter().filter(|word| is_path(word)).map(|word| bare(word)).peekable();
    let contains = |folder: String| {
        matches!(folder.as_str(), "" | ".")
            || bare(part).strip_prefix(&folder).is_some_and(|rest| rest.starts_with(['/', ':']))
    };
    // `cargo test a::b` names no path.
    let is_path = is_path(part) && part.contains(['/', '.']);
    !is_path || paths.peek().is_none() || paths.any(contains)
}

/// The words with which a later call selects a part of what the failed one ran; `None` if it leaves something out.
fn selected_parts<'c>(failed: &ShellCommand, later: &'c ShellCommand) -> Option<Vec<&'c str>> {
    let is_new = |word: &&String| !failed.arguments.contains(word) && !changes_nothing(word);
    let mut parts = Vec::new();
    for word in later.arguments.iter().filter(is_new) {
        let (flag, value) = word.split_once('=').unwrap_or((word, ""));
        if flag.starts_with('-') {
            if NARROWING_FLAGS.contains(flag) && !SELECTING_FLAGS.contains(&flag) {
                return None;
            }
            parts.extend((!value.is_empty()).then_some(value));
        } else {
            parts.push(word.as_str());
        }
    }
    let leaves_out = parts.iter().any(|part| part.starts_with('!') || part.split(' ').any(|word| word == "not"));
    (!leaves_out).then_some(parts)
}

/// Whether an error line names the test that failed.
fn names_failed_part(message: &str) -> bool {
    static FAILED_PART: LazyLock<CuePattern> =
        LazyLock::new(|| compile(r"^(?:FAILED|FAIL|ERROR)\s|^-+ FAIL: |^FAIL: |^[✗×✕✖●]\s|\.\.\. FAILED|^not ok \d"));
    FAILED_PART.is_match(message)
}

/// Whether a text names the part that a word selects: the test, or its file.
fn names_part(message: &str, part: &str) -> bool {
    let mut names = part.split("::").filter_map(|name| name.rsplit('/').next());
    names.any(|name| {
        let name = name.trim_matches(['^', '$', '.', '"', '\'']);
        name.len() >= MIN_NAME_CHARS && message.contains(name)
    })
}

/// Whether a word selects a file or its directory.
fn is_path_of(part: &str, file: &str) -> bool {
    let part = part.trim_start_matches("./").trim_end_matches("...").trim_end_matches('/');
    !part.is_empty() && (file == part || file.ends_with(&format!("/{part}")) || part.ends_with(&format!("/{file}")))
        || (!part.is_empty() && format!("/{file}").contains(&format!("/{part}/")))
}

/// Whether a word selects a changed file, its directory, or the test that is named after it.
pub(super) fn is_about(part: &str, file: &str) -> bool {
    let bare = |name: &str| -> String {
        let name = name.split('.').next().unwrap_or_default().to_lowercase();
        let name = name.trim_start_matches("test_").trim_end_matches("_test").trim_end_matches("_spec");
        name.chars().filter(|c| c.is_alphanumeric()).collect()
    };
    let stem = bare(file.rsplit('/').next().unwrap_or(file));
    let path = part.split("::").next().unwrap_or(part);
    let selected = bare(path.trim_end_matches('/').rsplit('/').next().unwrap_or(path));
    let is_named = stem.len() >= MIN_NAME_CHARS && selected == stem;
    is_path_of(path, file) || is_named
}

#[cfg(test)]
mod tests {
    use super::super::super::command::parse_command_line;
    use super::*;

    fn settles(message: &str, failed: &str, later: &str, file: &str) -> bool {
        let command = |text: &str| parse_command_line(text).unwrap().main().clone();
        let changes = "+ def test_added(): assert lease.end == 2";
        settles_failed_part(message, &command(failed), &command(later), &[file.to_owned()], changes)
    }

    #[test]
    fn the_failed_test_or_the_test_of_the_change_settles_an_error() {
        for (message, failed, later, file) in [
            ("FAILED tests/test_lease.py::test_end", "pytest", "pytest tests/test_lease.py", "src/a.py"),
            ("--- FAIL: TestEnd (0.00s)", "go test ./...", "go test ./lease -run TestEnd", "lease/a.go"),
            ("got 3, want 2", "go test ./...", "go test ./lease/ -run TestEnd", "lease/a.go"),
            ("AssertionError: 1 != 2", "npx vitest run", "npx vitest run src/lease.test.ts", "src/lease.ts"),
            ("error  'size' is never used", "npx eslint .", "npx eslint src/lease.ts", "src/lease.ts"),
            ("TypeError: a is not a function", "npm test", "npx vitest run src/lease.test.ts", "src/lease.ts"),
        ] {
            assert!(settles(message, failed, later, file), "{message} {failed} {later}");
        }
    }

    #[test]
    fn another_part_or_a_run_that_leaves_something_out_settles_nothing() {
        for (message, failed, later, file) in [
            ("FAILED tests/test_lease.py::test_end", "pytest", "pytest tests/test_api.py", "src/api.py"),
            ("AssertionError: 1 != 2", "pytest", "pytest -k 'not lease'", "src/lease.py"),
            ("AssertionError: 1 != 2", "pytest", "pytest --ignore tests/lease", "src/lease.py"),
            ("AssertionError: 1 != 2", "pytest", "pytest tests/test_api.py", "src/lease.py"),
            ("AssertionError: 1 != 2", "pytest", "pytest", "src/lease.py"),
            ("AssertionError: 1 != 2", "pytest", "pytest tests/test_lease.py::test_added", "src/lease.py"),
            ("AssertionError: 1 != 2", "pytest", "pytest tests/test_lease.py", "tests/test_lease.py"),
            ("AssertionError: 1 != 2", "pytest tests/test_api.py", "pytest tests/test_lease.py", "src/lease.py"),
            ("error  'size' is never used", "npx eslint .", "npx eslint src/api.ts", "src/lease.ts"),
        ] {
            assert!(!settles(message, failed, later, file), "{message} {failed} {later}");
        }
    }
}
