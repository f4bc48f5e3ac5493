//! Rethread itself: the logs of our own threads.

mod files;
mod lines;

use rethread_model::Agent;

use super::AgentFormat;

pub use files::explicit_thread_name;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_transcript: files::is_transcript,
    identify: files::identify,
    ..AgentFormat::new(Agent::Native, files::home, files::roots, lines::events)
};
