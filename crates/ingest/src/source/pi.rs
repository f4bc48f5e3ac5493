//! Where pi keeps transcripts, and which session a file belongs to.

use std::path::{Path, PathBuf};

use rethread_model::{Agent, SessionKind};

use super::{Identity, Peek, Root, Surroundings, file};

/// The directories pi writes below: an override wins, then the agent directory.
pub(super) fn roots(surroundings: &Surroundings) -> Vec<Root> {
    let root = |path: PathBuf, reason: &str| Root { agent: Agent::Pi, path, reason: reason.to_owned() };
    if let Some(folder) = surroundings.variable("PI_CODING_AGENT_SESSION_DIR") {
        return vec![root(surroundings.expand(folder), "PI_CODING_AGENT_SESSION_DIR")];
    }
    let (agent_folder, reason) = match surroundings.variable("PI_CODING_AGENT_DIR") {
        Some(folder) => (surroundings.expand(folder), "PI_CODING_AGENT_DIR"),
        None => (surroundings.home.join(".pi/agent"), "the usual place"),
    };
    // One early version wrote sessions straight into the agent directory, so all of it is looked at.
    let mut roots = vec![root(agent_folder.clone(), reason)];
    if let Some(folder) = configured_folder(&agent_folder.join("settings.json"), surroundings) {
        roots.push(root(folder, "sessionDir in pi's settings"));
    }
    roots
}

/// Any `*.jsonl` may be one: its header decides.
pub(super) fn is_transcript(_below_root: &Path) -> bool {
    true
}

pub(super) fn identify(path: &Path, peek: &Peek) -> Option<Identity> {
    let id = peek.header_id.clone()?;
    let is_child = path.file_name()?.to_str()?.starts_with("subagent-") || id.starts_with("subagent-");
    let kind = if is_child { SessionKind::Child } else { SessionKind::Main };
    Some(Identity { external_id: id, kind, parent: None })
}

/// pi's own setting for another session directory.
fn configured_folder(settings: &Path, surroundings: &Surroundings) -> Option<PathBuf> {
    #[derive(serde::Deserialize)]
    struct Settings {
        #[serde(rename = "sessionDir")]
        session_dir: String,
    }
    let (file, stamp) = file::open(settings).ok()?;
    if stamp.size > 1 << 20 {
        return None;
    }
    let read: Settings = serde_json::from_reader(file).ok()?;
    let folder = surroundings.expand(&read.session_dir);
    folder.is_absolute().then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_replace_the_usual_place() {
        let with = |name: &str, value: &str| Surroundings {
            home: "/h".into(),
            variables: vec![(name.into(), value.into())],
            ..Surroundings::default()
        };
        let first = |surroundings: &Surroundings| roots(surroundings)[0].path.display().to_string();
        assert_eq!(first(&with("X", "")), "/h/.pi/agent");
        assert_eq!(first(&with("PI_CODING_AGENT_DIR", "~/pi")), "/h/pi");
        assert_eq!(first(&with("PI_CODING_AGENT_SESSION_DIR", "/flat")), "/flat");
    }

    #[test]
    fn a_file_without_a_header_is_no_session() {
        assert_eq!(identify(Path::new("/x/a.jsonl"), &Peek::default()), None);
    }
}
