//! Tasks of Cline's extension, Roo Code and Kilo's extension: a folder with the model's messages and those of the page.

mod load;
mod page;
mod user_blocks;
mod xml_calls;

use std::path::{Path, PathBuf};

use crate::agents::{Layout, RecentFolders, SessionIdentity, Storage, usual_identity};
use crate::parse::folded;
use crate::source::{SourceConfig, TranscriptHead, TranscriptPeek, extension_dirs};

/// The model's messages, and their name in the first versions.
const MESSAGES: &str = "api_conversation_history.json";
const OLD_MESSAGES: &str = "claude_messages.json";
/// What the page showed: has times and usage.
const PAGE: &str = "ui_messages.json";
/// The directory and the parent of a task of Roo Code.
const HISTORY_ITEM: &str = "history_item.json";

/// The layout of an extension's tasks.
pub(in crate::agents) const fn layout(
    location: &'static str,
    roots: fn(&SourceConfig) -> Vec<(PathBuf, &'static str)>,
) -> Layout {
    Layout {
        storage: Storage::Document { load: load::load },
        extension: "json",
        is_transcript,
        recognizes,
        beside: |path| [PAGE, HISTORY_ITEM].map(|name| path.with_file_name(name)).to_vec(),
        identify,
        recent_folders: RecentFolders::Sessions,
        ..Layout::new(location, roots, folded::events)
    }
}

/// The folders with the tasks of an extension.
pub(in crate::agents) fn extension_roots(
    source_config: &SourceConfig,
    extension: &str,
) -> Vec<(PathBuf, &'static str)> {
    let folders = extension_dirs(source_config, extension).into_iter();
    folders.map(|folder| (folder.join("tasks"), "the editor's extension")).collect()
}

fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == MESSAGES || name == OLD_MESSAGES)
}

/// A list of messages whose contents are lists of blocks.
fn recognizes(head: &TranscriptHead) -> bool {
    let beginning: Vec<u8> = head.0.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).take(24).collect();
    beginning.starts_with(b"[{\"role\":\"user\",\"content\"")
}

fn identify(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    // After the first start of a newer version, a task has both files.
    let is_superseded = path.file_name()? == OLD_MESSAGES && path.with_file_name(MESSAGES).is_file();
    usual_identity(path, peek).filter(|_| !is_superseded)
}
