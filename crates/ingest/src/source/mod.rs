//! Finds transcripts and reads their bytes. The only module of this crate that touches the file system.

pub mod aliases;
pub mod exclude;
pub mod file;
pub mod lines;
pub mod project;

mod claude_code;
mod claude_code_names;
mod native;
mod nearby;
mod other_agents;
mod peek;
mod pi;
mod walk;

use std::path::{Path, PathBuf};

use rethread_model::{Agent, SessionKind, Warning};

pub use claude_code_names::claude_session_names;
pub use native::explicit_thread_name;
pub use nearby::ProjectPlaces;
pub use other_agents::other_agents;
pub use peek::{TranscriptPeek, last_timestamp, peek};
pub use pi::session_id_in_path;

/// Where agents store their files. The environment is not read here: the binary passes it in.
#[derive(Clone, Debug, Default)]
pub struct SourceConfig {
    /// The user's home directory.
    pub home: PathBuf,
    /// Environment variables.
    pub env_vars: Vec<(String, String)>,
    /// The directory of our own threads.
    pub threads_dir: Option<PathBuf>,
    /// Additional directories to search, by agent.
    pub extra_roots: Vec<(Agent, PathBuf)>,
}

/// A directory that contains an agent's transcripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptRoot {
    /// The agent that writes there.
    pub agent: Agent,
    /// The directory.
    pub path: PathBuf,
    /// Why it is searched: a default location, a variable, the configuration.
    pub reason: String,
}

/// A transcript file found on disk.
#[derive(Clone, Debug)]
pub struct TranscriptFile {
    /// The agent that wrote it.
    pub agent: Agent,
    /// Path of the file.
    pub path: PathBuf,
    /// File system metadata at the time it was found.
    pub stamp: file::FileStamp,
}

/// The identity of a transcript's session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionIdentity {
    /// The agent's id of the session.
    pub external_id: String,
    /// Main session or sub-agent.
    pub kind: SessionKind,
    /// The agent's id of the parent session.
    pub parent_external_id: Option<String>,
}

impl SourceConfig {
    /// An environment variable; `None` if it is unset or empty.
    pub fn env_var(&self, name: &str) -> Option<&str> {
        let found = self.env_vars.iter().find(|(key, _)| key == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty())
    }

    /// Expands a leading `~` to the home directory.
    pub fn expand_home(&self, path: &str) -> PathBuf {
        match path.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => self.home.join(&rest[1..]),
            _ => PathBuf::from(path),
        }
    }
}

/// The directories to search for an agent's transcripts.
pub fn roots(agent: Agent, source_config: &SourceConfig) -> Vec<TranscriptRoot> {
    let own = match agent {
        Agent::ClaudeCode => claude_code::roots(source_config),
        Agent::Pi => pi::roots(source_config),
        Agent::Native => native::roots(source_config),
    };
    let extra = source_config.extra_roots.iter().filter(|(owner, _)| *owner == agent);
    let extra = extra.map(|(_, path)| TranscriptRoot { agent, path: path.clone(), reason: "config".to_owned() });
    own.into_iter().chain(extra).collect()
}

/// All transcripts below a root, with warnings about files that look like one but cannot be read.
pub fn discover(root: &TranscriptRoot) -> (Vec<TranscriptFile>, Vec<Warning>) {
    let accept = match root.agent {
        Agent::ClaudeCode => claude_code::is_transcript,
        Agent::Pi => pi::is_transcript,
        Agent::Native => native::is_transcript,
    };
    walk::walk(root, accept)
}

/// The transcripts at an explicit path, a file or a directory; the agent is detected from their content.
pub fn discover_path(path: &Path) -> (Vec<TranscriptFile>, Vec<Warning>) {
    let root = TranscriptRoot { agent: Agent::ClaudeCode, path: path.to_owned(), reason: "explicit path".to_owned() };
    let (found, warnings) = walk::walk(&root, |_| true);
    let detected = found.into_iter().filter_map(|found| {
        let agent = peek::detect_agent(&found.path)?;
        Some(TranscriptFile { agent, ..found })
    });
    (detected.collect(), warnings)
}

/// The identity of a transcript's session, from its path and first lines; `None` while it cannot be determined.
pub fn identify(found: &TranscriptFile, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    if peek.is_own_call {
        return None;
    }
    match found.agent {
        Agent::ClaudeCode => claude_code::identify(&found.path, peek),
        Agent::Pi => pi::identify(&found.path, peek),
        Agent::Native => native::identify(&found.path),
    }
}
