//! Peeks into a transcript: agent, session, first and last time.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rethread_model::{Agent, OWN_CALL_TAG, Timestamp};
use serde::Deserialize;

use super::file;

/// Number of bytes that are read.
const PEEK_BYTES: u64 = 32 * 1024;

/// What the beginning of a transcript contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptPeek {
    /// The session id from a pi header.
    pub header_id: Option<String>,
    /// The first session id on any other line.
    pub session_id: Option<String>,
    /// The first working directory.
    pub cwd: Option<String>,
    /// The first timestamp.
    pub first_at: Option<Timestamp>,
    /// Whether the file is marked as containing copies of another session's lines.
    pub is_copy: bool,
    /// Whether the lines have the format of Claude Code.
    pub looks_like_claude: bool,
    /// Whether it is the transcript of one of our own model calls.
    pub is_own_call: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct PeekLine {
    #[serde(rename = "type")]
    kind: Option<serde_json::Value>,
    #[serde(rename = "kind")]
    wrapper: Option<serde_json::Value>,
    id: Option<serde_json::Value>,
    session_id: Option<serde_json::Value>,
    cwd: Option<serde_json::Value>,
    timestamp: Option<serde_json::Value>,
    parent_uuid: Option<serde::de::IgnoredAny>,
}

/// Reads the beginning of a file. Fields that cannot be read stay empty.
pub fn peek(file: &File, size: u64) -> TranscriptPeek {
    let mut peek = TranscriptPeek::default();
    let head = read_chunk(file, 0, size);
    for (at, line) in parse_lines(&head).enumerate() {
        peek.apply_line(&line, at == 0);
        if peek.is_complete() {
            break;
        }
    }
    peek.apply_cut_line(&head);
    let signs = ["\"forkedFrom\":{", "\"sessionKind\":\"bg\"", "\"parentSession\":\"", "\"branchedFrom\":\""];
    peek.is_copy = signs.iter().any(|sign| memchr::memmem::find(&head, sign.as_bytes()).is_some());
    // Only at the start of a string: people may write about the tag.
    let own = format!("\":\"{OWN_CALL_TAG}");
    peek.is_own_call = memchr::memmem::find(&head, own.as_bytes()).is_some();
    peek
}

/// The last timestamp in a file, found without parsing; good enough to sort files.
pub fn last_timestamp(file: &File, size: u64) -> Option<Timestamp> {
    let tail = read_chunk(file, size.saturating_sub(PEEK_BYTES), size);
    let name = b"\"timestamp\":";
    let at = memchr::memmem::rfind(&tail, name)? + name.len();
    let text = std::str::from_utf8(tail.get(at..at + 40.min(tail.len() - at))?).ok()?;
    text.trim_start().strip_prefix('"')?.split('"').next()?.parse().ok()
}

/// The agent that wrote a file, detected from its first lines.
pub(super) fn detect_agent(path: &Path) -> Option<Agent> {
    let (file, stamp) = file::open(path).ok()?;
    let peek = peek(&file, stamp.size);
    match (&peek.header_id, peek.looks_like_claude) {
        (Some(_), _) => Some(Agent::Pi),
        (None, true) => Some(Agent::ClaudeCode),
        (None, false) => None,
    }
}

impl TranscriptPeek {
    fn is_complete(&self) -> bool {
        let known = self.header_id.is_some() || (self.session_id.is_some() && self.looks_like_claude);
        known && self.cwd.is_some() && self.first_at.is_some()
    }

    /// Searches for fields without parsing, because the first line can be longer than the bytes that were read.
    fn apply_cut_line(&mut self, head: &[u8]) {
        if self.first_at.is_none() {
            self.first_at = raw_field(head, "timestamp").and_then(|text| text.parse().ok());
        }
        if self.session_id.is_none() && self.header_id.is_none() {
            self.session_id = raw_field(head, "sessionId").map(str::to_owned);
            self.looks_like_claude |= self.session_id.is_some();
            self.cwd = self.cwd.take().or_else(|| raw_field(head, "cwd").map(str::to_owned));
        }
    }

    fn apply_line(&mut self, line: &PeekLine, is_first: bool) {
        let text = |value: &Option<serde_json::Value>| {
            value.as_ref().and_then(|value| value.as_str()).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let is_header =
            text(&line.kind).as_deref() == Some("session") || text(&line.wrapper).as_deref() == Some("header");
        if is_first && is_header {
            self.header_id = text(&line.id);
        }
        self.looks_like_claude |= line.parent_uuid.is_some() || (line.session_id.is_some() && line.kind.is_some());
        self.session_id = self.session_id.take().or_else(|| text(&line.session_id));
        self.cwd = self.cwd.take().or_else(|| text(&line.cwd));
        self.first_at = self.first_at.or_else(|| line.timestamp.as_ref().and_then(parse_timestamp));
    }
}

/// The string value of a field, found without parsing, for lines that are cut off.
fn raw_field<'a>(chunk: &'a [u8], name: &str) -> Option<&'a str> {
    let found = |spelling: String| Some(memchr::memmem::find(chunk, spelling.as_bytes())? + spelling.len());
    let start = found(format!("\"{name}\":\"")).or_else(|| found(format!("\"{name}\": \"")))?;
    let length = memchr::memchr(b'"', &chunk[start..])?;
    std::str::from_utf8(&chunk[start..start + length]).ok().filter(|text| !text.contains('\\'))
}

fn read_chunk(file: &File, from: u64, size: u64) -> Vec<u8> {
    let mut buffer = vec![0; (size - from.min(size)).min(PEEK_BYTES) as usize];
    let read = file.read_at(&mut buffer, from).unwrap_or(0);
    buffer.truncate(read);
    buffer
}

/// The lines that can be parsed; lines cut off at either end cannot.
fn parse_lines(chunk: &[u8]) -> impl Iterator<Item = PeekLine> {
    chunk.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

fn parse_timestamp(value: &serde_json::Value) -> Option<Timestamp> {
    match value {
        serde_json::Value::String(text) => text.parse().ok(),
        serde_json::Value::Number(millis) => millis.as_i64().map(Timestamp::from_millis),
        _ => None,
    }
}
