//! Sessions that a project gives short names: explicit id files, and one folder of pi transcripts per name.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_model::Agent;
use serde::Deserialize;

use super::{Peek, file, peek};

/// A short name for a session, found in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub alias: String,
    /// Whose session.
    pub agent: Agent,
    /// The agent's id of it.
    pub external_id: String,
    /// The transcript, where the project itself holds it.
    pub transcript: Option<PathBuf>,
}

/// All short names below a project: `.volute/sessions/{name}.json` holds the id of a Claude Code session, and the
/// newest transcript in `.volute/pi-sessions/{name}/` is the pi session of that name.
pub fn named_sessions(project: &Path) -> Vec<Named> {
    let folder = project.join(".volute");
    let mut all: Vec<Named> = entries(&folder.join("sessions")).filter_map(|path| by_id_file(&path)).collect();
    all.extend(entries(&folder.join("pi-sessions")).filter_map(|path| by_folder(&path)));
    all.sort_by(|a, b| a.alias.cmp(&b.alias));
    all
}

/// The folder of a project that holds transcripts of its own, if there is one.
pub fn transcripts_folder(project: &Path) -> Option<PathBuf> {
    let folder = project.join(".volute/pi-sessions");
    folder.is_dir().then_some(folder)
}

fn by_id_file(path: &Path) -> Option<Named> {
    #[derive(Deserialize)]
    struct IdFile {
        #[serde(rename = "sessionId", alias = "session_id", alias = "id")]
        session_id: String,
    }
    if path.extension()? != "json" {
        return None;
    }
    let (file, stamp) = file::open(path).ok()?;
    let id: IdFile = (stamp.size < 1 << 20).then(|| serde_json::from_reader(file).ok()).flatten()?;
    let alias = path.file_stem()?.to_str()?.to_owned();
    Some(Named { alias, agent: Agent::ClaudeCode, external_id: id.session_id, transcript: None })
}

fn by_folder(path: &Path) -> Option<Named> {
    let alias = path.file_name()?.to_str()?.to_owned();
    let newest = entries(path)
        .filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"))
        .filter_map(|path| fs::symlink_metadata(&path).ok()?.modified().ok().map(|at| (at, path)))
        .max()?
        .1;
    let (file, stamp) = file::open(&newest).ok()?;
    let Peek { header_id, .. } = peek(&file, stamp.size);
    Some(Named { alias, agent: Agent::Pi, external_id: header_id?, transcript: Some(newest) })
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s000_02_and_s000_04_names_come_from_id_files_and_folders() {
        let project = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = project.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".volute/sessions/discord.json", r#"{"sessionId":"abc"}"#);
        write(".volute/sessions/broken.json", "{");
        write(
            ".volute/pi-sessions/mail/x.jsonl",
            "{\"type\":\"session\",\"version\":3,\"id\":\"p1\",\"cwd\":\"/p\"}\n",
        );
        let names = named_sessions(project.path());
        let short: Vec<_> =
            names.iter().map(|name| (name.alias.as_str(), name.agent, name.external_id.as_str())).collect();
        assert_eq!(short, [("discord", Agent::ClaudeCode, "abc"), ("mail", Agent::Pi, "p1")]);
        assert!(named_sessions(Path::new("/nowhere")).is_empty());
    }
}
