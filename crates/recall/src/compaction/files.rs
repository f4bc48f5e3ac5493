//! Collects the files that the tool calls of a conversation read and modified.

use std::collections::BTreeSet;

use rethread_model::thread::ChatMessage;
use serde_json::Value;

use crate::pairs::{ToolCallRef, result_indexes, tool_calls};

const READ_TOOLS: [&str; 6] = ["read", "read_file", "readfile", "view", "view_file", "cat"];
const MODIFY_TOOLS: [&str; 13] = [
    "write",
    "write_file",
    "writefile",
    "edit",
    "edit_file",
    "editfile",
    "multiedit",
    "multi_edit",
    "notebookedit",
    "notebook_edit",
    "apply_patch",
    "create",
    "create_file",
];
const PATH_ARGUMENTS: [&str; 5] = ["path", "file_path", "filePath", "filename", "notebook_path"];

/// Files read and files modified. [`Self::read`] leaves out modified files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CompactionFiles {
    read: BTreeSet<String>,
    modified: BTreeSet<String>,
}

impl CompactionFiles {
    /// Starts with the file lists of an earlier compaction.
    pub(crate) fn from_lists(read: &[String], modified: &[String]) -> Self {
        Self { read: read.iter().cloned().collect(), modified: modified.iter().cloned().collect() }
    }

    /// Adds the files of these messages. A failed call is ignored; a call without a result counts.
    pub(crate) fn add(&mut self, messages: &[ChatMessage]) {
        for (message, answers) in messages.iter().zip(result_indexes(messages)) {
            for (call, answer) in tool_calls(message).zip(answers) {
                let failed = answer.is_some_and(|result| messages[result].is_error);
                if !failed {
                    self.add_call(&call);
                }
            }
        }
    }

    /// Files that were only read, sorted.
    pub(crate) fn read(&self) -> Vec<String> {
        self.read.difference(&self.modified).cloned().collect()
    }

    /// Modified files, sorted.
    pub(crate) fn modified(&self) -> Vec<String> {
        self.modified.iter().cloned().collect()
    }

    fn add_call(&mut self, call: &ToolCallRef<'_>) {
        match file_access(call) {
            Some((FileAccess::Read, path)) => self.read.insert(path.to_owned()),
            Some((FileAccess::Modified, path)) => self.modified.insert(path.to_owned()),
            None => false,
        };
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileAccess {
    Read,
    Modified,
}

/// The file a call accesses, and how.
pub(crate) fn file_access<'a>(call: &ToolCallRef<'a>) -> Option<(FileAccess, &'a str)> {
    // MCP tools are named `mcp__server__tool`.
    let tool = call.name.rsplit("__").next().unwrap_or(call.name).to_lowercase();
    let touch = match tool.as_str() {
        tool if READ_TOOLS.contains(&tool) => FileAccess::Read,
        tool if MODIFY_TOOLS.contains(&tool) => FileAccess::Modified,
        _ => return None,
    };
    let mut given = PATH_ARGUMENTS.iter().filter_map(|name| call.arguments.get(*name)).filter_map(Value::as_str);
    Some((touch, given.find(|path| !path.trim().is_empty())?))
}
