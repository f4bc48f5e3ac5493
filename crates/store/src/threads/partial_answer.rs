//! What a turn stores of a model's answer while it arrives: a header line, then the text.

use rethread_model::thread::ThreadId;
use serde::{Deserialize, Serialize};

use super::ThreadError;

/// The part of a model's answer that a process had received when it was killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartialAnswer {
    /// Id of the run that was interrupted.
    pub run_id: String,
    /// The model that answered.
    pub model: String,
    /// Number of the last record in the log before the answer.
    pub after_seq: u64,
    /// The text received.
    pub text: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TurnHeader {
    run_id: String,
    model: String,
    after_seq: u64,
}

/// The header line of an answer, newline included.
pub(super) fn header(id: ThreadId, run_id: &str, model: &str, after_seq: u64) -> Result<Vec<u8>, ThreadError> {
    let header = TurnHeader { run_id: run_id.to_owned(), model: model.to_owned(), after_seq };
    let invalid = |cause: serde_json::Error| ThreadError::disk(id.to_string().as_ref(), "written")(cause.into());
    let mut line = serde_json::to_vec(&header).map_err(invalid)?;
    line.push(b'\n');
    Ok(line)
}

/// The answer in what a turn stored; `None` if it stored no text.
pub(super) fn parse(bytes: &[u8]) -> Option<PartialAnswer> {
    // A kill may have cut a character.
    let text = String::from_utf8_lossy(bytes);
    let (header, text) = text.split_once('\n')?;
    let TurnHeader { run_id, model, after_seq } = serde_json::from_str(header).ok()?;
    if text.trim().is_empty() {
        return None;
    }
    Some(PartialAnswer { run_id, model, after_seq, text: text.trim_end_matches('\u{fffd}').to_owned() })
}
