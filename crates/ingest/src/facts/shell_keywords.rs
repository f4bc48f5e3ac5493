//! Removes shell keywords from the commands of a line, and marks commands that run only under a condition.

use super::shell::SimpleCommand;

/// The commands without keywords. A command that consists of keywords only keeps its place, without words, because the
/// operators around it still say whether a failure is visible.
pub(super) fn strip_keywords(mut commands: Vec<SimpleCommand>) -> Vec<SimpleCommand> {
    let mut scope = KeywordScope::default();
    for simple in &mut commands {
        scope.strip(&mut simple.words);
        simple.is_conditional = scope.is_in_branch();
    }
    commands
}

/// The open `if` and `case` blocks.
#[derive(Default)]
struct KeywordScope {
    /// For each open `if`: whether its first `then` was passed.
    branches: Vec<bool>,
    open_cases: usize,
}

impl KeywordScope {
    fn is_in_branch(&self) -> bool {
        self.branches.contains(&true)
    }

    fn strip(&mut self, words: &mut Vec<String>) {
        let mut taken = 0;
        while let Some(word) = words.get(taken) {
            match word.as_str() {
                "if" => self.branches.push(false),
                "then" | "else" | "elif" => self.branches.iter_mut().rev().take(1).for_each(|passed| *passed = true),
                "while" | "until" | "do" | "!" | "{" => {}
                "fi" | "done" | "}" | "for" | "select" | "function" | "in" => {
                    if word == "fi" {
                        self.branches.pop();
                    }
                    taken = words.len();
                    break;
                }
                "case" => {
                    self.open_cases += 1;
                    break;
                }
                "esac" => {
                    self.open_cases = self.open_cases.saturating_sub(1);
                    taken = words.len();
                    break;
                }
                // `name() {` defines a function.
                word if word.ends_with('(') => {}
                _ => break,
            }
            taken += 1;
        }
        // Patterns of a `case` cannot be told from commands.
        if self.open_cases > 0 {
            taken = words.len();
        }
        words.drain(..taken);
    }
}

#[cfg(test)]
mod tests {
    use super::super::shell::split_commands;
    use super::*;

    #[test]
    fn keywords_are_not_commands() {
        // D39
        for (line, expected) in [
            (
                "if [ -f a ]; then npm test; elif make; then x; else y; fi",
                vec!["[ -f a ]", "npm test", "make", "x", "y"],
            ),
            ("for f in *.rs; do rustfmt $f; done", vec!["rustfmt $f"]),
            ("while ! curl -s x; do sleep 1; done", vec!["curl -s x", "sleep 1"]),
            ("case $1 in a) make;; b) ninja;; esac; cargo test", vec!["cargo test"]),
            ("run() { npm test; }; run", vec!["npm test", "run"]),
        ] {
            let commands = strip_keywords(split_commands(line));
            let words: Vec<String> =
                commands.iter().map(|simple| simple.words.join(" ")).filter(|words| !words.is_empty()).collect();
            assert_eq!(words, expected, "{line}");
        }
    }

    #[test]
    fn commands_of_a_branch_are_conditional() {
        let commands = strip_keywords(split_commands("if a; then b; fi; c"));
        let conditional: Vec<_> =
            commands.iter().filter(|simple| simple.is_conditional).map(|simple| simple.words.join(" ")).collect();
        assert_eq!(conditional, ["b"]);
    }
}
