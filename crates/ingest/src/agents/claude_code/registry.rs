//! Names that Claude Code itself shows for sessions, from its registry of running ones. Never reads its key files.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::files::roots;
use crate::source::{SourceConfig, file};

/// Size limit of a file in the registry.
const MAX_FILE_BYTES: u64 = 64 << 10;
/// Maximum number of files read; entries of dead processes remain.
const MAX_FILES: usize = 200;

/// A session in the registry.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegisteredSession {
    session_id: String,
    name: String,
}

/// The agent's ids and names of the sessions in `sessions/*.json`, next to the transcripts.
pub(super) fn shown_names(source_config: &SourceConfig) -> Vec<(String, String)> {
    let roots = roots(source_config);
    let folders = roots.iter().filter_map(|(root, _)| root.parent()).map(|config| config.join("sessions"));
    folders.filter_map(|folder| fs::read_dir(folder).ok()).flat_map(registered_sessions).collect()
}

fn registered_sessions(entries: fs::ReadDir) -> Vec<(String, String)> {
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    let read = |path: std::path::PathBuf| read_registered_session(&path);
    paths.take(MAX_FILES).filter_map(read).map(|one| (one.session_id, one.name)).collect()
}

fn read_registered_session(path: &Path) -> Option<RegisteredSession> {
    let (file, stamp) = file::open(path).ok()?;
    if stamp.size > MAX_FILE_BYTES {
        return None;
    }
    serde_json::from_reader(std::io::BufReader::new(file)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_running_sessions_are_read_and_damaged_files_skipped() {
        // D14
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".claude/sessions");
        fs::create_dir_all(&folder).unwrap();
        let session = r#"{"pid":1,"sessionId":"a-1","name":"api-work","nameSource":"user","status":"busy"}"#;
        fs::write(folder.join("1.json"), session).unwrap();
        fs::write(folder.join("2.json"), "{").unwrap();
        fs::write(folder.join("3.json"), r#"{"pid":3,"sessionId":"b-2"}"#).unwrap();
        fs::write(folder.join("1.key"), session).unwrap();
        let config = SourceConfig { home: home.path().to_owned(), ..SourceConfig::default() };
        assert_eq!(shown_names(&config), [("a-1".to_owned(), "api-work".to_owned())]);
    }
}
