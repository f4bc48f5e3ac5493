//! Finds transcripts and reads their bytes. The only module of this crate that touches the file system.

pub mod aliases;
mod database;
mod document;
pub mod exclude;
pub mod file;
pub mod lines;
pub mod project;

mod nearby;
mod other_agents;
mod peek;
mod reader;
mod walk;

use std::io;
use std::path::{Path, PathBuf};

use rethread_model::{Agent, Warning};

use crate::agents::{AgentFormat, SessionIdentity, Storage, format_of, formats};

use self::file::FileStamp;

pub use database::DatabaseQueries;

pub(crate) use nearby::MAX_FOLDER_NAME;
pub use nearby::ProjectPlaces;
pub use other_agents::other_agents;
pub(crate) use peek::TranscriptHead;
pub use peek::{TranscriptPeek, last_timestamp, peek};
pub use reader::{ReadPosition, TranscriptReader, TranscriptRecords};

/// Where agents store their files. The environment is not read here: the binary passes it in.
#[derive(Clone, Debug, Default)]
pub struct SourceConfig {
    /// The user's home directory.
    pub home: PathBuf,
    /// Environment variables.
    pub env_vars: Vec<(String, String)>,
    /// The directory of our own threads.
    pub threads_dir: PathBuf,
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
    pub reason: &'static str,
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
    let own = (format_of(agent).roots)(source_config).into_iter();
    let extra = source_config.extra_roots.iter().filter(|(owner, _)| *owner == agent);
    let extra = extra.map(|(_, path)| (path.clone(), "config"));
    own.chain(extra).map(|(path, reason)| TranscriptRoot { agent, path, reason }).collect()
}

/// All transcripts below a root, with warnings about files that look like one but cannot be read.
pub fn discover(root: &TranscriptRoot) -> (Vec<TranscriptFile>, Vec<Warning>) {
    let format = format_of(root.agent);
    let is_transcript = |path: &Path| has_extension(path, format.extension) && (format.is_transcript)(path);
    let (found, mut warnings) = walk::walk(&root.path, &is_transcript);
    let mut transcripts = Vec::new();
    for (path, stamp) in found {
        match transcripts_in(format, &path, stamp) {
            Ok(found) => transcripts.extend(found),
            Err(error) => warnings.push(Warning {
                file: path.display().to_string(),
                line: None,
                message: format!("cannot be listed ({error}); skipped"),
            }),
        }
    }
    (transcripts, warnings)
}

/// The transcripts in a file of an agent: itself, or the sessions of a database.
fn transcripts_in(format: &AgentFormat, path: &Path, stamp: FileStamp) -> io::Result<Vec<TranscriptFile>> {
    let found = match format.storage {
        Storage::Database(queries) => database::list_sessions(path, stamp, queries)?,
        Storage::Lines | Storage::Document { .. } => vec![(path.to_owned(), stamp)],
    };
    Ok(found.into_iter().map(|(path, stamp)| TranscriptFile { agent: format.agent, path, stamp }).collect())
}

/// The version of a transcript, if it exists.
pub fn stamp(agent: Agent, path: &Path) -> Option<FileStamp> {
    match format_of(agent).storage {
        Storage::Database(_) => TranscriptReader::open(agent, path).ok().map(|transcript| transcript.stamp),
        Storage::Lines | Storage::Document { .. } => file::stamp(path),
    }
}

/// The transcripts at an explicit path, a file or a directory; the agent is detected from their content.
pub fn discover_path(path: &Path) -> (Vec<TranscriptFile>, Vec<Warning>) {
    let (found, warnings) = walk::walk(path, &may_be_transcript);
    let detected = found.into_iter().filter_map(|(path, stamp)| {
        let head = TranscriptHead::of_file(&path).ok()?;
        let may_be = |format: &&AgentFormat| match format.storage {
            Storage::Database(_) => head.is_database(),
            Storage::Lines | Storage::Document { .. } => (format.recognizes)(&head),
        };
        formats().filter(may_be).find_map(|format| transcripts_in(format, &path, stamp).ok())
    });
    (detected.flatten().collect(), warnings)
}

/// Whether a file can be a transcript of any agent, judged by its name.
fn may_be_transcript(path: &Path) -> bool {
    formats().any(|format| has_extension(path, format.extension))
}

/// The possible transcript that changes with a file: itself, or the database that a log belongs to.
pub fn changed_transcript(path: &Path) -> Option<PathBuf> {
    let database = path.to_str().and_then(|path| path.strip_suffix("-wal")).map(PathBuf::from);
    Some(database.unwrap_or_else(|| path.to_owned())).filter(|path| may_be_transcript(path))
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// Names that agents themselves show for their sessions: the agent's id of the session, its name.
pub fn shown_session_names(source_config: &SourceConfig) -> Vec<(String, String)> {
    formats().flat_map(|format| (format.shown_names)(source_config)).collect()
}

/// The identity of a transcript's session, from its path and first lines; `None` while it cannot be determined.
pub fn identify(found: &TranscriptFile, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    if peek.is_own_call {
        return None;
    }
    (format_of(found.agent).identify)(&found.path, peek)
}
