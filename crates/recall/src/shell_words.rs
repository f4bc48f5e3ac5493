//! Splits a shell command into the commands that it runs, without comments, here documents and redirections.
//!
//! Text that cannot be parsed gives fewer commands: text in quotes must never look like a command.

use std::iter::Peekable;
use std::str::Chars;

/// One command of a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellPart {
    /// Its words without quotes; `$(…)` is kept as it is.
    pub(crate) words: Vec<String>,
    /// Whether the line may succeed although this command failed or did not run: `a || b`, `a &`.
    pub(crate) is_uncertain: bool,
}

/// The commands of a line, in order.
pub(crate) fn shell_parts(line: &str) -> Vec<ShellPart> {
    let mut splitter = PartSplitter { rest: line.chars().peekable(), ..PartSplitter::default() };
    splitter.run();
    splitter.parts
}

struct PartSplitter<'a> {
    rest: Peekable<Chars<'a>>,
    parts: Vec<ShellPart>,
    current: ShellPart,
    /// The word that is being read; `None` between words.
    word: Option<String>,
    /// Whether the next word is the target of a redirection.
    is_target: bool,
    /// Marks of the here documents that begin after this line.
    marks: Vec<String>,
    /// Whether the next word is the mark of a here document.
    is_mark: bool,
}

impl Default for PartSplitter<'_> {
    fn default() -> Self {
        Self {
            rest: "".chars().peekable(),
            parts: Vec::new(),
            current: ShellPart::default(),
            word: None,
            is_target: false,
            marks: Vec::new(),
            is_mark: false,
        }
    }
}

impl PartSplitter<'_> {
    fn run(&mut self) {
        while let Some(letter) = self.rest.next() {
            match letter {
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(escaped) => self.push(escaped),
                },
                '\'' | '"' | '`' => self.read_quoted(letter),
                '$' if self.rest.peek() == Some(&'(') => self.read_substitution(),
                '#' if self.word.is_none() => while self.rest.next_if(|letter| *letter != '\n').is_some() {},
                '\n' => {
                    self.end_part(false);
                    self.skip_here_documents();
                }
                ';' | '(' | ')' => self.end_part(false),
                '&' if self.rest.next_if_eq(&'&').is_some() => self.end_part(false),
                '&' if self.rest.peek() == Some(&'>') => {}
                '&' => self.end_part(true),
                '|' if self.rest.next_if_eq(&'|').is_some() => {
                    self.end_part(true);
                    self.current.is_uncertain = true;
                }
                '|' => {
                    self.rest.next_if_eq(&'&');
                    self.end_part(false);
                }
                '<' | '>' => self.redirect(letter),
                letter if letter.is_whitespace() => self.end_word(),
                letter => self.push(letter),
            }
        }
        self.end_part(false);
    }

    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().push(letter);
    }

    fn read_quoted(&mut self, quote: char) {
        self.word.get_or_insert_default();
        while let Some(letter) = self.rest.next() {
            match letter {
                letter if letter == quote => return,
                '\\' if quote == '"' => {
                    if let Some(escaped) = self.rest.next() {
                        self.push(escaped);
                    }
                }
                '$' if quote == '"' && self.rest.peek() == Some(&'(') => self.read_substitution(),
                letter => self.push(letter),
            }
        }
    }

    /// `$(…)` as it is, up to its closing bracket.
    fn read_substitution(&mut self) {
        self.push('$');
        let mut depth = 0_usize;
        while let Some(letter) = self.rest.next() {
            self.push(letter);
            match letter {
                '(' => depth += 1,
                ')' => depth -= usize::from(depth > 0),
                _ => continue,
            }
            if depth == 0 {
                return;
            }
        }
    }

    fn redirect(&mut self, first: char) {
        // The number of `2>` is not an argument.
        if self.word.as_deref().is_some_and(|word| word.bytes().all(|byte| byte.is_ascii_digit())) {
            self.word = None;
        }
        self.end_word();
        let is_double = self.rest.next_if_eq(&first).is_some();
        let is_text = is_double && first == '<' && self.rest.next_if_eq(&'<').is_some();
        self.is_mark = is_double && first == '<' && !is_text;
        self.is_target = !self.is_mark;
        while self.rest.next_if(|letter| matches!(letter, '-' | '&' | '|')).is_some() {}
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if self.is_mark {
            // `<<EOF#1f` is a here document whose content was not stored.
            if !word.contains('#') {
                self.marks.push(word);
            }
        } else if !self.is_target {
            self.current.words.push(word);
        }
        (self.is_mark, self.is_target) = (false, false);
    }

    fn end_part(&mut self, is_uncertain: bool) {
        self.end_word();
        (self.is_mark, self.is_target) = (false, false);
        let mut part = std::mem::take(&mut self.current);
        part.is_uncertain |= is_uncertain;
        if !part.words.is_empty() {
            self.parts.push(part);
        }
    }

    fn skip_here_documents(&mut self) {
        for mark in std::mem::take(&mut self.marks) {
            while self.rest.peek().is_some() {
                let line: String = std::iter::from_fn(|| self.rest.next_if(|letter| *letter != '\n')).collect();
                self.rest.next();
                if line.trim() == mark {
                    break;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands, separated by `;`, their words by `,`; a `?` marks uncertain ones.
    fn show(line: &str) -> String {
        let show = |part: &ShellPart| format!("{}{}", part.words.join(","), if part.is_uncertain { "?" } else { "" });
        shell_parts(line).iter().map(show).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn lines_are_split_outside_of_quotes_and_comments() {
        for (line, expect) in [
            ("a b && c | d; e\nf", "a,b; c; d; e; f"),
            ("a 'b; c' \"d && e\" f\\ g", "a,b; c,d && e,f g"),
            ("a 'b\nc'", "a,b\nc"),
            ("ls # then; npm publish", "ls"),
            ("ls a#b", "ls,a#b"),
            ("a || b", "a?; b?"),
            ("a & b", "a?; b"),
            ("a 2>&1 >x 2>/dev/null &>y b", "a,b"),
            ("(cd x; y)", "cd,x; y"),
            ("a <<'EOF' && b\nnpm publish\nEOF\nc", "a; b; c"),
            ("a <<EOF#12ab 'npm\npublish'\nb", "a,npm\npublish; b"),
            ("a <<< 'b' c", "a,c"),
            ("a \"$(b \"c; d\")\" $(e; f)", "a,$(b \"c; d\"),$(e; f)"),
            ("a \\\n b", "a,b"),
            ("a 'b; npm publish", "a,b; npm publish"),
            ("", ""),
            ("a '' b", "a,,b"),
        ] {
            assert_eq!(show(line), expect, "{line:?}");
        }
    }
}
