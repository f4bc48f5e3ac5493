//! Peeks into a transcript: agent, session, first and last time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rethread_model::{Agent, OWN_CALL_TAG, Timestamp};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::file::{self, FileStamp};
use super::reader::{ReadPosition, TranscriptReader};
use crate::{EventBody, Redactor, SessionHeader, TranscriptEvent, TranscriptFilter, TranscriptParser};

/// Number of bytes that are read.
const PEEK_BYTES: u64 = 32 * 1024;

/// What the beginning of a transcript contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptPeek {
    /// The agent's id of the session.
    pub session_id: Option<String>,
    /// The first working directory.
    pub cwd: Option<String>,
    /// The agent's id of the session that started this one as its sub-agent.
    pub parent_id: Option<String>,
    /// The first timestamp.
    pub first_at: Option<Timestamp>,
    /// Whether the file is marked as containing copies of another session's lines.
    pub is_copy: bool,
    /// Whether it is the transcript of one of our own model calls.
    pub is_own_call: bool,
}

/// The first bytes of a transcript.
#[derive(Debug)]
pub(crate) struct TranscriptHead(pub(crate) Vec<u8>);

/// Reads the beginning of an agent's transcript. Fields that cannot be read stay empty.
pub fn peek(agent: Agent, path: &Path) -> io::Result<(FileStamp, TranscriptPeek)> {
    let transcript = TranscriptReader::open(agent, path)?;
    let (layout, head) = (transcript.layout, transcript.head());
    let found = (layout.peek)(&head);
    let mut peek = TranscriptPeek {
        first_at: found.first_at.filter(|at| at.is_plausible()),
        is_copy: layout.copy_signs.iter().any(|sign| head.contains(sign)),
        // Only at the start of a string: people may write about the tag.
        is_own_call: head.contains(&format!("\":\"{OWN_CALL_TAG}")),
        ..found
    };
    // A file without a session is looked at in every sync, so no more of it is read.
    if peek.cwd.is_none() && !peek.is_own_call && (layout.identify)(path, &peek).is_some() {
        peek.cwd = first_directory(&transcript);
    }
    Ok((transcript.stamp, peek))
}

/// The directory in the first record that names one, for transcripts that do not begin with it: what is excluded is
/// decided by it.
fn first_directory(transcript: &TranscriptReader) -> Option<String> {
    let no_texts = TranscriptFilter {
        keep_user_messages: false,
        keep_agent_responses: false,
        keep_tool_structure: false,
        ..TranscriptFilter::default()
    };
    let mut parser = TranscriptParser::new(transcript.layout, &no_texts, Redactor::shared());
    let directory = |events: Vec<TranscriptEvent>| {
        events.into_iter().find_map(|event| match event.body {
            EventBody::Header(SessionHeader { cwd, .. }) | EventBody::Workspace { cwd, .. } => cwd,
            _ => None,
        })
    };
    let in_header = transcript.header().and_then(|header| directory(parser.parse_header(header)));
    if in_header.is_some() {
        return in_header;
    }
    let mut records = transcript.records(ReadPosition::default()).ok()?;
    while let Some(line) = records.next_line().ok()? {
        let found = if line.is_skipped { None } else { directory(parser.parse_line(line.bytes, line.location).events) };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The last timestamp in a file, found without parsing; good enough to sort files.
pub fn last_timestamp(file: &File, size: u64) -> Option<Timestamp> {
    let tail = read_chunk(file, size.saturating_sub(PEEK_BYTES), size);
    let name = b"\"timestamp\":";
    let at = memchr::memmem::rfind(&tail, name)? + name.len();
    let text = std::str::from_utf8(tail.get(at..at + 40.min(tail.len() - at))?).ok()?;
    text.trim_start().strip_prefix('"')?.split('"').next()?.parse().ok().filter(|at: &Timestamp| at.is_plausible())
}

impl TranscriptHead {
    /// The first bytes of a file.
    pub(crate) fn of_file(path: &Path) -> io::Result<Self> {
        let (file, stamp) = file::open(path)?;
        Ok(Self::read(&file, stamp.size))
    }

    pub(super) fn read(file: &File, size: u64) -> Self {
        Self(read_chunk(file, 0, size))
    }

    /// The same with the header as its first line.
    pub(super) fn after_header(mut self, header: Option<&str>) -> Self {
        if let Some(header) = header {
            self.0.splice(0..0, header.bytes().chain([b'\n']));
        }
        self
    }

    /// What is stored about a session as a whole, as if it were the first line.
    pub(super) fn from_header(header: &str) -> Self {
        Self(header.as_bytes().to_vec())
    }

    /// Whether the file is a SQLite database.
    pub(crate) fn is_database(&self) -> bool {
        self.0.starts_with(b"SQLite format 3\0")
    }

    /// The lines that can be parsed; a line cut off at the end cannot. Declare the fields of `T` as [`Value`], which
    /// accepts any type: `T` must own its data.
    pub(crate) fn lines<T: DeserializeOwned>(&self) -> impl Iterator<Item = T> {
        self.0.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
    }

    /// The string value of a field, found without parsing, for lines that are cut off.
    pub(crate) fn raw_field(&self, name: &str) -> Option<&str> {
        let found = |spelling: String| Some(memchr::memmem::find(&self.0, spelling.as_bytes())? + spelling.len());
        let start = found(format!("\"{name}\":\"")).or_else(|| found(format!("\"{name}\": \"")))?;
        let length = memchr::memchr(b'"', &self.0[start..])?;
        std::str::from_utf8(&self.0[start..start + length]).ok().filter(|text| !text.contains('\\'))
    }

    /// The first `cwd`, `timestamp` and `parentSessionId` of any line and, if the session is not known yet, the first
    /// `sessionId`.
    pub(crate) fn usual_fields(&self, session_id: Option<String>) -> TranscriptPeek {
        #[derive(Deserialize, Default)]
        #[serde(default, rename_all = "camelCase")]
        struct UsualFields {
            session_id: Value,
            parent_session_id: Value,
            cwd: Value,
            timestamp: Value,
        }
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let mut peek = TranscriptPeek { session_id, ..TranscriptPeek::default() };
        for line in self.lines::<UsualFields>() {
            peek.session_id = peek.session_id.or_else(|| text(&line.session_id));
            peek.parent_id = peek.parent_id.or_else(|| text(&line.parent_session_id));
            peek.cwd = peek.cwd.or_else(|| text(&line.cwd));
            peek.first_at = peek.first_at.or_else(|| parse_timestamp(&line.timestamp));
            if peek.session_id.is_some() && peek.cwd.is_some() && peek.first_at.is_some() {
                return peek;
            }
        }
        // The first line can be longer than the bytes that were read.
        peek.first_at = peek.first_at.or_else(|| self.raw_field("timestamp")?.parse().ok());
        if peek.session_id.is_none() {
            peek.session_id = self.raw_field("sessionId").map(str::to_owned);
            peek.cwd = peek.cwd.or_else(|| self.raw_field("cwd").map(str::to_owned));
        }
        peek
    }

    fn contains(&self, text: &str) -> bool {
        memchr::memmem::find(&self.0, text.as_bytes()).is_some()
    }
}

fn read_chunk(file: &File, from: u64, size: u64) -> Vec<u8> {
    let mut buffer = vec![0; (size - from.min(size)).min(PEEK_BYTES) as usize];
    let read = file.read_at(&mut buffer, from).unwrap_or(0);
    buffer.truncate(read);
    buffer
}

fn parse_timestamp(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(millis) => millis.as_i64().map(Timestamp::from_millis),
        _ => None,
    }
}
