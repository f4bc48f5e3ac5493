//! Session aliases defined by a project: explicit id files, and one folder of pi transcripts per alias.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_model::Agent;
use serde::Deserialize;

use super::{file, peek};

/// One file per alias, with the id of a session of this agent.
const ID_FILES: (&str, Agent) = (".volute/sessions", Agent::ClaudeCode);
/// One folder per alias, with the transcripts of this agent.
const TRANSCRIPT_FOLDERS: (&str, Agent) = (".volute/pi-sessions", Agent::Pi);

/// An alias for a session, defined in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionAlias {
    /// The alias.
    pub alias: String,
    /// The agent of the session.
    pub agent: Agent,
    /// The agent's id of the session.
    pub external_id: String,
    /// The transcript, if it is stored inside the project.
    pub transcript: Option<PathBuf>,
}

/// The directories that define aliases for a session: its working directory and those above it, up to the root of its
/// repository, nearest first. Outside a repository all directories above count.
pub fn alias_folders(cwd: &Path) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for folder in cwd.ancestors() {
        if [ID_FILES, TRANSCRIPT_FOLDERS].iter().any(|(below, _)| folder.join(below).is_dir()) {
            folders.push(folder.to_owned());
        }
        if folder.join(".git").exists() {
            break;
        }
    }
    folders
}

/// All aliases that a directory defines: `.volute/sessions/{name}.json` contains the id of a Claude Code session, and
/// the newest transcript in `.volute/pi-sessions/{name}/` is the pi session of that name.
pub fn session_aliases(folder: &Path) -> Vec<SessionAlias> {
    let mut all: Vec<SessionAlias> =
        folder_entries(&folder.join(ID_FILES.0)).filter_map(|path| alias_from_id_file(&path)).collect();
    all.extend(folder_entries(&folder.join(TRANSCRIPT_FOLDERS.0)).filter_map(|path| alias_from_folder(&path)));
    all.sort_by(|a, b| a.alias.cmp(&b.alias));
    all
}

/// The folder in which a directory keeps transcripts of its own, if it exists, and their agent.
pub fn transcripts_folder(folder: &Path) -> Option<(Agent, PathBuf)> {
    let folder = folder.join(TRANSCRIPT_FOLDERS.0);
    folder.is_dir().then_some((TRANSCRIPT_FOLDERS.1, folder))
}

fn alias_from_id_file(path: &Path) -> Option<SessionAlias> {
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
    Some(SessionAlias { alias, agent: ID_FILES.1, external_id: id.session_id, transcript: None })
}

fn alias_from_folder(path: &Path) -> Option<SessionAlias> {
    let alias = path.file_name()?.to_str()?.to_owned();
    let newest = folder_entries(path)
        .filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"))
        .filter_map(|path| fs::symlink_metadata(&path).ok()?.modified().ok().map(|at| (at, path)))
        .max()?
        .1;
    let agent = TRANSCRIPT_FOLDERS.1;
    let external_id = peek(agent, &newest).ok()?.1.session_id?;
    Some(SessionAlias { alias, agent, external_id, transcript: Some(newest) })
}

fn folder_entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_come_from_id_files_and_folders() {
        // S000-02, S000-04
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
        let names = session_aliases(project.path());
        let short: Vec<_> =
            names.iter().map(|name| (name.alias.as_str(), name.agent, name.external_id.as_str())).collect();
        assert_eq!(short, [("discord", Agent::ClaudeCode, "abc"), ("mail", Agent::Pi, "p1")]);
        assert!(session_aliases(Path::new("/nowhere")).is_empty());
    }

    #[test]
    fn aliases_are_looked_up_in_the_working_directory_and_above_it() {
        // D21, L000-10
        let root = tempfile::tempdir().unwrap();
        let at = |path: &str| root.path().join(path);
        fs::create_dir_all(at("agent/.volute/sessions")).unwrap();
        fs::create_dir_all(at("agent/home/notes")).unwrap();
        assert_eq!(alias_folders(&at("agent/home/notes")), [at("agent")], "the layout of volute");
        fs::create_dir_all(at("agent/home/.volute/pi-sessions")).unwrap();
        assert_eq!(alias_folders(&at("agent/home/notes")), [at("agent/home"), at("agent")]);
        fs::create_dir_all(at("agent/home/.git")).unwrap();
        assert_eq!(alias_folders(&at("agent/home/notes")), [at("agent/home")], "a repository ends the search");
    }
}
