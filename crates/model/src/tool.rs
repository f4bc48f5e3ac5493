//! What an agent did with a tool, in words that do not depend on the agent.

use serde::{Deserialize, Serialize};

/// The kind of thing a tool does, whatever an agent calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolKind {
    /// Reads a file.
    Read,
    /// Looks for files or text.
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

    /// From the name in the store; anything unknown is `Other`.
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

/// One tool call: which tool, on what, and how it went.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ToolUse {
    /// The agent's own name of the tool.
    pub name: String,
    /// What it does.
    pub kind: Option<ToolKind>,
    /// The primary argument: a path, a command, a pattern, an address.
    pub target: String,
    /// A command with its line breaks and without long texts, where the target does not hold all of it.
    pub script: Option<String>,
    /// The other arguments, shortened, as `name=value` pairs.
    pub arguments: String,
    /// All paths among the arguments, as written.
    pub paths: Vec<String>,
    /// How it went; none while the result is not known.
    pub outcome: Option<Outcome>,
}

/// How a tool call went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The result was not flagged.
    Ok,
    /// The result was flagged as an error.
    Error,
    /// The user refused the call. Counts as an error.
    Rejected,
}

impl Status {
    /// The name in JSON and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Error => "error",
            Status::Rejected => "rejected",
        }
    }

    /// From the name in the store; anything unknown is an error, because "ok" must never be guessed.
    pub fn from_stored(name: &str) -> Self {
        match name {
            "ok" => Status::Ok,
            "rejected" => Status::Rejected,
            _ => Status::Error,
        }
    }

    /// Whether it counts as a tool error.
    pub const fn is_error(self) -> bool {
        !matches!(self, Status::Ok)
    }
}

/// The measured result of a tool call. The result's own text is not part of it unless the filter says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Whether it went well.
    pub status: Status,
    /// One line on what came back: size, number of items, keys.
    pub summary: String,
    /// The line that names the error, at most 500 characters. A command whose exit code was hidden may have one although
    /// it was not flagged.
    pub error: Option<String>,
    /// Exit code of a command, where given.
    pub exit_code: Option<i32>,
    /// Lines of the result.
    pub lines: u64,
    /// Bytes of the result.
    pub bytes: u64,
    /// The beginning of the result, kept only when the filter asks for tool outputs.
    pub output: Option<String>,
}
