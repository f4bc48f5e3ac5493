//! Scripts that are written into a call, such as `python3 -c '…'`: what they do, and whether one is another, corrected.

use super::super::command::ShellCommand;
use super::super::script::is_interpreter;
use super::super::word_counts::word_overlap;
use crate::parse::describe_change;

/// Two scripts with less in common are different ones.
const MIN_OVERLAP: f64 = 0.7;
/// Mark of a call that hands code to a tool, among the words before it.
pub(in crate::facts) const CODE_TOOL: &str = "tool";

/// The script that is an argument of a call.
pub(super) fn inline_script(command: &ShellCommand) -> Option<&str> {
    let program = command.name.split(' ').next().unwrap_or_default();
    let is_code_tool = command.prefix_words.first().is_some_and(|word| word == CODE_TOOL);
    let is_flag = |word: &str| matches!(word, "-c" | "-e" | "-p" | "-") || word.starts_with("<<");
    let mut words = command.arguments.iter().map(String::as_str).skip_while(|word| !is_flag(word));
    words.next().filter(|_| is_code_tool || is_interpreter(program))?;
    Some(words.find(|word| !is_flag(word)).unwrap_or_default())
}

/// How the script of a later call differs from that of the failed one, if it is the same script, corrected.
pub(super) fn script_correction(failed: &ShellCommand, later: &ShellCommand) -> Option<String> {
    let (before, after) = (inline_script(failed)?, inline_script(later)?);
    let is_whole = |script: &str| !script.is_empty() && !script.contains('…');
    let is_same = failed.name == later.name && before != after && is_whole(before) && is_whole(after);
    // Other data in the same script, such as another file, corrects nothing.
    if !is_same || word_overlap(before, after) < MIN_OVERLAP || without_texts(before) == without_texts(after) {
        return None;
    }
    // A script on one line is compared statement by statement.
    let lines = |script: &str| if script.contains('\n') { script.to_owned() } else { script.replace("; ", "\n") };
    let change = describe_change(&lines(before), &lines(after))?;
    Some(format!("{} script: {}", failed.name, change.replace('\n', "; ")))
}

/// A script without what is in quotes.
fn without_texts(script: &str) -> String {
    let mut kept = String::new();
    let mut quote = None;
    for letter in script.chars() {
        match quote {
            Some(open) if letter == open => quote = None,
            Some(_) => {}
            None if matches!(letter, '"' | '\'' | '`') => quote = Some(letter),
            None => kept.push(letter),
        }
    }
    kept
}

/// Whether every statement of a script only loads, computes or prints something. One that is not stored as a whole may do
/// anything.
pub(super) fn only_looks(script: &str) -> bool {
    const CHANGES: [&str; 31] = [
        "open(",
        "write",
        "remove",
        "unlink",
        "rename",
        "mkdir",
        "rmtree",
        "system(",
        "subprocess",
        "exec",
        "spawn",
        "popen",
        "shutil",
        "post(",
        "put(",
        "delete",
        "insert into",
        "update ",
        "commit",
        "save",
        "dump(",
        "install",
        "create",
        "drop",
        "migrat",
        "setup(",
        "reset",
        "flush",
        "clear",
        "patch(",
        "send",
    ];
    const STARTS: [&str; 14] = [
        "print",
        "console.log",
        "import ",
        "from ",
        "const ",
        "let ",
        "var ",
        "for ",
        "if ",
        "else",
        "#",
        "//",
        "sys.path.",
        "}",
    ];
    // `x = f()` computes; `f()` alone is called for what it does.
    let is_assignment = |statement: &str| {
        let (name, value) = statement.split_once('=').unwrap_or(("", ""));
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ',' | ' ');
        !name.is_empty() && name.chars().all(is_name) && !value.is_empty()
    };
    let lower = script.to_ascii_lowercase();
    let mut statements = lower.split(['\n', ';']).map(str::trim).filter(|statement| !statement.is_empty());
    (lower.contains("print") || lower.contains("console.log"))
        && !script.contains(['…', '<', '>'])
        && !CHANGES.iter().any(|word| lower.contains(word))
        && statements.all(|one| STARTS.iter().any(|start| one.starts_with(start)) || is_assignment(one))
}

#[cfg(test)]
mod tests {
    use super::super::super::command::parse_command_line;
    use super::super::change::change_kind;
    use super::*;

    fn correction(failed: &str, later: &str) -> Option<String> {
        let command = |text: &str| parse_command_line(text).unwrap().main().clone();
        script_correction(&command(failed), &command(later))
    }

    #[test]
    fn a_corrected_script_is_described_by_its_difference() {
        let script = |value: &str| {
            format!(
                "cat a.json | python3 -c 'import json, sys\nd = json.load(sys.stdin)\nfor e in d[\"items\"]:\n  print(e{value})'"
            )
        };
        let found = correction(&script("[\"size\"]"), &script(".get(\"size\")"));
        assert!(found.as_deref().is_some_and(|found| found.contains("get(\"size")), "{found:?}");
        assert_eq!(correction(&script("[0]"), &script("[0]")), None);
        assert_eq!(correction(&script("[0]"), "python3 -c 'import os; print(os.getcwd())'"), None);
        assert_eq!(correction(&script("[0]"), "node -e 'console.log(1)'"), None);
    }

    #[test]
    fn a_script_that_only_prints_changes_nothing() {
        for (line, is_change) in [
            ("python3 -c 'import yaml; print(yaml.__version__)'", false),
            ("python3 -c 'from app import total\nx = total(3)\nprint(x)'", false),
            ("node -e 'const a = require(\"./a\"); console.log(a.name)'", false),
            ("python3 -c 'import a; a.migrate()'", true),
            ("python3 -c 'import cache; cache.clear(); print(\"cleared\")'", true),
            ("python3 -c 'print(1); open(\"x\", \"w\").write(\"y\")'", true),
        ] {
            assert_eq!(change_kind(parse_command_line(line).unwrap().main()).is_some(), is_change, "{line}");
        }
    }
}
