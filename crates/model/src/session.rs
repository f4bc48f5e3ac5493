//! One conversation of an agent and what is counted about it.

use serde::{Deserialize, Serialize};

use crate::{Agent, SessionId, Timestamp};

/// What is counted about a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Texts that a human typed.
    pub prompts: u64,
    /// Prompts and messages of the model.
    pub messages: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// Tool results flagged as errors.
    pub tool_errors: u64,
    /// Distinct paths written or edited.
    pub files_edited: u64,
    /// Episodes.
    pub episodes: u64,
}

/// Tokens as the agent's provider counted them, each API message once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// Uncached input.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input read from the cache.
    pub cache_read: u64,
    /// Input written to the cache.
    pub cache_write: u64,
}

impl Session {
    /// A place in it, as `show` takes it.
    pub fn citation(&self, line: u64) -> String {
        format!("{}:{line}", self.id)
    }
}

impl Tokens {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Tokens) -> Tokens {
        Tokens {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }

    /// All parts together.
    pub fn total(self) -> u64 {
        [self.output, self.cache_read, self.cache_write].into_iter().fold(self.input, u64::saturating_add)
    }

    /// The larger of both, part by part: later lines of one API message repeat or complete its usage.
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

/// How a session came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// Started by a human.
    Main,
    /// A sub-agent's session. Never listed as "another session".
    Child,
}

/// Where a session is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Something happened within the idle timeout.
    Active,
    /// Quiet for longer than the idle timeout.
    Idle,
    /// Paused on purpose.
    Suspended,
    /// Quiet for more than twice the idle timeout, or closed.
    Ended,
}

/// One conversation of an agent, as stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Our id.
    pub id: SessionId,
    /// Whose session.
    pub agent: Agent,
    /// The agent's own id.
    pub external_id: String,
    /// How it came to be.
    pub kind: SessionKind,
    /// The session this one is a child of.
    pub parent: Option<SessionId>,
    /// A short unique name given by the user or an explicit id file.
    pub alias: Option<String>,
    /// The name shown: the agent's title, or the first prompt.
    pub name: Option<String>,
    /// The directory the session began in.
    pub cwd: Option<String>,
    /// Git root of that directory, shared by all worktrees; else the directory.
    pub project: Option<String>,
    /// A stable 16-hex name of the project that hides its path.
    pub namespace: Option<String>,
    /// The git branch last seen.
    pub branch: Option<String>,
    /// The model last used.
    pub model: Option<String>,
    /// Time of the first entry.
    pub started_at: Option<Timestamp>,
    /// Time of the last entry.
    pub last_activity_at: Option<Timestamp>,
    /// The transcript file.
    pub transcript: Option<String>,
    /// What was counted.
    pub counts: Counts,
    /// Tokens used.
    pub tokens: Tokens,
    /// Cost in US dollars as the agent noted it, if it did.
    pub cost_usd: Option<f64>,
    /// Estimated tokens of the raw transcript.
    pub raw_tokens: u64,
    /// Estimated tokens of what we kept of it.
    pub kept_tokens: u64,
    /// Whether nothing worth listing happened in it: a warm-up, a lone `/exit`.
    pub empty: bool,
}
