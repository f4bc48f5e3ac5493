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
    /// Rethread itself: our own threads.
    Native,
}

/// The name is not one of the supported agents.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown agent {0:?}; use claude-code, pi or native")]
pub struct UnknownAgent(pub String);

impl Agent {
    /// Every agent, in display order.
    pub const ALL: [Agent; 3] = [Agent::ClaudeCode, Agent::Pi, Agent::Native];

    /// Agents other than Rethread: their transcripts are not written by us.
    pub const EXTERNAL: [Agent; 2] = [Agent::ClaudeCode, Agent::Pi];

    /// The name in commands, JSON and the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Pi => "pi",
            Agent::Native => "native",
        }
    }

    /// The name as its makers write it.
    pub const fn label(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "Claude Code",
            Agent::Pi => "pi",
            Agent::Native => "Rethread",
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
