//! Takes server-sent events apart, wherever the bytes were cut on their way.

/// Bytes of one event. None that a model sends comes near.
const LONGEST_EVENT: usize = 1 << 20;

/// An event that has no end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// What came of an event so far.
#[derive(Default)]
pub(super) struct Events {
    line: Vec<u8>,
    data: Vec<u8>,
}

impl Events {
    /// The data of the events that these bytes complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<String>, TooLong> {
        let mut complete = Vec::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + self.data.len() + piece.len() > LONGEST_EVENT {
                return Err(TooLong);
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                complete.extend(self.end_line());
            }
        }
        Ok(complete)
    }

    /// What the last event said, if the server left out the empty line after it.
    pub(super) fn rest(&mut self) -> Option<String> {
        let event = self.end_line();
        event.or_else(|| self.end_event())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_ascii_end();
        if line.is_empty() {
            return self.end_event();
        }
        // Names, numbers and comments say nothing that the data does not.
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
    fn events_are_the_same_wherever_the_bytes_are_cut() {
        for size in 1..STREAM.len() {
            let mut events = Events::default();
            let mut found: Vec<String> = Vec::new();
            for bytes in STREAM.as_bytes().chunks(size) {
                found.extend(events.feed(bytes).unwrap());
            }
            found.extend(events.rest());
            assert_eq!(found, ["{\"x\":\"日本\"}", "one\ntwo", "last"], "{size}");
        }
    }

    #[test]
    fn an_event_without_end_is_refused() {
        let mut events = Events::default();
        let kilobyte = [b'x'; 1_024];
        let refused = (0..2_000).find(|_| events.feed(&kilobyte).is_err());
        assert_eq!(refused, Some(1_024));
        let mut events = Events::default();
        let line = [b"data: ".as_slice(), &kilobyte, b"\n"].concat();
        assert!((0..2_000).any(|_| events.feed(&line) == Err(TooLong)), "lines of one event add up");
    }
}
