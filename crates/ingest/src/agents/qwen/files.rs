//! Where Qwen Code stores transcripts, and which session a file belongs to.

use std::collections::HashMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use rethread_model::SessionKind;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::agents::SessionIdentity;
use crate::parse::is_uuid;
use crate::source::{SourceConfig, TranscriptHead, TranscriptPeek, name_above, read_text, scan_lines};

/// A larger description of a sub-agent is not read.
const MAX_META_BYTES: u64 = 1 << 20;

/// The variables that move the directory, in order of precedence.
const HOME_VARIABLES: [&str; 2] = ["QWEN_RUNTIME_DIR", "QWEN_HOME"];

/// The directory with the agent's data.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = HOME_VARIABLES.iter().find_map(|name| source_config.env_var(name));
    named.map_or_else(|| source_config.home.join(".qwen"), |folder| source_config.expand_home(folder))
}

fn reason(source_config: &SourceConfig) -> &'static str {
    let named = HOME_VARIABLES.into_iter().find(|name| source_config.env_var(name).is_some());
    named.unwrap_or("default location")
}

/// A folder per project.
pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    vec![(home(source_config).join("projects"), reason(source_config))]
}

/// The `chats` folders of older versions.
pub(super) fn old_roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let Ok(projects) = fs::read_dir(home(source_config).join("tmp")) else { return Vec::new() };
    let chats = projects.filter_map(Result::ok).map(|project| project.path().join("chats"));
    chats.filter(|folder| folder.is_dir()).map(|folder| (folder, "default location of older versions")).collect()
}

/// Sessions are in `<project>/chats`, sub-agents in `<project>/subagents/<session>`.
pub(super) fn is_transcript(path: &Path) -> bool {
    name_above(path, 1) == Some("chats") || subagent_id(path).is_some()
}

/// The name for a project's folder: every character except ASCII letters and digits becomes `-`.
pub(super) fn folder_name(work_dir: &str) -> String {
    work_dir.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect()
}

/// The name of a session's file is its id.
pub(super) fn session_id_in_path(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?;
    name.strip_suffix(".jsonl").filter(|id| is_uuid(id))
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct SniffedRecord {
        uuid: Value,
        message: Value,
        provenance: Value,
        #[serde(rename = "systemPayload")]
        system_payload: Value,
    }
    head.lines::<SniffedRecord>().any(|line| {
        let has_parts = line.message["parts"].is_array();
        line.uuid.is_string() && (has_parts || line.provenance.is_string() || line.system_payload.is_object())
    })
}

pub(super) fn identify(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let session = peek.session_id.clone();
    if let Some(id) = subagent_id(path) {
        let session = name_above(path, 1).map(str::to_owned).or(session)?;
        let parent = match parent_agent(path) {
            Some(parent) => format!("{session}/agent-{parent}"),
            None => session.clone(),
        };
        return Some(SessionIdentity {
            external_id: format!("{session}/agent-{id}"),
            kind: SessionKind::Child,
            parent_external_id: Some(parent),
        });
    }
    Some(SessionIdentity::main(session.or_else(|| path.file_stem()?.to_str().map(str::to_owned))?))
}

/// `subagents/<session>/agent-<id>.jsonl` → the id.
fn subagent_id(path: &Path) -> Option<&str> {
    let id = path.file_stem()?.to_str()?.strip_prefix("agent-").filter(|id| !id.is_empty());
    id.filter(|_| name_above(path, 2) == Some("subagents"))
}

/// The sub-agent that started this one, from the `.meta.json` file beside it.
fn parent_agent(path: &Path) -> Option<String> {
    let meta: Value = serde_json::from_str(&read_text(&path.with_extension("meta.json"), MAX_META_BYTES).ok()?).ok()?;
    meta["parentAgentId"].as_str().filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Which prompt each rewind takes back. The record of a rewind has the same parent as that prompt; only the whole file
/// shows which one it is.
pub(super) fn header(path: &Path) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct ChainedRecord {
        #[serde(rename = "type")]
        kind: Value,
        subtype: Value,
        uuid: Value,
        parent_uuid: Value,
    }
    let has_rewind = |bytes: &[u8]| memchr::memmem::find(bytes, b"\"subtype\":\"rewind\"").is_some();
    let mut is_rewound = false;
    let find = &mut |line: &crate::source::lines::TranscriptLine<'_>| {
        is_rewound = has_rewind(line.bytes);
        if is_rewound { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    scan_lines(path, find).ok()?;
    if !is_rewound {
        return None;
    }
    let (mut prompts, mut rewinds) = (HashMap::new(), Map::new());
    let collect = &mut |line: &crate::source::lines::TranscriptLine<'_>| {
        let record: ChainedRecord = serde_json::from_slice(line.bytes).unwrap_or_default();
        let parent = record.parent_uuid.as_str().unwrap_or_default().to_owned();
        let Some(id) = record.uuid.as_str() else { return ControlFlow::Continue(()) };
        if record.subtype == "rewind" {
            rewinds.extend(prompts.get(&parent).map(|prompt: &String| (id.to_owned(), prompt.as_str().into())));
        } else if record.kind == "user" {
            prompts.insert(parent, id.to_owned());
        }
        ControlFlow::Continue(())
    };
    scan_lines(path, collect).ok()?;
    Some(Value::from(Map::from_iter([("rewinds".to_owned(), rewinds.into())])).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sub_agents_belong_to_the_session_in_their_path() {
        let path = Path::new("/h/.qwen/projects/-p/subagents/s1/agent-explore-call_7.jsonl");
        assert!(is_transcript(path));
        let identity = identify(path, &TranscriptPeek::default()).unwrap();
        assert_eq!(identity.external_id, "s1/agent-explore-call_7");
        assert_eq!(identity.parent_external_id.as_deref(), Some("s1"));
        assert!(!is_transcript(Path::new("-p/subagents/s1/notes.jsonl")));
    }

    #[test]
    fn project_folders_have_dashes() {
        assert_eq!(folder_name("/home/u/my_app.v2"), "-home-u-my-app-v2");
    }
}
