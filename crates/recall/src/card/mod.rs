//! The card of a session: name, description, summary and tags, built by rules or written by a model.
//!
//! The rules are deterministic. They quote what was said and count what was done; they infer nothing.

mod actions;
mod name;
mod outcome;
mod prompt;
mod prose;
mod result_name;
mod stopping_point;
mod summary;
mod tags;
mod words;

use rethread_model::{Entry, EntryKind, Session, clean_title, fallback_name};

pub use name::derive_name;
pub use prompt::{CARD_SYSTEM_PROMPT, CardPrompt, card_prompt, card_schema, parse_card_fields};
pub use stopping_point::StoppingPoint;

/// Maximum length of a name, in characters (E001-01).
const CARD_NAME_CHARS: usize = 120;
/// Maximum length of a description, in characters.
const CARD_DESCRIPTION_CHARS: usize = 1_200;
/// Maximum length of a summary, in characters.
const CARD_SUMMARY_CHARS: usize = 8_000;
/// Maximum length of a tag, in characters.
const CARD_TAG_CHARS: usize = 80;
/// Allowed number of tags.
const CARD_TAG_COUNT: std::ops::RangeInclusive<usize> = 3..=12;

/// Content of a card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardFields {
    /// A few words in sentence case.
    pub name: String,
    /// Two or three sentences.
    pub description: String,
    /// Markdown with those of the sections Goal, Key Decisions, Outcome and Next Steps that have content.
    pub summary: String,
    /// Files, tools, packages, tickets and topics.
    pub tags: Vec<String>,
}

/// Input for building a card.
#[derive(Clone, Copy, Debug)]
pub struct CardSource<'a> {
    /// Supplies name, project, branch, agent and counts.
    pub session: &'a Session,
    /// Entries of the current branch, oldest first. For a long session its beginning and end are enough.
    pub entries: &'a [Entry],
    /// Decisions made in the session, as sentences, newest first.
    pub decisions: &'a [String],
}

impl<'a> CardSource<'a> {
    /// User prompts and sub-agent tasks, oldest first.
    fn prompts(&self) -> impl DoubleEndedIterator<Item = &'a Entry> {
        self.entries.iter().filter(|entry| matches!(entry.kind, EntryKind::Prompt | EntryKind::Task))
    }

    /// Non-empty assistant answers, oldest first.
    fn answers(&self) -> impl DoubleEndedIterator<Item = &'a Entry> {
        self.entries.iter().filter(|entry| entry.kind == EntryKind::AssistantText && !entry.text.trim().is_empty())
    }

    fn last_entry_of(&self, kind: EntryKind) -> Option<&'a Entry> {
        self.entries.iter().rev().find(|entry| entry.kind == kind)
    }
}

/// Builds the card without a model. The result is always within the limits.
pub fn card_by_rules(source: &CardSource<'_>) -> CardFields {
    let session_actions = actions::SessionActions::collect(source);
    let session = source.session;
    let name = session.name.as_deref().and_then(clean_title);
    let name = name.unwrap_or_else(|| fallback_name(session.agent, &session.external_id, session.started_at));
    let summary = summary::CardSummary::build(source, &session_actions);
    let rendered = summary.markdown();
    CardFields {
        description: summary.description(source, &session_actions, &name),
        summary: if rendered.is_empty() { format!("## Goal\n{name}") } else { rendered },
        tags: tags::tags(source, &session_actions),
        name,
    }
}

/// The last answer of a session with substance.
pub(crate) fn outcome_entry<'a>(session: &'a Session, entries: &'a [Entry]) -> Option<&'a Entry> {
    let answers = outcome::OutcomeAnswers::find(&CardSource { session, entries, decisions: &[] });
    answers.main.or(answers.last)
}

#[cfg(test)]
mod tests;
