//! One line of text that is being edited.

use rethread_model::is_unsafe_to_display;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Joins two characters into one symbol.
const JOINER: char = '\u{200d}';

/// A text with a cursor between two of its characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QueryLine {
    text: String,
    /// Byte offset, at a character boundary.
    cursor: usize,
}

impl QueryLine {
    pub(super) fn new(text: &str) -> Self {
        let mut line = Self::default();
        line.insert(text);
        line
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Columns before the cursor.
    pub(super) fn cursor_column(&self) -> usize {
        self.text[..self.cursor].width()
    }

    /// Inserts text as one line. What a terminal would interpret is left out.
    pub(super) fn insert(&mut self, text: &str) {
        let text: String = text.replace(['\n', '\t'], " ");
        let text: String = text.chars().filter(|c| !is_unsafe_to_display(*c)).collect();
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn delete_before(&mut self) {
        let from = self.previous();
        self.text.replace_range(from..self.cursor, "");
        self.cursor = from;
    }

    pub(super) fn delete_after(&mut self) {
        let to = self.next();
        self.text.replace_range(self.cursor..to, "");
    }

    /// Deletes the word before the cursor and the blanks after it.
    pub(super) fn delete_word(&mut self) {
        let from = self.word_start();
        self.text.replace_range(from..self.cursor, "");
        self.cursor = from;
    }

    /// Deletes the blanks after the cursor and the word that follows.
    pub(super) fn delete_word_after(&mut self) {
        let to = self.word_end();
        self.text.replace_range(self.cursor..to, "");
    }

    /// Deletes everything after the cursor.
    pub(super) fn delete_rest(&mut self) {
        self.text.truncate(self.cursor);
    }

    pub(super) fn move_word_left(&mut self) {
        self.cursor = self.word_start();
    }

    pub(super) fn move_word_right(&mut self) {
        self.cursor = self.word_end();
    }

    pub(super) fn move_left(&mut self) {
        self.cursor = self.previous();
    }

    pub(super) fn move_right(&mut self) {
        self.cursor = self.next();
    }

    pub(super) fn move_to_start(&mut self) {
        self.cursor = 0;
    }

    pub(super) fn move_to_end(&mut self) {
        self.cursor = self.text.len();
    }

    /// Start of the word before the cursor.
    fn word_start(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        let blank = before.char_indices().rev().find(|(_, c)| c.is_whitespace());
        blank.map_or(0, |(at, c)| at + c.len_utf8())
    }

    /// End of the word after the cursor.
    fn word_end(&self) -> usize {
        let after = &self.text[self.cursor..];
        let word = after.trim_start();
        self.text.len() - word.find(char::is_whitespace).map_or(0, |at| word.len() - at)
    }

    /// Start of the symbol before the cursor: a character with what combines with it.
    fn previous(&self) -> usize {
        let mut at = self.cursor;
        for (start, c) in self.text[..self.cursor].char_indices().rev() {
            at = start;
            if c.width().unwrap_or(0) > 0 && !self.text[..start].ends_with(JOINER) {
                break;
            }
        }
        at
    }

    /// End of the symbol after the cursor.
    fn next(&self) -> usize {
        let mut at = self.cursor;
        for (start, c) in self.text[self.cursor..].char_indices() {
            let start = self.cursor + start;
            let joins = c.width().unwrap_or(0) == 0 || self.text[..start].ends_with(JOINER);
            if start > self.cursor && !joins {
                break;
            }
            at = start + c.len_utf8();
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_and_deleting_happens_at_the_cursor() {
        let mut line = QueryLine::new("one two");
        line.delete_word();
        assert_eq!(line.text(), "one ");
        line.move_to_start();
        line.insert("x");
        line.delete_after();
        assert_eq!((line.text(), line.cursor_column()), ("xne ", 1));
        line.delete_before();
        line.delete_before();
        assert_eq!(line.text(), "ne ");
    }

    #[test]
    fn words_are_skipped_and_deleted_in_both_directions() {
        let mut line = QueryLine::new("one  zwei drei");
        line.move_word_left();
        line.move_word_left();
        assert_eq!(line.cursor_column(), 5);
        line.move_word_right();
        assert_eq!(line.cursor_column(), 9);
        line.delete_word_after();
        assert_eq!(line.text(), "one  zwei");
        line.move_to_start();
        line.delete_word_after();
        line.delete_word_after();
        assert_eq!(line.text(), "");
        line.insert("kept gone");
        line.move_word_left();
        line.delete_rest();
        assert_eq!(line.text(), "kept ");
    }

    #[test]
    fn the_cursor_moves_over_whole_symbols() {
        let mut line = QueryLine::new("e\u{301}日👩‍🚀");
        for expect in [3, 1, 0, 0] {
            line.move_left();
            assert_eq!(line.cursor_column(), expect);
        }
        line.move_right();
        line.delete_after();
        assert_eq!(line.text(), "e\u{301}👩‍🚀");
    }

    #[test]
    fn pasted_text_becomes_one_harmless_line() {
        assert_eq!(QueryLine::new("a\nb\u{1b}[2Jc\u{202e}").text(), "a b[2Jc");
    }
}
