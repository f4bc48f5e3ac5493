//! Where Claude Desktop stores sessions of its agent mode, and what it says about one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::parse::derived_header::{DerivedHeader, text_at};
use crate::source::{SourceConfig, read_json};

/// Where the app stores the data of a user, on Linux and on macOS.
const USER_DATA: [&str; 2] = [".config/Claude", "Library/Application Support/Claude"];

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let folders = USER_DATA.map(|folder| source_config.home.join(folder).join("local-agent-mode-sessions"));
    let [linux, mac] = folders;
    if mac.is_dir() { mac } else { linux }
}

/// The transcripts' folders of all sessions. A session's own folder also has its outputs, which may be many files.
pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let sessions = home(source_config);
    let accounts = folders_in(&sessions);
    let workspaces = accounts.iter().flat_map(|account| folders_in(account));
    let sessions = workspaces.flat_map(|workspace| folders_in(&workspace));
    let transcripts = sessions.map(|session| session.join(".claude/projects")).filter(|folder| folder.is_dir());
    transcripts.map(|folder| (folder, "default location")).collect()
}

fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect();
    folders.sort();
    folders
}

/// `local_<id>.json` beside the folder `local_<id>`, which contains the transcripts.
fn metadata(path: &Path) -> Option<PathBuf> {
    let session = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == ".claude"))?.parent()?;
    Some(session.with_added_extension("json"))
}

pub(super) fn beside(path: &Path) -> Vec<PathBuf> {
    metadata(path).into_iter().collect()
}

/// The title, and the folder that the user chose: the session itself works in a folder of its own.
pub(super) fn header(path: &Path) -> Option<String> {
    let is_subagent = path.file_stem()?.to_str()?.starts_with("agent-");
    let meta = read_json(&metadata(path)?)?;
    let header = DerivedHeader {
        cwd: text_at(&meta, "/userSelectedFolders/0"),
        generated_title: text_at(&meta, "/title").filter(|_| !is_subagent),
        timestamp: meta["createdAt"].clone(),
        ..DerivedHeader::default()
    };
    Some(header.to_json())
}
