//! Wraps long lines at blanks, by columns. Keeps existing line breaks, indentation and lists.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The lines of a text, none wider than `width`. Continuation lines are indented like the line they continue.
pub(crate) fn wrap(text: &str, width: Option<usize>) -> Vec<String> {
    wrap_lines(text, width, true)
}

/// The same with every word whole, however long it is: a path that is broken cannot be copied.
pub(crate) fn wrap_words(text: &str, width: Option<usize>) -> Vec<String> {
    wrap_lines(text, width, false)
}

fn wrap_lines(text: &str, width: Option<usize>, breaks_words: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.trim_end().lines() {
        let line = line.replace('\t', "    ");
        match width {
            Some(width) if line.width() > width => break_line(&line, width.max(1), breaks_words, &mut lines),
            _ => lines.push(line.trim_end().to_owned()),
        }
    }
    lines
}

fn break_line(line: &str, width: usize, breaks_words: bool, lines: &mut Vec<String>) {
    let blanks = line.len() - line.trim_start().len();
    // Deeper indentation would leave too narrow a column.
    let mut current = " ".repeat(blanks.min(width / 2));
    let indent = " ".repeat((blanks + marker(line.trim_start())).min(width / 2));
    for word in line.split_whitespace() {
        let blank = usize::from(!current.trim_start().is_empty());
        if blank > 0 && current.width() + blank + word.width() > width {
            lines.push(std::mem::replace(&mut current, indent.clone()));
        } else if blank > 0 {
            current.push(' ');
        }
        if breaks_words {
            push_word(word, width, &indent, &mut current, lines);
        } else {
            current.push_str(word);
        }
    }
    if !current.trim().is_empty() {
        lines.push(current);
    }
}

/// Width of the marker of a list item or quotation.
fn marker(line: &str) -> usize {
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match &line[digits..] {
        rest if digits > 0 && (rest.starts_with(". ") || rest.starts_with(") ")) => digits + 2,
        rest if digits == 0 && ["- ", "* ", "> "].iter().any(|sign| rest.starts_with(sign)) => 2,
        _ => 0,
    }
}

/// Adds a word; a word wider than a line is broken anywhere.
fn push_word(word: &str, width: usize, indent: &str, current: &mut String, lines: &mut Vec<String>) {
    if current.width() + word.width() <= width {
        return current.push_str(word);
    }
    let mut used = current.width();
    for c in word.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide > width && !current.trim_start().is_empty() {
            lines.push(std::mem::replace(current, indent.to_owned()));
            used = indent.len();
        }
        current.push(c);
        used += wide;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, width: usize, expect: &[&str]) {
        assert_eq!(wrap(text, Some(width)), expect);
    }

    #[test]
    fn wraps_at_blanks_and_keeps_indentation() {
        check("one two three", 8, &["one two", "three"]);
        check("a\n\n  one two three\n", 10, &["a", "", "  one two", "  three"]);
        check("short", 10, &["short"]);
        check("", 10, &[]);
    }

    #[test]
    fn continuation_of_a_list_item_aligns_with_its_text() {
        check("- one two three", 9, &["- one two", "  three"]);
        check("12. one two", 8, &["12. one", "    two"]);
        check("  > one two", 8, &["  > one", "    two"]);
        check("2026 one two", 8, &["2026 one", "two"]);
    }

    #[test]
    fn breaks_long_words_and_counts_wide_characters_twice() {
        check("abcdefgh ij", 4, &["abcd", "efgh", "ij"]);
        check("日本語日本", 4, &["日本", "語日", "本"]);
    }

    // D51
    #[test]
    fn whole_words_stay_whole() {
        assert_eq!(wrap_words("in /a/long/path.jsonl at line 3", Some(10)), ["in", "/a/long/path.jsonl", "at line 3"]);
    }

    #[test]
    fn does_not_wrap_without_a_width() {
        assert_eq!(wrap("one two three  \nx", None), ["one two three", "x"]);
    }
}
