//! Where DeepSeek Harness stores sessions, and which session a file belongs to.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rethread_model::SessionKind;
use serde::Deserialize;
use serde_json::Value;

use crate::agents::SessionIdentity;
use crate::parse::lenient::LenientTimestamp;
use crate::source::{SessionDocument, SourceConfig, TranscriptHead, TranscriptPeek, file, unzstd_appended};

/// Larger logs are not read, compressed or not.
const MAX_BYTES: u64 = 256 << 20;

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("DSH_HOME");
    named.map_or_else(|| source_config.home.join(".dsh"), |folder| source_config.expand_home(folder))
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let is_named = source_config.env_var("DSH_HOME").is_some();
    vec![(home(source_config).join("sessions"), if is_named { "DSH_HOME" } else { "default location" })]
}

pub(super) fn is_raw_transcript(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| format_version(name).is_some())
}

/// `session.jsonl` → 0, `session.v4.jsonl.zstd` → 4.
fn format_version(name: &str) -> Option<u32> {
    let name = name.strip_suffix(".zstd").unwrap_or(name);
    let version = name.strip_prefix("session")?.strip_suffix(".jsonl")?;
    if version.is_empty() { Some(0) } else { version.strip_prefix(".v")?.parse().ok() }
}

/// Every append is a frame of its own. The last one may be torn: what is whole in it is read.
pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let (packed, stamp) = file::open(path)?;
    if stamp.size > MAX_BYTES {
        return Err(io::Error::other(format!("file of {} MB", stamp.size >> 20)));
    }
    let mut bytes = Vec::new();
    packed.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&unzstd_appended(&bytes, MAX_BYTES)?).into_owned();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let mut lines = whole.split('\n').map(str::to_owned);
    let header = lines.next().filter(|line| !line.is_empty()).ok_or(io::ErrorKind::InvalidData)?;
    Ok(SessionDocument::new(header, &lines.collect::<Vec<_>>()))
}

/// The first line, for the other ones.
pub(super) fn raw_header(path: &Path) -> Option<String> {
    let head = TranscriptHead::of_file(path).ok()?;
    let line = head.0.split(|byte| *byte == b'\n').next()?;
    String::from_utf8(line.to_vec()).ok().filter(|line| line.starts_with('{'))
}

/// The first line.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DeepSeekHeader {
    #[serde(rename = "type")]
    kind: Value,
    id: Value,
    created_at: Value,
    cwd: Value,
    parent_session: Value,
    origin: Value,
}

fn header_of(head: &TranscriptHead) -> Option<DeepSeekHeader> {
    head.lines::<DeepSeekHeader>().next().filter(|header| header.kind == "session" && header.id.is_string())
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    header_of(head).is_some_and(|header| header.created_at.is_number())
}

pub(super) fn peek(head: &TranscriptHead) -> TranscriptPeek {
    let header = header_of(head).unwrap_or_default();
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    TranscriptPeek {
        session_id: text(&header.id),
        cwd: text(&header.cwd),
        parent_id: text(&header.parent_session).filter(|_| header.origin == "subagent"),
        first_at: LenientTimestamp::from_value(&header.created_at).0,
        ..TranscriptPeek::default()
    }
}

/// A newer version of the agent keeps the old file when it converts a session, and no longer writes it.
pub(super) fn identify(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let version = path.file_name()?.to_str().and_then(format_version).unwrap_or_default();
    let folder = path.parent()?;
    let is_converted = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.file_name().to_str().and_then(format_version).is_some_and(|other| other > version));
    let folder_name = || folder.file_name()?.to_str().map(str::to_owned);
    let external_id = peek.session_id.clone().or_else(folder_name).filter(|_| !is_converted)?;
    let kind = if peek.parent_id.is_some() { SessionKind::Child } else { SessionKind::Main };
    Some(SessionIdentity { external_id, kind, parent_external_id: peek.parent_id.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_the_format_are_in_the_names_of_files() {
        for (name, expect) in [
            ("session.jsonl", Some(0)),
            ("session.jsonl.zstd", Some(0)),
            ("session.v4.jsonl.zstd", Some(4)),
            ("session.v12.jsonl", Some(12)),
            ("session.index", None),
            ("notes.jsonl", None),
        ] {
            assert_eq!(format_version(name), expect, "{name}");
        }
    }
}
