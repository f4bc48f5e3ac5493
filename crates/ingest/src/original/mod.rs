//! Reads entries of a transcript again: whole and as they were written, but redacted. Stores nothing.
//!
//! The store keeps the structure of a tool call. What a call changed and what it returned stay in the transcript and are
//! read from there when a user asks for them.

mod arguments;
mod call;
mod diff;
mod key_lines;
mod patch;
mod recorded;
mod search;

use std::io;

use rethread_model::{Agent, Entry};

use crate::TranscriptFilter;
use crate::agents::format_of;
use crate::parse::content::with_whole_results;
use crate::source::TranscriptReader;

pub use diff::{DiffHunk, DiffKind, DiffRow, DiffSign, FileDiff};
use search::OriginalSearch;

/// An entry as its transcript has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginalEntry {
    /// The whole text of a message. Empty for a tool call.
    pub text: String,
    /// The tool call, for entries of kind `Call`.
    pub call: Option<OriginalCall>,
}

/// A tool call as its transcript has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginalCall {
    /// The whole command.
    pub command: Option<String>,
    /// What it changed, by file.
    pub changes: Vec<FileDiff>,
    /// The other arguments.
    pub arguments: Vec<OriginalArgument>,
    /// What it returned. Of more than 1 MiB the start and the end, with a note between them. `None` if it is not text.
    pub output: Option<String>,
    /// Exit code of a command, if reported.
    pub exit_code: Option<i32>,
    /// Whether the transcript has a result.
    pub has_result: bool,
    /// Whether it is about a file that holds secrets, or a command that names one: then nothing of its content is given.
    pub hides_secrets: bool,
}

/// An argument of a tool call that is neither its command nor a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginalArgument {
    /// The name; empty if the call has one unnamed argument.
    pub name: String,
    /// The text, or JSON.
    pub value: String,
}

impl OriginalEntry {
    /// Bytes of its texts.
    pub fn size(&self) -> usize {
        let Some(call) = &self.call else { return self.text.len() };
        let arguments: usize = call.arguments.iter().map(|one| one.name.len() + one.value.len()).sum();
        let rows = call.changes.iter().flat_map(|change| &change.hunks).flat_map(|hunk| &hunk.rows);
        let texts = [&call.command, &call.output].into_iter().flatten().map(String::len);
        arguments + texts.sum::<usize>() + rows.map(|row| row.text.len()).sum::<usize>()
    }
}

/// Reads entries of one transcript again, in one pass. `visit` gets each entry that is still where it was. The others
/// are no longer there.
pub fn read_originals(
    agent: Agent,
    transcript: &TranscriptReader,
    wanted: &[&Entry],
    filter: &TranscriptFilter,
    visit: &mut dyn FnMut(&Entry, OriginalEntry),
) -> io::Result<()> {
    let mut wanted = wanted.to_vec();
    wanted.sort_by_key(|entry| (entry.location.line, entry.seq));
    let Some(first) = wanted.first().map(|entry| entry.location) else { return Ok(()) };
    // What is stored does not matter here, except reasoning: with it the texts of a line have other ids.
    let filter = TranscriptFilter {
        keep_user_messages: true,
        keep_agent_responses: true,
        keep_tool_structure: true,
        omit_tool_outputs: false,
        ..filter.clone()
    };
    let mut search = OriginalSearch::new(transcript, &filter, visit);
    with_whole_results(|| {
        search.read_from(first, &wanted)?;
        if format_of(agent).results_may_come_first {
            search.read_results_before(first)?;
        }
        search.finish();
        Ok(())
    })
}
