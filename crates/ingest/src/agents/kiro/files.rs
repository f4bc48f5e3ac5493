//! Where Kiro stores sessions, and what the files beside them say.

use std::path::{Path, PathBuf};

use crate::parse::derived_header::{DerivedHeader, text_at};
use crate::source::{SourceConfig, read_json};

/// Where an editor of the VS Code family stores the data of a user, on Linux and on macOS.
const USER_DATA: [&str; 2] = [".config/Kiro", "Library/Application Support/Kiro"];

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("KIRO_HOME");
    named.map_or_else(|| source_config.home.join(".kiro"), |folder| source_config.expand_home(folder))
}

pub(super) fn session_roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let is_named = source_config.env_var("KIRO_HOME").is_some();
    vec![(home(source_config).join("sessions"), if is_named { "KIRO_HOME" } else { "default location" })]
}

pub(super) fn database_roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let data = source_config.env_var("XDG_DATA_HOME");
    let data = data.map_or_else(|| source_config.home.join(".local/share"), PathBuf::from);
    let folders = [data, source_config.home.join("Library/Application Support")];
    folders.map(|folder| (folder.join("kiro-cli/data.sqlite3"), "default location")).into()
}

pub(super) fn workspace_session_roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let storage = "User/globalStorage/kiro.kiroagent/workspace-sessions";
    USER_DATA.map(|folder| (source_config.home.join(folder).join(storage), "default location")).into()
}

pub(super) fn is_cli_transcript(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "cli")
}

pub(super) fn is_ide_transcript(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name).and_then(|folder| folder.to_str());
    path.file_name().is_some_and(|name| name == "messages.jsonl")
        && folder.is_some_and(|folder| folder.starts_with("sess_"))
}

/// A file per session; `sessions.json` lists them.
pub(super) fn is_workspace_session(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name != "sessions.json")
}

pub(super) fn cli_header(path: &Path) -> Option<String> {
    let meta = read_json(&path.with_extension("json")).unwrap_or_default();
    let name = path.file_stem()?.to_str()?.to_owned();
    let header = DerivedHeader {
        session_id: text_at(&meta, "/session_id").or(Some(name)),
        parent_session_id: text_at(&meta, "/parent_session_id"),
        cwd: text_at(&meta, "/cwd"),
        generated_title: text_at(&meta, "/title"),
        model: text_at(&meta, "/session_state/rts_model_state/model_info/model_id"),
        timestamp: meta["created_at"].clone(),
        ..DerivedHeader::default()
    };
    Some(header.to_json())
}

pub(super) fn ide_header(path: &Path) -> Option<String> {
    let folder = path.parent()?;
    let meta = read_json(&folder.join("session.json")).unwrap_or_default();
    let header = DerivedHeader {
        session_id: folder.file_name()?.to_str().map(str::to_owned),
        parent_session_id: text_at(&meta, "/parentSessionId"),
        cwd: text_at(&meta, "/workspacePaths/0"),
        generated_title: text_at(&meta, "/title"),
        timestamp: meta["createdAt"].clone(),
        ..DerivedHeader::default()
    };
    Some(header.to_json())
}
