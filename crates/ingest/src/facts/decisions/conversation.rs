//! Follows a conversation: what happened before a sentence, as far as it changes its meaning.

use rethread_model::{Entry, EntryKind, ToolKind, ToolStatus};
use serde::{Deserialize, Serialize};

use super::cues::{may_diagnose, may_propose};
use super::prose::{human_prose, prose_lines};
use super::sentences::split_sentences;
use crate::facts::sentence_model::{SentenceContext, Speaker};

/// Texts longer than this, in bytes, are long.
const LONG_TEXT_BYTES: usize = 400;
/// A question in the last bytes of a text asks something.
const QUESTION_BYTES: usize = 300;

/// What the next sentence follows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ConversationState {
    has_proposal: bool,
    has_edited: bool,
    was_refused: bool,
}

impl ConversationState {
    /// The context of the sentences of an entry.
    pub(super) fn context(&self, entry: &Entry) -> SentenceContext {
        let speaker = if entry.kind == EntryKind::AssistantText { Speaker::Assistant } else { Speaker::Human };
        let is_human = speaker == Speaker::Human;
        SentenceContext {
            speaker,
            follows_proposal: is_human && self.has_proposal,
            follows_edit: self.has_edited,
            is_refusal: is_human && (self.was_refused || entry.kind == EntryKind::Answer),
            is_long: entry.text.len() > LONG_TEXT_BYTES,
        }
    }

    /// Records an entry after its sentences were examined.
    pub(super) fn push(&mut self, entry: &Entry) {
        match entry.kind {
            EntryKind::Prompt | EntryKind::Answer => *self = Self::default(),
            EntryKind::AssistantText => self.has_proposal = asks_or_proposes(&entry.text),
            EntryKind::Interruption => self.was_refused = true,
            EntryKind::Call => self.push_call(entry),
            _ => {}
        }
    }

    fn push_call(&mut self, entry: &Entry) {
        let Some(tool) = &entry.tool else { return };
        match tool.outcome.as_ref().map(|outcome| outcome.status) {
            Some(ToolStatus::Rejected) => self.was_refused = true,
            Some(ToolStatus::Ok) => self.has_edited |= tool.kind.is_some_and(ToolKind::changes_files),
            _ => {}
        }
    }
}

fn asks_or_proposes(text: &str) -> bool {
    let end = &text[text.ceil_char_boundary(text.len().saturating_sub(QUESTION_BYTES))..];
    end.contains('?') || may_propose(text)
}

/// A sentence of a conversation, with what it follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationSentence {
    /// Line of its entry.
    pub line: u64,
    /// What happened before it.
    pub context: SentenceContext,
    /// As written.
    pub text: String,
}

/// All sentences of a conversation that are examined for statements, for training.
pub fn conversation_sentences(entries: &[Entry]) -> Vec<ConversationSentence> {
    let mut state = ConversationState::default();
    let mut found = Vec::new();
    for entry in entries {
        let lines = match entry.kind {
            EntryKind::Prompt | EntryKind::Answer => human_prose(&entry.text),
            EntryKind::AssistantText => prose_lines(&entry.text),
            _ => Vec::new(),
        };
        let context = state.context(entry);
        for sentence in split_sentences(&lines) {
            if context.speaker == Speaker::Human || may_diagnose(sentence.text) || may_propose(sentence.text) {
                let text = sentence.text.to_owned();
                found.push(ConversationSentence { line: entry.location.line, context, text });
            }
        }
        state.push(entry);
    }
    found
}
