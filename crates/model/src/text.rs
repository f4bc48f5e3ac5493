//! Shortening and measuring text without ever cutting a character.

use std::borrow::Cow;

/// At most `max` characters of the text; a cut is shown by `…`, which is counted.
pub fn clip(text: &str, max: usize) -> Cow<'_, str> {
    // Bytes bound characters from above, so most texts need no counting.
    if text.len() <= max {
        return Cow::Borrowed(text);
    }
    match text.char_indices().nth(max) {
        None => Cow::Borrowed(text),
        Some(_) if max == 0 => Cow::Borrowed(""),
        Some(_) => {
            let end = text.char_indices().nth(max - 1).map_or(text.len(), |(at, _)| at);
            Cow::Owned(format!("{}…", text[..end].trim_end()))
        }
    }
}

/// The first line that has something on it, without surrounding blanks.
pub fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("")
}

/// The text on one line: every run of white space and control characters becomes one blank.
pub fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether a terminal or an editor would do something with it instead of showing it.
pub fn is_dangerous(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of direction; line separators; invisible tags; invisible operators.
        '\u{061c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// A path without the directory of its project; as it is where it lies elsewhere.
pub fn relative<'p>(path: &'p str, project: Option<&str>) -> &'p str {
    let inside = project.and_then(|project| path.strip_prefix(project));
    inside.and_then(|path| path.strip_prefix('/')).filter(|path| !path.is_empty()).unwrap_or(path)
}

/// Tokens of a text: four characters make one, rounded up.
pub fn estimate_text(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

/// Tokens of a text of that many bytes: four bytes make one, rounded up.
pub const fn estimate_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clipping_never_cuts_a_character() {
        assert_eq!(clip("héllo", 5), "héllo");
        assert_eq!(clip("héllo wörld", 5), "héll…");
        assert_eq!(clip("日本語", 2), "日…");
        assert_eq!(clip("abc", 0), "");
    }

    #[test]
    fn a_path_is_shortened_only_inside_its_project() {
        assert_eq!(relative("/app/src/a.rs", Some("/app")), "src/a.rs");
        assert_eq!(relative("/application/a.rs", Some("/app")), "/application/a.rs");
        assert_eq!((relative("/app", Some("/app")), relative("/app/", Some("/app"))), ("/app", "/app/"));
        assert_eq!(relative("a.rs", None), "a.rs");
    }

    #[test]
    fn one_line_swallows_control_characters() {
        assert_eq!(one_line("a\n\tb\u{1b} c"), "a b c");
        assert_eq!(first_line("\n  \n x \ny"), "x");
    }
}
