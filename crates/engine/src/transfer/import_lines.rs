//! The lines of a file that is imported, each of bounded length.

use std::io::{self, BufRead, Read as _};

/// A longer line is not one of ours.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Some programs write it at the beginning of a file.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The lines of a file, with their numbers.
pub(super) struct ImportLines<'r> {
    input: &'r mut dyn BufRead,
    line: u64,
    bytes: u64,
}

/// A line, from which the line break need not be removed.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ImportText {
    Line(Vec<u8>),
    Blank,
    /// It has this many bytes, and was skipped.
    TooLong(u64),
}

impl ImportText {
    pub(super) fn size(&self) -> u64 {
        match self {
            ImportText::Line(text) => text.len() as u64,
            ImportText::Blank => 0,
            ImportText::TooLong(bytes) => *bytes,
        }
    }
}

impl<'r> ImportLines<'r> {
    pub(super) fn new(input: &'r mut dyn BufRead) -> Self {
        Self { input, line: 0, bytes: 0 }
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn next_line(&mut self) -> io::Result<Option<(u64, ImportText)>> {
        let mut text = Vec::new();
        let mut length = (&mut *self.input).take(MAX_LINE_BYTES).read_until(b'\n', &mut text)? as u64;
        if length == 0 {
            return Ok(None);
        }
        let is_cut = length == MAX_LINE_BYTES && text.last() != Some(&b'\n');
        if is_cut {
            length += self.input.skip_until(b'\n')? as u64;
        }
        self.line += 1;
        self.bytes += length;
        if self.line == 1 && text.starts_with(BYTE_ORDER_MARK) {
            text.drain(..BYTE_ORDER_MARK.len());
        }
        let line = match text.iter().all(u8::is_ascii_whitespace) {
            _ if is_cut => ImportText::TooLong(length),
            true => ImportText::Blank,
            false => ImportText::Line(text),
        };
        Ok(Some((self.line, line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_numbers_and_a_limit() {
        let mut input = "\u{feff}{}\r\n \n".as_bytes().to_vec();
        input.extend(vec![b'x'; usize::try_from(MAX_LINE_BYTES).unwrap() + 5]);
        input.extend(b"\nlast");
        let mut reader = input.as_slice();
        let mut lines = ImportLines::new(&mut reader);
        let mut found = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            found.push(line);
        }
        let line = |text: &str| ImportText::Line(text.as_bytes().to_vec());
        let long = ImportText::TooLong(MAX_LINE_BYTES + 6);
        assert_eq!(found, [(1, line("{}\r\n")), (2, ImportText::Blank), (3, long), (4, line("last"))]);
        assert_eq!(lines.bytes(), input.len() as u64);
    }
}
