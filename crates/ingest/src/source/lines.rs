//! Reads lines through a sliding window. Memory stays bounded whatever a line's length.

use std::io::{self, Read};

use rethread_model::Place;

const WINDOW: usize = 1 << 20;
const SMALLEST_WINDOW: usize = 16 << 10;
/// Lines longer than this are thinned out while they stream by.
const LONG_LINE: usize = 16 << 20;
/// In a thinned line, a text longer than this is cut.
const LONG_TEXT: usize = 256 << 10;
/// A line that is still longer than this after thinning is given up.
const GIVEN_UP: usize = 8 << 20;

/// Lines of a transcript from some offset on.
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    window: Vec<u8>,
    start: usize,
    end: usize,
    offset: u64,
    line: u64,
    done: bool,
    thinned: Vec<u8>,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its bytes, without the newline.
    pub bytes: &'a [u8],
    /// Where it stands.
    pub place: Place,
    /// Whether its newline has been written; a cursor never passes a line without one.
    pub terminated: bool,
    /// Whether it was so long that it was given up; its bytes are empty then.
    pub given_up: bool,
}

impl Line<'_> {
    /// The byte after the line.
    pub fn end(&self) -> u64 {
        self.place.offset + self.place.length + u64::from(self.terminated)
    }
}

impl<R: Read> Lines<R> {
    /// Reads on from `offset`, which lies after `lines` lines; the reader must stand there. `expected` is how many
    /// bytes there probably are: a small file needs no large window.
    pub fn new(reader: R, offset: u64, lines: u64, expected: u64) -> Self {
        let window = usize::try_from(expected + 1).unwrap_or(WINDOW).clamp(SMALLEST_WINDOW, WINDOW);
        Self {
            reader,
            window: vec![0; window],
            start: 0,
            end: 0,
            offset,
            line: lines,
            done: false,
            thinned: Vec::new(),
        }
    }

    /// The next line, or nothing at the end of the file.
    pub fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        loop {
            let unread = &self.window[self.start..self.end];
            if let Some(at) = memchr::memchr(b'\n', &unread[searched..]) {
                return Ok(Some(self.take(searched + at, true)));
            }
            searched = unread.len();
            if searched >= LONG_LINE {
                return self.thin().map(Some);
            }
            if self.done || !self.fill()? {
                return Ok(if searched == 0 { None } else { Some(self.take(searched, false)) });
            }
        }
    }

    fn take(&mut self, length: usize, terminated: bool) -> Line<'_> {
        let place = self.advance(length as u64, terminated);
        let from = self.start;
        self.start += length + usize::from(terminated);
        Line { bytes: &self.window[from..from + length], place, terminated, given_up: false }
    }

    fn advance(&mut self, length: u64, terminated: bool) -> Place {
        self.line += 1;
        let place = Place { line: self.line, offset: self.offset, length };
        self.offset += length + u64::from(terminated);
        place
    }

    /// Reads more into the window, making room first. False at the end of the file.
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

    /// Lets a very long line stream by, keeping its structure and the beginnings of its texts.
    fn thin(&mut self) -> io::Result<Line<'_>> {
        let mut thinner = Thinner::new(std::mem::take(&mut self.thinned));
        let mut length = 0;
        let terminated = loop {
            let unread = &self.window[self.start..self.end];
            let newline = memchr::memchr(b'\n', unread);
            let part = newline.unwrap_or(unread.len());
            thinner.add(&unread[..part]);
            length += part as u64;
            self.start += part + usize::from(newline.is_some());
            if newline.is_some() {
                break true;
            }
            if self.done || !self.fill()? {
                break false;
            }
        };
        // The window has grown for this line; the next ones need no more than usual.
        if self.end - self.start < WINDOW {
            self.window.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
            self.window.truncate(WINDOW.max(self.end));
            self.window.shrink_to_fit();
        }
        let place = self.advance(length, terminated);
        let given_up = thinner.kept.len() > GIVEN_UP;
        self.thinned = thinner.kept;
        if given_up {
            self.thinned = Vec::new();
        }
        Ok(Line { bytes: &self.thinned, place, terminated, given_up })
    }
}

/// Copies JSON while cutting long texts, without ever cutting a character or an escape.
struct Thinner {
    kept: Vec<u8>,
    in_text: bool,
    /// Bytes still to come of an escape that has begun.
    escape: u8,
    text_length: usize,
    cutting: bool,
}

impl Thinner {
    fn new(mut kept: Vec<u8>) -> Self {
        kept.clear();
        Self { kept, in_text: false, escape: 0, text_length: 0, cutting: false }
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
            return self.keep(byte);
        }
        let is_continuation = byte & 0xC0 == 0x80;
        if self.escape == 0 && !is_continuation && self.text_length >= LONG_TEXT {
            self.cutting = true;
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

    fn keep(&mut self, byte: u8) {
        // One byte over the limit is enough to know that it was passed.
        if self.kept.len() <= GIVEN_UP {
            self.kept.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads in small bites, as a file that is being written would be.
    struct Bites<'a>(&'a [u8], usize);

    impl Read for Bites<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(self.1).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn all(bytes: &[u8], bite: usize) -> Vec<(Vec<u8>, u64, u64, bool)> {
        let mut lines = Lines::new(Bites(bytes, bite), 0, 0, 0);
        let mut out = Vec::new();
        while let Some(line) = lines.next_line().unwrap() {
            out.push((line.bytes.to_vec(), line.place.line, line.place.offset, line.terminated));
        }
        out
    }

    #[test]
    fn l000_02_a_line_without_its_newline_is_told_apart() {
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
    fn a_very_long_line_is_thinned_and_stays_json() {
        let mut bytes = b"{\"a\":\"".to_vec();
        bytes.extend("é\\n\\u00e9".repeat(2_000_000).as_bytes());
        bytes.extend(b"\",\"b\":\"short\"}\n{\"c\":1}\n");
        let mut lines = Lines::new(&bytes[..], 0, 0, u64::MAX - 1);
        let line = lines.next_line().unwrap().unwrap();
        assert!(line.terminated && line.bytes.len() < LONG_TEXT * 2);
        let value: serde_json::Value = serde_json::from_slice(line.bytes).unwrap();
        assert_eq!(value["b"], "short");
        let end = line.end();
        let next = lines.next_line().unwrap().unwrap();
        assert_eq!((next.bytes, next.place.offset, next.place.line), (&b"{\"c\":1}"[..], end, 2));
        assert!(lines.window.len() <= WINDOW * 2);
    }

    #[test]
    fn a_line_that_cannot_be_thinned_is_given_up_and_passed() {
        let mut bytes = vec![b'1'; LONG_LINE + 5];
        bytes.extend(b"\nnext\n");
        let mut lines = Lines::new(&bytes[..], 0, 0, u64::MAX - 1);
        let line = lines.next_line().unwrap().unwrap();
        assert!(line.given_up && line.terminated);
        assert_eq!(lines.next_line().unwrap().unwrap().bytes, b"next");
    }
}
