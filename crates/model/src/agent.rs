//! The coding agents whose transcripts we can read.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A coding agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agent {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// The pi coding agent.
    Pi,
    /// Nobody else: our own threads.
    Native,
}

/// No agent of that name can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown agent {0:?}; known are: claude-code, pi, native")]
pub struct UnknownAgent(pub String);

impl Agent {
    /// All of them, in the order they are shown.
    pub const ALL: [Agent; 3] = [Agent::ClaudeCode, Agent::Pi, Agent::Native];

    /// Those whose transcripts are theirs.
    pub const OTHERS: [Agent; 2] = [Agent::ClaudeCode, Agent::Pi];

    /// The name in commands, JSON and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Pi => "pi",
            Agent::Native => "native",
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "claude-code" | "claude" => Ok(Agent::ClaudeCode),
            "pi" => Ok(Agent::Pi),
            "native" => Ok(Agent::Native),
            _ => Err(UnknownAgent(text.to_owned())),
        }
    }
}
