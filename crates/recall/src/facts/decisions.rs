//! What was decided, and whether it still holds. A decision that was taken back is closed, not removed.

use rethread_model::{FactState, Predicate, Timestamp, Trust};
use rethread_store::KnownFact;

use super::{Source, normal, oldest_first};

/// A choice or a standing rule, from when it holds and until when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// A choice (`decided`), or a rule: `prefers`, `forbids`.
    pub predicate: Predicate,
    /// What was chosen, or what the rule is about.
    pub choice: String,
    /// What it was chosen against.
    pub against: Option<String>,
    /// The sentence that says it.
    pub what: String,
    /// Why.
    pub reason: Option<String>,
    /// Proposed, accepted, rejected or superseded.
    pub state: FactState,
    /// Whose word it is.
    pub trust: Trust,
    /// The project it was made in.
    pub project: Option<String>,
    /// Since when it is so.
    pub valid_from: Option<Timestamp>,
    /// Until when it was so; nothing while it is.
    pub valid_to: Option<Timestamp>,
    /// Where it stands, newest first.
    pub sources: Vec<Source>,
    /// What closed it.
    pub closed_by: Option<Source>,
}

impl Decision {
    /// Whether it holds, or is still to be decided.
    pub fn is_open(&self) -> bool {
        self.closed_by.is_none() && matches!(self.state, FactState::Confirmed | FactState::Hypothesis)
    }

    /// Whether it speaks of all these words.
    pub fn speaks_of(&self, words: &str) -> bool {
        let parts = [Some(&self.choice), self.against.as_ref(), Some(&self.what), self.reason.as_ref()];
        let text = parts.into_iter().flatten().map(|part| part.to_lowercase()).collect::<Vec<_>>().join("\n");
        words.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
    }

    fn is_about(&self, known: &KnownFact) -> bool {
        self.project == known.project && normal(&self.choice) == normal(&known.fact.subject.name)
    }

    /// What a model concludes does not take back what a human said.
    fn may_be_closed_by(&self, known: &KnownFact) -> bool {
        known.fact.model.is_none() || self.trust < Trust::Human
    }

    fn is_rule(&self) -> bool {
        self.predicate != Predicate::Decided
    }

    fn close(&mut self, state: FactState, by: &KnownFact) {
        self.state = state;
        self.valid_to = by.fact.at;
        self.closed_by = Some(Source::of(by));
    }
}

/// All decisions and standing rules, newest first, each closed where something later speaks against it.
pub fn decisions(facts: &[KnownFact]) -> Vec<Decision> {
    let mut all: Vec<Decision> = Vec::new();
    for known in oldest_first(facts) {
        match known.fact.predicate {
            Predicate::Decided => choose(&mut all, known),
            Predicate::Prefers | Predicate::Forbids => rule(&mut all, known),
            _ => {}
        }
    }
    all.reverse();
    all.sort_by_key(|decision| std::cmp::Reverse(decision.valid_from));
    all
}

fn choose(all: &mut Vec<Decision>, known: &KnownFact) {
    let fact = &known.fact;
    if fact.state == FactState::Confirmed
        && let Some(other) = &fact.object
    {
        let is_other = |one: &&mut Decision| {
            !one.is_rule()
                && one.is_open()
                && one.may_be_closed_by(known)
                && one.project == known.project
                && normal(&one.choice) == normal(&other.name)
        };
        all.iter_mut().filter(is_other).for_each(|one| one.close(FactState::Superseded, known));
    }
    let is_told_twice = was_just_closed(all, known);
    let open = all.iter_mut().rev().find(|one| !one.is_rule() && one.is_open() && one.is_about(known));
    match (open, fact.state) {
        // "Y instead of X" says both that Y is chosen and that X is over, which is one end and not two.
        (None, FactState::Refuted | FactState::Superseded) if is_told_twice => {}
        (None, _) => all.push(new(known)),
        (Some(open), FactState::Refuted | FactState::Superseded) if !open.may_be_closed_by(known) => {}
        (Some(open), FactState::Refuted | FactState::Superseded) => open.close(fact.state, known),
        (Some(open), FactState::Hypothesis) => open.sources.insert(0, Source::of(known)),
        (Some(open), FactState::Confirmed) if open.state == FactState::Confirmed => {
            open.sources.insert(0, Source::of(known));
            open.reason = open.reason.take().or(fact.reason.clone());
        }
        (Some(open), FactState::Confirmed) => {
            // The proposal's sentence says more than the "yes" that accepts it.
            open.state = FactState::Confirmed;
            open.valid_from = fact.at;
            open.trust = fact.trust;
            open.reason = open.reason.take().or(fact.reason.clone());
            open.against = open.against.take().or(fact.object.as_ref().map(|other| other.name.clone()));
            open.sources.insert(0, Source::of(known));
        }
    }
}

fn was_just_closed(all: &[Decision], known: &KnownFact) -> bool {
    let last = all.iter().rev().find(|one| !one.is_rule() && one.is_about(known));
    last.is_some_and(|one| one.closed_by.is_some() && one.valid_to == known.fact.at)
}

fn rule(all: &mut Vec<Decision>, known: &KnownFact) {
    let fact = &known.fact;
    let is_withdrawn = matches!(fact.state, FactState::Refuted | FactState::Superseded);
    let mut is_known = false;
    for one in all.iter_mut().filter(|one| one.is_rule() && one.is_open() && one.is_about(known)) {
        if !one.may_be_closed_by(known) && (is_withdrawn || one.predicate != fact.predicate) {
            is_known = true;
        } else if is_withdrawn && one.predicate == fact.predicate {
            one.close(fact.state, known);
            is_known = true;
        } else if one.predicate == fact.predicate {
            one.sources.insert(0, Source::of(known));
            is_known = true;
        } else if !is_withdrawn {
            one.close(FactState::Superseded, known);
        }
    }
    if !is_known {
        all.push(new(known));
    }
}

fn new(known: &KnownFact) -> Decision {
    let fact = &known.fact;
    Decision {
        predicate: fact.predicate,
        choice: fact.subject.name.clone(),
        against: fact.object.as_ref().map(|other| other.name.clone()),
        what: fact.detail.clone(),
        reason: fact.reason.clone(),
        state: fact.state,
        trust: fact.trust,
        project: known.project.clone(),
        valid_from: fact.at,
        valid_to: None,
        sources: vec![Source::of(known)],
        closed_by: None,
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::EntityKind;

    use super::super::testing::{With, known};
    use super::*;

    fn decided(minute: i64, choice: &str, state: FactState) -> KnownFact {
        known("a", minute, Predicate::Decided, (EntityKind::Choice, choice))
            .state(state)
            .detail(&format!("use {choice}"))
    }

    fn told(facts: &[KnownFact]) -> Vec<(String, &'static str, bool)> {
        let all = decisions(facts);
        all.iter().map(|one| (one.choice.clone(), one.state.named(one.predicate), one.is_open())).collect()
    }

    fn check(facts: &[KnownFact], expect: &[(&str, &str, bool)]) {
        let expect: Vec<_> = expect.iter().map(|(choice, state, open)| ((*choice).to_owned(), *state, *open)).collect();
        let found = told(facts);
        assert_eq!(found.len(), expect.len(), "{found:?}");
        for (one, other) in found.iter().zip(&expect) {
            assert_eq!((&one.0, one.1, one.2), (&other.0, other.1, other.2));
        }
    }

    #[test]
    fn s003_22_a_later_choice_against_an_older_one_closes_it_and_keeps_it() {
        let facts = [
            decided(1, "mysql", FactState::Confirmed),
            decided(5, "Postgres", FactState::Confirmed).object(EntityKind::Choice, "MySQL"),
        ];
        check(&facts, &[("Postgres", "accepted", true), ("mysql", "superseded", false)]);
        let older = &decisions(&facts)[1];
        assert_eq!(older.valid_to, Some(Timestamp::from_millis(300_000)));
        assert_eq!(older.closed_by.as_ref().map(|source| source.line), Some(5));
        check(&facts[..1], &[("mysql", "accepted", true)]);
    }

    #[test]
    fn l003_17_what_a_model_concludes_does_not_take_back_what_a_human_said() {
        let by_human = |mut known: KnownFact| {
            known.fact.trust = Trust::Human;
            known
        };
        let by_model = |mut known: KnownFact| {
            (known.fact.trust, known.fact.model) = (Trust::Assistant, Some("m".to_owned()));
            known
        };
        let mysql = by_human(decided(1, "mysql", FactState::Confirmed));
        let instead = by_model(decided(5, "postgres", FactState::Confirmed).object(EntityKind::Choice, "mysql"));
        check(&[mysql.clone(), instead.clone()], &[("postgres", "accepted", true), ("mysql", "accepted", true)]);
        check(&[mysql, by_model(decided(5, "mysql", FactState::Refuted))], &[("mysql", "accepted", true)]);
        let older = by_model(decided(1, "mysql", FactState::Confirmed));
        check(&[older, instead], &[("postgres", "accepted", true), ("mysql", "superseded", false)]);
        let rule = |minute, predicate| known("a", minute, predicate, (EntityKind::Rule, "tabs"));
        let wanted = by_human(rule(1, Predicate::Prefers));
        check(&[wanted, by_model(rule(2, Predicate::Forbids))], &[("tabs", "confirmed", true)]);
    }

    #[test]
    fn an_end_that_is_told_twice_in_one_sentence_is_one_end() {
        let chosen = decided(5, "postgres", FactState::Confirmed).object(EntityKind::Choice, "mysql");
        let over = decided(5, "mysql", FactState::Superseded);
        let first = decided(1, "mysql", FactState::Confirmed);
        let expect = [("postgres", "accepted", true), ("mysql", "superseded", false)];
        check(&[chosen.clone(), over.clone(), first.clone()], &expect);
        check(&[over, chosen, first], &expect);
    }

    #[test]
    fn a_proposal_is_accepted_or_rejected_by_what_follows() {
        let proposed = decided(1, "tabs", FactState::Hypothesis);
        let accepted = [proposed.clone(), decided(2, "tabs", FactState::Confirmed)];
        check(&accepted, &[("tabs", "accepted", true)]);
        assert_eq!(decisions(&accepted)[0].valid_from, Some(Timestamp::from_millis(120_000)));
        check(&[proposed, decided(2, "tabs", FactState::Refuted)], &[("tabs", "rejected", false)]);
    }

    #[test]
    fn a_choice_that_comes_back_is_a_new_decision() {
        let facts = [
            decided(1, "yaml", FactState::Confirmed),
            decided(2, "yaml", FactState::Superseded),
            decided(3, "yaml", FactState::Confirmed),
        ];
        check(&facts, &[("yaml", "accepted", true), ("yaml", "superseded", false)]);
    }

    #[test]
    fn opposite_rules_close_each_other_and_projects_are_apart() {
        let rule = |minute, predicate| known("a", minute, predicate, (EntityKind::Rule, "pnpm")).detail("pnpm");
        let mut elsewhere = rule(2, Predicate::Forbids);
        elsewhere.project = Some("/q".to_owned());
        let facts = [rule(1, Predicate::Prefers), elsewhere, rule(3, Predicate::Forbids)];
        check(&facts, &[("pnpm", "confirmed", true), ("pnpm", "confirmed", true), ("pnpm", "superseded", false)]);
    }

    #[test]
    fn a_query_is_looked_for_in_choice_sentence_and_reason() {
        let facts = [decided(1, "postgres", FactState::Confirmed)
            .with(|fact| fact.reason = Some("because of JSON columns".to_owned()))];
        let decision = &decisions(&facts)[0];
        assert!(decision.speaks_of("Postgres json") && decision.speaks_of("") && !decision.speaks_of("mysql"));
    }
}
