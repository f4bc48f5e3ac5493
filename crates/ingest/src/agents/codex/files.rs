//! Where Codex stores rollouts, and which session a file belongs to.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rethread_model::SessionKind;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::header::RolloutHeader;
use crate::agents::SessionIdentity;
use crate::parse::is_uuid;
use crate::source::{SessionDocument, SourceConfig, TranscriptHead, TranscriptPeek, file, read_text, unzstd};

/// Larger rollouts are not read as a whole.
const MAX_DOCUMENT_BYTES: u64 = 512 << 20;
const MAX_INDEX_BYTES: u64 = 16 << 20;
/// Length of the local time in a rollout's name, `2026-11-17T06-16-57`.
const NAME_TIME_LENGTH: usize = 19;

/// The directory of the configuration.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("CODEX_HOME");
    named.map_or_else(|| source_config.home.join(".codex"), |folder| source_config.expand_home(folder))
}

/// The current rollouts, and those that the user archived.
pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let reason = if source_config.env_var("CODEX_HOME").is_some() { "CODEX_HOME" } else { "default location" };
    let home = home(source_config);
    vec![(home.join("sessions"), reason), (home.join("archived_sessions"), "archived sessions")]
}

pub(super) fn is_rollout(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("rollout-"))
}

pub(super) fn is_compressed_rollout(path: &Path) -> bool {
    is_rollout(path)
        && path.file_stem().is_some_and(|stem| Path::new(stem).extension().is_some_and(|ext| ext == "jsonl"))
}

/// Whether lines have the types of a rollout's, or of one before version 0.32.
pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct SniffedRollout {
        #[serde(rename = "type")]
        kind: Value,
        payload: Value,
        id: Value,
        instructions: Value,
        record_type: Value,
    }
    let types = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
    let is_line = |line: &SniffedRollout| {
        line.payload.is_object() && line.kind.as_str().is_some_and(|kind| types.contains(&kind))
    };
    let lines: Vec<SniffedRollout> = head.lines().collect();
    let is_old = lines.first().is_some_and(|line| line.id.is_string() && line.instructions.is_string())
        || lines.iter().any(|line| line.record_type == "state");
    // The first line can be longer than what was read of the file.
    lines.iter().any(is_line) || is_old || (lines.is_empty() && head.raw_field("type") == Some("session_meta"))
}

/// Whether a file begins like the documents of the first versions.
pub(super) fn recognizes_document(head: &TranscriptHead) -> bool {
    let text = String::from_utf8_lossy(&head.0);
    let first_key = text.trim_start().strip_prefix('{').map_or("", str::trim_start);
    first_key.starts_with("\"session\"") && text.contains("\"instructions\"")
}

/// The header has everything.
pub(super) fn peek(head: &TranscriptHead) -> TranscriptPeek {
    let header: RolloutHeader = head.lines().next().unwrap_or_default();
    TranscriptPeek {
        session_id: header.id,
        cwd: header.cwd,
        parent_id: header.parent.or_else(|| header.is_child.then(String::new)),
        first_at: header.started_at.and_then(|at| at.parse().ok()),
        ..TranscriptPeek::default()
    }
}

pub(super) fn identify(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let name = path.file_name()?.to_str()?;
    let in_path = || session_id_in_path(name).or(name.split('.').next()).map(str::to_owned);
    let external_id = peek.session_id.clone().or_else(in_path)?;
    // Sub-agents that review or compact do not name the session they belong to.
    let kind = if peek.parent_id.is_some() { SessionKind::Child } else { SessionKind::Main };
    let parent = peek.parent_id.clone().filter(|parent| !parent.is_empty() && *parent != external_id);
    Some(SessionIdentity { external_id, kind, parent_external_id: parent })
}

/// The session in `rollout-<time>-<id>.jsonl`, or in `rollout-<time>-<id>_<rollout>.jsonl` after a revert.
pub(super) fn session_id_in_path(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?.strip_prefix("rollout-")?;
    let id = name.get(NAME_TIME_LENGTH..)?.strip_prefix('-')?.get(..36)?;
    is_uuid(id).then_some(id)
}

/// The name of a session in `session_index.jsonl`, beside the folders with rollouts; the last one counts.
pub(super) fn indexed_name(rollout: &Path, id: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct IndexLine {
        id: String,
        thread_name: String,
    }
    let is_root = |folder: &&Path| folder.ends_with("sessions") || folder.ends_with("archived_sessions");
    let home = rollout.ancestors().find(is_root)?.parent()?;
    let text = read_text(&home.join("session_index.jsonl"), MAX_INDEX_BYTES).ok()?;
    let lines = text.lines().rev().filter(|line| line.contains(id));
    let mut named = lines.filter_map(|line| serde_json::from_str::<IndexLine>(line).ok());
    named.find(|line| line.id == id).map(|line| line.thread_name).filter(|name| !name.trim().is_empty())
}

/// Reads a compressed rollout.
pub(super) fn load_compressed(path: &Path) -> io::Result<SessionDocument> {
    let (file, stamp) = file::open(path)?;
    if stamp.size > MAX_DOCUMENT_BYTES {
        return Err(io::Error::other("too large"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_DOCUMENT_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&unzstd(&bytes, MAX_DOCUMENT_BYTES)?).into_owned();
    let header = RolloutHeader::read(text.lines().map(|line| line.as_bytes().to_vec())).with_name(path);
    let records: Vec<String> = text.lines().map(str::to_owned).collect();
    Ok(SessionDocument::new(header.to_json(), &records))
}

/// Reads a document of the first versions: `session` and `items`.
pub(super) fn load_document(path: &Path) -> io::Result<SessionDocument> {
    #[derive(Deserialize)]
    struct OldRollout<'a> {
        #[serde(borrow)]
        session: &'a RawValue,
        #[serde(borrow, default)]
        items: Vec<&'a RawValue>,
    }
    let text = read_text(path, MAX_DOCUMENT_BYTES)?;
    let read: OldRollout<'_> =
        serde_json::from_str(&text).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    let lines = std::iter::once(read.session).chain(read.items.iter().copied());
    let header = RolloutHeader::read(lines.map(|line| line.get().as_bytes().to_vec()));
    let records: Vec<String> = read.items.iter().map(|item| item.get().to_owned()).collect();
    Ok(SessionDocument::new(header.to_json(), &records))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01a1e826-c482-70b0-992d-c6082fd76052";

    #[test]
    fn name_of_a_rollout_contains_its_session() {
        for rest in [".jsonl", ".jsonl.zst", "_01a1e826-c881-7661-91b4-7c3d1ed3f48c.jsonl"] {
            let path = format!("/h/.codex/sessions/2026/11/17/rollout-2026-11-17T06-16-57-{ID}{rest}");
            assert_eq!(session_id_in_path(&path), Some(ID), "{path}");
        }
        assert_eq!(session_id_in_path("rollout-x.jsonl"), None);
    }

    #[test]
    fn a_file_without_ids_is_named_by_its_name() {
        let identify = |name: &str| identify(Path::new(name), &TranscriptPeek::default()).unwrap().external_id;
        assert_eq!(identify(&format!("/x/rollout-2026-11-17T06-16-57-{ID}.jsonl.zst")), ID);
        assert_eq!(identify("/x/session-alpha.jsonl"), "session-alpha");
    }

    #[test]
    fn rollouts_of_every_age_are_recognized() {
        let is_ours = |text: &str| recognizes(&TranscriptHead(text.into()));
        assert!(is_ours("{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"a\"}}\n"));
        assert!(is_ours("{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"cut"));
        assert!(is_ours("{\"id\":\"a\",\"timestamp\":\"t\",\"instructions\":\"x\"}\n"));
        assert!(is_ours("{\"id\":\"a\",\"timestamp\":\"t\",\"instructions\":null}\n{\"record_type\":\"state\"}\n"));
        assert!(!is_ours("{\"type\":\"session\",\"id\":\"a\"}\n{\"type\":\"message\"}\n"));
    }

    #[test]
    fn overrides_replace_the_default_location() {
        let config = SourceConfig {
            home: "/h".into(),
            env_vars: vec![("CODEX_HOME".into(), "~/c".into())],
            ..SourceConfig::default()
        };
        assert_eq!(roots(&config)[0].0, Path::new("/h/c/sessions"));
        assert_eq!(home(&SourceConfig { home: "/h".into(), ..SourceConfig::default() }), Path::new("/h/.codex"));
    }
}
