//! How a call is described: without what only shortens its output, and without what is not stored.

use std::sync::LazyLock;

use regex::Regex;
use rethread_model::{clip, one_line};

use super::super::command::CommandLine;
use super::super::errors::{compile_regex, is_missing_folder};
use super::MAX_TEXT_CHARS;

/// The command as called, without what only shortens its output.
pub(super) fn called_as(script: &str) -> &str {
    let script = script.trim();
    let end = [" 2>&1", " | tail", " | head", "\n"].iter().filter_map(|part| script.find(part)).min();
    script[..end.unwrap_or(script.len())].trim()
}

/// Describes another call that worked, after one that failed with this message.
pub(super) fn other_call(line: &CommandLine, script: &str, message: &str) -> String {
    let called = called_as(script);
    // A script that is part of the call may go over many lines.
    let is_cut = called.matches('"').count() % 2 == 1 || called.matches('\'').count() % 2 == 1;
    let called = if is_cut { one_line(script) } else { called.to_owned() };
    let called = clip(&without_hashes(&called), MAX_TEXT_CHARS).into_owned();
    match line.folder.as_deref().filter(|folder| !called.contains(folder)) {
        Some(folder) => format!("ran `{called}` in {folder} instead"),
        // The shell was already where the call wanted to go.
        None if is_missing_folder(message) && line.folder.is_none() => format!("ran `{called}` without `cd`"),
        None => format!("ran `{called}` instead"),
    }
}

/// A command without the marks of texts that are not stored.
fn without_hashes(called: &str) -> String {
    static HASH: LazyLock<Regex> = LazyLock::new(|| compile_regex(r"(<<\w+|… ?)#[0-9a-f]{8}\b(?: '[^']*'?)?"));
    HASH.replace_all(called, "${1}").into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::super::command::parse_command_line;
    use super::*;

    #[test]
    fn another_call_is_described_so_that_it_can_be_repeated() {
        let missing = "cd: no such file or directory: app";
        for (script, message, expected) in [
            ("pytest a.py 2>&1 | tail -3", missing, "ran `pytest a.py` without `cd`"),
            ("cd web && npm test", missing, "ran `cd web && npm test` instead"),
            ("python3 a.py", "SyntaxError: invalid syntax", "ran `python3 a.py` instead"),
            ("python3 -c \"\nimport a\nprint(a)\"", "x", "ran `python3 -c \" import a print(a)\"` instead"),
            ("python3 <<EOF#1a2b3c4d", "x", "ran `python3 <<EOF` instead"),
            ("python3 <<EOF#1a2b3c4d 'import a\nprint(a)'", "x", "ran `python3 <<EOF` instead"),
        ] {
            assert_eq!(other_call(&parse_command_line(script).unwrap(), script, message), expected);
        }
    }
}
