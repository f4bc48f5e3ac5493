//! Text with marked words, broken into lines. Made harmless piece by piece, so that marks stay where they belong.

use std::ops::Range;

use super::neutral::neutral;
use super::wrap::wrap;
use super::{Page, Tone};

/// Puts a text on the page after `indent`, none of its lines wider than `width`, with the words at `marks` standing out.
pub(crate) fn marked(page: &mut Page, text: &str, marks: &[Range<usize>], indent: &str, width: Option<usize>) {
    let (text, mut marks) = harmless(text, marks);
    for line in wrap(&text, width) {
        page.add(Tone::Plain, indent);
        for (is_marked, piece) in pieces(&line, &mut marks) {
            page.add(if is_marked { Tone::Match } else { Tone::Plain }, &piece);
        }
        page.end();
    }
}

/// The text made harmless, and for each of its characters that is not blank whether it is marked. Breaking lines
/// changes blanks and nothing else, so that this survives it.
fn harmless(text: &str, marks: &[Range<usize>]) -> (String, std::vec::IntoIter<bool>) {
    let (mut out, mut flags) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    let mut add = |piece: &str, is_marked: bool| {
        let piece = neutral(piece);
        flags.extend(piece.chars().filter(|c| !c.is_whitespace()).map(|_| is_marked));
        out.push_str(&piece);
    };
    let mut from = 0;
    for mark in marks {
        // A mark that is not inside the text is left out; the text never is.
        let (Some(before), Some(word)) = (text.get(from..mark.start), text.get(mark.clone())) else { continue };
        add(before, false);
        add(word, true);
        from = mark.end;
    }
    add(&text[from..], false);
    (out, flags.into_iter())
}

/// A line cut where marks begin and end.
fn pieces(line: &str, flags: &mut impl Iterator<Item = bool>) -> Vec<(bool, String)> {
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

    /// Marks are shown as colours.
    fn check(text: &str, mark: Range<usize>, width: usize, expect: &str) {
        let mut page = Page::new(true, None);
        marked(&mut page, text, &[mark], " ", Some(width));
        let told = page.as_str().replace("\u{1b}[1m\u{1b}[33m", "<").replace("\u{1b}[0m", ">");
        assert_eq!(told, expect);
    }

    #[test]
    fn marks_survive_the_breaking_of_lines() {
        check("one two three", 4..7, 20, " one <two> three\n");
        check("one   two three", 6..9, 8, " one <two>\n three\n");
        check("abcdefgh", 2..6, 4, " ab<cd>\n <ef>gh\n");
        check("日本語の名前", 3..9, 20, " 日<本語>の名前\n");
    }

    #[test]
    fn marks_stay_in_place_where_text_is_made_harmless() {
        check("a\u{1b}[31mred\u{7}dy", 5..9, 20, " a␛[31<mred>␇dy\n");
        check("\u{202e}x", 3..4, 20, " \\u{202e}<x>\n");
        check("short", 3..99, 20, " short\n");
    }
}
