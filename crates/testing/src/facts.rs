//! Facts for tests that need known ones instead of extracting them.

use rethread_model::{Entity, EntityKind, Fact, FactState, Predicate, SessionId, Timestamp, Trust};

use crate::TestHome;

/// A confirmed fact from the first line of a session, at a time in RFC 3339.
pub fn confirmed_fact(at: &str, predicate: Predicate, subject: (EntityKind, &str), detail: &str) -> Fact {
    Fact {
        predicate,
        subject: Entity::new(subject.0, subject.1),
        object: None,
        detail: detail.to_owned(),
        reason: None,
        quote: None,
        state: FactState::Confirmed,
        success_count: 0,
        failure_count: 0,
        trust: Trust::Tool,
        line: 1,
        evidence_lines: vec![1],
        at: Some(at.parse().unwrap()),
        model: None,
    }
}

/// The same fact about an object.
pub fn with_object(fact: Fact, kind: EntityKind, name: &str) -> Fact {
    Fact { object: Some(Entity::new(kind, name)), ..fact }
}

impl TestHome {
    /// Replaces the facts that rules extracted from a span of a session. Spans are numbered from 0.
    pub fn store_facts(&self, session: SessionId, span: usize, facts: &[Fact]) {
        let mut store = self.store();
        let number = store.session_number(session).unwrap().unwrap();
        let mut batch = store.begin().unwrap();
        let span = batch.fact_spans(number, 0).unwrap()[span];
        batch.replace_rule_facts(number, span, facts, Some("{}"), Timestamp::from_millis(0)).unwrap();
        batch.commit().unwrap();
    }
}
