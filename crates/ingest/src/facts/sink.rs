//! Collects the facts of a span; repeated facts are counted in one fact per entity.

use std::collections::HashMap;

use super::error_forms::concrete_form;
use rethread_model::{Entity, EntityKind, Entry, Fact, FactState, Predicate, Trust};

/// The facts of one span, in the order they were found.
#[derive(Debug, Default)]
pub(super) struct FactSink {
    facts: Vec<Fact>,
    counted: HashMap<(Predicate, Entity, Option<Entity>, Option<String>), usize>,
}

impl FactSink {
    /// All collected facts.
    pub(super) fn into_facts(self) -> Vec<Fact> {
        self.facts
    }

    /// The facts so far, for adding or changing them.
    pub(super) fn facts_mut(&mut self) -> &mut Vec<Fact> {
        &mut self.facts
    }

    /// Removes facts that were added too early.
    pub(super) fn retract(&mut self, is_wrong: impl Fn(&Fact) -> bool) {
        let wrong: Vec<usize> = (0..self.facts.len()).filter(|at| is_wrong(&self.facts[*at])).collect();
        self.facts.retain(|fact| !is_wrong(fact));
        self.counted.retain(|_, at| !wrong.contains(at));
        for at in self.counted.values_mut() {
            *at -= wrong.iter().filter(|gone| *gone < at).count();
        }
    }

    /// Adds a separate fact.
    pub(super) fn push(&mut self, fact: Fact) {
        self.facts.push(fact);
    }

    /// Counts a fact that may repeat within the span. Keeps the last detail and the first line.
    pub(super) fn count(&mut self, fact: Fact) {
        // Errors with the same signature that name different entities stay separate.
        let words = (fact.predicate == Predicate::FailedWith).then(|| concrete_form(&fact.detail));
        let key = (fact.predicate, fact.subject.clone(), fact.object.clone(), words);
        if let Some(known) = self.counted.get(&key).and_then(|at| self.facts.get_mut(*at)) {
            known.success_count += fact.success_count;
            known.failure_count += fact.failure_count;
            known.detail = fact.detail;
            return;
        }
        self.counted.insert(key, self.facts.len());
        self.facts.push(fact);
    }
}

/// A fact that a tool outcome in this entry shows.
pub(super) fn observed_fact(entry: &Entry, predicate: Predicate, subject: Entity) -> Fact {
    Fact {
        predicate,
        subject,
        object: None,
        detail: String::new(),
        reason: None,
        quote: None,
        state: FactState::Confirmed,
        success_count: 1,
        failure_count: 0,
        trust: Trust::Tool,
        line: entry.location.line,
        evidence_lines: Vec::new(),
        at: entry.at,
        model: None,
    }
}

/// A file entity.
pub(super) fn file_entity(name: &str) -> Entity {
    Entity::new(EntityKind::File, name)
}

/// A command entity.
pub(super) fn command_entity(name: &str) -> Entity {
    Entity::new(EntityKind::Command, name)
}
