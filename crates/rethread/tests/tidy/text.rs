//! Splits Rust and TOML just well enough for the checks. Not a parser: nested comments are not supported.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Code,
    Comment,
    Text,
}

/// `text` with everything but the `wanted` parts replaced by spaces; line numbers do not change.
pub(crate) fn keep(text: &str, wanted: &[Part]) -> String {
    let chars: Vec<char> = text.chars().collect();
    let (mut kept, mut at) = (String::with_capacity(text.len()), 0);
    while at < chars.len() {
        let (part, length) = piece(&chars[at..], at.checked_sub(1).map(|before| chars[before]));
        let blank = |c: &char| if *c == '\n' || wanted.contains(&part) { *c } else { ' ' };
        kept.extend(chars[at..at + length].iter().map(blank));
        at += length;
    }
    kept
}

/// The kind and length in characters of what starts here.
fn piece(rest: &[char], before: Option<char>) -> (Part, usize) {
    let until = |end: &str, from: usize| {
        let end: Vec<char> = end.chars().collect();
        let at = (from..rest.len()).find(|at| rest[*at..].starts_with(&end));
        at.map_or(rest.len(), |at| at + end.len())
    };
    let hashes = rest.iter().skip(1).take_while(|c| **c == '#').count();
    let in_word = before.is_some_and(|c| c.is_alphanumeric() && !matches!(c, 'b' | 'c') || c == '_');
    match rest {
        ['/', '/', ..] => (Part::Comment, until("\n", 0)),
        ['/', '*', ..] => (Part::Comment, until("*/", 2)),
        ['r', ..] if !in_word && rest.get(hashes + 1) == Some(&'"') => {
            (Part::Text, until(&format!("\"{}", "#".repeat(hashes)), hashes + 2))
        }
        ['"', ..] => (Part::Text, quoted(rest, '"')),
        ['\'', '\\', ..] | ['\'', _, '\'', ..] => (Part::Text, quoted(rest, '\'')),
        _ => (Part::Code, 1),
    }
}

/// The length of a literal with escapes, both quotes included.
fn quoted(rest: &[char], quote: char) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == '\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// The functions with a body in `code`: first line from 1, lines, name.
pub(crate) fn functions(code: &str) -> Vec<(usize, usize, String)> {
    let named = |at: usize| {
        let name: String = code[at + 3..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        (!name.is_empty()).then_some((at, name))
    };
    let lines = |text: &str| text.matches('\n').count();
    let found = starts_of(code, "fn ").filter_map(named).filter_map(|(at, name)| {
        let body = body_end(&code[at..])?;
        Some((1 + lines(&code[..at]), 1 + lines(&code[at..at + body]), name))
    });
    found.collect()
}

/// The end of the body of the function that starts here; none if it has no body.
fn body_end(code: &str) -> Option<usize> {
    let (mut braces, mut brackets) = (0_usize, 0_usize);
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            '{' => braces += 1,
            '}' if braces <= 1 => return Some(at),
            '}' => braces -= 1,
            ';' if braces == 0 && brackets == 0 => return None,
            _ => {}
        }
    }
    None
}

/// The positions of `needle` in `text` as a whole word.
pub(crate) fn starts_of<'t>(text: &'t str, needle: &'t str) -> impl Iterator<Item = usize> + 't {
    let joins = |c: char| c.is_alphanumeric() || c == '_';
    let (opens, closes) = (needle.starts_with(joins), needle.ends_with(joins));
    let path = needle.starts_with('/');
    text.match_indices(needle).map(|(at, _)| at).filter(move |at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + needle.len()..].chars().next();
        let glued = before.is_some_and(|c| opens && joins(c) || path && (joins(c) || "/.~-".contains(c)));
        !(glued || closes && after.is_some_and(joins))
    })
}

/// The lines of a TOML file without comments: number from 1, section, line.
pub(crate) fn settings(text: &str) -> impl Iterator<Item = (usize, &str, &str)> {
    let mut section = "";
    text.lines().enumerate().filter_map(move |(at, line)| {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = header.trim_matches(['[', ']']);
        }
        (!line.starts_with('#')).then_some((at + 1, section, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_comments_and_strings_are_separated() {
        let text = "a(\"x // \\\" y\", 'b', '\"', r#\"z \" z\"#); // c\nf::<'d>(); /* e\n */ g";
        let code = keep(text, &[Part::Code]);
        let words: Vec<_> = code.split_whitespace().collect();
        assert_eq!(words, ["a(", ",", ",", ",", ");", "f::<'d>();", "g"]);
        assert_eq!(code.lines().count(), 3);
        assert_eq!(keep(text, &[Part::Comment]).split_whitespace().collect::<String>(), "//c/*e*/");
    }

    #[test]
    fn functions_are_measured_from_fn_to_brace() {
        let code = "trait T {\n fn a(&self);\n fn b(x: [u8; 2]) -> u8 {\n  { 1 }\n }\n}\ntype F = fn (u8);\n";
        assert_eq!(functions(code), [(3, 3, "b".to_string())]);
    }

    #[test]
    fn settings_have_their_section() {
        let all: Vec<_> = settings("a = 1\n[b.c]\n# d\ne = 2\n").collect();
        assert_eq!(all, [(1, "", "a = 1"), (2, "b.c", "[b.c]"), (4, "b.c", "e = 2")]);
    }
}
