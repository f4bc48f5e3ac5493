//! Where pi stores transcripts, and which session a file belongs to.

use std::path::{Path, PathBuf};

use rethread_model::SessionKind;
use serde::Deserialize;
use serde_json::Value;

use crate::agents::SessionIdentity;
use crate::source::{SourceConfig, TranscriptHead, TranscriptPeek, file};

/// The agent directory.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("PI_CODING_AGENT_DIR");
    named.map_or_else(|| source_config.home.join(".pi/agent"), |folder| source_config.expand_home(folder))
}

/// The directories pi writes to: an override first, then the agent directory.
pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    if let Some(folder) = source_config.env_var("PI_CODING_AGENT_SESSION_DIR") {
        return vec![(source_config.expand_home(folder), "PI_CODING_AGENT_SESSION_DIR")];
    }
    let is_named = source_config.env_var("PI_CODING_AGENT_DIR").is_some();
    let reason = if is_named { "PI_CODING_AGENT_DIR" } else { "default location" };
    // One early version wrote sessions directly into the agent directory, so all of it is searched.
    let mut roots = vec![(home(source_config), reason)];
    if let Some(folder) = configured_session_dir(&roots[0].0.join("settings.json"), source_config) {
        roots.push((folder, "sessionDir in pi's settings"));
    }
    roots
}

/// The session id in the header, the first line.
pub(super) fn header_id(head: &TranscriptHead) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct HeaderLine {
        #[serde(rename = "type")]
        kind: Value,
        /// Version 4 has the line's type here.
        #[serde(rename = "kind")]
        wrapper: Value,
        id: Value,
    }
    let line: HeaderLine = head.lines().next()?;
    let is_header = line.kind == "session" || line.wrapper == "header";
    line.id.as_str().filter(|id| is_header && !id.is_empty()).map(str::to_owned)
}

/// Whether a file begins with the header of pi. DeepSeek Harness has the same one, with the time as a number.
pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct OtherHeader {
        created_at: Value,
    }
    let is_other = head.lines::<OtherHeader>().next().is_some_and(|header| header.created_at.is_number());
    header_id(head).is_some() && !is_other
}

/// Only the header names the session.
pub(super) fn peek(head: &TranscriptHead) -> TranscriptPeek {
    let session_id = header_id(head);
    TranscriptPeek { session_id: session_id.clone(), ..head.usual_fields(session_id) }
}

/// The name for the folder of a working directory.
pub(super) fn folder_name(work_dir: &str) -> String {
    format!("--{}--", work_dir.trim_start_matches('/').replace(['/', '\\', ':'], "-"))
}

pub(super) fn identify(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let id = peek.session_id.clone()?;
    let is_child = path.file_name()?.to_str()?.starts_with("subagent-") || id.starts_with("subagent-");
    let kind = if is_child { SessionKind::Child } else { SessionKind::Main };
    Some(SessionIdentity { external_id: id, kind, parent_external_id: None })
}

/// The session id in the name of a transcript, `<time>_<id>.jsonl`. The path may come from another machine.
pub(super) fn session_id_in_path(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?;
    let (_, id) = name.strip_suffix(".jsonl")?.split_once('_')?;
    (!id.is_empty()).then_some(id)
}

/// The session directory from pi's own settings.
fn configured_session_dir(settings: &Path, source_config: &SourceConfig) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct PiSettings {
        #[serde(rename = "sessionDir")]
        session_dir: String,
    }
    let (file, stamp) = file::open(settings).ok()?;
    if stamp.size > 1 << 20 {
        return None;
    }
    let read: PiSettings = serde_json::from_reader(file).ok()?;
    let folder = source_config.expand_home(&read.session_dir);
    folder.is_absolute().then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_replace_the_default_location() {
        let with = |name: &str, value: &str| SourceConfig {
            home: "/h".into(),
            env_vars: vec![(name.into(), value.into())],
            ..SourceConfig::default()
        };
        let first = |source_config: &SourceConfig| roots(source_config)[0].0.display().to_string();
        assert_eq!(first(&with("X", "")), "/h/.pi/agent");
        assert_eq!(first(&with("PI_CODING_AGENT_DIR", "~/pi")), "/h/pi");
        assert_eq!(first(&with("PI_CODING_AGENT_SESSION_DIR", "/flat")), "/flat");
    }

    #[test]
    fn name_of_a_transcript_contains_its_session() {
        // D6
        let id = "019da8da-cde0-709d-ad4b-826380bdd140";
        let path = format!("/h/.pi/agent/sessions/--h-app--/2026-04-20T10-11-12-131Z_{id}.jsonl");
        assert_eq!(session_id_in_path(&path), Some(id));
        assert_eq!(session_id_in_path(&path.replace('/', "\\")), Some(id));
        assert_eq!(session_id_in_path("/legacy/parent.jsonl"), None);
    }

    #[test]
    fn file_without_header_has_no_session() {
        assert_eq!(identify(Path::new("/x/a.jsonl"), &TranscriptPeek::default()), None);
    }
}
