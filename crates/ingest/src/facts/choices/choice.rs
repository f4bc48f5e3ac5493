//! A choice as it is remembered, and the facts that tell of choices and wishes.

use rethread_model::{Entity, EntityKind, Fact, FactState, Predicate, Timestamp, Trust, clip};
use serde::{Deserialize, Serialize};

use super::reasons::reason_for;
use super::rules::Wish;
use super::sentences::Sentence;

/// The longest sentence that is kept, in characters.
const DETAIL_CHARS: usize = 240;

/// A choice with the state it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Choice {
    pub(super) subject: String,
    pub(super) object: Option<String>,
    pub(super) detail: String,
    pub(super) reason: Option<String>,
    pub(super) state: FactState,
    pub(super) trust: Trust,
    pub(super) line: u64,
    pub(super) evidence: Vec<u64>,
}

/// Where something is said.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    pub(super) line: u64,
    pub(super) at: Option<Timestamp>,
}

impl Choice {
    pub(super) fn stated(subject: String, detail: &str, spot: Spot) -> Self {
        Self {
            subject,
            object: None,
            detail: clip(detail, DETAIL_CHARS).into_owned(),
            reason: None,
            state: FactState::Confirmed,
            trust: Trust::Human,
            line: spot.line,
            evidence: Vec::new(),
        }
    }

    pub(super) fn proposed(subject: String, detail: &str, reason: Option<String>, spot: Spot) -> Self {
        let stated = Self::stated(subject, detail, spot);
        Self { reason, state: FactState::Hypothesis, trust: Trust::Assistant, ..stated }
    }

    pub(super) fn fact(&self, at: Option<Timestamp>) -> Fact {
        let entity = |name: &String| Entity::new(EntityKind::Choice, name.as_str());
        Fact {
            predicate: Predicate::Decided,
            subject: entity(&self.subject),
            object: self.object.as_ref().map(entity),
            detail: self.detail.clone(),
            reason: self.reason.clone(),
            quote: None,
            state: self.state,
            succeeded: 0,
            failed: 0,
            trust: self.trust,
            line: self.line,
            evidence: self.evidence.clone(),
            at,
            model: None,
        }
    }
}

/// The fact of a standing wish.
pub(super) fn wanted(wish: Wish, sentence: &Sentence<'_>, spot: Spot) -> Fact {
    let choice = Choice::stated(wish.subject, sentence.text, spot);
    let reason = reason_for(&choice.subject, sentence);
    let subject = Entity::new(EntityKind::Rule, choice.subject.as_str());
    Fact { predicate: wish.predicate, subject, reason, ..choice.fact(spot.at) }
}
