//! The names of functions, types and classes in the code that a call writes: what a search for a symbol looks for.

/// Maximum number of names kept of one call.
const MAX_SYMBOLS: usize = 16;
/// Names outside this range are too common to search for, or generated.
const NAME_BYTES: std::ops::RangeInclusive<usize> = 3..=60;

/// Words that may follow a declared name.
const FOLLOWING_WORDS: [&str; 7] = ["extends", "for", "implements", "interface", "is", "struct", "where"];

/// The declared names in the arguments of a call, in order, each once. The arguments are JSON or plain text; a backslash
/// with its letter is an escaped line break or quote, so it separates words.
pub(super) fn declared_names(arguments: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let mut words = CodeWords { text: arguments, at: 0 };
    while let Some(word) = words.next() {
        if !is_declaring(word) || !words.is_space_next() {
            continue;
        }
        words.skip_prefix();
        let Some(mut name) = words.next_on_line() else { continue };
        // `def self.build` and `fun String.slug` declare the last part.
        while let Some(part) = words.next_part() {
            name = part;
        }
        if is_name(name) && words.is_declaration_end() && !names.contains(&name) {
            names.push(name);
            if names.len() == MAX_SYMBOLS {
                break;
            }
        }
    }
    names
}

/// Whether a word is followed by the name it declares.
fn is_declaring(word: &str) -> bool {
    matches!(
        word,
        "class"
            | "def"
            | "enum"
            | "fn"
            | "fun"
            | "func"
            | "function"
            | "impl"
            | "interface"
            | "macro_rules"
            | "module"
            | "namespace"
            | "protocol"
            | "struct"
            | "trait"
            | "type"
    )
}

fn is_name(word: &str) -> bool {
    NAME_BYTES.contains(&word.len()) && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Walks over the words of code.
struct CodeWords<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> CodeWords<'t> {
    /// The next word. Not an iterator, because the text after a word decides what it is.
    fn next(&mut self) -> Option<&'t str> {
        let bytes = self.text.as_bytes();
        while self.at < bytes.len() && !is_word_byte(bytes[self.at]) {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        // A backslash may be followed by a character of several bytes.
        let start = self.text.ceil_char_boundary(self.at.min(bytes.len()));
        let length = bytes[start..].iter().take_while(|byte| is_word_byte(**byte)).count();
        self.at = start + length;
        (length > 0).then(|| &self.text[start..self.at])
    }

    /// The next word, if only spaces, `!` and `*` are before it.
    fn next_on_line(&mut self) -> Option<&'t str> {
        let before = self.rest().bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'!' | b'*')).count();
        let is_word = self.rest().as_bytes().get(before).is_some_and(|byte| is_word_byte(*byte));
        is_word.then(|| self.next())?
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn is_space_next(&self) -> bool {
        self.rest().starts_with([' ', '\t', '!', '*']) || self.rest().starts_with("\\t")
    }

    /// Skips the receiver of a Go method, `func (s *Store) Open(`, and type parameters, `fun <T> open(`.
    fn skip_prefix(&mut self) {
        const MAX_PREFIX_BYTES: usize = 60;
        if self.rest().starts_with("\\t") {
            self.at += 2;
        }
        for (start, end) in [(" (", b')'), (" <", b'>')] {
            if self.rest().starts_with(start) {
                let end = self.rest().bytes().take(MAX_PREFIX_BYTES).position(|byte| byte == end);
                self.at += end.map_or(0, |end| end + 1);
            }
        }
    }

    /// The word after a dot that follows at once.
    fn next_part(&mut self) -> Option<&'t str> {
        let is_part =
            self.rest().starts_with('.') && self.rest().as_bytes().get(1).is_some_and(|byte| is_word_byte(*byte));
        is_part.then(|| self.next())?
    }

    /// Whether what follows a name shows that it was declared. In prose ("the type of", "class which") a word follows.
    fn is_declaration_end(&self) -> bool {
        let rest = self.rest();
        let next = rest.trim_start_matches(' ');
        let word = &next[..next.bytes().take_while(u8::is_ascii_lowercase).count()];
        rest.starts_with(['(', '<', '{', ':', '=', ';', '\\', '\n', '[', '"', '!'])
            || (rest.starts_with(' ')
                && (next.starts_with(['(', '<', '{', '=', ':']) || FOLLOWING_WORDS.contains(&word)))
    }
}

/// Bytes of other scripts belong to words.
fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(arguments: &str, expect: &[&str]) {
        assert_eq!(declared_names(arguments), expect, "{arguments:?}");
    }

    #[test]
    fn declarations_of_many_languages_are_found() {
        check(
            r#"{"new_string":"def parse_header(line):\n    pass\n\nclass HeaderError(Exception):\n"}"#,
            &["parse_header", "HeaderError"],
        );
        check("pub(crate) fn open_store<T>(path: &Path) -> T {\nimpl Drop for StoreLock {", &["open_store", "Drop"]);
        check("export async function loadRules() {}\ninterface RuleSet extends Base {", &["loadRules", "RuleSet"]);
        check("func (s *Store) Compact(ctx context.Context) error {\ntype Options struct {", &["Compact", "Options"]);
        check("type Handler = (x: number) => void;", &["Handler"]);
        check("struct Point3 {\n};\nenum Color { Red };", &["Point3", "Color"]);
        check("def valid?\nmodule Billing\nend", &["Billing"]);
        check("fun <T> mapAll(x: T)\nfun String.toSlug(): String", &["mapAll", "toSlug"]);
        check("def self.build_it(x)\nfunction* gen_all() {\nclass\tTabbed:", &["build_it", "gen_all", "Tabbed"]);
        check(r#"{"content":"class\tTabbed {"}"#, &["Tabbed"]);
        check(r"*** Update File: a.py\n@@ def render_row(self):\n-x\n+y", &["render_row"]);
    }

    #[test]
    fn prose_declares_nothing() {
        check("the type of error and a class which holds it; a function that fails", &[]);
        check("fn main", &[]);
        check("def it(", &[]);
        check(r#"{"type":"text","class":"big"}"#, &[]);
        check("def\\ndefault", &[]);
    }

    #[test]
    fn names_are_bounded_and_listed_once() {
        let many = (0..40).map(|n| format!("def method_{n}():\n def method_0():")).collect::<Vec<_>>().join("\n");
        assert_eq!(declared_names(&many).len(), MAX_SYMBOLS);
        check(&format!("def {}():", "x".repeat(80)), &[]);
        check("class Größe:", &["Größe"]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(def |class |fn |func \\(|\\\\|é|\\n|[ a-z({:\"]){0,60}") {
            for name in declared_names(&text) {
                prop_assert!(text.contains(name));
            }
        }
    }
}
