//! A command line taken apart: its simple commands, what joins them, and whether a failure of one would be seen.

/// One simple command of a line: words without redirections and without the variables set before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    pub(super) words: Vec<String>,
    /// What stands before it.
    pub(super) joint: Joint,
    /// The file its output goes to.
    pub(super) output: Option<String>,
    /// The variables set for it alone.
    pub(super) variables: Vec<String>,
    /// Whether what it says of errors goes elsewhere.
    pub(super) hides_errors: bool,
    /// Whether nobody waits for it.
    pub(super) is_left_running: bool,
}

/// What joins a command to the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Joint {
    /// Nothing: it is the first.
    #[default]
    First,
    /// `&&`: it ran only if the one before succeeded.
    And,
    /// `||`: it ran only if the one before failed.
    Or,
    /// `;`, `&` or a line break.
    Then,
    /// `|`: it reads what the one before wrote.
    Pipe,
}

/// The simple commands of a line, in order. Whatever cannot be understood gives fewer words, never an error.
pub(super) fn split(line: &str) -> Vec<Simple> {
    let mut splitter = Splitter { rest: line.chars().collect(), at: 0, done: Vec::new(), now: Simple::default() };
    splitter.run();
    splitter.done
}

struct Splitter {
    rest: Vec<char>,
    at: usize,
    done: Vec<Simple>,
    now: Simple,
}

impl Splitter {
    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' => self.at += 1,
                '&' if self.peek(1) == Some('&') => self.end(Joint::And, 2),
                '&' if self.peek(1) == Some('>') => self.redirect(1),
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '&' => {
                    self.now.is_left_running = true;
                    self.end(Joint::Then, 1);
                }
                '\n' | ';' => self.end(Joint::Then, 1),
                '|' if self.peek(1) == Some('|') => self.end(Joint::Or, 2),
                '|' if self.peek(1) == Some('&') => self.end(Joint::Pipe, 2),
                '|' => self.end(Joint::Pipe, 1),
                '>' | '<' => self.redirect(0),
                '#' => self.skip_comment(),
                '(' | ')' | '{' | '}' if self.is_alone() => self.at += 1,
                _ => self.word(),
            }
        }
        self.end(Joint::Then, 0);
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.rest.get(self.at + ahead).copied()
    }

    /// Whether a bracket stands by itself, as around a group of commands.
    fn is_alone(&self) -> bool {
        self.peek(0).is_some_and(|c| c == '(' || c == ')') || self.peek(1).is_none_or(|c| c == ' ' || c == ';')
    }

    fn end(&mut self, next: Joint, length: usize) {
        self.at += length;
        let finished = std::mem::replace(&mut self.now, Simple { joint: next, ..Simple::default() });
        if finished.words.is_empty() {
            // Nothing stood between two joints; what came before still joins what follows.
            if self.done.is_empty() {
                self.now.joint = Joint::First;
            }
            return;
        }
        self.done.push(finished);
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    /// `> file`, `2>&1`, `<<'END'`: where it goes is not part of the command.
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
            // What it holds was left out, and is known by its hash.
            self.now.words.push(format!("<<{target}"));
        } else if is_heredoc {
            self.skip_heredoc(&target);
        }
        if is_output && !target.is_empty() {
            self.now.output = Some(target);
        }
    }

    /// What a here document holds is input, not commands.
    fn skip_heredoc(&mut self, mark: &str) {
        let text: String = self.rest[self.at..].iter().collect();
        if mark.is_empty() {
            return;
        }
        let end = text.rfind(mark).map_or(text.len(), |at| at + mark.len());
        self.at += text[..end].chars().count();
    }

    fn word(&mut self) {
        let digits = self.rest[self.at..].iter().take_while(|c| c.is_ascii_digit()).count();
        if digits > 0 && self.peek(digits) == Some('>') {
            self.at += digits;
            // Errors that go elsewhere leave the output itself to be seen.
            let output = self.now.output.take();
            self.redirect(0);
            // `2>&1` goes nowhere else.
            self.now.hides_errors |= self.now.output.is_some();
            self.now.output = output;
            return;
        }
        let word = self.read_word();
        if self.now.words.is_empty() && is_assignment(&word) {
            self.now.variables.push(word);
        } else if !word.is_empty() {
            self.now.words.push(word);
        }
    }

    fn read_word(&mut self) -> String {
        let mut word = String::new();
        let began = self.at;
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' | '>' | '<' => break,
                ')' if self.at > began => break,
                '\'' | '"' => self.quoted(c, &mut word),
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '\\' => {
                    word.extend(self.peek(1));
                    self.at += 2;
                }
                '$' if self.peek(1) == Some('(') => self.substitution(&mut word),
                '`' => self.quoted('`', &mut word),
                _ => {
                    word.push(c);
                    self.at += 1;
                }
            }
        }
        if self.at == began {
            self.at += 1;
        }
        word
    }

    fn quoted(&mut self, quote: char, word: &mut String) {
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
                self.substitution(word);
                continue;
            }
            word.extend(self.peek(0));
            self.at += 1;
        }
    }

    fn substitution(&mut self, word: &mut String) {
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
        split(line).iter().map(|simple| simple.words.join(" ")).collect()
    }

    #[test]
    fn a_line_is_taken_apart_at_its_joints() {
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
            ("", vec![]),
            ("\"unfinished && x", vec!["unfinished && x"]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn joints_and_outputs_are_known() {
        let all = split("a && b || c; d | e > f");
        let joints: Vec<Joint> = all.iter().map(|simple| simple.joint).collect();
        assert_eq!(joints, [Joint::First, Joint::And, Joint::Or, Joint::Then, Joint::Pipe]);
        assert_eq!((all[4].output.as_deref(), all[3].output.as_deref()), (Some("f"), None));
        assert_eq!(split("make 2>/dev/null")[0].output, None);
        assert_eq!(split("make &> log")[0].output.as_deref(), Some("log"));
    }

    proptest::proptest! {
        #[test]
        fn any_line_can_be_split(line in ".{0,80}") {
            split(&line);
        }
    }
}
