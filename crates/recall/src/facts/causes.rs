//! Derives causes, requirements and conflicts from facts, each with what is known about whether it is right.

use rethread_model::{Entity, FactState, Predicate, Timestamp, Trust};
use rethread_store::FactRow;

use super::{FactSource, normalize, oldest_first};

/// Predicates of facts that are causes, requirements or conflicts.
pub const CAUSE_PREDICATES: [Predicate; 3] = [Predicate::CausedBy, Predicate::Requires, Predicate::ConflictsWith];

/// Why something happens, what it needs, or what it does not work with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// `caused_by`, `requires` or `conflicts_with`.
    pub relation: Predicate,
    /// What it is about: an error, a file, a package, a setting, a command or a topic.
    pub subject: Entity,
    /// The cause, what is needed, or what does not fit.
    pub object: Option<Entity>,
    /// The newest sentence that states it.
    pub statement: String,
    /// The error line as printed, if the subject is an error.
    pub printed: Option<String>,
    /// Confirmed by a fix, refuted, or a hypothesis.
    pub state: FactState,
    /// Trust level of its author; of several, the highest.
    pub trust: Trust,
    /// Project it was stated in.
    pub project: Option<String>,
    /// When it was last stated.
    pub last_at: Option<Timestamp>,
    /// Where it was stated, newest first.
    pub sources: Vec<FactSource>,
}

impl Cause {
    /// Whether it was not refuted.
    pub fn is_open(&self) -> bool {
        matches!(self.state, FactState::Confirmed | FactState::Hypothesis)
    }

    fn is_same(&self, known: &FactRow) -> bool {
        let name = |entity: &Option<Entity>| entity.as_ref().map(|entity| normalize(&entity.name));
        self.relation == known.fact.predicate
            && self.project == known.project
            && normalize(&self.subject.name) == normalize(&known.fact.subject.name)
            && name(&self.object) == name(&known.fact.object)
    }

    fn add(&mut self, known: &FactRow) {
        let fact = &known.fact;
        // A repeated guess neither confirms nor refutes, and a model does not overrule what rules observed.
        if fact.state != FactState::Hypothesis && (fact.model.is_none() || self.state == FactState::Hypothesis) {
            self.state = fact.state;
        }
        if fact.state != FactState::Refuted && !fact.detail.trim().is_empty() {
            self.statement.clone_from(&fact.detail);
        }
        self.printed = fact.quote.clone().or(self.printed.take());
        self.trust = self.trust.max(fact.trust);
        self.last_at = self.last_at.max(fact.at);
        self.sources.insert(0, FactSource::of_fact(known));
    }
}

/// All causes, requirements and conflicts, newest first. The same one stated in several places is one.
pub fn causes(facts: &[FactRow]) -> Vec<Cause> {
    let mut all: Vec<Cause> = Vec::new();
    for known in oldest_first(facts) {
        if !CAUSE_PREDICATES.contains(&known.fact.predicate) {
            continue;
        }
        match all.iter_mut().find(|one| one.is_same(known)) {
            Some(one) => one.add(known),
            None => all.push(new_cause(known)),
        }
    }
    all.reverse();
    all.sort_by_key(|cause| std::cmp::Reverse(cause.last_at));
    all
}

fn new_cause(known: &FactRow) -> Cause {
    let fact = &known.fact;
    Cause {
        relation: fact.predicate,
        subject: fact.subject.clone(),
        object: fact.object.clone(),
        statement: fact.detail.clone(),
        printed: fact.quote.clone(),
        state: fact.state,
        trust: fact.trust,
        project: known.project.clone(),
        last_at: fact.at,
        sources: vec![FactSource::of_fact(known)],
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::EntityKind;

    use super::super::testing::{KnownFactExt, known_fact};
    use super::*;

    fn caused(session: &str, minute: i64, object: &str, state: FactState) -> FactRow {
        known_fact(session, minute, Predicate::CausedBy, (EntityKind::Error, "login fails"))
            .object(EntityKind::Setting, object)
            .detail(&format!("login fails because of {object}"))
            .state(state)
    }

    fn rendered(facts: &[FactRow]) -> Vec<(String, FactState, usize)> {
        let all = causes(facts).into_iter();
        all.map(|one| (one.object.map_or_else(String::new, |it| it.name), one.state, one.sources.len())).collect()
    }

    #[test]
    fn a_cause_is_a_hypothesis_until_a_fix_confirms_it() {
        // D40
        let guess = caused("a", 1, "expiry=0", FactState::Hypothesis);
        let proof = caused("a", 5, "Expiry=0", FactState::Confirmed);
        assert_eq!(rendered(std::slice::from_ref(&guess)), [("expiry=0".to_owned(), FactState::Hypothesis, 1)]);
        let again = caused("b", 9, "expiry=0", FactState::Hypothesis);
        assert_eq!(rendered(&[again, proof, guess]), [("expiry=0".to_owned(), FactState::Confirmed, 3)]);
    }

    #[test]
    fn a_refuted_cause_is_kept_but_no_longer_open() {
        let facts = [
            caused("a", 3, "the clock", FactState::Refuted).detail("it was not the clock"),
            caused("a", 2, "expiry=0", FactState::Confirmed),
            caused("a", 1, "the clock", FactState::Hypothesis),
        ];
        let all = causes(&facts);
        assert_eq!(all.iter().map(Cause::is_open).collect::<Vec<_>>(), [false, true]);
        assert_eq!(all[0].statement, "login fails because of the clock");
    }

    #[test]
    fn a_model_does_not_overrule_what_was_observed() {
        let by_model = caused("a", 5, "expiry=0", FactState::Refuted).with(|fact| fact.model = Some("m".to_owned()));
        let facts = [by_model, caused("a", 1, "expiry=0", FactState::Confirmed)];
        assert_eq!(causes(&facts)[0].state, FactState::Confirmed);
    }

    #[test]
    fn relations_projects_and_other_facts_are_kept_apart() {
        let needs = caused("a", 2, "redis", FactState::Confirmed).with(|fact| fact.predicate = Predicate::Requires);
        let mut elsewhere = caused("a", 3, "redis", FactState::Confirmed);
        elsewhere.project = Some("/q".to_owned());
        let other = caused("a", 4, "redis", FactState::Confirmed).with(|fact| fact.predicate = Predicate::FixedBy);
        let facts = [other, elsewhere, needs, caused("a", 1, "redis", FactState::Hypothesis)];
        let relations: Vec<_> = causes(&facts).iter().map(|one| one.relation).collect();
        assert_eq!(relations, [Predicate::CausedBy, Predicate::Requires, Predicate::CausedBy]);
    }
}
