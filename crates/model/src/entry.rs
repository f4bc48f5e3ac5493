//! One message or event of a transcript, normalized and redacted.

use serde::{Deserialize, Serialize};

use crate::{Timestamp, ToolUse};

/// The author of an entry, as shown and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryRole {
    /// A human.
    User,
    /// The model.
    Assistant,
    /// A tool call with its outcome.
    Tool,
    /// A failure of the agent itself, such as an API error.
    Error,
    /// A summary of earlier entries that the agent wrote.
    Summary,
    /// Everything else worth storing: commands, notes, notifications, interruptions.
    Meta,
}

impl EntryRole {
    /// The name in JSON and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            EntryRole::User => "user",
            EntryRole::Assistant => "assistant",
            EntryRole::Tool => "tool",
            EntryRole::Error => "error",
            EntryRole::Summary => "summary",
            EntryRole::Meta => "meta",
        }
    }

    /// Parses the stored name; unknown names become `Meta`.
    pub fn from_stored(name: &str) -> Self {
        match name {
            "user" => EntryRole::User,
            "assistant" => EntryRole::Assistant,
            "tool" => EntryRole::Tool,
            "error" => EntryRole::Error,
            "summary" => EntryRole::Summary,
            _ => EntryRole::Meta,
        }
    }
}

/// The kind of an entry; finer than its role, because counting depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A prompt typed by a human. Starts an episode and counts as a prompt.
    Prompt,
    /// Instructions that a parent model wrote for a sub-agent. Starts an episode but is not counted as a prompt.
    Task,
    /// A human's answer to a question, or the reason given for refusing a tool call.
    Answer,
    /// Text written by the model.
    #[serde(rename = "assistant")]
    AssistantText,
    /// The model's reasoning; stored only if the filter keeps it.
    Reasoning,
    /// A tool call.
    Call,
    /// An API or provider failure.
    Failure,
    /// A compaction or branch summary.
    Summary,
    /// A recap the agent wrote while the user was away.
    Recap,
    /// A slash command without arguments.
    Command,
    /// A command the user ran with `!`.
    Shell,
    /// A note the user left with `#`.
    Note,
    /// A system notification, such as a finished background task or a message from another agent.
    Notice,
    /// The user stopped the agent.
    Interruption,
    /// Text that an extension or a skill added to the conversation.
    Injected,
}

impl EntryKind {
    /// The author of entries of this kind.
    pub const fn role(self) -> EntryRole {
        match self {
            EntryKind::Prompt | EntryKind::Task | EntryKind::Answer => EntryRole::User,
            EntryKind::AssistantText => EntryRole::Assistant,
            EntryKind::Call => EntryRole::Tool,
            EntryKind::Failure => EntryRole::Error,
            EntryKind::Summary | EntryKind::Recap => EntryRole::Summary,
            EntryKind::Reasoning
            | EntryKind::Command
            | EntryKind::Shell
            | EntryKind::Note
            | EntryKind::Notice
            | EntryKind::Interruption
            | EntryKind::Injected => EntryRole::Meta,
        }
    }

    /// Whether an entry of this kind starts a new episode.
    pub const fn starts_episode(self) -> bool {
        matches!(self, EntryKind::Prompt | EntryKind::Task)
    }

    /// The name in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            EntryKind::Prompt => "prompt",
            EntryKind::Task => "task",
            EntryKind::Answer => "answer",
            EntryKind::AssistantText => "assistant",
            EntryKind::Reasoning => "reasoning",
            EntryKind::Call => "call",
            EntryKind::Failure => "failure",
            EntryKind::Summary => "summary",
            EntryKind::Recap => "recap",
            EntryKind::Command => "command",
            EntryKind::Shell => "shell",
            EntryKind::Note => "note",
            EntryKind::Notice => "notice",
            EntryKind::Interruption => "interruption",
            EntryKind::Injected => "injected",
        }
    }

    /// Parses the stored name; unknown names become `Injected`.
    pub fn from_stored(name: &str) -> Self {
        match name {
            "prompt" => EntryKind::Prompt,
            "task" => EntryKind::Task,
            "answer" => EntryKind::Answer,
            "assistant" => EntryKind::AssistantText,
            "reasoning" => EntryKind::Reasoning,
            "call" => EntryKind::Call,
            "failure" => EntryKind::Failure,
            "summary" => EntryKind::Summary,
            "recap" => EntryKind::Recap,
            "command" => EntryKind::Command,
            "shell" => EntryKind::Shell,
            "note" => EntryKind::Note,
            "notice" => EntryKind::Notice,
            "interruption" => EntryKind::Interruption,
            _ => EntryKind::Injected,
        }
    }
}

/// The position of an entry in its transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct EntryLocation {
    /// Line number, counted from 1.
    pub line: u64,
    /// Byte offset of the line's first byte.
    pub offset: u64,
    /// Length of the line in bytes, including its newline.
    pub length: u64,
}

/// One normalized message or event of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Position among the session's entries, from 0, in transcript order.
    pub seq: u64,
    /// The agent's own id: a uuid, a tool call id, or a derived id if the agent has none.
    pub native_id: String,
    /// Position in the transcript.
    pub location: EntryLocation,
    /// Time of the entry, if the agent recorded it.
    pub at: Option<Timestamp>,
    /// Kind of entry.
    pub kind: EntryKind,
    /// The redacted text. For a tool call: a one-line summary of the call.
    pub text: String,
    /// The tool call, for entries of kind `Call`.
    pub tool: Option<ToolUse>,
    /// Number of its episode; `None` before the first episode starts.
    pub episode: Option<u64>,
    /// Set if the entry is on an abandoned branch or was retracted.
    pub is_abandoned: bool,
}
