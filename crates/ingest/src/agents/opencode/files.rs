//! Where OpenCode and Kilo store sessions: a database, or folders of JSON files before it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::source::{SourceConfig, TranscriptHead};

/// The names that differ between the two agents.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenCodeNames {
    /// Name of the folder and of the database.
    pub(crate) name: &'static str,
    /// The variable that names another database.
    pub(crate) database_variable: &'static str,
}

impl OpenCodeNames {
    /// The agent's directory for data.
    pub(crate) fn home(self, source_config: &SourceConfig) -> PathBuf {
        let data = source_config.env_var("XDG_DATA_HOME").map(PathBuf::from);
        data.unwrap_or_else(|| source_config.home.join(".local/share")).join(self.name)
    }

    /// The database, those of other release channels, and one that the user named.
    pub(crate) fn databases(self, source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
        let home = self.home(source_config);
        let mut found = vec![(home.join(format!("{}.db", self.name)), "default location")];
        let channels = list(&home).into_iter().filter(|path| self.is_database(path) && *path != found[0].0);
        found.extend(channels.map(|path| (path, "release channel")).collect::<Vec<_>>());
        if let Some(named) = source_config.env_var(self.database_variable).filter(|name| *name != ":memory:") {
            found.push((home.join(source_config.expand_home(named)), self.database_variable));
        }
        found
    }

    /// Whether a file has the name of one of its databases: `opencode.db`, `opencode-next.db`.
    pub(crate) fn is_database(self, path: &Path) -> bool {
        let rest = path.file_name().and_then(|name| name.to_str()?.strip_prefix(self.name)?.strip_suffix(".db"));
        rest.is_some_and(|channel| channel.is_empty() || channel.starts_with('-'))
    }

    /// The folders of JSON files. Once there is a database, it has their sessions too.
    pub(crate) fn folders(self, source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
        if self.databases(source_config).iter().any(|(path, _)| path.is_file()) {
            return Vec::new();
        }
        let home = self.home(source_config);
        let mut found = vec![(home.join("storage/session"), "default location")];
        // Until version 0.4, each project had its own.
        let projects = list(&home.join("project")).into_iter().map(|project| project.join("storage/session/info"));
        found.extend(projects.filter(|folder| folder.is_dir()).map(|folder| (folder, "project")));
        found
    }
}

fn list(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Whether a JSON file has the name of a session.
pub(crate) fn is_session_file(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with("ses_"))
}

/// Whether a file is what is stored about a session in the folders.
pub(crate) fn is_session_info(head: &TranscriptHead) -> bool {
    let is_id = head.raw_field("id").is_some_and(|id| id.starts_with("ses_"));
    is_id && head.raw_field("title").is_some() && !is_export(head)
}

/// Whether a file was written by `opencode export`.
pub(crate) fn is_export(head: &TranscriptHead) -> bool {
    let text = String::from_utf8_lossy(&head.0);
    let first = text.trim_start().strip_prefix('{').map(str::trim_start).unwrap_or_default();
    first.starts_with("\"info\"") && head.raw_field("title").is_some() && head.raw_field("directory").is_some()
}
