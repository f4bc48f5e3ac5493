//! Reads lines through a sliding window. Memory use is bounded, whatever the length of a line.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;

use rethread_model::EntryLocation;

use super::file;

const WINDOW: usize = 1 << 20;
const MIN_WINDOW: usize = 16 << 10;
/// Lines longer than this are truncated while streaming.
const LONG_LINE: usize = 16 << 20;
/// In a truncated line, strings longer than this are cut.
const MAX_STRING: usize = 256 << 10;
/// What such a string loses of its end if it has only one line: a secret that was cut would not be recognized.
const MAX_CUT_SECRET: usize = 4 << 10;
/// A line that is longer than this after truncation is skipped.
const MAX_TRUNCATED_LINE: usize = 8 << 20;

/// Iterates over the lines of a transcript, starting at some offset.
#[derive(Debug)]
pub struct TranscriptLines<R> {
    reader: R,
    window: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    line: u64,
    done: bool,
    truncated: Vec<u8>,
    /// A longer line is an error.
    max_line: u64,
}

/// One line of a transcript.
#[derive(Debug, PartialEq, Eq)]
pub struct TranscriptLine<'a> {
    /// The line without its newline.
    pub bytes: &'a [u8],
    /// Position in the transcript.
    pub location: EntryLocation,
    /// Whether the newline has been written; a cursor never advances past a line without one.
    pub has_newline: bool,
    /// Whether the line was too long and was skipped; `bytes` is empty then.
    pub is_skipped: bool,
}

impl TranscriptLine<'_> {
    /// Whether long texts of the line are cut, because it is so long.
    pub(crate) fn is_truncated(&self) -> bool {
        self.location.length > LONG_LINE as u64
    }

    /// Offset of the byte after the line.
    pub fn end(&self) -> u64 {
        self.location.offset + self.location.length + u64::from(self.has_newline)
    }
}

/// Shows the lines of a file, for the header of a transcript: what no single line says. Stops when `visit` breaks.
pub(crate) fn scan_lines(path: &Path, visit: &mut dyn FnMut(&TranscriptLine<'_>) -> ControlFlow<()>) -> io::Result<()> {
    let (file, stamp) = file::open(path)?;
    let mut lines = TranscriptLines::new(&file, 0, 0, stamp.size);
    while let Some(line) = lines.next_line()? {
        if visit(&line).is_break() {
            break;
        }
    }
    Ok(())
}

impl<R: Read> TranscriptLines<R> {
    /// Reads on from `offset`, which comes after `lines` lines; the reader must be at that position. `expected` is the
    /// probable number of bytes: a small file needs no large window.
    pub fn new(reader: R, offset: u64, lines: u64, expected: u64) -> Self {
        let window = usize::try_from(expected + 1).unwrap_or(WINDOW).clamp(MIN_WINDOW, WINDOW);
        Self {
            reader,
            window: vec![0; window],
            start: 0,
            end: 0,
            offset,
            line: lines,
            done: false,
            truncated: Vec::new(),
            max_line: u64::MAX,
        }
    }

    /// Gives up at a line that is longer, for a caller who waits.
    pub(crate) fn with_max_line(self, max_line: u64) -> Self {
        Self { max_line, ..self }
    }

    /// What the lines are read from.
    pub(super) fn reader(&self) -> &R {
        &self.reader
    }

    /// The next line, or `None` at the end of the file.
    pub fn next_line(&mut self) -> io::Result<Option<TranscriptLine<'_>>> {
        let mut searched = 0;
        loop {
            let unread = &self.window[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &unread[searched..]) {
                return Ok(Some(self.take(searched + at, true)));
            }
            searched = unread.len();
            if searched >= LONG_LINE {
                return self.truncate_line().map(Some);
            }
            if self.done || !self.fill()? {
                return Ok(if searched == 0 { None } else { Some(self.take(searched, false)) });
            }
        }
    }

    fn take(&mut self, length: usize, has_newline: bool) -> TranscriptLine<'_> {
        let location = self.advance(length as u64, has_newline);
        let from = self.start;
        self.start += length + usize::from(has_newline);
        TranscriptLine { bytes: &self.window[from..from + length], location, has_newline, is_skipped: false }
    }

    fn advance(&mut self, length: u64, terminated: bool) -> EntryLocation {
        self.line += 1;
        let location = EntryLocation { line: self.line, offset: self.offset, length };
        self.offset += length + u64::from(terminated);
        location
    }

    /// Reads more into the window, making room first. Returns false at the end of the file.
    fn fill(&mut self) -> io::Result<bool> {
        if self.start > 0 {
            self.window.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.window.len() {
            self.window.resize(self.window.len() * 2, 0);
        }
        loop {
            match self.reader.read(&mut self.window[self.end..]) {
                Ok(0) => {
                    self.done = true;
                    return Ok(false);
                }
                Ok(count) => {
                    self.end += count;
                    return Ok(true);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Streams a very long line, keeping its structure and the beginning of each string.
    fn truncate_line(&mut self) -> io::Result<TranscriptLine<'_>> {
        let mut thinner = JsonTruncator::new(std::mem::take(&mut self.truncated));
        let mut length = 0;
        let has_newline = loop {
            let unread = &self.window[self.start..self.end];
            let newline = memchr::memchr(b'\n', unread);
            let part = newline.unwrap_or(unread.len());
            thinner.add(&unread[..part]);
            length += part as u64;
            self.start += part + usize::from(newline.is_some());
            if newline.is_some() {
                break true;
            }
            if length > self.max_line {
                let message = format!("line {} is longer than {} MB", self.line + 1, self.max_line >> 20);
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            if self.done || !self.fill()? {
                break false;
            }
        };
        // The window has grown for this line; shrink it back for the next ones.
        if self.end - self.start < WINDOW {
            self.window.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            self.window.truncate(WINDOW.max(self.end));
            self.window.shrink_to_fit();
        }
        let location = self.advance(length, has_newline);
        let given_up = thinner.kept.len() > MAX_TRUNCATED_LINE;
        self.truncated = thinner.kept;
        if given_up {
            self.truncated = Vec::new();
        }
        Ok(TranscriptLine { bytes: &self.truncated, location, has_newline, is_skipped: given_up })
    }
}

/// Copies JSON while cutting long strings; never cuts inside a character or an escape sequence. A string that is cut
/// ends with a whole line.
struct JsonTruncator {
    kept: Vec<u8>,
    in_text: bool,
    /// Remaining bytes of an escape sequence that has started.
    escape: u8,
    text_length: usize,
    cutting: bool,
    /// Where the string is cut if it has no line break, and after its last line.
    cut_at: usize,
    line_end: Option<usize>,
}

impl JsonTruncator {
    fn new(mut kept: Vec<u8>) -> Self {
        kept.clear();
        Self { kept, in_text: false, escape: 0, text_length: 0, cutting: false, cut_at: 0, line_end: None }
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.step(byte);
        }
    }

    fn step(&mut self, byte: u8) {
        if !self.in_text {
            self.in_text = byte == b'"';
            self.text_length = 0;
            self.line_end = None;
            return self.keep(byte);
        }
        let is_continuation = byte & 0xC0 == 0x80;
        if self.escape == 0 && !is_continuation && !self.cutting {
            self.find_cut();
        }
        if self.escape == 5 && byte == b'n' {
            // Before the backslash.
            self.line_end = (!self.cutting).then(|| self.kept.len().saturating_sub(1)).or(self.line_end);
        }
        if self.escape > 0 {
            self.escape = if self.escape == 5 && byte != b'u' { 0 } else { self.escape - 1 };
        } else if byte == b'\\' {
            // `\u` and four digits; any other escape ends with its next byte.
            self.escape = 5;
        } else if byte == b'"' {
            (self.in_text, self.cutting) = (false, false);
        }
        self.text_length += 1;
        if !self.cutting {
            self.keep(byte);
        }
    }

    /// Notes where the string can be cut, and cuts it once it is too long.
    fn find_cut(&mut self) {
        if self.text_length <= MAX_STRING - MAX_CUT_SECRET {
            self.cut_at = self.kept.len();
        } else if self.text_length >= MAX_STRING {
            self.cutting = true;
            self.kept.truncate(self.line_end.unwrap_or(self.cut_at));
        }
    }

    fn keep(&mut self, byte: u8) {
        // One byte over the limit is enough to know that it was exceeded.
        if self.kept.len() <= MAX_TRUNCATED_LINE {
            self.kept.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns few bytes per read, like a file that is being written.
    struct ChunkedReader<'a>(&'a [u8], usize);

    impl Read for ChunkedReader<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(self.1).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(bytes: &[u8], bite: usize) -> Vec<(Vec<u8>, u64, u64, bool)> {
        let mut lines = TranscriptLines::new(ChunkedReader(bytes, bite), 0, 0, 0);
        let mut out = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            out.push((line.bytes.to_vec(), line.location.line, line.location.offset, line.has_newline));
        }
        out
    }

    #[test]
    fn line_without_newline_is_marked() {
        // L000-02
        for bite in [1, 2, 3, 100] {
            let lines = all(b"one\n\ntwo\nthr", bite);
            assert_eq!(
                lines,
                vec![
                    (b"one".to_vec(), 1, 0, true),
                    (b"".to_vec(), 2, 4, true),
                    (b"two".to_vec(), 3, 5, true),
                    (b"thr".to_vec(), 4, 9, false),
                ]
            );
        }
    }

    #[test]
    fn very_long_line_is_truncated_and_stays_valid_json() {
        let mut bytes = b"{\"a\":\"".to_vec();
        bytes.extend("é\\n\\u00e9".repeat(2_000_000).as_bytes());
        bytes.extend(b"\",\"b\":\"short\"}\n{\"c\":1}\n");
        let mut lines = TranscriptLines::new(&bytes[..], 0, 0, u64::MAX - 1);
        let line = lines.next_line().unwrap().unwrap();
        assert!(line.has_newline && line.bytes.len() < MAX_STRING * 2);
        let value: serde_json::Value = serde_json::from_slice(line.bytes).unwrap();
        assert_eq!(value["b"], "short");
        let end = line.end();
        let next = lines.next_line().unwrap().unwrap();
        assert_eq!((next.bytes, next.location.offset, next.location.line), (&b"{\"c\":1}"[..], end, 2));
        assert!(lines.window.len() <= WINDOW * 2);
    }

    #[test]
    fn a_cut_string_ends_with_a_whole_line() {
        let cut = |text: &str| {
            let line = format!("{{\"a\":\"{text}\",\"b\":\"{}\"}}\n", "y".repeat(LONG_LINE));
            let mut lines = TranscriptLines::new(line.as_bytes(), 0, 0, u64::MAX - 1);
            let value: serde_json::Value = serde_json::from_slice(lines.next_line().unwrap().unwrap().bytes).unwrap();
            (value["a"].as_str().unwrap().to_owned(), value["b"].as_str().unwrap().len())
        };
        let secret = format!("first\\\\n\\n{}half a secret{}", "x".repeat(MAX_STRING - 25), "x".repeat(999));
        assert_eq!(cut(&secret).0, "first\\n");
        assert_eq!(cut("short").1, MAX_STRING - MAX_CUT_SECRET);
        let wide = "é".repeat(MAX_STRING);
        assert!(wide.starts_with(&cut(&wide).0));
    }

    #[test]
    fn a_line_over_the_limit_of_a_caller_is_an_error() {
        let lines = TranscriptLines::new(io::repeat(0), 0, 0, u64::MAX - 1);
        let error = lines.with_max_line(32 << 20).next_line().unwrap_err();
        assert_eq!(error.to_string(), "line 1 is longer than 32 MB");
    }

    #[test]
    fn line_that_cannot_be_truncated_is_skipped() {
        let mut bytes = vec![b'1'; LONG_LINE + 5];
        bytes.extend(b"\nnext\n");
        let mut lines = TranscriptLines::new(&bytes[..], 0, 0, u64::MAX - 1);
        let line = lines.next_line().unwrap().unwrap();
        assert!(line.is_skipped && line.has_newline);
        assert_eq!(lines.next_line().unwrap().unwrap().bytes, b"next");
    }
}
