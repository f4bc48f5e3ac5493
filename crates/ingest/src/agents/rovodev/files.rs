//! Where Rovo Dev stores sessions, and what the files of one say.

use std::io;
use std::path::{Path, PathBuf};

use crate::parse::derived_header::{DerivedHeader, text_at};
use crate::source::{SessionDocument, SourceConfig, read_json};

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    source_config.home.join(".rovodev")
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    vec![(home(source_config).join("sessions"), "default location")]
}

pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "session_context.json")
}

pub(super) fn beside(path: &Path) -> Vec<PathBuf> {
    vec![path.with_file_name("metadata.json")]
}

pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let document = SessionDocument::read(path, "message_history")?;
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let meta = read_json(&path.with_file_name("metadata.json")).unwrap_or_default();
    let header = DerivedHeader {
        session_id: text_at(&meta, "/session_id").or(folder.map(str::to_owned)),
        forked_from: text_at(&meta, "/fork_parent_id").or_else(|| text_at(&meta, "/parent_session_id")),
        cwd: text_at(&meta, "/workspace_path"),
        generated_title: text_at(&meta, "/title"),
        timestamp: meta["created_at"].clone(),
        ..DerivedHeader::default()
    };
    Ok(document.with_header(header.to_json()))
}
