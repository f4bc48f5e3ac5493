//! Where goose stores sessions, and which session a row or a file is.

use std::path::{Path, PathBuf};

use rethread_model::SessionKind;
use serde::Deserialize;
use serde_json::Value;

use crate::agents::SessionIdentity;
use crate::source::{SourceConfig, TranscriptHead, TranscriptPeek};

/// The directory for data.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    if let Some(root) = source_config.env_var("GOOSE_PATH_ROOT") {
        return source_config.expand_home(root).join("data");
    }
    let data = source_config.env_var("XDG_DATA_HOME").map(PathBuf::from);
    data.unwrap_or_else(|| source_config.home.join(".local/share")).join("goose")
}

pub(super) fn databases(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let is_named = source_config.env_var("GOOSE_PATH_ROOT").is_some();
    let reason = if is_named { "GOOSE_PATH_ROOT" } else { "default location" };
    vec![(home(source_config).join("sessions/sessions.db"), reason)]
}

/// The folder of the files. Once there is a database, it has their sessions too.
pub(super) fn folders(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    let has_database = databases(source_config).iter().any(|(path, _)| path.is_file());
    if has_database { Vec::new() } else { vec![(home(source_config).join("sessions"), "default location")] }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GooseFields {
    parent_session_id: Value,
    session_type: Value,
    working_dir: Value,
    description: Value,
    message_count: Value,
    created: Value,
}

/// A sub-agent has an empty parent in versions that do not store which session started it.
pub(super) fn peek_row(head: &TranscriptHead) -> TranscriptPeek {
    let fields: GooseFields = head.lines().next().unwrap_or_default();
    let parent = fields.parent_session_id.as_str().map(str::to_owned);
    let is_subagent = fields.session_type == "sub_agent";
    TranscriptPeek { parent_id: parent.or_else(|| is_subagent.then(String::new)), ..head.usual_fields(None) }
}

pub(super) fn identify(_: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let kind = if peek.parent_id.is_some() { SessionKind::Child } else { SessionKind::Main };
    let parent_external_id = peek.parent_id.clone().filter(|id| !id.is_empty());
    Some(SessionIdentity { external_id: peek.session_id.clone()?, kind, parent_external_id })
}

/// Whether a file begins with the description of a session.
pub(super) fn is_session(head: &TranscriptHead) -> bool {
    let first: Option<GooseFields> = head.lines().next();
    first.is_some_and(|line| {
        line.working_dir.is_string() && line.description.is_string() && line.message_count.is_number()
    })
}

/// The first line has the directory; the name of the file is the session.
pub(super) fn peek_line(head: &TranscriptHead) -> TranscriptPeek {
    let mut lines = head.lines::<GooseFields>();
    let cwd = lines.next().and_then(|line| line.working_dir.as_str().map(str::to_owned));
    let seconds = lines.find_map(|line| line.created.as_i64());
    let first_at = seconds.map(|seconds| rethread_model::Timestamp::from_millis(seconds.saturating_mul(1000)));
    TranscriptPeek { cwd, first_at, ..TranscriptPeek::default() }
}
