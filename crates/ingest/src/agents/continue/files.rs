//! Where Continue stores sessions, and what its list says about them.

use std::io;
use std::path::{Path, PathBuf};

use rethread_model::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::history;
use crate::parse::folded::{FoldedHeader, folded_document};
use crate::parse::lenient::{LenientObject, LenientText, LenientTimestamp, parse_or_default};
use crate::source::{SessionDocument, SourceConfig, TranscriptHead, file, path_in_uri, read_text};

/// The list of all sessions, in the same folder.
const LIST: &str = "sessions.json";
const MAX_BYTES: u64 = 256 << 20;
const MAX_LIST_BYTES: u64 = 16 << 20;
/// Titles of sessions that have none.
const NO_TITLES: [&str; 3] = ["Untitled Session", "New Session", "Session"];

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("CONTINUE_GLOBAL_DIR");
    named.map_or_else(|| source_config.home.join(".continue"), |folder| source_config.expand_home(folder))
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let is_named = source_config.env_var("CONTINUE_GLOBAL_DIR").is_some();
    let reason = if is_named { "CONTINUE_GLOBAL_DIR" } else { "default location" };
    vec![(home(source_config).join("sessions"), reason)]
}

pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name != LIST)
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    head.raw_field("sessionId").is_some() && head.raw_field("workspaceDirectory").is_some()
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ContinueSession<'a> {
    #[serde(borrow)]
    session_id: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
    #[serde(borrow)]
    workspace_directory: LenientText<'a>,
    #[serde(borrow)]
    history: Option<&'a RawValue>,
    /// Only in the list.
    date_created: LenientTimestamp,
}

pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let text = read_text(path, MAX_BYTES)?;
    let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let session: ContinueSession<'_> = serde_json::from_str(&text).map_err(invalid)?;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let id = session.session_id.non_empty().map_or_else(|| stem.to_owned(), Into::into);
    let title = session.title.non_empty().filter(|title| !NO_TITLES.contains(&title.as_ref()));
    let header = FoldedHeader {
        timestamp: created_at(path, &id),
        session_id: Some(id),
        // The extensions write an address, the CLI a path.
        cwd: session.workspace_directory.non_empty().map(|place| path_in_uri(&place).unwrap_or_else(|| place.into())),
        title: title.map(Into::into),
        // The messages have no times.
        changed_at: file::stamp(path).map(|stamp| Timestamp::from_millis(stamp.mtime / 1_000_000)),
        ..FoldedHeader::default()
    };
    let history: Vec<&RawValue> = parse_or_default(session.history);
    folded_document(&header, &history::fold(&history))
}

fn created_at(path: &Path, id: &str) -> Option<Timestamp> {
    let text = read_text(&path.with_file_name(LIST), MAX_LIST_BYTES).ok()?;
    let list: Vec<LenientObject<ContinueSession<'_>>> = serde_json::from_str(&text).ok()?;
    list.into_iter().find(|one| one.0.session_id.as_str() == id)?.0.date_created.0
}
