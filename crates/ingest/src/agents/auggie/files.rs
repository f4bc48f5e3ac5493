//! Where Auggie stores sessions, and how one is read.

use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::parse::derived_header::{DerivedHeader, text_at};
use crate::source::{SessionDocument, SourceConfig, read_text};

/// Larger sessions are not read.
const MAX_BYTES: u64 = 256 << 20;

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("AUGMENT_HOME");
    named.map_or_else(|| source_config.home.join(".augment"), |folder| source_config.expand_home(folder))
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let is_named = source_config.env_var("AUGMENT_HOME").is_some();
    vec![(home(source_config).join("sessions"), if is_named { "AUGMENT_HOME" } else { "default location" })]
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AuggieSession<'a> {
    #[serde(borrow, default)]
    chat_history: Vec<&'a RawValue>,
    #[serde(default)]
    session_id: Value,
    #[serde(default)]
    parent_session_id: Value,
    #[serde(default)]
    workspace_root: Value,
    #[serde(default, alias = "name", alias = "title")]
    custom_title: Value,
    #[serde(default)]
    created: Value,
    #[serde(default)]
    agent_state: Value,
}

pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let text = read_text(path, MAX_BYTES)?;
    let session: AuggieSession<'_> =
        serde_json::from_str(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let text_of = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let header = DerivedHeader {
        session_id: text_of(&session.session_id).or_else(|| path.file_stem()?.to_str().map(str::to_owned)),
        parent_session_id: text_of(&session.parent_session_id),
        cwd: text_of(&session.workspace_root),
        title: text_of(&session.custom_title),
        model: text_at(&session.agent_state, "/modelId"),
        timestamp: session.created,
        ..DerivedHeader::default()
    };
    let mut records: Vec<String> = session.chat_history.iter().map(|record| record.get().to_owned()).collect();
    // Only the last one can still be answered.
    if let Some(last) = records.last_mut().filter(|last| last.starts_with('{') && is_unfinished(last)) {
        last.insert_str(1, "\"isUnanswered\":true,");
    }
    Ok(SessionDocument::new(header.to_json(), &records))
}

fn is_unfinished(record: &str) -> bool {
    serde_json::from_str::<Value>(record).is_ok_and(|record| record["completed"] == false)
}
