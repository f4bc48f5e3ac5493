//! Where Mistral Vibe stores sessions, and what `meta.json` beside the messages says.

use std::path::{Path, PathBuf};

use rethread_model::Tokens;
use serde_json::Value;

use crate::parse::derived_header::{DerivedHeader, DerivedUsage, count_at, text_at};
use crate::source::{SourceConfig, read_json};

/// The folder in a session's folder that has a folder per sub-agent.
const SUBAGENTS: &str = "agents";

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("VIBE_HOME");
    named.map_or_else(|| source_config.home.join(".vibe"), |folder| source_config.expand_home(folder))
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let is_named = source_config.env_var("VIBE_HOME").is_some();
    vec![(home(source_config).join("logs/session"), if is_named { "VIBE_HOME" } else { "default location" })]
}

pub(super) fn snapshot_roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    roots(source_config).into_iter().map(|(root, reason)| (root.join("unified"), reason)).collect()
}

pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "messages.jsonl")
}

pub(super) fn beside(path: &Path) -> Vec<PathBuf> {
    vec![path.with_file_name("meta.json")]
}

pub(super) fn header(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let meta = read_json(&folder.join("meta.json")).unwrap_or_default();
    let name = folder.file_name()?.to_str()?.to_owned();
    let header = DerivedHeader {
        session_id: text_at(&meta, "/session_id").or(Some(name)),
        parent_session_id: parent_session(folder),
        ..header_of(&meta)
    };
    Some(header.to_json())
}

/// The fields of `meta.json`, which both layouts have.
pub(super) fn header_of(meta: &Value) -> DerivedHeader {
    let title = text_at(meta, "/title");
    let is_manual = text_at(meta, "/title_source").is_some_and(|source| source == "manual");
    let (custom, generated) = if is_manual { (title, None) } else { (None, title) };
    DerivedHeader {
        forked_from: text_at(meta, "/parent_session_id"),
        cwd: text_at(meta, "/environment/working_directory").or_else(|| text_at(meta, "/working_dir")),
        branch: text_at(meta, "/git_branch"),
        title: custom,
        generated_title: generated,
        model: text_at(meta, "/config/active_model").or_else(|| text_at(meta, "/model")),
        timestamp: meta["start_time"].clone(),
        usage: vec![session_usage(&meta["stats"])],
        ..DerivedHeader::default()
    }
}

/// Vibe counts tokens only for the session as a whole.
fn session_usage(stats: &Value) -> DerivedUsage {
    let cached = count_at(stats, "/session_cached_tokens");
    DerivedUsage {
        message_id: "session".to_owned(),
        model: None,
        tokens: Tokens {
            input: count_at(stats, "/session_prompt_tokens").saturating_sub(cached),
            output: count_at(stats, "/session_completion_tokens"),
            cache_read: cached,
            cache_write: 0,
        },
        cost_usd: stats["session_cost"].as_f64(),
    }
}

/// The session whose folder contains a sub-agent's.
fn parent_session(folder: &Path) -> Option<String> {
    let agents = folder.parent().filter(|agents| agents.file_name().is_some_and(|name| name == SUBAGENTS))?;
    let parent = agents.parent()?;
    let meta = read_json(&parent.join("meta.json")).unwrap_or_default();
    text_at(&meta, "/session_id").or_else(|| parent.file_name()?.to_str().map(str::to_owned))
}
