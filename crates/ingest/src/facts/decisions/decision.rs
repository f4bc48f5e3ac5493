//! A tracked decision, and the facts made from decisions and preferences.

use rethread_model::{Entity, EntityKind, Fact, FactState, Predicate, Timestamp, Trust, clip};
use serde::{Deserialize, Serialize};

use super::preferences::StatedPreference;
use super::reasons::StatedSentence;

/// Maximum length of a stored sentence, in characters.
const MAX_DETAIL_CHARS: usize = 480;

/// A decision with its current state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TrackedDecision {
    pub(super) subject: String,
    pub(super) object: Option<String>,
    pub(super) detail: String,
    pub(super) reason: Option<String>,
    pub(super) state: FactState,
    pub(super) trust: Trust,
    pub(super) line: u64,
    pub(super) evidence: Vec<u64>,
}

/// A decision as a form or a plan states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WrittenDecision {
    pub(super) subject: String,
    pub(super) state: FactState,
    /// The words that state it, such as a question and its answer.
    pub(super) detail: String,
    pub(super) reason: Option<String>,
}

/// Where something was stated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct FactPosition {
    pub(super) line: u64,
    pub(super) at: Option<Timestamp>,
}

impl TrackedDecision {
    pub(super) fn stated(subject: String, detail: &str, position: FactPosition) -> Self {
        Self {
            subject,
            object: None,
            detail: clip(detail, MAX_DETAIL_CHARS).into_owned(),
            reason: None,
            state: FactState::Confirmed,
            trust: Trust::Human,
            line: position.line,
            evidence: Vec::new(),
        }
    }

    pub(super) fn proposed(subject: String, detail: &str, reason: Option<String>, position: FactPosition) -> Self {
        let stated = Self::stated(subject, detail, position);
        Self { reason, state: FactState::Hypothesis, trust: Trust::Assistant, ..stated }
    }

    pub(super) fn to_fact(&self, at: Option<Timestamp>) -> Fact {
        let entity = |name: &String| Entity::new(EntityKind::Decision, name.as_str());
        Fact {
            predicate: Predicate::Decided,
            subject: entity(&self.subject),
            object: self.object.as_ref().map(entity),
            detail: self.detail.clone(),
            reason: self.reason.clone(),
            quote: None,
            state: self.state,
            success_count: 0,
            failure_count: 0,
            trust: self.trust,
            line: self.line,
            evidence_lines: self.evidence.clone(),
            at,
            model: None,
        }
    }
}

/// The fact for a preference or prohibition.
pub(super) fn preference_fact(
    preference: StatedPreference,
    sentence: StatedSentence<'_>,
    position: FactPosition,
) -> Fact {
    let choice = TrackedDecision::stated(preference.subject, sentence.sentence.text, position);
    let reason = sentence.reason(&choice.subject, false);
    let entity = |name: &str| Entity::new(EntityKind::Preference, name);
    let (subject, object) = (entity(&choice.subject), preference.alternative.as_deref().map(entity));
    Fact { predicate: preference.predicate, subject, object, reason, ..choice.to_fact(position.at) }
}
