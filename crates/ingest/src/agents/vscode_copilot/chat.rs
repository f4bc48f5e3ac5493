//! Loads a chat: its requests are the records, the rest is the header.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::files::work_dir;
use super::mutation_log::replay;
use crate::source::{SessionDocument, TranscriptHead, read_text};

const MAX_CHAT_BYTES: u64 = 256 << 20;

/// What a chat says about itself. The account of its user is not read.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ChatHeader {
    pub(super) session_id: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) custom_title: Option<String>,
    /// In the form that peeking expects.
    pub(super) timestamp: Option<i64>,
}

/// Whether a file begins like a chat.
pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    let has = |needle: &str| memchr::memmem::find(&head.0, needle.as_bytes()).is_some();
    head.0.trim_ascii_start().starts_with(b"{") && has("\"requests\"") && has("\"responderUsername\"")
}

pub(super) fn load_log(path: &Path) -> io::Result<SessionDocument> {
    let chat = replay(&read_text(path, MAX_CHAT_BYTES)?);
    if !chat.is_object() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "no state of a chat"));
    }
    Ok(document(path, &chat))
}

pub(super) fn load_document(path: &Path) -> io::Result<SessionDocument> {
    let text = read_text(path, MAX_CHAT_BYTES)?;
    let chat: Value = serde_json::from_str(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    Ok(document(path, &chat))
}

fn document(path: &Path, chat: &Value) -> SessionDocument {
    let text = |name: &str| chat[name].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let header = ChatHeader {
        session_id: text("sessionId"),
        cwd: work_dir(path),
        custom_title: text("customTitle"),
        timestamp: chat["creationDate"].as_i64(),
    };
    let requests = chat["requests"].as_array().into_iter().flatten();
    let records: Vec<String> = requests.map(Value::to_string).collect();
    SessionDocument::new(serde_json::to_string(&header).unwrap_or_default(), &records)
}
