//! Finds transcripts and reads their bytes. The only module of this crate that touches the file system.

mod address;
pub mod aliases;
mod database;
mod document;
mod editors;
pub mod exclude;
pub mod file;
pub mod lines;
mod live;
pub mod project;

mod md5;
mod nearby;
mod other_agents;
mod peek;
mod reader;
mod repeated;
mod uri;
mod walk;
mod zstd;

use std::io;
use std::path::{Path, PathBuf};

use rethread_model::{Agent, Warning};

use crate::agents::{Layout, SessionIdentity, Storage, all_layouts, format_of};

use self::file::FileStamp;

pub(crate) use address::split_address;
pub use database::DatabaseQueries;
pub(crate) use database::open_database;
pub use document::{ArchivedSession, SessionDocument};
pub(crate) use editors::extension_dirs;
pub(crate) use file::{name_above, read_json, read_text};
pub(crate) use lines::scan_lines;
pub use live::{LiveSession, LiveStatus, live_sessions};
pub(crate) use md5::md5_hex;
pub(crate) use uri::path_in_uri;
pub(crate) use zstd::{unzstd, unzstd_appended};

pub(crate) use nearby::MAX_FOLDER_NAME;
pub use nearby::ProjectPlaces;
pub use other_agents::{UnreadAgent, unread_agents};
pub(crate) use peek::TranscriptHead;
pub use peek::{TranscriptPeek, last_timestamp, peek};
pub use reader::{ReadPosition, TranscriptReader, TranscriptRecords};
pub use repeated::{KnownSessions, session_in_path};

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
    /// Directories in which sessions worked, and the current one: some agents store sessions in projects.
    pub work_dirs: Vec<PathBuf>,
}

/// A directory or file that contains an agent's transcripts.
#[derive(Clone, Debug)]
pub struct TranscriptRoot {
    /// The agent that writes there.
    pub agent: Agent,
    /// What it writes there.
    pub layout: &'static Layout,
    /// The directory or file.
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

/// Where to search for an agent's transcripts.
pub fn roots(agent: Agent, source_config: &SourceConfig) -> Vec<TranscriptRoot> {
    let extra = source_config.extra_roots.iter().filter(|(owner, _)| *owner == agent);
    let extra: Vec<_> = extra.map(|(_, path)| (path.clone(), "config")).collect();
    let of_layout = |layout: &'static Layout| {
        let all = (layout.roots)(source_config).into_iter().chain(extra.iter().cloned());
        all.map(move |(path, reason)| TranscriptRoot { agent, layout, path, reason })
    };
    format_of(agent).layouts.iter().flat_map(of_layout).collect()
}

/// All transcripts below a root, with warnings about files that look like one but cannot be read. Files with several
/// sessions for which `is_unchanged` is true are not opened.
pub fn discover(
    root: &TranscriptRoot,
    is_unchanged: &dyn Fn(&Path, FileStamp) -> bool,
) -> (Vec<TranscriptFile>, Vec<Warning>) {
    let layout = root.layout;
    let (found, mut warnings) = walk::walk(&root.path, &|path: &Path| layout.is_file_named(path));
    let mut transcripts = Vec::new();
    for (path, stamp) in found {
        match transcripts_in(root.agent, layout, &path, stamp, is_unchanged) {
            Ok(found) => transcripts.extend(found),
            Err(error) => warnings.push(unlisted(&path, &error)),
        }
    }
    (transcripts, warnings)
}

/// The warning about a file whose sessions cannot be listed.
fn unlisted(path: &Path, error: &io::Error) -> Warning {
    Warning { file: path.display().to_string(), line: None, message: format!("cannot be listed ({error}); skipped") }
}

/// The transcripts in a file of an agent: itself, or the sessions in it.
fn transcripts_in(
    agent: Agent,
    layout: &Layout,
    path: &Path,
    stamp: FileStamp,
    is_unchanged: &dyn Fn(&Path, FileStamp) -> bool,
) -> io::Result<Vec<TranscriptFile>> {
    let found = match layout.storage {
        Storage::Lines | Storage::Document { .. } => {
            vec![(path.to_owned(), stamp_with_files_beside(layout, path, stamp))]
        }
        Storage::Database(generations) => {
            let stamp = database::database_stamp(path).ok_or_else(|| io::Error::other("not a regular file"))?;
            if is_unchanged(path, stamp) { Vec::new() } else { database::list_sessions(path, stamp, generations)? }
        }
        Storage::Archive { .. } if is_unchanged(path, stamp) => Vec::new(),
        Storage::Archive { sessions, .. } => {
            let address = |one: &ArchivedSession| {
                (address::session_address(path, &one.id), stamp.of_session(&one.id, one.version))
            };
            sessions(path)?.iter().map(address).collect()
        }
    };
    Ok(found.into_iter().map(|(path, stamp)| TranscriptFile { agent, path, stamp }).collect())
}

/// The stamp of a transcript that is as new as the newest of its files.
fn stamp_with_files_beside(layout: &Layout, path: &Path, stamp: FileStamp) -> FileStamp {
    let beside = (layout.beside)(path);
    let times = beside.iter().filter_map(|path| file::modified_at(path));
    FileStamp { mtime: times.fold(stamp.mtime, i64::max), ..stamp }
}

/// The version of a transcript, if it exists.
pub fn stamp(agent: Agent, path: &Path) -> Option<FileStamp> {
    let layout = format_of(agent).layout_of(path);
    match layout.storage {
        Storage::Database(_) | Storage::Archive { .. } => {
            TranscriptReader::open(agent, path).ok().map(|transcript| transcript.stamp)
        }
        Storage::Lines | Storage::Document { .. } => Some(stamp_with_files_beside(layout, path, file::stamp(path)?)),
    }
}

/// Whether a transcript is a session in a database.
pub fn is_in_database(agent: Agent, path: &Path) -> bool {
    matches!(format_of(agent).layout_of(path).storage, Storage::Database(_))
}

/// The transcripts at an explicit path, a file or a directory. Below one of the roots the agent is known; elsewhere it
/// is detected from the content.
pub fn discover_path(path: &Path, roots: &[TranscriptRoot]) -> (Vec<TranscriptFile>, Vec<Warning>) {
    let (found, mut warnings) = walk::walk(path, &may_be_transcript);
    let mut transcripts = Vec::new();
    for (path, stamp) in found {
        let detected = || detect(&path, &TranscriptHead::of_file(&path).ok()?);
        let Some((agent, layout)) = owner(&path, roots).or_else(detected) else { continue };
        match transcripts_in(agent, layout, &path, stamp, &|_, _| false) {
            Ok(found) => transcripts.extend(found),
            Err(error) => warnings.push(unlisted(&path, &error)),
        }
    }
    (transcripts, warnings)
}

/// The agent that stores a file in this place: that of the innermost root.
fn owner(path: &Path, roots: &[TranscriptRoot]) -> Option<(Agent, &'static Layout)> {
    let is_owner = |root: &&TranscriptRoot| match path.strip_prefix(&root.path) {
        Ok(below) if below.as_os_str().is_empty() => root.layout.is_file_named(path),
        Ok(below) => root.layout.is_file_named(below),
        Err(_) => false,
    };
    let innermost = roots.iter().filter(is_owner).max_by_key(|root| root.path.components().count())?;
    Some((innermost.agent, innermost.layout))
}

/// The agent that wrote a file, judged by its content and, if several may have written it, by its name.
fn detect(path: &Path, head: &TranscriptHead) -> Option<(Agent, &'static Layout)> {
    let is_it = |(_, layout): &(Agent, &Layout)| match layout.storage {
        Storage::Database(generations) => head.is_database() && database::is_applicable(path, generations),
        // A document without line breaks looks like the first line of one.
        Storage::Lines => layout.has_extension(path) && layout.may_be(head),
        _ => layout.may_be(head),
    };
    let order = |(agent, layout): &(Agent, &Layout)| {
        // The fields of Claude Code's lines are common: another agent that recognizes the file knows better.
        (*agent == Agent::ClaudeCode, !layout.is_file_named(path), !layout.has_extension(path))
    };
    all_layouts().filter(is_it).min_by_key(order)
}

/// Whether a file can be a transcript of any agent, judged by its name.
fn may_be_transcript(path: &Path) -> bool {
    all_layouts().any(|(_, layout)| layout.has_extension(path))
}

/// The possible transcript that changes with a file: itself, or the database that a log belongs to.
pub fn changed_transcript(path: &Path) -> Option<PathBuf> {
    let database = path.to_str().and_then(|path| path.strip_suffix("-wal")).map(PathBuf::from);
    Some(database.unwrap_or_else(|| path.to_owned())).filter(|path| may_be_transcript(path))
}

/// The identity of a transcript's session, from its path and first lines; `None` while it cannot be determined.
pub fn identify(found: &TranscriptFile, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    if peek.is_own_call {
        return None;
    }
    (format_of(found.agent).layout_of(&found.path).identify)(&found.path, peek)
}
