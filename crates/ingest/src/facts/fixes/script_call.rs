//! Compares calls of scripts: the same file under another path, or the same call with another version of its program.

use super::super::command::ShellCommand;
use super::super::tables::INTERPRETERS;
use super::call::is_same_arguments;

/// Whether two commands run the same file with the same program: its path may be seen from another directory.
pub(super) fn runs_same_script(one: &ShellCommand, other: &ShellCommand) -> bool {
    match (script_of(one), script_of(other)) {
        (Some((program, path)), Some((other_program, other_path))) => {
            program == other_program && is_same_file(path, other_path)
        }
        _ => false,
    }
}

/// Whether a later call is the failed one with another version of its program: `python3 a.py` after `python a.py`.
pub(super) fn runs_other_version(failed: &ShellCommand, later: &ShellCommand) -> bool {
    if let (Some(before), Some(after)) = (module_runner(failed), module_runner(later)) {
        let is_same_program = family(file_name(before)) == family(file_name(after));
        return before != after && is_same_program && failed.name == later.name && is_same_arguments(failed, later);
    }
    let program = |command: &ShellCommand| command.name.split(' ').next().unwrap_or_default().to_owned();
    let (before, after) = (program(failed), program(later));
    let is_same_file = match (script_of(failed), script_of(later)) {
        (Some((_, path)), Some((_, other))) => is_same_file(path, other),
        (None, None) => {
            failed.name.split_once(' ').map(|(_, rest)| rest) == later.name.split_once(' ').map(|(_, rest)| rest)
        }
        _ => false,
    };
    before != after && family(&before) == family(&after) && is_same_file && is_same_arguments(failed, later)
}

/// The interpreter of `python3 -m pytest`.
fn module_runner(command: &ShellCommand) -> Option<&str> {
    let at = command.prefix_words.iter().position(|word| word == "-m")?;
    command.prefix_words.get(at.checked_sub(1)?).map(String::as_str)
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a later call runs a file of the same name, wherever it is.
pub(super) fn runs_script_elsewhere(failed: &ShellCommand, later: &ShellCommand) -> bool {
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    match (script_of(failed), script_of(later)) {
        (Some((program, path)), Some((other, later_path))) => {
            family(program) == family(other) && name(path) == name(later_path)
        }
        _ => false,
    }
}

/// The program without its version: `python3.11` → `python`.
fn family(program: &str) -> &str {
    program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// The interpreter and the script that a command runs.
pub(super) fn script_of(command: &ShellCommand) -> Option<(&str, &str)> {
    let (program, script) = command.name.split_once(' ')?;
    INTERPRETERS.contains(family(program)).then_some((program, script))
}

/// Whether two paths may mean the same file: one is the end of the other.
pub(super) fn is_same_file(one: &str, other: &str) -> bool {
    let bare = |path: &str| {
        let mut rest = path;
        while let Some(after) = rest.strip_prefix("./").or_else(|| rest.strip_prefix("../")) {
            rest = after;
        }
        rest.to_owned()
    };
    let (one, other) = (bare(one), bare(other));
    let ends = |long: &str, short: &str| {
        short.contains('.') && long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    one == other || ends(&one, &other) || ends(&other, &one)
}

#[cfg(test)]
mod tests {
    use super::super::super::command::parse_command_line;
    use super::*;

    fn command(text: &str) -> ShellCommand {
        parse_command_line(text).unwrap().main().clone()
    }

    #[test]
    fn a_script_is_recognized_under_another_path() {
        for (one, other) in [
            ("python a.py", "python ./a.py"),
            ("python ../tools/a.py", "python /home/me/app/tools/a.py"),
            ("node dist/cli.js", "node app/dist/cli.js"),
        ] {
            assert!(runs_same_script(&command(one), &command(other)), "{one} {other}");
        }
        for (one, other) in
            [("python a.py", "python b.py"), ("python x/a.py", "python y/a.py"), ("node a.js", "bun a.js")]
        {
            assert!(!runs_same_script(&command(one), &command(other)), "{one} {other}");
        }
        assert!(runs_script_elsewhere(&command("python x/a.py"), &command("python3 y/a.py")));
        assert!(!runs_script_elsewhere(&command("pytest x/a.py"), &command("python3 a.py")));
    }

    #[test]
    fn another_version_of_the_program_is_recognized() {
        for (one, other) in [
            ("python a.py --fast", "python3 a.py --fast"),
            ("python tools/a.py", "/opt/bin/python3.11 a.py"),
            ("python -c 'print(1)'", "python3 -c 'print(1)'"),
            ("pip install x", "pip3 install x"),
            ("python -m sphinx -b html . out", "python3 -m sphinx -b html . out"),
            ("python -m pytest a.py -v", "/opt/conda/bin/python -m pytest a.py"),
        ] {
            assert!(runs_other_version(&command(one), &command(other)), "{one} {other}");
        }
        for (one, other) in [
            ("python a.py", "python a.py"),
            ("python a.py", "python3 b.py"),
            ("python a.py --fast", "python3 a.py --slow"),
            ("python -c 'print(1)'", "python3 -c 'print(2)'"),
            ("node a.js", "python a.js"),
            ("python -m pytest a.py", "python3 -m pytest b.py"),
            ("python -m pytest a.py", "python -m pytest a.py"),
        ] {
            assert!(!runs_other_version(&command(one), &command(other)), "{one} {other}");
        }
    }
}
