//! Which agents were used on this machine, and whether they are read.

use rethread_ingest::agents::format_of;
use rethread_ingest::source;
use rethread_model::Agent;
use rethread_store::ReadStore;

use crate::{EngineError, ReportService};

/// An agent that was used on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundAgent {
    /// The name as its makers write it.
    pub label: &'static str,
    /// The agent, if its transcripts can be read.
    pub agent: Option<Agent>,
    /// Whether it is read.
    pub coverage: AgentCoverage,
}

/// Whether the sessions of an agent are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentCoverage {
    /// They are; so many are stored.
    Read {
        /// Stored sessions, without those of sub-agents.
        sessions: u64,
    },
    /// They will be, with the next sync.
    NotReadYet,
    /// The configuration leaves the agent out.
    NotSelected,
    /// They contain private conversations, so the user has to choose the agent.
    OptIn {
        /// The agent.
        agent: Agent,
    },
    /// They cannot be read.
    Impossible {
        /// Why, as the end of a sentence.
        reason: &'static str,
    },
}

impl AgentCoverage {
    /// The name in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            AgentCoverage::Read { .. } => "read",
            AgentCoverage::NotReadYet => "not-read-yet",
            AgentCoverage::NotSelected => "not-selected",
            AgentCoverage::OptIn { .. } => "opt-in",
            AgentCoverage::Impossible { .. } => "not-readable",
        }
    }

    /// What it means, as a phrase after the agent's name. `None` for agents that are read.
    pub fn explanation(self) -> Option<String> {
        match self {
            AgentCoverage::Read { .. } => None,
            AgentCoverage::NotReadYet => Some("not read yet".to_owned()),
            AgentCoverage::NotSelected => Some("not read: `intake.agents` does not name it".to_owned()),
            AgentCoverage::OptIn { agent } => Some(format!(
                "not read, because it has private conversations; to read it: rethread config set intake.agents +{agent}"
            )),
            AgentCoverage::Impossible { reason } => Some(format!("not readable: {reason}")),
        }
    }
}

impl ReportService<'_> {
    /// Every agent that was used on this machine, or of which sessions are stored.
    pub fn agents(self) -> Result<Vec<FoundAgent>, EngineError> {
        self.agents_in(self.engine.reader()?.as_ref())
    }

    pub(super) fn agents_in(self, store: Option<&ReadStore>) -> Result<Vec<FoundAgent>, EngineError> {
        let source_config = self.engine.source_config();
        let stored = store.map(ReadStore::session_counts_by_agent).transpose()?.unwrap_or_default();
        let selected = self.engine.sync().agents_to_read(None);
        let mut found = Vec::new();
        for agent in Agent::EXTERNAL {
            let sessions = stored.iter().find(|(owner, _)| *owner == agent).map_or(0, |(_, count)| *count);
            let coverage = match selected.contains(&agent) {
                true if sessions > 0 => AgentCoverage::Read { sessions },
                true => AgentCoverage::NotReadYet,
                false if agent.is_opt_in() => AgentCoverage::OptIn { agent },
                false => AgentCoverage::NotSelected,
            };
            if sessions > 0 || is_used(agent, &source_config) {
                found.push(FoundAgent { label: agent.label(), agent: Some(agent), coverage });
            }
        }
        let others = source::unread_agents(&source_config).into_iter();
        found.extend(others.map(|other| FoundAgent {
            label: other.label,
            agent: None,
            coverage: AgentCoverage::Impossible { reason: other.reason },
        }));
        Ok(found)
    }
}

/// Whether an agent was used on this machine: its own directory exists, or one of the places with its transcripts.
fn is_used(agent: Agent, source_config: &source::SourceConfig) -> bool {
    (format_of(agent).home)(source_config).is_dir()
        || source::roots(agent, source_config).iter().any(|root| root.path.exists())
}
