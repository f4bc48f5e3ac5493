//! Where Cline stores sessions, and which session a document belongs to.

use std::io;
use std::path::{Path, PathBuf};

use rethread_model::SessionKind;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::tasks;
use crate::agents::SessionIdentity;
use crate::parse::is_uuid;
use crate::source::{SessionDocument, SourceConfig, TranscriptHead, TranscriptPeek, read_text};

const DOCUMENT_SUFFIX: &str = ".messages.json";
/// The extension's name in the editor's storage.
const EXTENSION: &str = "saoudrizwan.claude-dev";
const MAX_MANIFEST_BYTES: u64 = 4 << 20;

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("CLINE_DIR");
    named.map_or_else(|| source_config.home.join(".cline"), |folder| source_config.expand_home(folder))
}

fn data_dir(source_config: &SourceConfig) -> (PathBuf, &'static str) {
    match source_config.env_var("CLINE_DATA_DIR") {
        Some(folder) => (source_config.expand_home(folder), "CLINE_DATA_DIR"),
        None => (home(source_config).join("data"), "default location"),
    }
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    if let Some(folder) = source_config.env_var("CLINE_SESSION_DATA_DIR") {
        return vec![(source_config.expand_home(folder), "CLINE_SESSION_DATA_DIR")];
    }
    let (data, reason) = data_dir(source_config);
    vec![(data.join("sessions"), reason)]
}

/// The folders of the extension's tasks: early versions of the CLI wrote the same files.
pub(super) fn task_roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let (data, reason) = data_dir(source_config);
    let mut roots = tasks::extension_roots(source_config, EXTENSION);
    roots.push((data.join("tasks"), reason));
    roots
}

pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.ends_with(DOCUMENT_SUFFIX))
}

/// A session may be forked: its messages and calls are then copied with their ids.
pub(super) fn is_global_id(id: &str) -> bool {
    let id = id.split(':').next().unwrap_or(id);
    is_uuid(id) || id.starts_with("msg_") || (id.len() >= 20 && (id.starts_with("toolu_") || id.starts_with("call_")))
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    let is_ours = ["lead", "subagent", "teammate"].iter().any(|agent| head.raw_field("agent") == Some(agent));
    is_ours && head.raw_field("sessionId").is_some()
}

/// The file beside a session's document that has its directory and title. Those of sub-agents have none.
pub(super) fn manifest(path: &Path) -> Option<PathBuf> {
    let id = path.file_name()?.to_str()?.strip_suffix(DOCUMENT_SUFFIX)?;
    Some(path.with_file_name(format!("{id}.json"))).filter(|path| path.is_file())
}

/// The document, with what the manifest says about the session.
pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let document = SessionDocument::read(path, "messages")?;
    let own = manifest(path);
    let is_main = own.is_some();
    // A sub-agent works where its parent does; the folder is named after the parent.
    let parents = || Some(path.with_file_name(format!("{}.json", path.parent()?.file_name()?.to_str()?)));
    let text = own.or_else(parents).and_then(|manifest| read_text(&manifest, MAX_MANIFEST_BYTES).ok());
    let fields = text.and_then(|text| serde_json::from_str(&text).ok());
    Ok(document.with_header_fields(fields.map(|fields| manifest_fields(&fields, is_main)).unwrap_or_default()))
}

fn manifest_fields(manifest: &Value, is_main: bool) -> Map<String, Value> {
    let text = |pointer: &str| manifest.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let cwd = if text("/cwd").is_empty() { text("/workspace_root") } else { text("/cwd") };
    let mut fields = Map::new();
    fields.insert("cwd".to_owned(), cwd.into());
    fields.insert("branch".to_owned(), text("/metadata/git/branch").into());
    if is_main {
        fields.insert("startedAt".to_owned(), text("/started_at").into());
        let (title, prompt) = (text("/metadata/title"), text("/prompt"));
        // Until it gets a title, a session has the beginning of its prompt in its place.
        if !prompt.contains(title.trim_end_matches('…').trim_end_matches("...").trim()) {
            fields.insert("title".to_owned(), title.into());
        }
    }
    fields
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClineHeader {
    session_id: Value,
    agent: Value,
    cwd: Value,
    started_at: Value,
    origin: Value,
}

pub(super) fn peek(head: &TranscriptHead) -> TranscriptPeek {
    let header: ClineHeader = head.lines().next().unwrap_or_default();
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let session_id = text(&header.session_id);
    let is_child = header.agent.is_string() && header.agent != "lead";
    let named = header.origin.get("parentThreadId").and_then(text);
    // `<parent>__agent_<id>`, `<parent>__teammate_<id>`
    let from_id = || session_id.as_deref()?.split_once("__").map(|(parent, _)| parent.to_owned());
    TranscriptPeek {
        parent_id: named.or_else(from_id).filter(|_| is_child),
        cwd: text(&header.cwd),
        first_at: text(&header.started_at).and_then(|text| text.parse().ok()),
        session_id,
        ..TranscriptPeek::default()
    }
}

pub(super) fn identify(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let from_name = || path.file_name()?.to_str()?.strip_suffix(DOCUMENT_SUFFIX).map(str::to_owned);
    let external_id = peek.session_id.clone().or_else(from_name)?;
    let kind = if peek.parent_id.is_some() { SessionKind::Child } else { SessionKind::Main };
    Some(SessionIdentity { external_id, kind, parent_external_id: peek.parent_id.clone() })
}
