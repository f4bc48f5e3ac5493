//! One message or event of a transcript, normalised and redacted.

use serde::{Deserialize, Serialize};

use crate::{Timestamp, ToolUse};

/// Who speaks in an entry, as shown and stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A human.
    User,
    /// The model.
    Assistant,
    /// A tool call with its outcome.
    Tool,
    /// A failure of the agent itself, such as an API error.
    Error,
    /// A summary the agent made of earlier entries.
    Summary,
    /// Everything else worth keeping: commands, notes, notifications, interruptions.
    Meta,
}

impl Role {
    /// The name in JSON and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
            Role::Error => "error",
            Role::Summary => "summary",
            Role::Meta => "meta",
        }
    }

    /// From the name in the store; anything unknown is `Meta`.
    pub fn from_stored(name: &str) -> Self {
        match name {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "tool" => Role::Tool,
            "error" => Role::Error,
            "summary" => Role::Summary,
            _ => Role::Meta,
        }
    }
}

/// What kind of text an entry is; finer than its role, because counting depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Speech {
    /// A prompt that a human typed. Starts an episode and counts as a prompt.
    Prompt,
    /// Instructions that the parent model wrote for a sub-agent. Starts an episode, counts nowhere.
    Task,
    /// What a human answered to a question or said when refusing a tool call.
    Answer,
    /// Text of the model.
    Said,
    /// Reasoning of the model; kept only when the filter asks for it.
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
    /// A message of the machine: background task finished, other agent wrote.
    Notice,
    /// The user stopped the agent.
    Interruption,
    /// Text that an extension or a skill put into the conversation.
    Injected,
}

impl Speech {
    /// Who speaks.
    pub const fn role(self) -> Role {
        match self {
            Speech::Prompt | Speech::Task | Speech::Answer => Role::User,
            Speech::Said => Role::Assistant,
            Speech::Call => Role::Tool,
            Speech::Failure => Role::Error,
            Speech::Summary | Speech::Recap => Role::Summary,
            Speech::Reasoning
            | Speech::Command
            | Speech::Shell
            | Speech::Note
            | Speech::Notice
            | Speech::Interruption
            | Speech::Injected => Role::Meta,
        }
    }

    /// Whether an entry of this kind begins a new episode.
    pub const fn starts_episode(self) -> bool {
        matches!(self, Speech::Prompt | Speech::Task)
    }

    /// The name in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Speech::Prompt => "prompt",
            Speech::Task => "task",
            Speech::Answer => "answer",
            Speech::Said => "said",
            Speech::Reasoning => "reasoning",
            Speech::Call => "call",
            Speech::Failure => "failure",
            Speech::Summary => "summary",
            Speech::Recap => "recap",
            Speech::Command => "command",
            Speech::Shell => "shell",
            Speech::Note => "note",
            Speech::Notice => "notice",
            Speech::Interruption => "interruption",
            Speech::Injected => "injected",
        }
    }

    /// From the name in the store; anything unknown is text that somebody put in.
    pub fn from_stored(name: &str) -> Self {
        match name {
            "prompt" => Speech::Prompt,
            "task" => Speech::Task,
            "answer" => Speech::Answer,
            "said" => Speech::Said,
            "reasoning" => Speech::Reasoning,
            "call" => Speech::Call,
            "failure" => Speech::Failure,
            "summary" => Speech::Summary,
            "recap" => Speech::Recap,
            "command" => Speech::Command,
            "shell" => Speech::Shell,
            "note" => Speech::Note,
            "notice" => Speech::Notice,
            "interruption" => Speech::Interruption,
            _ => Speech::Injected,
        }
    }
}

/// Where an entry stands in its transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Place {
    /// Line, counted from 1.
    pub line: u64,
    /// Byte offset of the line's first byte.
    pub offset: u64,
    /// Length of the line in bytes, with its newline.
    pub length: u64,
}

/// One normalised message or event of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Position among the session's entries, from 0, in transcript order.
    pub seq: u64,
    /// The agent's own id: a uuid, a tool call id, or a derived one where the agent gives none.
    pub native_id: String,
    /// Where it stands.
    pub place: Place,
    /// When it was said, if the agent noted it.
    pub at: Option<Timestamp>,
    /// What kind of text it is.
    pub speech: Speech,
    /// The text, redacted. For a tool call: one line on what was done.
    pub text: String,
    /// The tool call, for entries of that kind.
    pub tool: Option<ToolUse>,
    /// Number of the episode it belongs to, if any has begun.
    pub episode: Option<u64>,
    /// Set when the entry lies on a branch the session left, or was taken back.
    pub abandoned: bool,
}
