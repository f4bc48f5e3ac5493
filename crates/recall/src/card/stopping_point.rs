//! Where a session stopped: what was asked last, what came of it, and what was left open.

use rethread_model::{Entry, ToolKind, ToolUse, first_line, is_greeting, one_line};

use super::actions::SessionActions;
use super::name::{name_from_prompt, without_command};
use super::prose::prose_sentences;
use super::summary::CardSummary;
use super::{CardSource, words::distinctive_words};

/// Where a session stopped. Every text is as it was said, on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoppingPoint {
    /// The last prompt that says something.
    pub asked: Option<String>,
    /// What the last answer with substance says.
    pub outcome: Option<String>,
    /// What is left to do, as the agent said.
    pub next_step: Option<String>,
    /// The last check that did not succeed, and the error it printed.
    pub open_error: Option<(String, Option<String>)>,
    /// Changed files, most often changed first.
    pub files: Vec<String>,
}

impl StoppingPoint {
    /// Finds it in the entries of a session; the last ones are enough.
    pub fn find(source: &CardSource<'_>) -> Self {
        let actions = SessionActions::collect(source);
        let asked = source.prompts().rev().find_map(|entry| Some((entry.seq, request_text(&entry.text)?)));
        // What an earlier request brought is not the outcome of the last one.
        let from = asked.as_ref().map_or(0, |(seq, _)| source.entries.partition_point(|entry| entry.seq < *seq));
        let last = CardSource { entries: &source.entries[from..], ..*source };
        let summary = CardSummary::build(&last, &SessionActions::collect(&last));
        let failed = actions.checks.last().filter(|(_, has_passed)| !has_passed).map(|(command, _)| command);
        Self {
            asked: asked.map(|(_, text)| text),
            outcome: summary.stated_outcomes().map(|outcome| one_line(&outcome)),
            next_step: summary.first_next_step().map(one_line),
            open_error: failed.map(|command| (command.clone(), last_error(source.entries, command))),
            files: actions.changed_paths,
        }
    }

    /// Whether there is something to continue.
    pub fn is_empty(&self) -> bool {
        self.asked.is_none() || (self.outcome.is_none() && self.open_error.is_none() && self.files.is_empty())
    }
}

/// A prompt as typed, or the sentence that names it if it contains more than prose. `None` if it says nothing.
fn request_text(text: &str) -> Option<String> {
    let text = without_command(text);
    if is_greeting(&text) || distinctive_words(&text).next().is_none() {
        return None;
    }
    let sentences = prose_sentences(&text);
    let prose = one_line(&sentences.join(" "));
    if sentences.len() <= 3 && !prose.is_empty() { Some(prose) } else { name_from_prompt(&text) }
}

/// The error of the last run of a command.
fn last_error(entries: &[Entry], command: &str) -> Option<String> {
    let runs = |tool: &&ToolUse| tool.kind == Some(ToolKind::Command) && one_line(&tool.target).contains(command);
    let tool = entries.iter().rev().filter_map(|entry| entry.tool.as_ref()).find(runs)?;
    let error = tool.outcome.as_ref()?.error.as_deref()?;
    Some(one_line(first_line(error))).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use rethread_model::{EntryKind, ToolStatus};

    use super::super::tests::call;
    use super::*;
    use crate::testing::{entry, pi_session, tool_entry};

    fn find(entries: &[Entry]) -> StoppingPoint {
        let session = pi_session();
        StoppingPoint::find(&CardSource { session: &session, entries, decisions: &[] })
    }

    #[test]
    fn it_has_the_last_request_its_outcome_and_the_check_that_failed() {
        // D41
        let found = find(&[
            entry(0, EntryKind::Prompt, "make the uploader retry on timeouts"),
            entry(1, EntryKind::AssistantText, "Added a retry with backoff to the uploader."),
            entry(2, EntryKind::Prompt, "now write the tests for the uploader"),
            call(3, "cargo test uploader", false),
            entry(4, EntryKind::AssistantText, "Added three uploader tests; the timeout test still fails."),
            entry(5, EntryKind::Prompt, "ok"),
        ]);
        assert_eq!(found.asked.as_deref(), Some("now write the tests for the uploader"));
        assert!(found.outcome.unwrap().starts_with("Added three uploader tests"));
        assert_eq!(found.open_error.unwrap().0, "cargo test uploader");
    }

    #[test]
    fn an_earlier_proposal_is_not_the_outcome_of_the_last_request() {
        let found = find(&[
            entry(0, EntryKind::Prompt, "how should the uploader store its state?"),
            entry(
                1,
                EntryKind::AssistantText,
                "I recommend a table in SQLite with one row for each upload, because it survives a restart and is easy to inspect.",
            ),
            entry(2, EntryKind::Prompt, "rename the retry option to max_retries"),
            entry(3, EntryKind::AssistantText, "Renamed the option in the config and in the docs."),
        ]);
        assert_eq!(found.outcome.as_deref(), Some("Renamed the option in the config and in the docs."));
    }

    #[test]
    fn a_session_that_only_greeted_stopped_nowhere() {
        assert!(find(&[entry(0, EntryKind::Prompt, "hi"), entry(1, EntryKind::AssistantText, "Hello!")]).is_empty());
    }

    #[test]
    fn a_refused_check_is_no_open_error_and_short_items_are_joined() {
        let refused = tool_entry(1, ToolKind::Command, "cargo test", ToolStatus::Rejected);
        let found = find(&[
            entry(0, EntryKind::Prompt, "check the uploader and its retries"),
            refused,
            entry(
                2,
                EntryKind::AssistantText,
                "State of the uploader retries:\n- backoff for timeouts\n- jitter for bursts",
            ),
        ]);
        assert_eq!(found.open_error, None);
        assert_eq!(found.outcome.as_deref(), Some("backoff for timeouts; jitter for bursts"));
    }
}
