//! Where the facts of a stretch are gathered; what is only counted is one fact for each thing.

use std::collections::HashMap;

use super::errors::concrete;
use rethread_model::{Entity, EntityKind, Entry, Fact, FactState, Predicate, Trust};

/// The facts of one stretch, in the order they were met.
#[derive(Debug, Default)]
pub(super) struct Sink {
    facts: Vec<Fact>,
    counted: HashMap<(Predicate, Entity, Option<Entity>, Option<String>), usize>,
}

impl Sink {
    /// Everything gathered.
    pub(super) fn into_facts(self) -> Vec<Fact> {
        self.facts
    }

    /// The facts so far, for those who add or amend them.
    pub(super) fn facts_mut(&mut self) -> &mut Vec<Fact> {
        &mut self.facts
    }

    /// Takes back what was said too early.
    pub(super) fn retract(&mut self, is_wrong: impl Fn(&Fact) -> bool) {
        let wrong: Vec<usize> = (0..self.facts.len()).filter(|at| is_wrong(&self.facts[*at])).collect();
        self.facts.retain(|fact| !is_wrong(fact));
        self.counted.retain(|_, at| !wrong.contains(at));
        for at in self.counted.values_mut() {
            *at -= wrong.iter().filter(|gone| *gone < at).count();
        }
    }

    /// Adds a fact of its own.
    pub(super) fn push(&mut self, fact: Fact) {
        self.facts.push(fact);
    }

    /// Counts a fact that may repeat within the stretch. The words of the last time are kept, the line of the first.
    pub(super) fn count(&mut self, fact: Fact) {
        // Errors of one kind that name different things are told apart.
        let words = (fact.predicate == Predicate::FailedWith).then(|| concrete(&fact.detail));
        let key = (fact.predicate, fact.subject.clone(), fact.object.clone(), words);
        if let Some(known) = self.counted.get(&key).and_then(|at| self.facts.get_mut(*at)) {
            known.succeeded += fact.succeeded;
            known.failed += fact.failed;
            known.detail = fact.detail;
            return;
        }
        self.counted.insert(key, self.facts.len());
        self.facts.push(fact);
    }
}

/// What an entry shows, by a tool's outcome.
pub(super) fn seen(entry: &Entry, predicate: Predicate, subject: Entity) -> Fact {
    Fact {
        predicate,
        subject,
        object: None,
        detail: String::new(),
        reason: None,
        quote: None,
        state: FactState::Confirmed,
        succeeded: 1,
        failed: 0,
        trust: Trust::Tool,
        line: entry.place.line,
        evidence: Vec::new(),
        at: entry.at,
        model: None,
    }
}

/// The file of that name.
pub(super) fn file(name: &str) -> Entity {
    Entity::new(EntityKind::File, name)
}

/// The command of that name.
pub(super) fn command(name: &str) -> Entity {
    Entity::new(EntityKind::Command, name)
}
