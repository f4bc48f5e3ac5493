//! Wrapped text with highlighted words. Sanitized in parts, so that the highlights stay at the right words.

use std::ops::Range;

use super::sanitize::sanitize;
use super::wrap::wrap;
use super::{TextPage, Tone};

/// Renders a text wrapped to `width` after `indent`, with the byte ranges in `marks` highlighted.
pub(crate) fn highlighted_text(
    page: &mut TextPage,
    text: &str,
    marks: &[Range<usize>],
    indent: &str,
    width: Option<usize>,
) {
    let (text, mut marks) = sanitize_with_flags(text, marks);
    for line in wrap(&text, width) {
        page.add(Tone::Plain, indent);
        for (is_marked, piece) in split_at_highlights(&line, &mut marks) {
            page.add(if is_marked { Tone::Match } else { Tone::Plain }, &piece);
        }
        page.end_line();
    }
}

/// The sanitized text, and for each non-blank character whether it is highlighted. Wrapping changes only blanks, so the
/// flags stay valid.
fn sanitize_with_flags(text: &str, marks: &[Range<usize>]) -> (String, std::vec::IntoIter<bool>) {
    let (mut out, mut flags) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    let mut add = |piece: &str, is_marked: bool| {
        let piece = sanitize(piece);
        flags.extend(piece.chars().filter(|c| !c.is_whitespace()).map(|_| is_marked));
        out.push_str(&piece);
    };
    let mut from = 0;
    for mark in marks {
        // A range outside the text is ignored; the text is always shown.
        let (Some(before), Some(word)) = (text.get(from..mark.start), text.get(mark.clone())) else { continue };
        add(before, false);
        add(word, true);
        from = mark.end;
    }
    add(&text[from..], false);
    (out, flags.into_iter())
}

/// Splits a line where highlights begin and end.
fn split_at_highlights(line: &str, flags: &mut impl Iterator<Item = bool>) -> Vec<(bool, String)> {
    let mut pieces: Vec<(bool, String)> = Vec::new();
    for c in line.chars() {
        let is_marked = !c.is_whitespace() && flags.next().unwrap_or(false);
        match pieces.last_mut() {
            Some((last, piece)) if *last == is_marked => piece.push(c),
            _ => pieces.push((is_marked, c.to_string())),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `<` and `>` stand for the color codes around a highlight.
    fn check(text: &str, mark: Range<usize>, width: usize, expect: &str) {
        let mut page = TextPage::new(true, None);
        highlighted_text(&mut page, text, &[mark], " ", Some(width));
        let output = page.as_str().replace("\u{1b}[1m\u{1b}[33m", "<").replace("\u{1b}[0m", ">");
        assert_eq!(output, expect);
    }

    #[test]
    fn highlights_survive_wrapping() {
        check("one two three", 4..7, 20, " one <two> three\n");
        check("one   two three", 6..9, 8, " one <two>\n three\n");
        check("abcdefgh", 2..6, 4, " ab<cd>\n <ef>gh\n");
        check("日本語の名前", 3..9, 20, " 日<本語>の名前\n");
    }

    #[test]
    fn highlights_stay_in_place_when_text_is_sanitized() {
        check("a\u{1b}[31mred\u{7}dy", 5..9, 20, " a␛[31<mred>␇dy\n");
        check("\u{202e}x", 3..4, 20, " \\u{202e}<x>\n");
        check("short", 3..99, 20, " short\n");
    }
}
