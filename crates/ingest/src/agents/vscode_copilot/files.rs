//! Where VS Code stores chats, and which folder they belong to.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::agents::SessionIdentity;
use crate::agents::copilot::CopilotHeader;
use crate::source::{SourceConfig, TranscriptPeek, path_in_uri, read_text};

/// VS Code and what is built from the same source, as their folders are named.
const PRODUCTS: [&str; 4] = ["Code", "Code - Insiders", "VSCodium", "Code - OSS"];
const SERVERS: [&str; 3] = [".vscode-server", ".vscode-server-insiders", ".vscodium-server"];
const MAX_WORKSPACE_BYTES: u64 = 1 << 20;

/// The extension's own directory.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let folders: Vec<PathBuf> = user_folders(source_config)
        .into_iter()
        .map(|(user, _)| user.join("globalStorage/github.copilot-chat"))
        .collect();
    let used = folders.iter().find(|folder| folder.is_dir());
    used.or(folders.first()).cloned().unwrap_or_default()
}

/// The folders with chats: one per workspace, and one for windows without a folder.
pub(super) fn chats(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let mut roots = Vec::new();
    for (user, reason) in user_folders(source_config) {
        let workspaces = workspaces(&user).into_iter().map(|workspace| workspace.join("chatSessions"));
        let without_folder = user.join("globalStorage/emptyWindowChatSessions");
        roots.extend(workspaces.chain([without_folder]).filter(|root| root.is_dir()).map(|root| (root, reason)));
    }
    roots
}

/// The folders with the agent's transcripts, where there are no chats.
pub(super) fn agent_transcripts(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let mut roots = Vec::new();
    for (user, reason) in user_folders(source_config) {
        let workspaces = workspaces(&user).into_iter().filter(|workspace| !workspace.join("chatSessions").is_dir());
        let folders = workspaces.map(|workspace| workspace.join("GitHub.copilot-chat/transcripts"));
        roots.extend(folders.filter(|root| root.is_dir()).map(|root| (root, reason)));
    }
    roots
}

fn user_folders(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let home = &source_config.home;
    let config = source_config.env_var("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    let bases = [config, home.join("Library/Application Support")];
    let local = bases.iter().flat_map(|base| PRODUCTS.map(|product| base.join(product).join("User")));
    let servers = SERVERS.map(|server| home.join(server).join("data/User"));
    let local = local.map(|folder| (folder, "default location"));
    local.chain(servers.map(|folder| (folder, "server of a remote connection"))).collect()
}

fn workspaces(user: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(user.join("workspaceStorage")).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.path()).collect()
}

pub(super) fn is_chat(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    folder.is_none_or(|folder| folder == "chatSessions" || folder == "emptyWindowChatSessions")
}

pub(super) fn is_agent_transcript(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_none_or(|folder| folder == "transcripts")
}

/// The folder of the workspace that a chat or a transcript is stored for.
fn workspace(path: &Path) -> Option<&Path> {
    path.ancestors()
        .find(|folder| folder.parent().and_then(Path::file_name).is_some_and(|name| name == "workspaceStorage"))
}

/// What says which directory the window shows.
pub(super) fn beside(path: &Path) -> Vec<PathBuf> {
    workspace(path).map(|folder| folder.join("workspace.json")).into_iter().collect()
}

/// The directory that the window shows.
pub(super) fn work_dir(path: &Path) -> Option<String> {
    #[derive(Deserialize)]
    struct WorkspaceFile {
        #[serde(alias = "configuration", alias = "workspace")]
        folder: String,
    }
    let text = beside(path).first().and_then(|path| read_text(path, MAX_WORKSPACE_BYTES).ok())?;
    let read: WorkspaceFile = serde_json::from_str(&text).ok()?;
    let directory = path_in_uri(&read.folder)?;
    // A workspace of several folders is a file.
    let file = directory.strip_suffix(".code-workspace").map(|_| Path::new(&directory));
    match file {
        Some(file) => file.parent().map(|folder| folder.display().to_string()),
        None => Some(directory),
    }
}

/// The directory, which the transcript itself does not have.
pub(super) fn transcript_header(path: &Path) -> Option<String> {
    let session_id = path.file_stem()?.to_str().map(str::to_owned);
    serde_json::to_string(&CopilotHeader { session_id, cwd: work_dir(path), ..CopilotHeader::default() }).ok()
}

/// No session if there is a chat: it has the same, and more.
pub(super) fn identify_transcript(path: &Path, _: &TranscriptPeek) -> Option<SessionIdentity> {
    let has_chats = workspace(path).is_some_and(|workspace| workspace.join("chatSessions").is_dir());
    let id = path.file_stem()?.to_str()?.to_owned();
    (!has_chats).then(|| SessionIdentity::main(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcripts_count_only_where_there_are_no_chats() {
        let root = tempfile::tempdir().unwrap();
        let storage = root.path().join(".config/Code/User/workspaceStorage");
        for workspace in ["both", "transcripts"] {
            fs::create_dir_all(storage.join(workspace).join("GitHub.copilot-chat/transcripts")).unwrap();
        }
        fs::create_dir_all(storage.join("both/chatSessions")).unwrap();
        let source_config = SourceConfig { home: root.path().to_owned(), ..SourceConfig::default() };
        let found = agent_transcripts(&source_config);
        assert_eq!(found.len(), 1);
        assert!(found[0].0.ends_with("transcripts/GitHub.copilot-chat/transcripts"));
        assert_eq!(chats(&source_config).len(), 1);
        let transcript = storage.join("both/GitHub.copilot-chat/transcripts/a.jsonl");
        assert_eq!(identify_transcript(&transcript, &TranscriptPeek::default()), None);
    }
}
