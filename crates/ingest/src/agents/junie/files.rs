//! Where Junie stores sessions, and what its index says about one.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::parse::derived_header::{DerivedHeader, text_at};
use crate::source::{SourceConfig, read_text};

/// Larger indexes are not read.
const MAX_INDEX_BYTES: u64 = 64 << 20;

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("JUNIE_HOME");
    named.map_or_else(|| source_config.home.join(".junie"), |folder| source_config.expand_home(folder))
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let is_named = source_config.env_var("JUNIE_HOME").is_some();
    vec![(home(source_config).join("sessions"), if is_named { "JUNIE_HOME" } else { "default location" })]
}

pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "events.jsonl")
}

/// The session's line in `index.jsonl`, the last one if there are several.
pub(super) fn header(path: &Path) -> Option<DerivedHeader> {
    let folder = path.parent()?;
    let session_id = folder.file_name()?.to_str()?.to_owned();
    let index = read_text(&folder.parent()?.join("index.jsonl"), MAX_INDEX_BYTES).unwrap_or_default();
    let lines = index.lines().rev().filter(|line| line.contains(&session_id));
    let mut lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = lines.find(|line| line["sessionId"] == session_id.as_str()).unwrap_or_default();
    Some(DerivedHeader {
        session_id: Some(session_id),
        cwd: text_at(&line, "/projectDir"),
        generated_title: text_at(&line, "/taskName"),
        timestamp: line["createdAt"].clone(),
        ..DerivedHeader::default()
    })
}
