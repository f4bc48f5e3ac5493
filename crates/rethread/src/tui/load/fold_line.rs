//! Breaks a line that is wider than the preview, and keeps the tones of its parts.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::render::Tone;
use crate::tui::request::TonedLine;

/// Columns before the rest of a line: below the text of a diff, after its line number.
const MAX_INDENT: usize = 12;

/// The line in pieces of at most `width` columns. What is one symbol on the screen stays whole.
pub(super) fn fold_line(line: TonedLine, width: usize) -> Vec<TonedLine> {
    if line.iter().map(|(_, part)| part.width()).sum::<usize>() <= width {
        return vec![line];
    }
    let indent = MAX_INDENT.min(width / 4);
    let mut folded: Vec<TonedLine> = vec![Vec::new()];
    let mut used = 0;
    for (tone, text) in line {
        let mut piece = String::new();
        for symbol in text.graphemes(true) {
            let columns = symbol.width();
            if used + columns > width && used > indent {
                push(&mut folded, tone, std::mem::take(&mut piece));
                folded.push(vec![(Tone::Plain, " ".repeat(indent))]);
                used = indent;
            }
            piece.push_str(symbol);
            used += columns;
        }
        push(&mut folded, tone, piece);
    }
    folded
}

fn push(folded: &mut [TonedLine], tone: Tone, piece: String) {
    if let Some(last) = folded.last_mut().filter(|_| !piece.is_empty()) {
        last.push((tone, piece));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(parts: &[(Tone, &str)], width: usize, expect: &[&str]) {
        let line = parts.iter().map(|(tone, text)| (*tone, (*text).to_owned())).collect();
        let folded = fold_line(line, width);
        let text = |line: &TonedLine| line.iter().map(|(_, part)| part.as_str()).collect::<String>();
        assert_eq!(folded.iter().map(text).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn long_lines_are_broken_and_indented() {
        check(&[(Tone::Plain, "short")], 8, &["short"]);
        check(&[], 8, &[""]);
        check(&[(Tone::Dim, "12 "), (Tone::Added, "+ abcdefgh")], 8, &["12 + abc", "  defgh"]);
        check(&[(Tone::Plain, "日本語日本")], 8, &["日本語日", "  本"]);
    }

    #[test]
    fn a_column_is_enough() {
        check(&[(Tone::Plain, "abc")], 1, &["a", "b", "c"]);
    }

    #[test]
    fn symbols_of_several_characters_stay_whole() {
        check(&[(Tone::Plain, "👩‍🚀🇩🇪e\u{301}")], 5, &["👩‍🚀🇩🇪e\u{301}"]);
        check(&[(Tone::Plain, "👩‍🚀🇩🇪👩‍🚀")], 5, &["👩‍🚀🇩🇪", " 👩‍🚀"]);
    }

    #[test]
    fn tones_stay_with_their_letters() {
        let folded = fold_line(vec![(Tone::Dim, "1 ".to_owned()), (Tone::Added, "abcdef".to_owned())], 6);
        assert_eq!(folded[0], [(Tone::Dim, "1 ".to_owned()), (Tone::Added, "abcd".to_owned())]);
        assert_eq!(folded[1], [(Tone::Plain, " ".to_owned()), (Tone::Added, "ef".to_owned())]);
    }
}
