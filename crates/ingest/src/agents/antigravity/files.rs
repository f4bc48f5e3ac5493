//! Where Antigravity stores transcripts, and what the files around one say about its session.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use super::lines::step_id;
use crate::source::{SourceConfig, TranscriptHead, name_above, read_text, scan_lines};

/// Folders of the command and of the editor's versions, in `~/.gemini`.
const HOMES: [&str; 3] = ["antigravity-cli", "antigravity", "antigravity-ide"];
/// The log, and the log with long texts cut off.
const TRANSCRIPTS: [&str; 2] = ["transcript_full.jsonl", "transcript.jsonl"];
/// Larger lists of prompts are not searched for a directory.
const MAX_LIST_BYTES: u64 = 32 << 20;

/// The first of the folders that exists.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let homes = HOMES.map(|name| source_config.home.join(".gemini").join(name));
    homes.iter().find(|home| home.is_dir()).unwrap_or(&homes[0]).clone()
}

/// One log per conversation, the complete one if there is one. The folders around it have thousands of other files.
pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let brains = HOMES.iter().map(|name| source_config.home.join(".gemini").join(name).join("brain"));
    let conversations = brains.filter_map(|brain| fs::read_dir(brain).ok()).flatten().filter_map(Result::ok);
    let logs = conversations.filter_map(|conversation| {
        let folder = conversation.path().join(".system_generated/logs");
        TRANSCRIPTS.iter().map(|name| folder.join(name)).find(|path| path.is_file())
    });
    logs.map(|path| (path, "default location")).collect()
}

pub(super) fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    TRANSCRIPTS.contains(&name) && (path.components().count() == 1 || name_above(path, 1) == Some("logs"))
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    head.lines::<SniffedStep>()
        .next()
        .is_some_and(|step| step.step_index.is_number() && step.source.is_string() && step.kind.is_string())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SniffedStep {
    step_index: Value,
    source: Value,
    #[serde(rename = "type")]
    kind: Value,
    created_at: Value,
}

/// The session, its directory, and which prompts take back earlier ones.
pub(super) fn header(path: &Path) -> String {
    let mut fields = Map::new();
    if name_above(path, 2) == Some(".system_generated")
        && let Some(session) = name_above(path, 3)
    {
        fields.insert("sessionId".to_owned(), session.into());
        if let Some(directory) = path.ancestors().nth(5).and_then(|home| working_directory(home, session)) {
            fields.insert("cwd".to_owned(), directory.into());
        }
    }
    let undone = undone_prompts(path);
    if !undone.is_empty() {
        fields.insert("undone".to_owned(), undone.into());
    }
    Value::Object(fields).to_string()
}

/// The directory of a conversation, from the list of prompts or from the last conversation of each directory.
fn working_directory(home: &Path, session: &str) -> Option<String> {
    let list = read_text(&home.join("history.jsonl"), MAX_LIST_BYTES).unwrap_or_default();
    let lines = list.lines().filter(|line| line.contains(session));
    let mut prompts = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let listed = prompts.find(|prompt| prompt["conversationId"] == session && prompt["workspace"].is_string());
    if let Some(directory) = listed.and_then(|prompt| prompt["workspace"].as_str().map(str::to_owned)) {
        return Some(directory);
    }
    let last = read_text(&home.join("cache/last_conversations.json"), MAX_LIST_BYTES).ok()?;
    let last: Map<String, Value> = serde_json::from_str(&last).ok()?;
    last.into_iter().find(|(_, conversation)| conversation == session).map(|(directory, _)| directory)
}

/// For each prompt whose number was used before: the prompt that it took back, by the line of the later one.
fn undone_prompts(path: &Path) -> Map<String, Value> {
    let (mut prompts, mut undone): (Vec<(i64, String)>, _) = (Vec::new(), Map::new());
    let visit = &mut |line: &crate::source::lines::TranscriptLine<'_>| {
        if memchr::memmem::find(line.bytes, b"\"USER_INPUT\"").is_none() {
            return ControlFlow::Continue(());
        }
        let step: SniffedStep = serde_json::from_slice(line.bytes).unwrap_or_default();
        if step.kind == "USER_INPUT"
            && let Some(number) = step.step_index.as_i64()
        {
            let first = prompts.iter().position(|(known, _)| *known >= number);
            if let Some(first) = first {
                undone.insert(line.location.line.to_string(), prompts[first].1.clone().into());
                prompts.truncate(first);
            }
            prompts.push((number, step_id(number, step.created_at.as_str().unwrap_or_default())));
        }
        ControlFlow::Continue(())
    };
    // A log that cannot be read takes nothing back.
    let _ = scan_lines(path, visit);
    undone
}
