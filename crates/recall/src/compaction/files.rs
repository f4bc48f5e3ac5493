//! Which files the tool calls of a conversation read and modified.

use std::collections::BTreeSet;

use rethread_model::thread::ChatMessage;
use serde_json::Value;

use crate::pairs::{Call, answers, calls};

const READING: [&str; 6] = ["read", "read_file", "readfile", "view", "view_file", "cat"];
const MODIFYING: [&str; 13] = [
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
const PATHS: [&str; 5] = ["path", "file_path", "filePath", "filename", "notebook_path"];

/// Files read and files modified. A file is never in both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    read: BTreeSet<String>,
    modified: BTreeSet<String>,
}

impl Files {
    /// What an earlier compaction knew.
    pub(crate) fn known(read: &[String], modified: &[String]) -> Self {
        Self { read: read.iter().cloned().collect(), modified: modified.iter().cloned().collect() }
    }

    /// Adds what these messages did. A call that failed did nothing; one without a result may have.
    pub(crate) fn add(&mut self, messages: &[ChatMessage]) {
        for (message, answers) in messages.iter().zip(answers(messages)) {
            for (call, answer) in calls(message).zip(answers) {
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

    /// Files that were modified, sorted.
    pub(crate) fn modified(&self) -> Vec<String> {
        self.modified.iter().cloned().collect()
    }

    fn add_call(&mut self, call: &Call<'_>) {
        match touched(call) {
            Some((Touch::Read, path)) => self.read.insert(path.to_owned()),
            Some((Touch::Modified, path)) => self.modified.insert(path.to_owned()),
            None => false,
        };
    }
}

/// What a call does to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// It reads it.
    Read,
    /// It writes it, or a part of it.
    Modified,
}

/// The file a call names, and what it does to it.
pub(crate) fn touched<'a>(call: &Call<'a>) -> Option<(Touch, &'a str)> {
    // Tools of servers are called `mcp__server__tool`.
    let tool = call.name.rsplit("__").next().unwrap_or(call.name).to_lowercase();
    let touch = match tool.as_str() {
        tool if READING.contains(&tool) => Touch::Read,
        tool if MODIFYING.contains(&tool) => Touch::Modified,
        _ => return None,
    };
    let mut given = PATHS.iter().filter_map(|name| call.arguments.get(*name)).filter_map(Value::as_str);
    Some((touch, given.find(|path| !path.trim().is_empty())?))
}
