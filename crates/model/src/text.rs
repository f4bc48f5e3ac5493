//! Shortens and measures text. Never cuts inside a character.

use std::borrow::Cow;

/// Cuts the text to at most `max` characters; a cut ends with `…`, which counts.
pub fn clip(text: &str, max: usize) -> Cow<'_, str> {
    // The byte length is an upper bound for the characters, so most texts need no counting.
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

/// Truncates to at most `max_chars` characters, between words, marking the cut with `…`.
pub fn truncate_at_word(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let end = text.char_indices().nth(max_chars.saturating_sub(1)).map_or(text.len(), |(at, _)| at);
    let whole = text[..end].rfind(' ').filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}…", text[..whole].trim_end_matches(|c: char| c.is_whitespace() || ",;:-–(".contains(c)))
}

/// Quotes a word for sh, bash, zsh and fish, if it needs quotes. The result must not be changed any more, only printed.
pub fn quote_for_shell(word: &str) -> String {
    if is_plain_word(word, "-_./") {
        return word.to_owned();
    }
    let mut quoted = String::from("'");
    for c in word.chars() {
        match c {
            '\'' => quoted.push_str(r"'\''"),
            // Fish knows `\'` and `\\` between quotes.
            '\\' => quoted.push_str(r"'\\'"),
            c => quoted.push(c),
        }
    }
    quoted + "'"
}

/// Quotes a word for PowerShell, if it needs quotes. Typographic quotes also end a text there.
pub fn quote_for_powershell(word: &str) -> String {
    if is_plain_word(word, "-_") {
        return word.to_owned();
    }
    let mut quoted = String::from("'");
    for c in word.chars() {
        if matches!(c, '\'' | '\u{2018}'..='\u{201b}') {
            quoted.push(c);
        }
        quoted.push(c);
    }
    quoted + "'"
}

fn is_plain_word(word: &str, marks: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || marks.contains(c))
}

/// A number with its noun: `counted(2, "entry", "entries")` is `2 entries`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The first non-blank line, trimmed.
pub fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("")
}

/// The text on one line: every run of white space and control characters becomes one space.
pub fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Whether a terminal or an editor would interpret the character instead of showing it.
pub fn is_unsafe_to_display(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Bidirectional marks, embeddings, overrides, isolates; line separators; invisible tags and operators.
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

/// The path relative to the project; unchanged if it is outside the project.
pub fn relative_path<'p>(path: &'p str, project: Option<&str>) -> &'p str {
    let inside = project.and_then(|project| path.strip_prefix(project));
    inside.and_then(|path| path.strip_prefix('/')).filter(|path| !path.is_empty()).unwrap_or(path)
}

/// Estimated tokens of a text, rounded up: four Latin characters per token, two of other alphabets, and one token for
/// each character of scripts such as Chinese, Japanese and Korean.
pub fn estimate_text_tokens(text: &str) -> u64 {
    let quarters = |c: char| match u32::from(c) {
        ..0x0370 => 1,
        0x0370..0x2E80 => 2,
        _ => 4,
    };
    text.chars().map(quarters).sum::<u64>().div_ceil(4)
}

/// Estimated tokens of a number of bytes: four bytes per token, rounded up.
pub const fn estimate_byte_tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_special_characters_are_quoted_for_a_shell() {
        assert_eq!(quote_for_shell("/home/me/app"), "/home/me/app");
        assert_eq!(quote_for_shell("it's $(touch x)"), "'it'\\''s $(touch x)'");
        assert_eq!(quote_for_shell(r"a\'; b"), r"'a'\\''\''; b'");
        assert_eq!(quote_for_shell(""), "''");
        assert_eq!(quote_for_shell(r"a\'; touch x #"), r"'a'\\''\''; touch x #'");
    }

    #[test]
    fn no_quotation_mark_ends_a_word_for_powershell() {
        assert_eq!(quote_for_powershell("--session"), "--session");
        assert_eq!(quote_for_powershell("-v.1"), "'-v.1'");
        assert_eq!(quote_for_powershell("it's \u{2019}; $(b)"), "'it''s \u{2019}\u{2019}; $(b)'");
    }

    #[test]
    fn a_token_is_at_most_one_character_of_scripts_without_letters() {
        // D31, S004-15
        for (text, tokens) in
            [("", 0), ("word", 1), ("words", 2), ("naïve café", 3), ("слово", 3), ("日本語", 3), ("한국어 text", 5)]
        {
            assert_eq!(estimate_text_tokens(text), tokens, "{text}");
        }
    }

    #[test]
    fn clip_never_cuts_a_character() {
        assert_eq!(clip("héllo", 5), "héllo");
        assert_eq!(clip("héllo wörld", 5), "héll…");
        assert_eq!(clip("日本語", 2), "日…");
        assert_eq!(clip("abc", 0), "");
    }

    #[test]
    fn texts_are_cut_between_words() {
        assert_eq!(truncate_at_word("one two three", 100), "one two three");
        assert_eq!(truncate_at_word("one two three four", 12), "one two…");
        assert_eq!(truncate_at_word("ööööööööööööööö", 5), "öööö…");
    }

    #[test]
    fn path_is_shortened_only_inside_its_project() {
        assert_eq!(relative_path("/app/src/a.rs", Some("/app")), "src/a.rs");
        assert_eq!(relative_path("/application/a.rs", Some("/app")), "/application/a.rs");
        assert_eq!((relative_path("/app", Some("/app")), relative_path("/app/", Some("/app"))), ("/app", "/app/"));
        assert_eq!(relative_path("a.rs", None), "a.rs");
    }

    #[test]
    fn one_line_removes_control_characters() {
        assert_eq!(one_line("a\n\tb\u{1b} c"), "a b c");
        assert_eq!(first_line("\n  \n x \ny"), "x");
    }
}
