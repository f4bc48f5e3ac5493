//! A look into a transcript: whose it is, which session, from when to when.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rethread_model::{Agent, OWN_CALL_TAG, Timestamp};
use serde::Deserialize;

use super::file;

/// How many bytes are looked at.
const PEEKED_BYTES: u64 = 32 * 1024;

/// What the beginning of a transcript says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peek {
    /// The session id of a pi header.
    pub header_id: Option<String>,
    /// The first session id on any other line.
    pub session_id: Option<String>,
    /// The first working directory.
    pub cwd: Option<String>,
    /// The first time.
    pub first_at: Option<Timestamp>,
    /// Whether the file says that it holds copies of another session's lines.
    pub is_copy: bool,
    /// Whether the lines look like Claude Code's.
    pub looks_like_claude: bool,
    /// Whether it is the transcript of a request of our own.
    pub is_own_call: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Line {
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

/// Looks at the beginning of a file. What cannot be read is simply not known.
pub fn peek(file: &File, size: u64) -> Peek {
    let mut peek = Peek::default();
    let head = chunk(file, 0, size);
    for (at, line) in lines_of(&head).enumerate() {
        peek.take(&line, at == 0);
        if peek.is_complete() {
            break;
        }
    }
    peek.take_from_cut_line(&head);
    let signs = ["\"forkedFrom\":{", "\"sessionKind\":\"bg\"", "\"parentSession\":\"", "\"branchedFrom\":\""];
    peek.is_copy = signs.iter().any(|sign| memchr::memmem::find(&head, sign.as_bytes()).is_some());
    // At the beginning of a text only: people may well talk about the tag.
    let own = format!("\":\"{OWN_CALL_TAG}");
    peek.is_own_call = memchr::memmem::find(&head, own.as_bytes()).is_some();
    peek
}

/// The last time in a file, by its spelling alone: for putting files in order that is near enough.
pub fn last_time(file: &File, size: u64) -> Option<Timestamp> {
    let tail = chunk(file, size.saturating_sub(PEEKED_BYTES), size);
    let name = b"\"timestamp\":";
    let at = memchr::memmem::rfind(&tail, name)? + name.len();
    let text = std::str::from_utf8(tail.get(at..at + 40.min(tail.len() - at))?).ok()?;
    text.trim_start().strip_prefix('"')?.split('"').next()?.parse().ok()
}

/// Whose transcript a file is, told by its first lines.
pub(super) fn agent_of(path: &Path) -> Option<Agent> {
    let (file, stamp) = file::open(path).ok()?;
    let peek = peek(&file, stamp.size);
    match (&peek.header_id, peek.looks_like_claude) {
        (Some(_), _) => Some(Agent::Pi),
        (None, true) => Some(Agent::ClaudeCode),
        (None, false) => None,
    }
}

impl Peek {
    fn is_complete(&self) -> bool {
        let known = self.header_id.is_some() || (self.session_id.is_some() && self.looks_like_claude);
        known && self.cwd.is_some() && self.first_at.is_some()
    }

    /// What stands in plain sight even if the first line could not be read: it may be larger than what was looked at.
    fn take_from_cut_line(&mut self, head: &[u8]) {
        if self.first_at.is_none() {
            self.first_at = raw_field(head, "timestamp").and_then(|text| text.parse().ok());
        }
        if self.session_id.is_none() && self.header_id.is_none() {
            self.session_id = raw_field(head, "sessionId").map(str::to_owned);
            self.looks_like_claude |= self.session_id.is_some();
            self.cwd = self.cwd.take().or_else(|| raw_field(head, "cwd").map(str::to_owned));
        }
    }

    fn take(&mut self, line: &Line, is_first: bool) {
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
        self.first_at = self.first_at.or_else(|| line.timestamp.as_ref().and_then(moment));
    }
}

/// The text of a field by its spelling alone, for lines too long to be read whole.
fn raw_field<'a>(chunk: &'a [u8], name: &str) -> Option<&'a str> {
    let found = |spelling: String| Some(memchr::memmem::find(chunk, spelling.as_bytes())? + spelling.len());
    let start = found(format!("\"{name}\":\"")).or_else(|| found(format!("\"{name}\": \"")))?;
    let length = memchr::memchr(b'"', &chunk[start..])?;
    std::str::from_utf8(&chunk[start..start + length]).ok().filter(|text| !text.contains('\\'))
}

fn chunk(file: &File, from: u64, size: u64) -> Vec<u8> {
    let mut buffer = vec![0; (size - from.min(size)).min(PEEKED_BYTES) as usize];
    let read = file.read_at(&mut buffer, from).unwrap_or(0);
    buffer.truncate(read);
    buffer
}

/// The lines that can be read; cut ones at either end cannot.
fn lines_of(chunk: &[u8]) -> impl Iterator<Item = Line> {
    chunk.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

fn moment(value: &serde_json::Value) -> Option<Timestamp> {
    match value {
        serde_json::Value::String(text) => text.parse().ok(),
        serde_json::Value::Number(millis) => millis.as_i64().map(Timestamp::from_millis),
        _ => None,
    }
}
