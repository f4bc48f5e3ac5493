//! Finds the commands and their output in a console session that a human pasted.

use std::sync::LazyLock;

use super::errors::{compile, strip_colors};
use super::pattern::CuePattern;

/// Longer prompts are documents.
const MAX_PROMPT_BYTES: usize = 40_000;
/// Maximum number of commands that are taken from one prompt.
const MAX_COMMANDS: usize = 12;

/// A command of a pasted console session.
#[derive(Debug, PartialEq)]
pub(super) struct PastedCommand {
    pub(super) command: String,
    pub(super) output: String,
    /// Whether a prompt with a user, a directory or a branch shows that it was run. After a mere `$` it may be meant as
    /// an instruction.
    pub(super) was_run: bool,
}

/// The commands that a text shows with their output, in order.
pub(super) fn pasted_commands(text: &str) -> Vec<PastedCommand> {
    let mut found: Vec<PastedCommand> = Vec::new();
    if text.len() > MAX_PROMPT_BYTES || !text.contains(['$', '%', '#', '➜', '❯', '>']) {
        return found;
    }
    for line in text.lines() {
        match command_of(line) {
            Some(_) if found.len() >= MAX_COMMANDS => break,
            Some((command, was_run)) => found.push(PastedCommand { command, output: String::new(), was_run }),
            None => {
                if let Some(last) = found.last_mut() {
                    last.output.extend([line, "\n"]);
                }
            }
        }
    }
    found
}

/// The command of a line that begins with the prompt of a shell, and whether the prompt shows more than a sign.
fn command_of(line: &str) -> Option<(String, bool)> {
    static FULL: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?x)(?:^|\s)[\w.-]+@[\w.-]+(?::|\s)\s?[~\w./-]{1,80}(?:\s\([^)]*\))?\s?[%$\#]\s+(\S.*)$
            | ^➜\s+\S+(?:\s+git:\([^)]*\))?(?:\s+✗)?\s+(\S.*)$
            | ^PS\ [A-Za-z]:\\[^>]*>\s*(\S.*)$",
        )
    });
    static SIGN: LazyLock<CuePattern> = LazyLock::new(|| compile(r"^[$❯]\s+([\w./~-]\S*.*)$"));
    let line = strip_colors(line.trim());
    let full = FULL.captures(&line).and_then(|found| found.groups().next());
    let sign = || SIGN.captures(&line).and_then(|found| found.get(1));
    full.map(|command| (command.as_str().trim().to_owned(), true))
        .or_else(|| sign().map(|command| (command.as_str().trim().to_owned(), false)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_console_are_found_with_their_output() {
        for (line, expected) in [
            ("ada@mill app % ./run.sh --fast", Some(("./run.sh --fast", true))),
            ("ada@mill:~/app$ npm test", Some(("npm test", true))),
            ("ada@mill:~/app (main) $ npm test", Some(("npm test", true))),
            ("➜  app git:(main) ✗ npx tsx src/cli.ts", Some(("npx tsx src/cli.ts", true))),
            ("PS C:\\app> npm test", Some(("npm test", true))),
            ("$ npm test", Some(("npm test", false))),
            ("it costs $ 5", None),
            ("write to ada@mill.example for 100 % of it", None),
            ("# Heading", None),
            ("> web@1.0.0 test", None),
        ] {
            let found = command_of(line);
            let found = found.as_ref().map(|(command, was_run)| (command.as_str(), *was_run));
            assert_eq!(found, expected, "{line}");
        }
        let found = pasted_commands("this fails:\nada@mill app % make\nerror: no rule\n\nada@mill app % ls\na.c\nwhy?");
        let commands: Vec<_> = found.iter().map(|one| (one.command.as_str(), one.output.as_str())).collect();
        assert_eq!(commands, [("make", "error: no rule\n\n"), ("ls", "a.c\nwhy?\n")]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_accepted(text in "(?s)[a-z@%$#➜ >\n:~/]{0,120}") {
            pasted_commands(&text);
        }
    }
}
