//! A tool call of an agent, in terms that do not depend on the agent.

use serde::{Deserialize, Serialize};

/// What a tool does, whatever an agent calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    /// Reads a file.
    Read,
    /// Searches for files or text.
    Search,
    /// Writes a whole file.
    Write,
    /// Changes part of a file.
    Edit,
    /// Runs a command.
    Command,
    /// Starts another agent.
    Agent,
    /// Fetches from or searches the web.
    Web,
    /// Calls a tool of an MCP server.
    Mcp,
    /// Anything else.
    Other,
}

impl ToolKind {
    /// The name in JSON and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            ToolKind::Read => "read",
            ToolKind::Search => "search",
            ToolKind::Write => "write",
            ToolKind::Edit => "edit",
            ToolKind::Command => "command",
            ToolKind::Agent => "agent",
            ToolKind::Web => "web",
            ToolKind::Mcp => "mcp",
            ToolKind::Other => "other",
        }
    }

    /// Parses the stored name; unknown names become `Other`.
    pub fn from_stored(name: &str) -> Self {
        match name {
            "read" => ToolKind::Read,
            "search" => ToolKind::Search,
            "write" => ToolKind::Write,
            "edit" => ToolKind::Edit,
            "command" => ToolKind::Command,
            "agent" => ToolKind::Agent,
            "web" => ToolKind::Web,
            "mcp" => ToolKind::Mcp,
            _ => ToolKind::Other,
        }
    }

    /// Whether a call of this kind changes the file it names.
    pub const fn changes_files(self) -> bool {
        matches!(self, ToolKind::Write | ToolKind::Edit)
    }
}

/// One tool call: the tool, its target and its outcome.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ToolUse {
    /// The agent's own name of the tool.
    pub name: String,
    /// What the tool does.
    pub kind: Option<ToolKind>,
    /// The primary argument: a path, a command, a pattern, a URL.
    pub target: String,
    /// What the call ran or changed, if `target` does not say all of it: a command with its line breaks and without long
    /// texts, or the part of a file that an edit changed.
    pub body: Option<String>,
    /// The other arguments, shortened, as `name=value` pairs.
    pub arguments: String,
    /// All paths among the arguments, as written.
    pub paths: Vec<String>,
    /// The outcome; `None` until the result is read.
    pub outcome: Option<ToolOutcome>,
}

/// Whether a tool call succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    /// The result was not flagged as an error.
    Ok,
    /// The result was flagged as an error.
    Error,
    /// The user refused the call. Counts as an error.
    Rejected,
}

impl ToolStatus {
    /// The name in JSON and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            ToolStatus::Ok => "ok",
            ToolStatus::Error => "error",
            ToolStatus::Rejected => "rejected",
        }
    }

    /// Parses the stored name; unknown names become `Error`, because success must never be guessed.
    pub fn from_stored(name: &str) -> Self {
        match name {
            "ok" => ToolStatus::Ok,
            "rejected" => ToolStatus::Rejected,
            _ => ToolStatus::Error,
        }
    }

    /// Whether it counts as a tool error.
    pub const fn is_error(self) -> bool {
        !matches!(self, ToolStatus::Ok)
    }
}

/// The measured result of a tool call. The result's text is not included unless the filter keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutcome {
    /// Whether the call succeeded.
    pub status: ToolStatus,
    /// A one-line summary of the result: size, number of items, keys.
    pub summary: String,
    /// The line that identifies the error, at most 500 characters. A command whose exit code was hidden, for example by
    /// a pipe, can have one without being flagged.
    pub error: Option<String>,
    /// Exit code of a command, if reported.
    pub exit_code: Option<i32>,
    /// Number of lines of the result.
    pub lines: u64,
    /// Size of the result in bytes.
    pub bytes: u64,
    /// The beginning of the result; stored only if the filter keeps tool outputs.
    pub output: Option<String>,
}
