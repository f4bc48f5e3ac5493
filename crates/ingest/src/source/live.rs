//! Sessions that run right now, as their agents themselves record it.

use rethread_model::Agent;
use serde::Serialize;

use super::SourceConfig;
use crate::agents::format_of;

/// A session in an agent's list of running sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveSession {
    /// The agent's id of the session.
    pub external_id: String,
    /// The name that the agent shows.
    pub name: Option<String>,
    /// Whether the user chose that name.
    pub is_named_by_user: bool,
    /// Whether its process exists. Entries of ended processes can remain.
    pub is_running: bool,
    /// What it does.
    pub status: Option<LiveStatus>,
    /// What it waits for.
    pub waiting_for: Option<String>,
}

/// What a running session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LiveStatus {
    /// The model works.
    Busy,
    /// It waits for the next prompt.
    Idle,
    /// It waits for an answer of its user, such as a permission.
    Waiting,
}

impl LiveStatus {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            LiveStatus::Busy => "busy",
            LiveStatus::Idle => "idle",
            LiveStatus::Waiting => "waiting",
        }
    }
}

/// The sessions that agents list as running, with their agents.
pub fn live_sessions(source_config: &SourceConfig) -> Vec<(Agent, LiveSession)> {
    let of_agent =
        |agent: Agent| (format_of(agent).live_sessions)(source_config).into_iter().map(move |one| (agent, one));
    Agent::ALL.into_iter().flat_map(of_agent).collect()
}
