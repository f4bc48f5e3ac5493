//! Splits a command line into simple commands with their operators, and notes whether a failure would be visible.

/// One simple command of a line: words without redirections and without the variables set before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    pub(super) words: Vec<String>,
    /// The operator before it.
    pub(super) operator: ShellOperator,
    /// The file its output is redirected to.
    pub(super) output: Option<String>,
    /// The variables set for this command only.
    pub(super) variables: Vec<String>,
    /// Whether its standard error is redirected.
    pub(super) hides_stderr: bool,
    /// Whether it runs in the background.
    pub(super) is_background: bool,
    /// Whether it runs only if a condition holds.
    pub(super) is_conditional: bool,
    /// Words before it that only run it, once they are peeled off.
    pub(super) wrappers: Vec<String>,
}

/// The operator between a command and the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ShellOperator {
    /// None: it is the first command.
    #[default]
    First,
    /// `&&`: it ran only if the previous command succeeded.
    And,
    /// `||`: it ran only if the previous command failed.
    Or,
    /// `;`, `&` or a line break.
    Then,
    /// `|`: it reads the output of the previous command.
    Pipe,
}

/// The simple commands of a line, in order. Anything that cannot be parsed gives fewer words, never an error.
pub(super) fn split_commands(line: &str) -> Vec<SimpleCommand> {
    let mut splitter =
        ShellSplitter { rest: line.chars().collect(), at: 0, commands: Vec::new(), current: SimpleCommand::default() };
    splitter.run();
    splitter.commands
}

struct ShellSplitter {
    rest: Vec<char>,
    at: usize,
    commands: Vec<SimpleCommand>,
    current: SimpleCommand,
}

impl ShellSplitter {
    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' => self.at += 1,
                '&' if self.peek(1) == Some('&') => self.end_command(ShellOperator::And, 2),
                '&' if self.peek(1) == Some('>') => self.redirect(1),
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '&' => {
                    self.current.is_background = true;
                    self.end_command(ShellOperator::Then, 1);
                }
                '\n' | ';' => self.end_command(ShellOperator::Then, 1),
                '|' if self.peek(1) == Some('|') => self.end_command(ShellOperator::Or, 2),
                '|' if self.peek(1) == Some('&') => self.end_command(ShellOperator::Pipe, 2),
                '|' => self.end_command(ShellOperator::Pipe, 1),
                '>' | '<' => self.redirect(0),
                '#' => self.skip_comment(),
                '(' | ')' | '{' | '}' if self.is_separate() => self.at += 1,
                _ => self.push_word(),
            }
        }
        self.end_command(ShellOperator::Then, 0);
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.rest.get(self.at + ahead).copied()
    }

    /// Whether a bracket is separate, as around a group of commands.
    fn is_separate(&self) -> bool {
        self.peek(0).is_some_and(|c| c == '(' || c == ')') || self.peek(1).is_none_or(|c| c == ' ' || c == ';')
    }

    fn end_command(&mut self, next: ShellOperator, length: usize) {
        self.at += length;
        let finished =
            std::mem::replace(&mut self.current, SimpleCommand { operator: next, ..SimpleCommand::default() });
        if finished.words.is_empty() {
            // No command between two operators; the first one still applies to what follows.
            if self.commands.is_empty() {
                self.current.operator = ShellOperator::First;
            }
            return;
        }
        self.commands.push(finished);
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    /// `> file`, `2>&1`, `<<'END'`: the target is not part of the command.
    fn redirect(&mut self, skip: usize) {
        self.at += skip;
        let is_output = self.peek(0) == Some('>');
        let is_heredoc = self.peek(0) == Some('<') && self.peek(1) == Some('<') && self.peek(2) != Some('<');
        while self.peek(0).is_some_and(|c| matches!(c, '>' | '<' | '|' | '-')) {
            self.at += 1;
        }
        if self.peek(0) == Some('&') {
            self.at += 1;
            while self.peek(0).is_some_and(|c| c.is_ascii_digit() || c == '-') {
                self.at += 1;
            }
            return;
        }
        while self.peek(0) == Some(' ') {
            self.at += 1;
        }
        let target = self.read_word();
        if is_heredoc && target.contains('#') {
            // The content was replaced by its hash.
            self.current.words.push(format!("<<{target}"));
        } else if is_heredoc {
            self.skip_heredoc(&target);
        }
        if is_output && !target.is_empty() {
            self.current.output = Some(target);
        }
    }

    /// The content of a here document is input, not commands.
    fn skip_heredoc(&mut self, mark: &str) {
        // The line may end with the operator.
        if mark.is_empty() {
            return;
        }
        let text: String = self.rest.iter().skip(self.at).collect();
        let end = text.rfind(mark).map_or(text.len(), |at| at + mark.len());
        self.at += text[..end].chars().count();
    }

    fn push_word(&mut self) {
        let digits = self.rest[self.at..].iter().take_while(|c| c.is_ascii_digit()).count();
        if digits > 0 && self.peek(digits) == Some('>') {
            self.at += digits;
            // Redirecting standard error does not hide the output itself.
            let output = self.current.output.take();
            self.redirect(0);
            // `2>&1` keeps errors visible.
            self.current.hides_stderr |= self.current.output.is_some();
            self.current.output = output;
            return;
        }
        let word = self.read_word();
        if self.current.words.is_empty() && is_assignment(&word) {
            self.current.variables.push(word);
        } else if !word.is_empty() {
            self.current.words.push(word);
        }
    }

    fn read_word(&mut self) -> String {
        let mut word = String::new();
        let start = self.at;
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '>' | '<' => break,
                ')' if self.at > start => break,
                '\'' | '"' => self.read_quoted(c, &mut word),
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '\\' => {
                    word.extend(self.peek(1));
                    self.at += 2;
                }
                '$' if self.peek(1) == Some('(') => self.read_substitution(&mut word),
                '`' => self.read_quoted('`', &mut word),
                _ => {
                    word.push(c);
                    self.at += 1;
                }
            }
        }
        if self.at == start {
            self.at += 1;
        }
        word
    }

    fn read_quoted(&mut self, quote: char, word: &mut String) {
        self.at += 1;
        while let Some(c) = self.peek(0) {
            if c == quote {
                self.at += 1;
                return;
            }
            if c == '\\' && quote == '"' {
                self.at += 1;
            }
            if quote == '"' && c == '$' && self.peek(1) == Some('(') {
                self.read_substitution(word);
                continue;
            }
            word.extend(self.peek(0));
            self.at += 1;
        }
    }

    fn read_substitution(&mut self, word: &mut String) {
        let mut depth = 0_usize;
        while let Some(c) = self.peek(0) {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            word.push(c);
            self.at += 1;
            if c == ')' && depth == 0 {
                return;
            }
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !name.starts_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        split_commands(line).iter().map(|simple| simple.words.join(" ")).collect()
    }

    #[test]
    fn line_is_split_at_its_operators() {
        for (line, expected) in [
            ("cargo test", vec!["cargo test"]),
            ("cd x && cargo build 2>&1 | tail -5", vec!["cd x", "cargo build", "tail -5"]),
            ("RUST_LOG=debug cargo run; echo done", vec!["cargo run", "echo done"]),
            ("git commit -m \"a && b; c\"", vec!["git commit -m a && b; c"]),
            ("grep 'a|b' f.txt || true", vec!["grep a|b f.txt", "true"]),
            ("(cd a && make)", vec!["cd a", "make"]),
            ("pytest > out.txt 2>&1", vec!["pytest"]),
            ("echo \"$(date; id)\"", vec!["echo $(date; id)"]),
            ("cat > a.py <<'EOF' import x; y && z EOF", vec!["cat"]),
            ("make -j4 # all of it; really", vec!["make -j4"]),
            ("npm test &", vec!["npm test"]),
            ("npm test <<", vec!["npm test"]),
            ("", vec![]),
            ("\"unfinished && x", vec!["unfinished && x"]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn operators_and_outputs_are_recognized() {
        let all = split_commands("a && b || c; d | e > f");
        let joints: Vec<ShellOperator> = all.iter().map(|simple| simple.operator).collect();
        assert_eq!(
            joints,
            [ShellOperator::First, ShellOperator::And, ShellOperator::Or, ShellOperator::Then, ShellOperator::Pipe]
        );
        assert_eq!((all[4].output.as_deref(), all[3].output.as_deref()), (Some("f"), None));
        assert_eq!(split_commands("make 2>/dev/null")[0].output, None);
        assert_eq!(split_commands("make &> log")[0].output.as_deref(), Some("log"));
    }

    proptest::proptest! {
        #[test]
        fn any_line_can_be_split(line in ".{0,80}") {
            split_commands(&line);
        }
    }
}
