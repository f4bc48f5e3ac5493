//! Where Kimi Code stores transcripts, and what the files around a log say about its session.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::source::{SourceConfig, TranscriptHead, name_above, read_text, scan_lines};

/// Larger files beside a log are not read.
const MAX_STATE_BYTES: u64 = 4 << 20;
/// The agent that the user talks to; the others are sub-agents.
const MAIN_AGENT: &str = "main";

/// The directory with the agent's data.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("KIMI_CODE_HOME");
    named.map_or_else(|| source_config.home.join(".kimi-code"), |folder| source_config.expand_home(folder))
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let is_named = source_config.env_var("KIMI_CODE_HOME").is_some();
    let reason = if is_named { "KIMI_CODE_HOME" } else { "default location" };
    vec![(home(source_config).join("sessions"), reason)]
}

/// `<session>/agents/<agent>/wire.jsonl`.
pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "wire.jsonl") && name_above(path, 2) == Some("agents")
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    let first: Option<Value> = head.lines().next();
    // The log of kimi-cli begins in the same way, but without a time.
    first.is_some_and(|first| {
        first["type"] == "metadata" && first["protocol_version"].is_string() && first["created_at"].is_number()
    })
}

/// The file with the session's directory, title and agents.
pub(super) fn state_path(path: &Path) -> Option<PathBuf> {
    (name_above(path, 2) == Some("agents")).then(|| path.ancestors().nth(3).map(|folder| folder.join("state.json")))?
}

/// What the path and the files of a session say, and which of two records has its prompts.
pub(super) fn header(path: &Path) -> String {
    let state: Value = state_path(path).and_then(|path| read_object(&path)).unwrap_or_default();
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| {
        if !value.is_null() {
            fields.insert(name.to_owned(), value);
        }
    };
    if name_above(path, 2) == Some("agents")
        && let (Some(session), Some(agent)) = (name_above(path, 3), name_above(path, 1))
    {
        let parent = state["agents"][agent]["parentAgentId"].as_str().unwrap_or(MAIN_AGENT);
        if agent == MAIN_AGENT {
            add("sessionId", session.into());
            add("title", state["title"].clone());
            add("isCustomTitle", state["isCustomTitle"].clone());
        } else {
            add("sessionId", format!("{session}/{agent}").into());
            let parent = if parent == MAIN_AGENT { session.to_owned() } else { format!("{session}/{parent}") };
            add("parentSessionId", parent.into());
        }
        let directory = [&state["cwd"], &state["workDir"]].into_iter().find_map(Value::as_str).map(str::to_owned);
        add("cwd", directory.or_else(|| indexed_directory(path, session)).into());
    }
    add("timestamp", state["createdAt"].clone());
    let log = LogFacts::read(path);
    add("promptsIn", log.prompt_records.into());
    add("models", log.models.into());
    Value::Object(fields).to_string()
}

/// The directory of a session in the list of all sessions.
fn indexed_directory(path: &Path, session: &str) -> Option<String> {
    let index = read_text(&path.ancestors().nth(6)?.join("session_index.jsonl"), MAX_STATE_BYTES).ok()?;
    let lines = index.lines().filter(|line| line.contains(session));
    let mut entries = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
    entries.find(|entry| entry["sessionId"] == session)?["workDir"].as_str().map(str::to_owned)
}

/// What only the whole log shows.
struct LogFacts {
    /// Which records have the prompts. Newer versions write each prompt as `turn.prompt` and then again as a message;
    /// without the first, the messages are the prompts.
    prompt_records: &'static str,
    /// The provider's name of each model, by the name in the user's configuration.
    models: Map<String, Value>,
}

impl LogFacts {
    fn read(path: &Path) -> Self {
        let (mut prompt_records, mut models) = (None, Map::new());
        let visit = &mut |line: &crate::source::lines::TranscriptLine<'_>| {
            let has = |text: &[u8]| memchr::memmem::find(line.bytes, text).is_some();
            if has(b"\"llm.request\"") {
                let request: Value = serde_json::from_slice(line.bytes).unwrap_or_default();
                if let (Some(alias), Some(_)) = (request["modelAlias"].as_str(), request["model"].as_str()) {
                    models.insert(alias.to_owned(), request["model"].clone());
                }
            } else if prompt_records.is_none() && has(b"\"turn.prompt\"") {
                prompt_records = Some("turn");
            } else if prompt_records.is_none() && has(b"\"context.append_message\"") {
                let record: Value = serde_json::from_slice(line.bytes).unwrap_or_default();
                let origin = &record["message"]["origin"]["kind"];
                let is_human = record["message"]["role"] == "user" && (origin.is_null() || origin == "user");
                prompt_records = is_human.then_some("message");
            }
            ControlFlow::Continue(())
        };
        // A log that cannot be read has no prompts of either kind.
        let _ = scan_lines(path, visit);
        Self { prompt_records: prompt_records.unwrap_or("turn"), models }
    }
}

/// A JSON object in a file.
pub(super) fn read_object(path: &Path) -> Option<Value> {
    serde_json::from_str(&read_text(path, MAX_STATE_BYTES).ok()?).ok().filter(Value::is_object)
}
