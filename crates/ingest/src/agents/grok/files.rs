//! Where Grok Build stores sessions, and what `summary.json` says about them.

use std::io;
use std::path::{Component, Path, PathBuf};

use rethread_model::Timestamp;
use serde_json::Value;

use super::{chat, updates};
use crate::agents::{SessionIdentity, usual_identity};
use crate::parse::folded::{FoldedHeader, FoldedRecord, folded_document};
use crate::parse::is_uuid;
use crate::source::{SessionDocument, SourceConfig, TranscriptHead, TranscriptPeek, read_text};

pub(super) const UPDATES: &str = "updates.jsonl";
pub(super) const CHAT: &str = "chat_history.jsonl";
pub(super) const SUMMARY: &str = "summary.json";
const MAX_BYTES: u64 = 256 << 20;
const MAX_SUMMARY_BYTES: u64 = 4 << 20;

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("GROK_HOME");
    named.map_or_else(|| source_config.home.join(".grok"), |folder| source_config.expand_home(folder))
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let is_named = source_config.env_var("GROK_HOME").is_some();
    let reason = if is_named { "GROK_HOME" } else { "default location" };
    vec![(home(source_config).join("sessions"), reason)]
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    head.raw_field("method").is_some_and(|method| method.ends_with("session/update"))
}

/// A fork begins with copies of updates, whose ids are kept: the session's id and a number. Calls are identified by
/// their updates.
pub(super) fn is_global_id(id: &str) -> bool {
    id.get(..36).is_some_and(is_uuid) && id.len() > 36
}

pub(super) fn load_updates(path: &Path) -> io::Result<SessionDocument> {
    // The conversation after a compaction is in a file of its own.
    let checkpoint = |name: &str| {
        let is_inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
        let text = read_text(&path.with_file_name(name), MAX_BYTES).ok().filter(|_| is_inside)?;
        chat::checkpoint_summary(&text)
    };
    let folded = updates::fold(&read_text(path, MAX_BYTES)?, &checkpoint);
    document(path, folded.session_id, folded.first_at, &folded.records)
}

pub(super) fn load_chat(path: &Path) -> io::Result<SessionDocument> {
    document(path, None, None, &chat::fold(&read_text(path, MAX_BYTES)?))
}

/// The model's messages are the poorer copy: they are read only if there are no updates.
pub(super) fn identify_chat(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    usual_identity(path, peek).filter(|_| !path.with_file_name(UPDATES).is_file())
}

fn document(
    path: &Path,
    session_id: Option<String>,
    first_at: Option<Timestamp>,
    records: &[FoldedRecord],
) -> io::Result<SessionDocument> {
    let text = read_text(&path.with_file_name(SUMMARY), MAX_SUMMARY_BYTES).unwrap_or_default();
    let summary: Value = serde_json::from_str(&text).unwrap_or_default();
    // Versions spell the names in two ways.
    let field = |pointers: &[&str]| {
        let found = pointers.iter().filter_map(|pointer| summary.pointer(pointer)?.as_str());
        found.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
    };
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).map(str::to_owned);
    let parent = field(&["/parent_session_id", "/parentSessionId"]);
    let is_subagent = field(&["/session_kind", "/sessionKind"]).is_some_and(|kind| kind.contains("agent"));
    let (parent_session_id, forked_from) = if is_subagent { (parent, None) } else { (None, parent) };
    let header = FoldedHeader {
        session_id: folder.or(session_id),
        parent_session_id,
        forked_from,
        cwd: field(&["/info/cwd", "/cwd", "/git_root_dir", "/gitRootDir"]),
        branch: field(&["/head_branch", "/headBranch", "/git/branch"]),
        title: field(&["/generated_title", "/generatedTitle"]),
        model: field(&["/current_model_id", "/modelId", "/model_id"]),
        timestamp: field(&["/created_at", "/createdAt"]).and_then(|text| text.parse().ok()).or(first_at),
        changed_at: field(&["/last_active_at", "/updated_at", "/updatedAt"]).and_then(|text| text.parse().ok()),
    };
    folded_document(&header, records)
}
