//! Rows of a diff with their line numbers and the pieces to color: for the terminal and for pages.

use rethread_engine::{DiffHunk, DiffSign};

use super::format::number;
use super::sanitize;
use super::syntax::{SyntaxKind, SyntaxReader};

/// A row of a diff, sanitized.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HighlightedRow {
    /// Its line in the file: of a removed line before the change, of others after it.
    pub(crate) number: Option<u64>,
    pub(crate) sign: DiffSign,
    pub(crate) pieces: Vec<(SyntaxKind, String)>,
}

/// The first rows of a hunk, each of at most `max_chars`.
pub(crate) fn highlighted_rows(hunk: &DiffHunk, path: &str, limit: usize, max_chars: usize) -> Vec<HighlightedRow> {
    let mut numbers = hunk.starts;
    // Before and after are two texts: a comment that opens in one does not continue in the other.
    let (mut old, mut new) = (SyntaxReader::for_path(path), SyntaxReader::for_path(path));
    let rows = hunk.rows.iter().take(limit).map(|row| {
        let text = code_line(&row.text, max_chars);
        let pieces = match row.sign {
            DiffSign::Removed => old.pieces(&text),
            DiffSign::Added => new.pieces(&text),
            DiffSign::Same => {
                old.pieces(&text);
                new.pieces(&text)
            }
        };
        let pieces = pieces.into_iter().map(|(kind, piece)| (kind, piece.to_owned())).collect();
        let number = numbers.as_mut().map(|(before, after)| {
            let number = if row.sign == DiffSign::Removed { *before } else { *after };
            *before += u64::from(row.sign != DiffSign::Added);
            *after += u64::from(row.sign != DiffSign::Removed);
            number
        });
        HighlightedRow { number, sign: row.sign, pieces }
    });
    rows.collect()
}

/// A line of code or output for display: sanitized, without tabs, cut if it is very long.
pub(crate) fn code_line(line: &str, max_chars: usize) -> String {
    let line = sanitize(line).replace('\t', "    ").replace('\n', " ");
    match line.char_indices().nth(max_chars) {
        None => line,
        Some((end, _)) => {
            let more = line[end..].chars().count() as u64;
            let noun = if more == 1 { "character" } else { "characters" };
            format!("{}… ({} more {noun})", &line[..end], number(more))
        }
    }
}

#[cfg(test)]
mod tests {
    use rethread_engine::DiffRow;

    use super::*;

    #[test]
    fn rows_have_the_number_of_their_own_side() {
        let row = |sign, text: &str| DiffRow { sign, text: text.to_owned() };
        let rows = vec![
            row(DiffSign::Same, "a /*"),
            row(DiffSign::Removed, "b */"),
            row(DiffSign::Added, "\tc\u{1b}[2J"),
            row(DiffSign::Same, "d"),
        ];
        let hunk = DiffHunk { starts: Some((7, 9)), rows };
        let shown = highlighted_rows(&hunk, "x.rs", 9, 9);
        let line = |row: &HighlightedRow| {
            let text: String = row.pieces.iter().map(|(_, piece)| piece.as_str()).collect();
            format!("{} {}{text}", row.number.unwrap_or(0), row.sign.mark())
        };
        assert_eq!(shown.iter().map(line).collect::<Vec<_>>(), ["9  a /*", "8 -b */", "10 +    c", "11  d"]);
        assert_eq!(shown[3].pieces[0].0, SyntaxKind::Comment, "the new text still has the comment open");
        assert_eq!(highlighted_rows(&hunk, "x.rs", 1, 9).len(), 1);
    }

    #[test]
    fn long_lines_are_cut() {
        assert_eq!(code_line("abcdef", 4), "abcd… (2 more characters)");
        assert_eq!(code_line("日本語", 3), "日本語");
    }
}
