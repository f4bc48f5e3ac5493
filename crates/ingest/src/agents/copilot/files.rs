//! Where Copilot CLI stores sessions, and what the files beside the events say about one.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::events::{CopilotHeader, TokenSource};
use crate::agents::SessionIdentity;
use crate::parse::is_uuid;
use crate::source::{SourceConfig, TranscriptHead, TranscriptPeek, file, read_text};

const MAX_WORKSPACE_BYTES: u64 = 1 << 20;
/// The first answer of the model comes before this.
const MAX_HEADER_BYTES: u64 = 16 << 20;
/// Until a session is named, its name is the beginning of the first prompt.
const CUT_OFF: &str = "...";

/// The directory of the configuration.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("COPILOT_HOME");
    named.map_or_else(|| source_config.home.join(".copilot"), |folder| source_config.expand_home(folder))
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    vec![(home(source_config).join("session-state"), reason(source_config))]
}

pub(super) fn history_roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    vec![(home(source_config).join("history-session-state"), reason(source_config))]
}

fn reason(source_config: &SourceConfig) -> &'static str {
    if source_config.env_var("COPILOT_HOME").is_some() { "COPILOT_HOME" } else { "default location" }
}

/// A session's folder has other files too; older versions have a file in place of the folder.
pub(super) fn is_transcript(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    path.file_name().is_some_and(|name| name == "events.jsonl") || folder.is_none_or(|folder| folder == "session-state")
}

/// The name, the directory and the branch.
pub(super) fn beside(path: &Path) -> Vec<PathBuf> {
    path.parent().filter(|_| is_events(path)).map(|folder| folder.join("workspace.yaml")).into_iter().collect()
}

fn is_events(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "events.jsonl")
}

pub(super) fn header(path: &Path) -> Option<String> {
    let mut header = CopilotHeader::default();
    let workspace = beside(path).first().and_then(|path| read_text(path, MAX_WORKSPACE_BYTES).ok()).unwrap_or_default();
    let field = |name: &str| yaml_field(&workspace, name);
    (header.session_id, header.cwd, header.branch) = (field("id"), field("cwd"), field("branch"));
    header.is_named_by_user = field("user_named").as_deref() == Some("true");
    let is_given = |name: &String| header.is_named_by_user || !name.ends_with(CUT_OFF);
    header.name = field("name").or_else(|| field("summary")).filter(is_given);
    let (file, _) = file::open(path).ok()?;
    let lines = BufReader::new(file.take(MAX_HEADER_BYTES)).split(b'\n').map_while(Result::ok);
    header.tokens = token_source(lines);
    serde_json::to_string(&header).ok()
}

/// Which events have the tokens, as the first answer of the model shows.
fn token_source(lines: impl Iterator<Item = Vec<u8>>) -> TokenSource {
    for line in lines {
        let has = |text: &str| memchr::memmem::find(&line, text.as_bytes()).is_some();
        if has("\"session.usage_record\"") {
            return TokenSource::Records;
        }
        if has("\"type\":\"assistant.message\"") {
            return if has("\"outputTokens\"") { TokenSource::Answers } else { TokenSource::Totals };
        }
    }
    TokenSource::Totals
}

/// A value at the top level of a YAML file, if it is on one line.
fn yaml_field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.trim();
    let quoted = |quote: char| line.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let value = match (quoted('"'), quoted('\'')) {
        (Some(_), _) => serde_json::from_str(line).unwrap_or_else(|_| line.to_owned()),
        (_, Some(inner)) => inner.replace("''", "'"),
        _ => line.to_owned(),
    };
    // A text on several lines starts with such a sign; it is the first prompt, not a name.
    (!value.is_empty() && !matches!(value.as_str(), "|" | "|-" | ">" | ">-" | "null")).then_some(value)
}

pub(super) fn peek(head: &TranscriptHead) -> TranscriptPeek {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct PeekedLine {
        #[serde(rename = "type")]
        kind: serde_json::Value,
        data: serde_json::Value,
        timestamp: serde_json::Value,
    }
    let header: CopilotHeader = head.lines().next().unwrap_or_default();
    let start: PeekedLine = head.lines().find(|line: &PeekedLine| line.kind == "session.start").unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let first_at = text(&start.data["startTime"]).or_else(|| text(&start.timestamp));
    TranscriptPeek {
        session_id: text(&start.data["sessionId"]).or(header.session_id),
        cwd: text(&start.data["context"]["cwd"]).or(header.cwd),
        first_at: first_at.and_then(|at| at.parse().ok()),
        ..TranscriptPeek::default()
    }
}

pub(super) fn identify(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let in_path = || {
        let named = if is_events(path) { path.parent()?.file_name() } else { path.file_stem() };
        named?.to_str().map(str::to_owned)
    };
    peek.session_id.clone().or_else(in_path).map(SessionIdentity::main)
}

/// The session in `<id>/events.jsonl` or `<id>.jsonl`.
pub(super) fn session_id_in_path(path: &str) -> Option<&str> {
    let mut parts = path.rsplit(['/', '\\']);
    let name = parts.next()?;
    let id = if name == "events.jsonl" { parts.next()? } else { name.strip_suffix(".jsonl")? };
    is_uuid(id).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_folders_or_files() {
        let id = "02907e40-e86f-45ef-a440-19a5691dbdf2";
        for path in [format!("/h/.copilot/session-state/{id}/events.jsonl"), format!("session-state/{id}.jsonl")] {
            assert!(is_transcript(Path::new(&path)), "{path}");
            assert_eq!(session_id_in_path(&path), Some(id));
        }
        assert!(is_transcript(Path::new("old.jsonl")), "below the root");
        assert!(!is_transcript(Path::new(&format!("{id}/files/data.jsonl"))));
    }

    #[test]
    fn fields_of_the_workspace_are_read_in_every_style() {
        let text = "id: a\nname: Fix: the \"parser\"\nquoted: \"a \\\"b\\\"\"\nsingle: 'it''s'\nblock: |-\n  name: no\nbranch: null\n";
        let field = |name: &str| yaml_field(text, name);
        assert_eq!(field("name").as_deref(), Some("Fix: the \"parser\""));
        assert_eq!(field("quoted").as_deref(), Some("a \"b\""));
        assert_eq!(field("single").as_deref(), Some("it's"));
        assert_eq!((field("block"), field("branch"), field("missing")), (None, None, None));
    }

    #[test]
    fn the_first_answer_shows_where_the_tokens_are() {
        let source = |lines: &[&str]| token_source(lines.iter().map(|line| line.as_bytes().to_vec()));
        let message = r#"{"type":"assistant.message","data":{"content":"x"}}"#;
        assert_eq!(source(&[message]), TokenSource::Totals);
        assert_eq!(source(&[r#"{"type":"session.usage_record"}"#, message]), TokenSource::Records);
        assert_eq!(source(&[r#"{"type":"assistant.message","data":{"outputTokens":3}}"#]), TokenSource::Answers);
    }
}
