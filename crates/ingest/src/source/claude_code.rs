//! Where Claude Code stores transcripts, and which session a file belongs to.

use std::path::{Path, PathBuf};

use rethread_model::{Agent, SessionKind};

use super::{SessionIdentity, SourceConfig, TranscriptPeek, TranscriptRoot};
use crate::parse::is_uuid;

/// The directories Claude Code writes to, including those of older versions.
pub(super) fn roots(source_config: &SourceConfig) -> Vec<TranscriptRoot> {
    let root = |path: PathBuf, reason: &str| TranscriptRoot {
        agent: Agent::ClaudeCode,
        path: path.join("projects"),
        reason: reason.to_owned(),
    };
    if let Some(list) = source_config.env_var("CLAUDE_CONFIG_DIR") {
        let folders = list.split(',').map(str::trim).filter(|folder| !folder.is_empty());
        return folders.map(|folder| root(source_config.expand_home(folder), "CLAUDE_CONFIG_DIR")).collect();
    }
    let config =
        source_config.env_var("XDG_CONFIG_HOME").map_or_else(|| source_config.home.join(".config"), PathBuf::from);
    vec![
        root(source_config.home.join(".claude"), "default location"),
        root(config.join("claude"), "default location of older versions"),
    ]
}

/// Session files are in a project's folder; sub-agent files are there too, or in `<session>/subagents`.
pub(super) fn is_transcript(below_root: &Path) -> bool {
    let folders: Vec<_> = below_root.parent().map(|parent| parent.components().collect()).unwrap_or_default();
    let inside = |name: &str| folders.iter().any(|folder| folder.as_os_str() == name);
    folders.len() <= 1 || inside("sessions") || (inside("subagents") && subagent_id(below_root).is_some())
}

pub(super) fn identify(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let stem = path.file_stem()?.to_str()?;
    if let Some(agent_id) = subagent_id(path) {
        let session = session_from_folder(path).or(peek.session_id.clone())?;
        let parent = match parent_subagent(path) {
            Some(parent) => format!("{session}/agent-{parent}"),
            None => session.clone(),
        };
        return Some(SessionIdentity {
            external_id: format!("{session}/agent-{agent_id}"),
            kind: SessionKind::Child,
            parent_external_id: Some(parent),
        });
    }
    let external_id = if is_uuid(stem) { stem.to_owned() } else { peek.session_id.clone().unwrap_or(stem.to_owned()) };
    Some(SessionIdentity { external_id, kind: SessionKind::Main, parent_external_id: None })
}

/// `agent-<id>.jsonl` → the id.
fn subagent_id(path: &Path) -> Option<&str> {
    path.file_stem()?.to_str()?.strip_prefix("agent-").filter(|id| !id.is_empty())
}

/// The session whose folder contains a sub-agent's file.
fn session_from_folder(path: &Path) -> Option<String> {
    let names: Vec<&str> = path.parent()?.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let at = names.iter().rposition(|name| *name == "subagents")?;
    names.get(at.checked_sub(1)?).map(|name| (*name).to_owned())
}

/// The sub-agent that started this one, from the `.meta.json` file beside it.
fn parent_subagent(path: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct SubagentMeta {
        #[serde(alias = "parent_agent_id", alias = "parentAgentID", rename = "parentAgentId")]
        parent_agent_id: String,
    }
    let (file, stamp) = super::file::open(&path.with_extension("meta.json")).ok()?;
    if stamp.size > 1 << 20 {
        return None;
    }
    let meta: SubagentMeta = serde_json::from_reader(file).ok()?;
    Some(meta.parent_agent_id).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "9a9eadc8-c1f1-493e-a0f1-884aa996b05b";

    #[test]
    fn real_layouts_are_accepted_and_other_files_are_not() {
        // L003-01
        let accepted = [
            format!("-home-u-app/{ID}.jsonl"),
            "-home-u-app/agent-a1b2c3d4.jsonl".to_owned(),
            format!("-home-u-app/{ID}/subagents/agent-a1b2c3d4.jsonl"),
            format!("-home-u-app/{ID}/subagents/workflows/run1/agent-a1.jsonl"),
            "16hexdigits/sessions/x.jsonl".to_owned(),
        ];
        for path in accepted {
            assert!(is_transcript(Path::new(&path)), "{path}");
        }
        assert!(!is_transcript(Path::new(&format!("-home-u-app/{ID}/notes/x.jsonl"))));
        assert!(!is_transcript(Path::new(&format!("-home-u-app/{ID}/subagents/journal.jsonl"))));
    }

    #[test]
    fn sub_agents_belong_to_the_session_in_their_path_or_lines() {
        let peek = TranscriptPeek { session_id: Some("from-lines".into()), ..TranscriptPeek::default() };
        let identity = identify(Path::new("/r/p/agent-a1.jsonl"), &peek).unwrap();
        assert_eq!(
            (identity.external_id.as_str(), identity.parent_external_id.as_deref()),
            ("from-lines/agent-a1", Some("from-lines"))
        );
        let new = format!("/r/p/{ID}/subagents/agent-a1.jsonl");
        let identity = identify(Path::new(&new), &peek).unwrap();
        assert_eq!(identity.parent_external_id.as_deref(), Some(ID));
        assert_eq!(identity.kind, SessionKind::Child);
    }

    #[test]
    fn overrides_replace_the_default_locations() {
        let mut source_config = SourceConfig { home: "/h".into(), ..SourceConfig::default() };
        let paths =
            |s: &SourceConfig| roots(s).into_iter().map(|root| root.path.display().to_string()).collect::<Vec<_>>();
        assert_eq!(paths(&source_config), ["/h/.claude/projects", "/h/.config/claude/projects"]);
        source_config.env_vars = vec![("CLAUDE_CONFIG_DIR".into(), "/a, ~/b".into())];
        assert_eq!(paths(&source_config), ["/a/projects", "/h/b/projects"]);
    }
}
