//! JSON of entries as their transcripts have them.

use rethread_engine::{DiffSign, EntryOriginal, FileDiff, OriginalCall, OriginalEntry, OriginalProblem};
use rethread_model::Entry;
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::session::EntryJson;

/// An entry as stored, and as its transcript has it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct EntryOriginalJson<'a> {
    schema: u8,
    /// ID of the session.
    session: String,
    entry: EntryJson<'a>,
}

impl<'a> EntryOriginalJson<'a> {
    pub(crate) fn new(found: &'a EntryOriginal) -> Self {
        let mut entry = EntryJson::new(&found.entry);
        entry.original = Some(OriginalJson::new(&found.entry, &found.original));
        Self { schema: SCHEMA, session: found.listed.session.id.to_string(), entry }
    }
}

/// What the transcript has about an entry: whole and redacted.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OriginalJson<'a> {
    /// Why there is nothing: the transcript is gone or was rewritten, or must not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<OriginalProblemJson>,
    /// The text of a message, if it is not what is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<OriginalCallJson<'a>>,
}

/// Why there is no original.
#[derive(Serialize, JsonSchema)]
struct OriginalProblemJson {
    /// gone, changed, unreadable, excluded, forgotten, other-machine or too-large.
    code: &'static str,
    message: String,
}

/// A tool call with its whole command, changes and output.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct OriginalCallJson<'a> {
    command: Option<&'a str>,
    arguments: Vec<OriginalArgumentJson<'a>>,
    /// What it changed, by file.
    changes: Vec<FileDiffJson<'a>>,
    /// At most 1 MiB: of a longer one start and end, with a note between them.
    output: Option<&'a str>,
    exit_code: Option<i32>,
    /// Whether the transcript has a result.
    has_result: bool,
    /// Whether it is about a file that may hold secrets, so that nothing of its content is given.
    hides_secrets: bool,
}

/// An argument that is neither the command nor a change.
#[derive(Serialize, JsonSchema)]
struct OriginalArgumentJson<'a> {
    name: &'a str,
    value: &'a str,
}

/// What changed in a file.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FileDiffJson<'a> {
    path: &'a str,
    moved_to: Option<&'a str>,
    /// changed, added, written (the whole file, what it was before is not known) or deleted.
    kind: &'static str,
    added: u64,
    removed: u64,
    /// Lines at the end that are left out.
    cut_lines: u64,
    hunks: Vec<DiffHunkJson<'a>>,
}

/// A changed place with the lines around it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DiffHunkJson<'a> {
    /// Line before the change, if the transcript says it.
    old_start: Option<u64>,
    /// Line after the change, if the transcript says it.
    new_start: Option<u64>,
    lines: Vec<DiffRowJson<'a>>,
}

/// A line: `-` removed, `+` added, or a blank for both.
#[derive(Serialize, JsonSchema)]
struct DiffRowJson<'a> {
    sign: &'static str,
    text: &'a str,
}

impl<'a> OriginalJson<'a> {
    pub(super) fn new(entry: &Entry, original: &'a Result<OriginalEntry, OriginalProblem>) -> Self {
        match original {
            Ok(original) => Self {
                problem: None,
                text: Some(original.text.as_str()).filter(|text| original.call.is_none() && *text != entry.text),
                call: original.call.as_ref().map(OriginalCallJson::new),
            },
            Err(problem) => {
                let problem = OriginalProblemJson { code: problem.as_str(), message: problem.to_string() };
                Self { problem: Some(problem), text: None, call: None }
            }
        }
    }
}

impl<'a> OriginalCallJson<'a> {
    fn new(call: &'a OriginalCall) -> Self {
        let arguments = call.arguments.iter();
        Self {
            command: call.command.as_deref(),
            arguments: arguments.map(|one| OriginalArgumentJson { name: &one.name, value: &one.value }).collect(),
            changes: call.changes.iter().map(FileDiffJson::new).collect(),
            output: call.output.as_deref(),
            exit_code: call.exit_code,
            has_result: call.has_result,
            hides_secrets: call.hides_secrets,
        }
    }
}

impl<'a> FileDiffJson<'a> {
    fn new(diff: &'a FileDiff) -> Self {
        let (added, removed) = diff.counts();
        let row = |(sign, text): (DiffSign, &'a str)| DiffRowJson { sign: sign.mark(), text };
        let hunks = diff.hunks.iter().map(|hunk| DiffHunkJson {
            old_start: hunk.starts.map(|(old, _)| old),
            new_start: hunk.starts.map(|(_, new)| new),
            lines: hunk.rows.iter().map(|one| row((one.sign, one.text.as_str()))).collect(),
        });
        Self {
            path: &diff.path,
            moved_to: diff.moved_to.as_deref(),
            kind: diff.kind.as_str(),
            added,
            removed,
            cut_lines: diff.cut_lines,
            hunks: hunks.collect(),
        }
    }
}
