//! The agents that were used on this machine, as JSON.

use rethread_engine::{AgentCoverage, FoundAgent};
use rethread_model::Agent;
use schemars::JsonSchema;
use serde::Serialize;

/// An agent that was used on this machine.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct FoundAgentJson {
    /// Null if its transcripts cannot be read.
    agent: Option<&'static str>,
    label: &'static str,
    /// `read`, `not-read-yet`, `not-selected`, `opt-in` or `not-readable`.
    coverage: &'static str,
    /// Stored sessions, without those of sub-agents.
    sessions: u64,
    /// Why it is not read.
    reason: Option<String>,
}

impl FoundAgentJson {
    pub(super) fn new(found: &FoundAgent) -> Self {
        let sessions = if let AgentCoverage::Read { sessions } = found.coverage { sessions } else { 0 };
        Self {
            agent: found.agent.map(Agent::as_str),
            label: found.label,
            coverage: found.coverage.as_str(),
            sessions,
            reason: found.coverage.explanation(),
        }
    }
}
