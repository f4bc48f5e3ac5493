//! Where Claude Code stores transcripts, and which session a file belongs to.

use std::path::{Path, PathBuf};

use rethread_model::SessionKind;
use serde::Deserialize;
use serde_json::Value;

use crate::agents::SessionIdentity;
use crate::parse::is_uuid;
use crate::source::{MAX_FOLDER_NAME, SourceConfig, TranscriptHead, TranscriptPeek, file};

/// Used if the settings do not say otherwise.
const DEFAULT_CLEANUP_DAYS: u64 = 30;

/// The directory of the configuration; the first one if there are several.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("CLAUDE_CONFIG_DIR").and_then(|list| list.split(',').next());
    named.map_or_else(|| source_config.home.join(".claude"), |folder| source_config.expand_home(folder.trim()))
}

/// The directories Claude Code writes to, including those of older versions.
pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let root = |path: PathBuf, reason| (path.join("projects"), reason);
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

/// After how many days without a change Claude Code deletes a transcript.
pub(super) fn retention_days(source_config: &SourceConfig) -> Option<u64> {
    #[derive(Deserialize)]
    struct CleanupSettings {
        #[serde(rename = "cleanupPeriodDays")]
        days: u64,
    }
    let text = file::read_text(&home(source_config).join("settings.json"), 4 << 20);
    let settings = text.ok().and_then(|text| serde_json::from_str::<CleanupSettings>(&text).ok());
    Some(settings.map_or(DEFAULT_CLEANUP_DAYS, |settings| settings.days)).filter(|days| *days > 0)
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
    Some(SessionIdentity::main(external_id))
}

/// Whether lines have the fields of Claude Code's.
pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct SniffedLine {
        #[serde(rename = "type")]
        kind: Value,
        #[serde(rename = "kind")]
        wrapper: Value,
        session_id: Value,
        parent_uuid: Value,
        message: Value,
    }
    let lines: Vec<SniffedLine> = head.lines().collect();
    // Other agents' lines may contain the same fields, but ours never begin with a header, nor with a type like `a.b`.
    let is_dotted = |kind: &Value| kind.as_str().is_some_and(|kind| kind.contains('.'));
    let is_header = |line: &SniffedLine| line.kind == "session" || line.wrapper == "header" || is_dotted(&line.kind);
    let has_header = lines.first().is_some_and(is_header);
    let is_ours =
        |line: &SniffedLine| !line.parent_uuid.is_null() || (!line.session_id.is_null() && !line.kind.is_null());
    // Qwen Code writes the same fields around messages of another shape.
    let has_parts = lines.iter().any(|line| line.message["parts"].is_array());
    // The first line can be longer than what was read of the file.
    // So can the document of another agent, which names its project.
    let is_cut = || {
        lines.iter().all(|line| line.session_id.is_null() && !line.kind.is_null())
            && head.raw_field("sessionId").is_some()
            && head.raw_field("projectHash").is_none()
    };
    !has_header && !has_parts && (lines.iter().any(is_ours) || is_cut())
}

/// The name for a project's folder: every character except ASCII letters and digits becomes `-`, and a long name is
/// cut.
///
/// Lossy, so it is only a hint: the working directory is read from the entries.
pub(super) fn folder_name(work_dir: &str) -> String {
    let units = work_dir.encode_utf16().take(MAX_FOLDER_NAME);
    units.map(|unit| char::from_u32(u32::from(unit)).filter(char::is_ascii_alphanumeric).unwrap_or('-')).collect()
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
    let (file, stamp) = file::open(&path.with_extension("meta.json")).ok()?;
    if stamp.size > 1 << 20 {
        return None;
    }
    let meta: SubagentMeta = serde_json::from_reader(file).ok()?;
    Some(meta.parent_agent_id).filter(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_alone_is_not_recognized_unless_its_line_is_cut_off() {
        let is_ours = |text: &str| recognizes(&TranscriptHead(text.into()));
        assert!(!is_ours("{\"sessionId\":\"s1\",\"projectHash\":\"h\"}\n{\"id\":\"1\",\"type\":\"user\"}\n"));
        assert!(!is_ours("{\"type\":\"session.start\",\"data\":{\"sessionId\":\"s1\"}}\n"));
        assert!(is_ours("{\"type\":\"user\",\"sessionId\":\"s1\"}\n"));
        assert!(is_ours("{\"sessionId\":\"s1\",\"message\":\"cut"));
        assert!(!is_ours("{\"uuid\":\"u\",\"sessionId\":\"s1\",\"type\":\"user\",\"message\":{\"parts\":[]}}\n"));
        assert!(!is_ours("{\n  \"sessionId\": \"s1\",\n  \"projectHash\": \"h\",\n  \"messages\": [\n"));
    }

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
            |s: &SourceConfig| roots(s).into_iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>();
        assert_eq!(paths(&source_config), ["/h/.claude/projects", "/h/.config/claude/projects"]);
        source_config.env_vars = vec![("CLAUDE_CONFIG_DIR".into(), "/a, ~/b".into())];
        assert_eq!(paths(&source_config), ["/a/projects", "/h/b/projects"]);
    }

    #[test]
    fn every_character_except_letters_and_digits_becomes_a_dash() {
        // L000-01
        // S000-03 asked for slashes only, which is not what Claude Code does.
        assert_eq!(folder_name("/home/u/my_app.v2"), "-home-u-my-app-v2");
        assert_eq!(folder_name("C:\\Users\\x"), "C--Users-x");
        assert_eq!(folder_name("/a/.b"), "-a--b");
        assert_eq!(folder_name("/é😀"), "----");
    }
}
