//! Marks words in a line: those of the query, and what the user looks for in the preview.

use ratatui::style::Style;
use unicode_width::UnicodeWidthChar;

use super::theme::Theme;
use crate::render::Tone;

/// The parts of a line with matching words and found text in their own style. `words` and `found` are in lower case.
pub(super) fn highlighted(
    theme: Theme,
    line: &[(Tone, String)],
    words: &[String],
    found: Option<&str>,
) -> Vec<(Style, String)> {
    let letters: Vec<(char, Style)> =
        line.iter().flat_map(|(tone, part)| part.chars().map(|c| (c, theme.tone(*tone)))).collect();
    let lower: Vec<char> = letters.iter().map(|(c, _)| to_lower(*c)).collect();
    let mut styles: Vec<Style> = letters.iter().map(|(_, style)| *style).collect();
    for word in words {
        mark(&lower, word, true, theme.tone(Tone::Match), &mut styles);
    }
    if let Some(found) = found {
        mark(&lower, found, false, theme.inverse(), &mut styles);
    }
    let mut parts: Vec<(Style, String)> = Vec::new();
    for ((c, _), style) in letters.into_iter().zip(styles) {
        match parts.last_mut() {
            Some((last, part)) if *last == style => part.push(c),
            _ => parts.push((style, c.to_string())),
        }
    }
    parts
}

/// Gives every occurrence of a text a style.
fn mark(line: &[char], text: &str, is_word: bool, style: Style, styles: &mut [Style]) {
    let text: Vec<char> = text.chars().map(to_lower).collect();
    if text.is_empty() {
        return;
    }
    let mut at = 0;
    while at + text.len() <= line.len() {
        let end = at + text.len();
        let is_match = line[at..end] == text[..] && (!is_word || is_whole_word(line, at, end));
        if is_match {
            styles[at..end].fill(style);
        }
        at = if is_match { end } else { at + 1 };
    }
}

/// Whether no letter continues the word. Scripts with wide characters do not separate words.
fn is_whole_word(line: &[char], start: usize, end: usize) -> bool {
    let continues = |a: char, b: char| [a, b].iter().all(|c| c.is_alphanumeric() && c.width() == Some(1));
    let before = start.checked_sub(1).is_some_and(|at| continues(line[at], line[start]));
    let after = line.get(end).is_some_and(|next| continues(line[end - 1], *next));
    !before && !after
}

/// The first character of the lower case, so that positions stay the same.
fn to_lower(c: char) -> char {
    c.to_lowercase().next().unwrap_or(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, words: &[&str], expect: &[&str]) {
        let theme = Theme::new(true);
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let parts = highlighted(theme, &[(Tone::Plain, line.to_owned())], &words, None);
        let marked = parts.iter().filter(|(style, _)| *style == theme.tone(Tone::Match));
        assert_eq!(marked.map(|(_, part)| part.as_str()).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn whole_words_are_marked_in_any_case() {
        check("Parser of parsers: PARSER.rs", &["parser"], &["Parser", "PARSER"]);
        check("日本語の名前", &["本語"], &["本語"]);
        check("İstanbul x", &["x"], &["x"]);
        check("nothing", &["", "other"], &[]);
    }

    #[test]
    fn found_text_is_marked_inside_of_words_too() {
        let theme = Theme::new(true);
        let line = [(Tone::User, "a par".to_owned()), (Tone::Plain, "ser".to_owned())];
        let parts = highlighted(theme, &line, &[], Some("arse"));
        let texts: Vec<&str> = parts.iter().map(|(_, part)| part.as_str()).collect();
        assert_eq!(texts, ["a p", "arse", "r"]);
        assert_eq!(parts[1].0, theme.inverse());
    }
}
