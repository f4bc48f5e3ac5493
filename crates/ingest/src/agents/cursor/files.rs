//! Where Cursor stores sessions, and which session a file belongs to.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use memchr::memmem;
use rethread_model::SessionKind;
use serde::Deserialize;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use super::workspaces::directory_of_slug;
use crate::agents::SessionIdentity;
use crate::parse::is_uuid;
use crate::source::{SourceConfig, TranscriptHead, TranscriptPeek};

/// The editor's directory below the home directory: of Linux, of macOS, of a remote machine.
const EDITOR_FOLDERS: [&str; 3] =
    [".config/Cursor/User", "Library/Application Support/Cursor/User", ".cursor-server/data/User"];
/// The folder with the transcripts of a project.
const TRANSCRIPTS_FOLDER: &str = "agent-transcripts";
/// Bytes that identify a transcript in another place.
const IDENTIFYING_BYTES: usize = 1024;
/// Marks of messages with a time.
const TIME_MARKS: [&str; 2] = ["<timestamp>", "\"timestamp\":"];
/// The folder with the transcripts of a session's sub-agents.
const SUBAGENTS_FOLDER: &str = "subagents";

/// The directory that both the CLI and the editor write to.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    source_config.home.join(".cursor")
}

/// The folder with the databases of the CLI.
pub(super) fn chats(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    vec![(home(source_config).join("chats"), "default location")]
}

/// The databases with all sessions of the editor.
pub(super) fn editor_databases(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let databases =
        EDITOR_FOLDERS.iter().map(|folder| source_config.home.join(folder).join("globalStorage/state.vscdb"));
    databases.filter(|path| path.exists()).map(|path| (path, "default location")).collect()
}

/// The databases of workspaces, which have the chats of the first versions.
pub(super) fn workspace_databases(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let folders = EDITOR_FOLDERS.iter().map(|folder| source_config.home.join(folder).join("workspaceStorage"));
    let databases = folders.flat_map(|folder| subfolders(&folder)).map(|folder| folder.join("state.vscdb"));
    databases.filter(|path| path.exists()).map(|path| (path, "default location")).collect()
}

/// The folders with transcripts: one per project. The folders beside them can have thousands of files.
pub(super) fn transcripts(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let projects = [".cursor/projects", ".cursor-server/projects"].map(|folder| source_config.home.join(folder));
    let folders = projects.iter().flat_map(|folder| subfolders(folder)).map(|folder| folder.join(TRANSCRIPTS_FOLDER));
    folders.filter(|folder| folder.is_dir()).map(|folder| (folder, "default location")).collect()
}

/// The folders in a folder, in a fixed order.
pub(super) fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// Whether a database is that of a workspace. All workspaces are searched, so a path below one has only the file's name.
pub(super) fn is_of_workspace(path: &Path) -> bool {
    !path.parent().is_some_and(|folder| folder.ends_with("globalStorage"))
}

/// The session of a file: `<id>.jsonl`, `<id>.txt`, `<id>/store.db`.
pub(super) fn session_id_in_path(path: &str) -> Option<&str> {
    let mut names = path.rsplit(['/', '\\']);
    let name = names.next()?;
    if name == "store.db" {
        return names.next().filter(|id| !id.is_empty());
    }
    let id = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".txt"))?;
    // Elsewhere a file can have any name.
    (is_uuid(id) || names.any(|folder| folder == TRANSCRIPTS_FOLDER)).then_some(id).filter(|id| !id.is_empty())
}

/// A transcript does not name its session. In another place than Cursor's, its beginning identifies it.
pub(super) fn peek_transcript(head: &TranscriptHead) -> TranscriptPeek {
    let beginning = &head.0[..head.0.len().min(IDENTIFYING_BYTES)];
    head.usual_fields(Some(format!("copy-{:016x}", xxh3_64(beginning))))
}

/// The session that started the one of a transcript: `<parent>/subagents/<id>.jsonl`.
fn parent_in_path(path: &Path) -> Option<String> {
    let folder = path.parent().filter(|folder| folder.ends_with(SUBAGENTS_FOLDER))?;
    folder.parent()?.file_name()?.to_str().map(str::to_owned)
}

pub(super) fn identify_transcript(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let in_path = session_id_in_path(path.to_str()?).map(str::to_owned);
    let external_id = in_path.or_else(|| peek.session_id.clone())?;
    let parent_external_id = parent_in_path(path);
    let kind = if parent_external_id.is_some() { SessionKind::Child } else { SessionKind::Main };
    Some(SessionIdentity { external_id, kind, parent_external_id })
}

/// What a database of the CLI shows. An empty parent is that of a sub-agent that does not say who started it.
pub(super) fn peek_chat(head: &TranscriptHead) -> TranscriptPeek {
    let parent_id = head.raw_field("parentSessionId").map(str::to_owned);
    TranscriptPeek { parent_id, ..head.usual_fields(None) }
}

/// A database of the CLI may be a sub-agent's, with or without the session that started it.
pub(super) fn identify_chat(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let external_id = session_id_in_path(path.to_str()?)?.to_owned();
    let kind = if peek.parent_id.is_some() { SessionKind::Child } else { SessionKind::Main };
    let parent_external_id = peek.parent_id.clone().filter(|parent| !parent.is_empty());
    Some(SessionIdentity { external_id, kind, parent_external_id })
}

/// What a file shows about its transcript. Only the name of the project's folder shows where the session worked, and of
/// most versions only the file shows when.
pub(super) fn header(path: &Path) -> Option<String> {
    let mut folders = path.ancestors().skip_while(|folder| !folder.ends_with(TRANSCRIPTS_FOLDER)).skip(1);
    let slug = folders.next()?.file_name()?.to_str()?;
    let cwd = directory_of_slug(slug);
    let head = TranscriptHead::of_file(path).ok()?;
    let has_times = TIME_MARKS.iter().any(|mark| memmem::find(&head.0, mark.as_bytes()).is_some());
    let modified = || fs::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok();
    let updated_at = if has_times { None } else { modified().map(|since| since.as_millis() as u64) };
    Some(json!({ "cwd": cwd, "updatedAt": updated_at, "parentSessionId": parent_in_path(path) }).to_string())
}

/// Whether a file of lines begins like a transcript.
pub(super) fn is_transcript_head(head: &TranscriptHead) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct TranscriptStart {
        #[serde(rename = "type")]
        kind: Value,
        role: Value,
        message: Value,
    }
    let first: Option<TranscriptStart> = head.lines().next();
    first.is_some_and(|line| {
        let is_message = line.role == "user" || line.role == "assistant";
        is_message && line.kind.is_null() && line.message["content"].is_array()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_shows_the_session_and_its_parent() {
        let identity = |path: &str| {
            let identity = identify_transcript(Path::new(path), &TranscriptPeek::default()).unwrap();
            (identity.external_id, identity.parent_external_id)
        };
        let project = "/h/.cursor/projects/home-dev-app/agent-transcripts";
        assert_eq!(identity(&format!("{project}/a1.txt")), ("a1".to_owned(), None));
        assert_eq!(identity(&format!("{project}/a1/a1.jsonl")), ("a1".to_owned(), None));
        let child = identity(&format!("{project}/a1/subagents/b2.jsonl"));
        assert_eq!(child, ("b2".to_owned(), Some("a1".to_owned())));
        assert_eq!(session_id_in_path("/h/.cursor/chats/0f/c3/store.db"), Some("c3"));
        assert_eq!(session_id_in_path("/h/state.vscdb"), None);
        assert_eq!(session_id_in_path("/elsewhere/full.jsonl"), None);
    }
}
