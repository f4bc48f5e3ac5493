//! Where gptme stores conversations: the log, the branches that `/undo` and `/edit` left, and the settings.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::log::{self, GptmeLog};
use crate::parse::folded::{FoldedHeader, folded_document};
use crate::source::{SessionDocument, SourceConfig, TranscriptHead, read_text};

const LOG: &str = "conversation.jsonl";
const SETTINGS: &str = "config.toml";
const BRANCHES: &str = "branches";
const MAX_BYTES: u64 = 256 << 20;
const MAX_SETTINGS_BYTES: u64 = 1 << 20;
const MAX_BRANCHES: usize = 100;

fn data_dir(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("XDG_DATA_HOME").map(PathBuf::from);
    named.unwrap_or_else(|| source_config.home.join(".local/share"))
}

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    data_dir(source_config).join("gptme")
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    match source_config.env_var("GPTME_LOGS_HOME") {
        Some(folder) => vec![(source_config.expand_home(folder), "GPTME_LOGS_HOME")],
        None => vec![(home(source_config).join("logs"), "default location")],
    }
}

pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == LOG)
}

pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    head.raw_field("content").is_some_and(|text| text.starts_with("You are gptme"))
        || head.0.starts_with(b"{\"role\": \"system\", \"content\": \"You are gptme")
}

pub(super) fn beside(path: &Path) -> Vec<PathBuf> {
    [SETTINGS, BRANCHES].map(|name| path.with_file_name(name)).to_vec()
}

/// The parts of the settings that matter.
#[derive(Default, Deserialize)]
#[serde(default)]
struct GptmeSettings {
    chat: ChatSettings,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatSettings {
    model: Option<String>,
    name: Option<String>,
    workspace: Option<String>,
    tools: Option<Vec<String>>,
}

pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let main = read_text(path, MAX_BYTES)?;
    let branches: Vec<String> = branch_files(path).iter().filter_map(|path| read_text(path, MAX_BYTES).ok()).collect();
    let settings = read_text(&path.with_file_name(SETTINGS), MAX_SETTINGS_BYTES).unwrap_or_default();
    let ChatSettings { model, name, workspace, tools } =
        toml::from_str::<GptmeSettings>(&settings).unwrap_or_default().chat;
    let id = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
    let log = GptmeLog { main: &main, branches: &branches, tools: tools.as_deref() };
    let folded = log::fold(&log);
    let header = FoldedHeader {
        session_id: Some(id.to_owned()),
        // A path in the home directory is shortened; the first messages have it in full.
        cwd: workspace.filter(|path| path.starts_with('/')).or(folded.cwd),
        branch: folded.branch,
        title: name.filter(|name| name != id),
        model,
        timestamp: folded.first_at,
        ..FoldedHeader::default()
    };
    folded_document(&header, &folded.records)
}

/// In the order of their names, so that a new one comes after those that were read.
fn branch_files(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path.with_file_name(BRANCHES)).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == "jsonl"))
        .collect();
    files.sort();
    files.truncate(MAX_BRANCHES);
    files
}
