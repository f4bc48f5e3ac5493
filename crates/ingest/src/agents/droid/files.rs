//! Where Droid stores transcripts, and which session a file belongs to.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::parse::is_uuid;
use crate::source::{SourceConfig, TranscriptHead, TranscriptPeek, read_text};

const MAX_SETTINGS_BYTES: u64 = 4 << 20;

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    source_config.home.join(".factory")
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    vec![(home(source_config).join("sessions"), "default location")]
}

/// The name for the folder of a working directory.
pub(super) fn folder_name(work_dir: &str) -> String {
    work_dir.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// A fork begins with copies of messages, whose ids are kept. Calls are identified by their message.
pub(super) fn is_global_id(id: &str) -> bool {
    is_uuid(id.split(':').next().unwrap_or(id))
}

/// The file with the session's settings and tokens.
pub(super) fn settings(path: &Path) -> PathBuf {
    path.with_extension("settings.json")
}

/// The parts of the first line that a later line cannot know, and the settings.
pub(super) fn header(path: &Path) -> String {
    let start = TranscriptHead::of_file(path).ok().and_then(|head| session_start(&head)).unwrap_or_default();
    let settings = read_text(&settings(path), MAX_SETTINGS_BYTES).unwrap_or_default();
    let settings: Value = serde_json::from_str(&settings).unwrap_or_default();
    let field = |name: &str| settings.get(name).cloned().unwrap_or_default();
    let (model, usage) = (field("model"), field("tokenUsage"));
    json!({"isSubagent": start.calling_session_id.is_string(), "model": model, "tokenUsage": usage}).to_string()
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DroidStart {
    #[serde(rename = "type")]
    kind: Value,
    id: Value,
    session_id: Value,
    cwd: Value,
    /// The session that started this one as its sub-agent.
    calling_session_id: Value,
}

fn session_start(head: &TranscriptHead) -> Option<DroidStart> {
    head.lines().find(|line: &DroidStart| line.kind == "session_start")
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    head.lines().next().is_some_and(|line: DroidStart| line.kind == "session_start")
}

/// Only the first line names the session and its directory.
pub(super) fn peek(head: &TranscriptHead) -> TranscriptPeek {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let start = session_start(head).unwrap_or_default();
    TranscriptPeek {
        session_id: text(&start.id).or_else(|| text(&start.session_id)),
        parent_id: text(&start.calling_session_id),
        cwd: text(&start.cwd),
        ..head.usual_fields(None)
    }
}
