//! The card of a session: name, description, summary and tags; by rules, or asked of a model. Pure.
//!
//! Rules give the same bytes for the same session. They quote what was said and count what was done; they conclude
//! nothing.

mod ask;
mod clean;
mod deeds;
mod name;
mod summary;
mod tags;
mod words;

use rethread_model::{Entry, Session, Speech};

pub use ask::{CARD_SYSTEM, CardPrompt, card_fields, card_prompt, card_schema};

/// The longest name, in characters (E001-01).
const CARD_NAME_CHARS: usize = 120;
/// The longest description.
const CARD_DESCRIPTION_CHARS: usize = 1_200;
/// The longest summary.
const CARD_SUMMARY_CHARS: usize = 8_000;
/// The longest tag.
const CARD_TAG_CHARS: usize = 80;
/// How few and how many tags there are.
const CARD_TAGS: std::ops::RangeInclusive<usize> = 3..=12;

/// What a card says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardFields {
    /// A few words, in sentence case.
    pub name: String,
    /// Two or three sentences.
    pub description: String,
    /// Markdown with the sections Goal, Key Decisions, Outcome and Next Steps, as far as there is something to say.
    pub summary: String,
    /// Files, tools, packages, tickets and topics.
    pub tags: Vec<String>,
}

/// What a card is made of.
#[derive(Clone, Copy, Debug)]
pub struct CardSource<'a> {
    /// The session.
    pub session: &'a Session,
    /// The title that its user or agent gave it, if one did.
    pub title: Option<&'a str>,
    /// Entries of the branch it is on, oldest first. Of a long session both ends will do.
    pub entries: &'a [Entry],
}

impl<'a> CardSource<'a> {
    /// What was asked, oldest first; what a parent model asked of its sub-agent included.
    fn prompts(&self) -> impl DoubleEndedIterator<Item = &'a Entry> {
        self.entries.iter().filter(|entry| matches!(entry.speech, Speech::Prompt | Speech::Task))
    }

    /// What the model said, oldest first.
    fn answers(&self) -> impl DoubleEndedIterator<Item = &'a Entry> {
        self.entries.iter().filter(|entry| entry.speech == Speech::Said && !entry.text.trim().is_empty())
    }

    fn last_of(&self, speech: Speech) -> Option<&'a Entry> {
        self.entries.iter().rev().find(|entry| entry.speech == speech)
    }
}

/// The card of a session by rules alone. Its limits always hold.
pub fn card_by_rules(source: &CardSource<'_>) -> CardFields {
    let deeds = deeds::Deeds::of(source);
    let name = name::name(source, &deeds);
    let summary = summary::Summary::of(source, &deeds);
    let told = summary.markdown();
    CardFields {
        description: summary.description(source, &deeds, &name),
        summary: if told.is_empty() { format!("## Goal\n{name}") } else { told },
        tags: tags::tags(source, &deeds),
        name,
    }
}

#[cfg(test)]
mod tests;
