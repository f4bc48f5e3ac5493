//! Where Gemini CLI stores transcripts, and the directory, session and parent that a file belongs to.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::parse::is_uuid;
use crate::source::{SessionDocument, SourceConfig, TranscriptHead, read_text};

/// Larger files of settings are not read.
const MAX_SETTINGS_BYTES: u64 = 1 << 20;
/// Days after which sessions are deleted, unless the user's settings say otherwise.
const DEFAULT_RETENTION_DAYS: u64 = 30;

/// The directory with the agent's settings and data.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let user_home = source_config.env_var("GEMINI_CLI_HOME");
    user_home.map_or_else(|| source_config.home.clone(), |folder| source_config.expand_home(folder)).join(".gemini")
}

/// The `chats` folder of every project. The folders beside them contain outputs of tools and checkpoints.
pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let is_named = source_config.env_var("GEMINI_CLI_HOME").is_some();
    let reason = if is_named { "GEMINI_CLI_HOME" } else { "default location" };
    let Ok(projects) = fs::read_dir(home(source_config).join("tmp")) else { return Vec::new() };
    let chats = projects.filter_map(Result::ok).map(|project| project.path().join("chats"));
    chats.filter(|folder| folder.is_dir()).map(|folder| (folder, reason)).collect()
}

/// Sessions are files of their own; sub-agents are in a folder with the id of the session that started them.
pub(in crate::agents) fn is_transcript(path: &Path) -> bool {
    let name = |path: Option<&Path>| path.and_then(Path::file_name).and_then(|name| name.to_str()).map(str::to_owned);
    name(Some(path)).is_some_and(|name| name.starts_with("session-"))
        || name(path.parent()).is_some_and(|name| is_uuid(&name))
}

/// The first eight digits of the session's id are in the name of a file; only a sub-agent's has all of them.
pub(super) fn session_id_in_path(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?;
    name.strip_suffix(".jsonl").filter(|id| is_uuid(id))
}

/// What the first line says about the session.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct GeminiHead {
    session_id: Value,
    project_hash: Value,
    start_time: Value,
    kind: Value,
    directories: Value,
    messages: Value,
}

pub(super) fn recognizes_lines(head: &TranscriptHead) -> bool {
    head.lines::<GeminiHead>()
        .next()
        .is_some_and(|first| first.session_id.is_string() && first.start_time.is_string() && !first.messages.is_array())
}

pub(super) fn recognizes_document(head: &TranscriptHead) -> bool {
    let has = |name: &str| head.raw_field(name).is_some();
    has("sessionId") && has("projectHash") && has("startTime") && !recognizes_lines(head)
}

/// What the first line and the files around a transcript say about its session.
pub(super) fn header(path: &Path) -> Option<String> {
    let first: GeminiHead = TranscriptHead::of_file(path).ok()?.lines().next()?;
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| {
        if !value.is_null() {
            fields.insert(name.to_owned(), value);
        }
    };
    let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).filter(|name| is_uuid(name));
    let is_subagent = folder.is_some() || first.kind == "subagent";
    if is_subagent {
        add("kind", "subagent".into());
    }
    add("parentSessionId", folder.into());
    add("timestamp", first.start_time.clone());
    add("startTime", first.start_time);
    let directory = project_directory(path, first.project_hash.as_str().unwrap_or_default());
    // For a session, these are the directories that the user added.
    let directory = directory.map(Value::from).or_else(|| first.directories.get(0).filter(|_| is_subagent).cloned());
    match directory {
        Some(directory) => add("cwd", directory),
        None => add("projectHash", first.project_hash),
    }
    add("sessionId", first.session_id);
    Some(Value::Object(fields).to_string())
}

/// Reads the document of an older version.
pub(in crate::agents) fn load(path: &Path) -> io::Result<SessionDocument> {
    let document = SessionDocument::read(path, "messages")?;
    let head = TranscriptHead::of_file(path)?;
    let field = |name: &str| head.raw_field(name).map(str::to_owned);
    let directory = project_directory(path, &field("projectHash").unwrap_or_default());
    let fields = [("cwd", directory), ("timestamp", field("startTime"))];
    let known = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into())));
    Ok(document.with_header_fields(known.collect()))
}

/// The directory of the project whose folder contains a transcript. The folder is named after it, or after its hash.
fn project_directory(path: &Path, hash: &str) -> Option<String> {
    let chats = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "chats"))?;
    let folder = chats.parent()?;
    let marked = read_text(&folder.join(".project_root"), MAX_SETTINGS_BYTES).ok();
    if let Some(directory) = marked.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()) {
        return Some(directory);
    }
    let home = folder.parent()?.parent()?;
    let projects = settings_object(&home.join("projects.json")).remove("projects").unwrap_or_default();
    let projects = projects.as_object().cloned().unwrap_or_default();
    let name = folder.file_name()?.to_str()?;
    if let Some((directory, _)) = projects.iter().find(|(_, short_name)| *short_name == name) {
        return Some(directory.clone());
    }
    let trusted = settings_object(&home.join("trustedFolders.json"));
    projects.into_iter().chain(trusted).map(|(directory, _)| directory).find(|directory| is_hash_of(hash, directory))
}

/// Whether a project's hash is that of a directory.
pub(super) fn is_hash_of(hash: &str, directory: &str) -> bool {
    hash.len() == 64 && format!("{:x}", Sha256::digest(directory.as_bytes())) == hash
}

fn settings_object(path: &Path) -> Map<String, Value> {
    read_text(path, MAX_SETTINGS_BYTES).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// The days after which the agent deletes sessions; `None` if the user turned that off.
pub(super) fn retention_days(source_config: &SourceConfig) -> Option<u64> {
    let settings = Value::Object(settings_object(&home(source_config).join("settings.json")));
    let retention = &settings["general"]["sessionRetention"];
    if retention["enabled"] == false {
        return None;
    }
    Some(retention["maxAge"].as_str().and_then(days).unwrap_or(DEFAULT_RETENTION_DAYS))
}

/// `36h`, `30d`, `2w` or `1m` in days.
fn days(age: &str) -> Option<u64> {
    let (number, unit) = age.split_at_checked(age.len().checked_sub(1)?)?;
    let number: u64 = number.parse().ok()?;
    match unit {
        "h" => Some(number / 24),
        "d" => Some(number),
        "w" => Some(number * 7),
        "m" => Some(number * 30),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_and_their_sub_agents_are_transcripts() {
        let parent = "9a9eadc8-c1f1-493e-a0f1-884aa996b05b";
        assert!(is_transcript(Path::new("session-2026-11-17T06-17-9a9eadc8.jsonl")));
        assert!(is_transcript(&Path::new(parent).join("agent.jsonl")));
        assert!(!is_transcript(Path::new("logs.json")));
    }

    #[test]
    fn retention_can_be_given_in_several_units() {
        assert_eq!(
            [days("36h"), days("30d"), days("2w"), days("1m"), days("x")],
            [Some(1), Some(30), Some(14), Some(30), None]
        );
    }

    #[test]
    fn old_folders_are_named_after_the_hash_of_the_directory() {
        let hash = "720d8948da0bcc78a2caee13f1ca58a1ffd37756430e9700be128c797528407b";
        assert!(is_hash_of(hash, "/home/dev/app"));
        assert!(!is_hash_of(hash, "/home/dev"));
    }
}
