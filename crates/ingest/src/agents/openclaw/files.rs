//! Where OpenClaw and its predecessors store sessions, and which session a file belongs to.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_model::SessionKind;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::agents::SessionIdentity;
use crate::source::{SourceConfig, TranscriptHead, TranscriptPeek, read_text};

/// The directories of OpenClaw under its three names, newest first.
const FOLDERS: [&str; 3] = [".openclaw", ".moltbot", ".clawdbot"];
/// The index of a folder of sessions grows with every chat.
const MAX_INDEX_BYTES: u64 = 64 << 20;
/// After the name of a file that OpenClaw put aside; a time follows.
const ASIDE_MARKS: [&str; 2] = [".jsonl.deleted.", ".jsonl.reset."];
/// Between a session's id and the number of a topic in a chat.
const TOPIC_MARK: &str = "-topic-";

/// OpenClaw's own directory.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("OPENCLAW_STATE_DIR");
    let named = named.map(|folder| source_config.expand_home(folder));
    named.unwrap_or_else(|| {
        let mut folders = FOLDERS.iter().map(|folder| source_config.home.join(folder));
        folders.find(|folder| folder.is_dir()).unwrap_or_else(|| source_config.home.join(FOLDERS[0]))
    })
}

/// The databases: one per agent.
pub(super) fn databases(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    below_agents(source_config, "agent/openclaw-agent.sqlite")
}

/// The folders with files of lines: one per agent, and that of the first versions.
pub(super) fn session_folders(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let old = homes(source_config).into_iter().map(|(home, reason)| (home.join("sessions"), reason));
    let old = old.filter(|(folder, _)| folder.is_dir());
    below_agents(source_config, "sessions").into_iter().chain(old).collect()
}

fn homes(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    if source_config.env_var("OPENCLAW_STATE_DIR").is_some() {
        return vec![(home(source_config), "OPENCLAW_STATE_DIR")];
    }
    FOLDERS.iter().map(|folder| (source_config.home.join(folder), "default location")).collect()
}

fn below_agents(source_config: &SourceConfig, name: &str) -> Vec<(PathBuf, &'static str)> {
    let mut found = Vec::new();
    for (home, reason) in homes(source_config) {
        let agents = fs::read_dir(home.join("agents")).into_iter().flatten().filter_map(Result::ok);
        found.extend(agents.map(|agent| (agent.path().join(name), reason)).filter(|(path, _)| path.exists()));
    }
    found.sort();
    found
}

/// Whether a file has a session: also one that OpenClaw put aside, but not a copy it made before a compaction.
pub(super) fn is_transcript(path: &Path) -> bool {
    path.to_str().is_some_and(|path| session_id_in_path(path).is_some())
}

/// The session of a file, by its name: `<id>.jsonl`, `<id>-topic-<n>.jsonl`, `<id>.jsonl.reset.<time>`.
pub(super) fn session_id_in_path(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?;
    let aside = || ASIDE_MARKS.iter().find_map(|mark| name.split_once(mark)).map(|(id, _)| id);
    let id = name.strip_suffix(".jsonl").or_else(aside)?;
    (!id.is_empty() && !id.contains(".checkpoint.") && !id.contains(".trajectory")).then_some(id)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenClawStart {
    #[serde(rename = "type")]
    kind: Value,
    id: Value,
    role: Value,
    content: Value,
    timestamp: Value,
}

/// Whether the beginning is that of the first versions. The others write pi's lines, so only the name shows that a file
/// is OpenClaw's.
pub(super) fn is_session_file(head: &TranscriptHead) -> bool {
    let first: Option<OpenClawStart> = head.lines().next();
    first.is_some_and(|line| {
        line.kind.is_null()
            && (line.role == "user" || line.role == "assistant")
            && line.content.is_string()
            && line.timestamp.is_number()
    })
}

/// What the index of the folder says about a session: its name, and which session started it.
pub(super) fn header(path: &Path) -> Option<String> {
    let id = session_id_in_path(path.to_str()?)?;
    let id = id.split(TOPIC_MARK).next()?;
    let index = read_text(&path.parent()?.join("sessions.json"), MAX_INDEX_BYTES).ok()?;
    let index: Map<String, Value> = serde_json::from_str(&index).ok()?;
    let entry = index.values().find(|entry| entry["sessionId"] == id)?;
    let parent = entry["spawnedBy"].as_str().and_then(|key| index.get(key)).map(|parent| &parent["sessionId"]);
    let title = ["label", "displayName", "subject"].iter().find_map(|name| entry[*name].as_str());
    Some(json!({ "title": title, "parentSessionId": parent }).to_string())
}

/// Pi's header names the session; the index, the one that started it.
pub(super) fn peek(head: &TranscriptHead) -> TranscriptPeek {
    let header = head.lines::<OpenClawStart>().find(|line| line.kind == "session");
    let session_id = header.and_then(|line| line.id.as_str().map(str::to_owned));
    TranscriptPeek { session_id: session_id.clone(), ..head.usual_fields(session_id) }
}

pub(super) fn identify(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let in_path = session_id_in_path(path.to_str()?)?;
    // Topics of a chat have files of their own, which may have one header.
    let external_id = match &peek.session_id {
        Some(id) if !in_path.contains(TOPIC_MARK) => id.clone(),
        _ => in_path.to_owned(),
    };
    let kind = if peek.parent_id.is_some() { SessionKind::Child } else { SessionKind::Main };
    Some(SessionIdentity { external_id, kind, parent_external_id: peek.parent_id.clone() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_put_aside_keeps_its_session() {
        for (name, expect) in [
            ("/h/sessions/a1.jsonl", Some("a1")),
            ("/h/sessions/a1-topic-7.jsonl", Some("a1-topic-7")),
            ("/h/sessions/a1.jsonl.deleted.2026-02-19T08-59-24.951Z", Some("a1")),
            ("/h/sessions/a1.jsonl.reset.2026-02-19T08-59-24.951Z", Some("a1")),
            ("/h/sessions/a1.checkpoint.0198a000-0000-4000-8000-000000000001.jsonl", None),
            ("/h/sessions/a1.jsonl.lock", None),
            ("/h/sessions/sessions.json", None),
        ] {
            assert_eq!(session_id_in_path(name), expect, "{name}");
        }
    }
}
