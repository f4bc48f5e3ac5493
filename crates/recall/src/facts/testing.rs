//! Builders for facts in tests.

use rethread_model::{Agent, Entity, EntityKind, Fact, FactState, Predicate, SessionId, SessionKind, Timestamp, Trust};
use rethread_store::FactRow;

/// A fact that a session stated at the given minute.
pub(crate) fn known_fact(session: &str, minute: i64, predicate: Predicate, subject: (EntityKind, &str)) -> FactRow {
    let at = Timestamp::from_millis(minute * 60_000);
    FactRow {
        fact: Fact {
            predicate,
            subject: Entity::new(subject.0, subject.1),
            object: None,
            detail: String::new(),
            reason: None,
            quote: None,
            state: FactState::Confirmed,
            success_count: 0,
            failure_count: 0,
            trust: Trust::Tool,
            line: minute.unsigned_abs(),
            evidence_lines: Vec::new(),
            at: Some(at),
            model: None,
        },
        session: SessionId::derive(Agent::ClaudeCode, session, Timestamp::from_millis(0)),
        agent: Agent::ClaudeCode,
        session_name: Some(session.to_owned()),
        project: Some("/p".to_owned()),
        session_kind: SessionKind::Main,
        episode: 1,
        learned_at: at,
    }
}

/// Sets fields that most test facts do not need.
pub(crate) trait KnownFactExt: Sized {
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
        self.with(|fact| (fact.success_count, fact.failure_count) = (succeeded, failed))
    }
}

impl KnownFactExt for FactRow {
    fn with(mut self, change: impl FnOnce(&mut Fact)) -> Self {
        change(&mut self.fact);
        self
    }
}
