//! One conversation of an agent, with its counts.

use serde::{Deserialize, Serialize};

use crate::{Agent, SessionId, Timestamp};

/// What is counted in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionCounts {
    /// Prompts typed by a human.
    pub prompts: u64,
    /// Prompts plus messages of the model.
    pub messages: u64,
    /// Number of tool calls.
    pub tool_calls: u64,
    /// Tool results flagged as errors.
    pub tool_errors: u64,
    /// Distinct paths that were written or edited.
    pub files_edited: u64,
    /// Number of episodes.
    pub episodes: u64,
}

/// Tokens as counted by the provider; each API message counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Input that was not cached.
    pub input: u64,
    /// Generated tokens.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
}

impl Session {
    /// A reference to a line of this session, in the form that `show` accepts.
    pub fn citation(&self, line: u64) -> String {
        format!("{}:{line}", self.id)
    }
}

impl Tokens {
    /// The sum, field by field.
    #[must_use]
    pub fn plus(self, other: Tokens) -> Tokens {
        Tokens {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }

    /// The sum of all fields.
    pub fn total(self) -> u64 {
        [self.output, self.cache_read, self.cache_write].into_iter().fold(self.input, u64::saturating_add)
    }

    /// The maximum, field by field: later lines of an API message repeat or complete its usage.
    #[must_use]
    pub fn max(self, other: Tokens) -> Tokens {
        Tokens {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
        }
    }
}

/// Whether a human or another agent started a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// Started by a human.
    Main,
    /// Started by an agent (a sub-agent). Never listed as "another session".
    Child,
}

/// Activity state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionState {
    /// Had activity within the idle timeout.
    Active,
    /// No activity for longer than the idle timeout.
    Idle,
    /// Paused by the user.
    Suspended,
    /// No activity for more than twice the idle timeout, or closed.
    Ended,
}

impl SessionState {
    /// The word that commands, JSON and injections use.
    pub const fn as_str(self) -> &'static str {
        match self {
            SessionState::Active => "active",
            SessionState::Idle => "idle",
            SessionState::Suspended => "suspended",
            SessionState::Ended => "ended",
        }
    }
}

/// One conversation of an agent, as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Our own id of the session.
    pub id: SessionId,
    /// The agent that wrote the transcript.
    pub agent: Agent,
    /// The agent's id of the session.
    pub external_id: String,
    /// Main session or sub-agent.
    pub kind: SessionKind,
    /// The parent session, for a sub-agent.
    pub parent: Option<SessionId>,
    /// A short unique name, given by the user or by an explicit id file.
    pub alias: Option<String>,
    /// The displayed name: the agent's title, or the first prompt.
    pub name: Option<String>,
    /// The directory the session started in.
    pub cwd: Option<String>,
    /// Git root of `cwd`, shared by all worktrees; `cwd` itself outside a repository.
    pub project: Option<String>,
    /// A stable name of the project, 16 hex digits, that hides its path.
    pub namespace: Option<String>,
    /// The most recent git branch.
    pub branch: Option<String>,
    /// The most recent model.
    pub model: Option<String>,
    /// Time of the first entry.
    pub started_at: Option<Timestamp>,
    /// Time of the last entry.
    pub last_activity_at: Option<Timestamp>,
    /// Path of the transcript file.
    pub transcript: Option<String>,
    /// Counts of prompts, messages, tool calls and so on.
    pub counts: SessionCounts,
    /// Tokens used by the agent.
    pub tokens: Tokens,
    /// Cost in US dollars, if the agent reports it.
    pub cost_usd: Option<f64>,
    /// Estimated tokens of the raw transcript.
    pub raw_tokens: u64,
    /// Estimated tokens of what is stored of it.
    pub kept_tokens: u64,
    /// Whether it has no content worth listing: a warm-up, a lone `/exit`.
    pub is_empty: bool,
}
