//! Where OpenHands stores conversations, and how the files of one are read together.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rethread_model::Tokens;
use serde_json::Value;

use crate::parse::derived_header::{DerivedHeader, DerivedUsage, count_at, text_at};
use crate::source::{SessionDocument, SourceConfig, read_json, read_text};

/// Larger events are not read.
const MAX_EVENT_BYTES: u64 = 16 << 20;
/// The folder in a conversation's folder that has a folder per sub-agent.
const SUBAGENTS: &str = "subagents";

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("OPENHANDS_PERSISTENCE_DIR");
    named.map_or_else(|| source_config.home.join(".openhands"), |folder| source_config.expand_home(folder))
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    if let Some(folder) = source_config.env_var("OPENHANDS_CONVERSATIONS_DIR") {
        return vec![(source_config.expand_home(folder), "OPENHANDS_CONVERSATIONS_DIR")];
    }
    let is_named = source_config.env_var("OPENHANDS_PERSISTENCE_DIR").is_some();
    let reason = if is_named { "OPENHANDS_PERSISTENCE_DIR" } else { "default location" };
    vec![(home(source_config).join("conversations"), reason)]
}

pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "base_state.json")
}

pub(super) fn beside(path: &Path) -> Vec<PathBuf> {
    vec![path.with_file_name("events")]
}

pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let folder = path.parent().ok_or(io::ErrorKind::NotFound)?;
    let state = read_json(path).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    let entries = fs::read_dir(folder.join("events")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_event(path)).collect();
    // `event-00012-<id>.json`: the number has leading zeros.
    files.sort();
    // An event that cannot be read becomes a record that cannot be parsed, for a warning.
    let records: Vec<String> =
        files.iter().map(|file| read_text(file, MAX_EVENT_BYTES).unwrap_or_else(|error| error.to_string())).collect();
    Ok(SessionDocument::new(header(folder, &state).to_json(), &records))
}

fn is_event(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("event-") && path.extension().is_some_and(|extension| extension == "json")
}

fn header(folder: &Path, state: &Value) -> DerivedHeader {
    let name = |path: &Path| path.file_name().and_then(|name| name.to_str()).map(session_id);
    let parent = folder.parent().filter(|parent| parent.file_name().is_some_and(|name| name == SUBAGENTS));
    DerivedHeader {
        session_id: text_at(state, "/id").map(|id| session_id(&id)).or_else(|| name(folder)),
        parent_session_id: parent.and_then(Path::parent).and_then(name),
        cwd: text_at(state, "/workspace/working_dir"),
        generated_title: text_at(state, "/title"),
        model: text_at(state, "/agent/llm/model"),
        usage: state
            .pointer("/stats/usage_to_metrics")
            .and_then(Value::as_object)
            .map_or_else(Vec::new, |all| all.iter().flat_map(|(name, metrics)| usage_of(name, metrics)).collect()),
        ..DerivedHeader::default()
    }
}

/// Folders are named by the id without hyphens, as the agent shows it.
fn session_id(id: &str) -> String {
    id.replace('-', "")
}

/// Tokens per response, and the cost of all of them. Older versions store only the sum of the tokens.
fn usage_of(name: &str, metrics: &Value) -> Vec<DerivedUsage> {
    let responses = metrics["token_usages"].as_array().filter(|responses| !responses.is_empty());
    let mut usage: Vec<DerivedUsage> = responses.into_iter().flatten().map(tokens_of).collect();
    let total = format!("{name}/total");
    if usage.is_empty() {
        usage.push(tokens_of(&metrics["accumulated_token_usage"]));
        usage[0].message_id.clone_from(&total);
    }
    usage.push(DerivedUsage {
        message_id: format!("{total}-cost"),
        cost_usd: metrics["accumulated_cost"].as_f64(),
        ..DerivedUsage::default()
    });
    usage
}

/// The counted prompt includes what was cached.
fn tokens_of(usage: &Value) -> DerivedUsage {
    let (cache_read, cache_write) = (count_at(usage, "/cache_read_tokens"), count_at(usage, "/cache_write_tokens"));
    DerivedUsage {
        message_id: text_at(usage, "/response_id").unwrap_or_default(),
        model: text_at(usage, "/model"),
        tokens: Tokens {
            input: count_at(usage, "/prompt_tokens").saturating_sub(cache_read + cache_write),
            output: count_at(usage, "/completion_tokens"),
            cache_read,
            cache_write,
        },
        cost_usd: None,
    }
}
