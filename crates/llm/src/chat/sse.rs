//! Incremental parser for server-sent events. Input may be split at any byte.

/// Bytes of one event at most. Far more than any model sends.
const MAX_EVENT_BYTES: usize = 1 << 20;

/// An event exceeded the size limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EventTooLong;

/// Holds the current, incomplete event.
#[derive(Default)]
pub(super) struct SseParser {
    line: Vec<u8>,
    data: Vec<u8>,
}

impl SseParser {
    /// Adds bytes. Returns the data of the events they complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, EventTooLong> {
        let mut complete = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + self.data.len() + piece.len() > MAX_EVENT_BYTES {
                return Err(EventTooLong);
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                complete.extend(self.end_line());
            }
        }
        Ok(complete)
    }

    /// Data of the last event, if the server left out the empty line after it.
    pub(super) fn finish(&mut self) -> Option<String> {
        let event = self.end_line();
        event.or_else(|| self.end_event())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return self.end_event();
        }
        // Event names, ids and comments are ignored: the data contains everything needed.
        if let Some(data) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(data.trim_ascii_start());
        }
        None
    }

    fn end_event(&mut self) -> Option<String> {
        let data = std::mem::take(&mut self.data);
        (!data.is_empty()).then(|| String::from_utf8_lossy(&data).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str =
        ": hello\r\nevent: a\r\ndata: {\"x\":\"日本\"}\r\n\r\n\nid: 1\ndata:one\ndata: two\n\ndata: last";

    #[test]
    fn events_do_not_depend_on_where_the_input_is_split() {
        for size in 1..STREAM.len() {
            let mut events = SseParser::default();
            let mut found: Vec<String> = Vec::new();
            for bytes in STREAM.as_bytes().chunks(size) {
                found.extend(events.feed(bytes).unwrap());
            }
            found.extend(events.finish());
            assert_eq!(found, ["{\"x\":\"日本\"}", "one\ntwo", "last"], "{size}");
        }
    }

    #[test]
    fn an_endless_event_is_rejected() {
        let mut events = SseParser::default();
        let kilobyte = [b'x'; 1_024];
        let refused = (0..2_000).find(|_| events.feed(&kilobyte).is_err());
        assert_eq!(refused, Some(1_024));
        let mut events = SseParser::default();
        let line = [b"data: ".as_slice(), &kilobyte, b"\n"].concat();
        assert!((0..2_000).any(|_| events.feed(&line) == Err(EventTooLong)), "lines of one event add up");
    }
}
