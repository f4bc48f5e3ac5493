//! Finds transcripts and reads their bytes. The only part of this crate that touches the file system.

pub mod exclude;
pub mod file;
pub mod lines;
pub mod named;
pub mod project;

mod claude_code;
mod native;
mod peek;
mod pi;
mod walk;

use std::path::{Path, PathBuf};

use rethread_model::{Agent, SessionKind, Warning};

pub use native::given_name;
pub use peek::{Peek, last_time, peek};

/// What the surroundings of the program say about where agents keep their files. Nothing is read from the
/// environment here: the binary passes it in.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// The user's home directory.
    pub home: PathBuf,
    /// Environment variables.
    pub variables: Vec<(String, String)>,
    /// Where our own threads are.
    pub threads: Option<PathBuf>,
    /// Further directories to look in, by agent.
    pub extra_roots: Vec<(Agent, PathBuf)>,
}

/// A directory in which an agent keeps transcripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// Whose.
    pub agent: Agent,
    /// Where.
    pub path: PathBuf,
    /// Why we look there.
    pub reason: String,
}

/// A transcript file that was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Whose.
    pub agent: Agent,
    /// Where.
    pub path: PathBuf,
    /// What the file system says about it.
    pub stamp: file::Stamp,
}

/// Who the session of a transcript is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The agent's id.
    pub external_id: String,
    /// How it came to be.
    pub kind: SessionKind,
    /// The parent, by the agent's id.
    pub parent: Option<String>,
}

impl Surroundings {
    /// An environment variable, unless it is unset or empty.
    pub fn variable(&self, name: &str) -> Option<&str> {
        let found = self.variables.iter().find(|(key, _)| key == name)?;
        Some(found.1.as_str()).filter(|value| !value.is_empty())
    }

    /// A path in which `~` stands for the home directory.
    pub fn expand(&self, path: &str) -> PathBuf {
        match path.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => self.home.join(&rest[1..]),
            _ => PathBuf::from(path),
        }
    }
}

/// Where transcripts of an agent are looked for.
pub fn roots(agent: Agent, surroundings: &Surroundings) -> Vec<Root> {
    let own = match agent {
        Agent::ClaudeCode => claude_code::roots(surroundings),
        Agent::Pi => pi::roots(surroundings),
        Agent::Native => native::roots(surroundings),
    };
    let extra = surroundings.extra_roots.iter().filter(|(whose, _)| *whose == agent);
    let extra = extra.map(|(_, path)| Root { agent, path: path.clone(), reason: "config".to_owned() });
    own.into_iter().chain(extra).collect()
}

/// All transcripts below a root, with warnings about what looks like one and is not.
pub fn discover(root: &Root) -> (Vec<Found>, Vec<Warning>) {
    let accept = match root.agent {
        Agent::ClaudeCode => claude_code::is_transcript,
        Agent::Pi => pi::is_transcript,
        Agent::Native => native::is_transcript,
    };
    walk::walk(root, accept)
}

/// The transcripts at an explicit path, which may be a file or a directory; the agent is told by their content.
pub fn discover_path(path: &Path) -> (Vec<Found>, Vec<Warning>) {
    let root = Root { agent: Agent::ClaudeCode, path: path.to_owned(), reason: "explicit path".to_owned() };
    let (found, warnings) = walk::walk(&root, |_| true);
    let told = found.into_iter().filter_map(|found| {
        let agent = peek::agent_of(&found.path)?;
        Some(Found { agent, ..found })
    });
    (told.collect(), warnings)
}

/// Who the session of a transcript is, from its path and its first lines; nothing while it cannot be told.
pub fn identify(found: &Found, peek: &Peek) -> Option<Identity> {
    if peek.is_own_call {
        return None;
    }
    match found.agent {
        Agent::ClaudeCode => claude_code::identify(&found.path, peek),
        Agent::Pi => pi::identify(&found.path, peek),
        Agent::Native => native::identify(&found.path),
    }
}
