//! Where Crush stores sessions: a database in the data directory of each project.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::source::{SourceConfig, read_text};

/// A longer list of projects is not read.
const MAX_LIST_BYTES: u64 = 4 << 20;
/// Directories above a working directory in which its database may be.
const MAX_LEVELS: usize = 6;

#[derive(Default, Deserialize)]
#[serde(default)]
struct ProjectList {
    projects: Vec<CrushProject>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CrushProject {
    path: Value,
    data_dir: Value,
}

/// The directory with the list of projects.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    if let Some(named) = source_config.env_var("CRUSH_GLOBAL_DATA") {
        return source_config.expand_home(named);
    }
    let data = source_config.env_var("XDG_DATA_HOME").map(PathBuf::from);
    data.unwrap_or_else(|| source_config.home.join(".local/share")).join("crush")
}

/// The databases of the projects that Crush lists, and of directories in which any agent worked: old versions have no
/// list.
pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let list = read_text(&home(source_config).join("projects.json"), MAX_LIST_BYTES).unwrap_or_default();
    let listed: ProjectList = serde_json::from_str(&list).unwrap_or_default();
    let listed = listed.projects.iter().filter_map(|project| {
        let data = project.data_dir.as_str().filter(|folder| !folder.is_empty()).unwrap_or(".crush");
        // A relative directory is that of the project.
        Some(Path::new(project.path.as_str()?).join(data))
    });
    let mut roots: Vec<(PathBuf, &str)> = listed.map(|data| (data.join("crush.db"), "Crush's projects")).collect();
    for work_dir in &source_config.work_dirs {
        let places = work_dir.ancestors().take(MAX_LEVELS).map(|folder| folder.join(".crush/crush.db"));
        roots.extend(places.filter(|path| path.is_file()).map(|path| (path, "working directory")));
    }
    roots.retain(|(path, _)| path.is_absolute());
    roots.sort();
    roots.dedup_by(|a, b| a.0 == b.0);
    roots
}
