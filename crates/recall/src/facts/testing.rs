//! Facts for tests, told in few words.

use rethread_model::{Agent, Entity, EntityKind, Fact, FactState, Predicate, SessionId, SessionKind, Timestamp, Trust};
use rethread_store::KnownFact;

/// What a session said at some minute, about a thing.
pub(super) fn known(session: &str, minute: i64, predicate: Predicate, subject: (EntityKind, &str)) -> KnownFact {
    let at = Timestamp::from_millis(minute * 60_000);
    KnownFact {
        fact: Fact {
            predicate,
            subject: Entity::new(subject.0, subject.1),
            object: None,
            detail: String::new(),
            reason: None,
            quote: None,
            state: FactState::Confirmed,
            succeeded: 0,
            failed: 0,
            trust: Trust::Tool,
            line: minute.unsigned_abs(),
            evidence: Vec::new(),
            at: Some(at),
            model: None,
        },
        session: SessionId::derive(Agent::ClaudeCode, session, Timestamp::from_millis(0)),
        agent: Agent::ClaudeCode,
        session_name: Some(session.to_owned()),
        project: Some("/p".to_owned()),
        kind: SessionKind::Main,
        episode: 1,
        learned_at: at,
    }
}

/// Adds to a fact what most facts do not have.
pub(super) trait With: Sized {
    fn with(self, change: impl FnOnce(&mut Fact)) -> Self;

    fn object(self, kind: EntityKind, name: &str) -> Self {
        self.with(|fact| fact.object = Some(Entity::new(kind, name)))
    }

    fn detail(self, detail: &str) -> Self {
        self.with(|fact| detail.clone_into(&mut fact.detail))
    }

    fn state(self, state: FactState) -> Self {
        self.with(|fact| fact.state = state)
    }

    fn counts(self, succeeded: u64, failed: u64) -> Self {
        self.with(|fact| (fact.succeeded, fact.failed) = (succeeded, failed))
    }
}

impl With for KnownFact {
    fn with(mut self, change: impl FnOnce(&mut Fact)) -> Self {
        change(&mut self.fact);
        self
    }
}
