//! Derives decisions and preferences from facts, and whether they still hold. A revoked one is closed, not removed.

use std::collections::HashMap;

use rethread_model::{FactState, Predicate, Timestamp, Trust};
use rethread_store::FactRow;

use super::{FactSource, normalize, oldest_first};

/// Predicates of facts that are decisions, preferences or prohibitions.
pub const DECISION_PREDICATES: [Predicate; 3] = [Predicate::Decided, Predicate::Prefers, Predicate::Forbids];

/// A decision, preference or prohibition, with the time it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// `decided`, `prefers` or `forbids`.
    pub predicate: Predicate,
    /// What was decided on, or what is preferred or forbidden.
    pub subject: String,
    /// The rejected alternative.
    pub rejected_option: Option<String>,
    /// What to use instead of what is forbidden.
    pub replacement: Option<String>,
    /// The sentence that states it.
    pub statement: String,
    /// Why it was decided.
    pub reason: Option<String>,
    /// Proposed, accepted, rejected or superseded.
    pub state: FactState,
    /// Trust level of its author.
    pub trust: Trust,
    /// Project it was made in.
    pub project: Option<String>,
    /// When it became valid.
    pub valid_from: Option<Timestamp>,
    /// When it stopped being valid; `None` while it holds.
    pub valid_to: Option<Timestamp>,
    /// Where it was stated, newest first.
    pub sources: Vec<FactSource>,
    /// The fact that closed it.
    pub closed_by: Option<FactSource>,
    /// Whether it was only proposed, and a human said no.
    pub is_declined: bool,
}

impl Decision {
    /// Whether it holds or is still proposed.
    pub fn is_open(&self) -> bool {
        self.closed_by.is_none() && matches!(self.state, FactState::Confirmed | FactState::Hypothesis)
    }

    /// Whether a human ruled it out and has not chosen it since.
    pub fn is_ruled_out(&self) -> bool {
        self.predicate == Predicate::Decided && self.state == FactState::Refuted && self.trust == Trust::Human
    }

    /// The sentence that states it, with the reason if it does not contain it.
    pub fn in_words(&self) -> String {
        let statement = self.statement.trim().trim_end_matches('.');
        match &self.reason {
            Some(reason) if !self.states_reason(reason) => format!("{statement} ({reason})"),
            _ => statement.to_owned(),
        }
    }

    /// Whether the sentence contains the reason.
    pub(crate) fn states_reason(&self, reason: &str) -> bool {
        normalize(&self.statement).contains(&normalize(reason))
    }

    /// Whether it mentions all these words.
    pub fn mentions_all(&self, words: &str) -> bool {
        let (rejected, replacement) = (self.rejected_option.as_ref(), self.replacement.as_ref());
        let parts = [Some(&self.subject), rejected, replacement, Some(&self.statement), self.reason.as_ref()];
        let text = parts.into_iter().flatten().map(|part| part.to_lowercase()).collect::<Vec<_>>().join("\n");
        words.split_whitespace().all(|word| text.contains(&word.to_lowercase()))
    }

    /// Whether a later sentence of a human drops what was decided.
    fn is_dropped_by(&self, known: &FactRow) -> bool {
        let fact = &known.fact;
        fact.state == FactState::Refuted
            && fact.trust == Trust::Human
            && self.state == FactState::Confirmed
            && normalize(&self.statement) != normalize(&fact.detail)
            && self.may_be_closed_by(known)
    }

    /// A model's conclusion does not revoke what a human said.
    fn may_be_closed_by(&self, known: &FactRow) -> bool {
        known.fact.model.is_none() || self.trust < Trust::Human
    }

    fn is_preference(&self) -> bool {
        self.predicate != Predicate::Decided
    }

    fn close(&mut self, state: FactState, by: &FactRow) {
        let is_by_human = by.fact.trust == Trust::Human;
        self.is_declined |= self.state == FactState::Hypothesis && state == FactState::Refuted && is_by_human;
        self.state = state;
        self.valid_to = by.fact.at;
        self.closed_by = Some(FactSource::of_fact(by));
    }
}

/// All decisions and preferences, newest first, each closed if a later fact contradicts it.
pub fn decisions(facts: &[FactRow]) -> Vec<Decision> {
    let mut found = FoldedDecisions::default();
    for known in oldest_first(facts) {
        match known.fact.predicate {
            Predicate::Decided => found.apply_decision(known),
            Predicate::Prefers | Predicate::Forbids => found.apply_preference(known),
            _ => {}
        }
    }
    let mut all = found.all;
    all.reverse();
    all.sort_by_key(|decision| std::cmp::Reverse(decision.valid_from));
    all
}

/// Decisions found so far, oldest first, and where those about a subject are: a history has thousands of facts.
#[derive(Default)]
struct FoldedDecisions<'a> {
    all: Vec<Decision>,
    /// Indexes by project and normalized subject, in ascending order.
    by_subject: HashMap<(Option<&'a str>, String), Vec<usize>>,
}

impl<'a> FoldedDecisions<'a> {
    /// Indexes of the decisions and preferences about something in the project of a fact.
    fn about(&self, known: &'a FactRow, name: &str) -> Vec<usize> {
        let key = (known.project.as_deref(), normalize(name));
        self.by_subject.get(&key).cloned().unwrap_or_default()
    }

    fn add(&mut self, known: &'a FactRow) {
        let key = (known.project.as_deref(), normalize(&known.fact.subject.name));
        self.by_subject.entry(key).or_default().push(self.all.len());
        self.all.push(new_decision(known));
    }

    fn apply_decision(&mut self, known: &'a FactRow) {
        let fact = &known.fact;
        if fact.state == FactState::Confirmed
            && let Some(other) = &fact.object
        {
            for at in self.about(known, &other.name) {
                let one = &mut self.all[at];
                if !one.is_preference() && one.is_open() && one.may_be_closed_by(known) {
                    one.close(FactState::Superseded, known);
                }
            }
        }
        let about = self.about(known, &fact.subject.name);
        if fact.state == FactState::Confirmed {
            for at in &about {
                let one = &mut self.all[*at];
                if one.is_ruled_out() && one.may_be_closed_by(known) {
                    one.close(FactState::Superseded, known);
                }
            }
        }
        let last = about.iter().rev().map(|at| &self.all[*at]).find(|one| !one.is_preference());
        let is_stated_twice = last.is_some_and(|one| one.closed_by.is_some() && one.valid_to == fact.at);
        let is_open = |one: &Decision| !one.is_preference() && one.is_open();
        let open = about.iter().rev().copied().find(|at| is_open(&self.all[*at]));
        match open {
            // A rejection in words of its own has its own reason: it supersedes the decision instead of changing it.
            Some(at) if self.all[at].is_dropped_by(known) => {
                self.all[at].close(FactState::Superseded, known);
                self.add(known);
            }
            Some(at) => restate(&mut self.all[at], known),
            // "Y instead of X" both accepts Y and revokes X; that is one closing, not two.
            None if is_stated_twice && matches!(fact.state, FactState::Refuted | FactState::Superseded) => {}
            None => self.add(known),
        }
    }

    fn apply_preference(&mut self, known: &'a FactRow) {
        let fact = &known.fact;
        let is_withdrawn = matches!(fact.state, FactState::Refuted | FactState::Superseded);
        let mut is_known = false;
        for at in self.about(known, &fact.subject.name) {
            let one = &mut self.all[at];
            if !one.is_preference() || !one.is_open() {
                continue;
            }
            if !one.may_be_closed_by(known) && (is_withdrawn || one.predicate != fact.predicate) {
                is_known = true;
            } else if is_withdrawn && one.predicate == fact.predicate {
                one.close(fact.state, known);
                is_known = true;
            } else if one.predicate == fact.predicate {
                one.sources.insert(0, FactSource::of_fact(known));
                is_known = true;
            } else if !is_withdrawn {
                one.close(FactState::Superseded, known);
            }
        }
        if !is_known {
            self.add(known);
        }
    }
}

/// Applies a later fact about the same choice to an open decision.
fn restate(open: &mut Decision, known: &FactRow) {
    let fact = &known.fact;
    match fact.state {
        FactState::Refuted | FactState::Superseded if !open.may_be_closed_by(known) => {}
        FactState::Refuted | FactState::Superseded => {
            open.trust = open.trust.max(fact.trust);
            open.close(fact.state, known);
        }
        FactState::Hypothesis => open.sources.insert(0, FactSource::of_fact(known)),
        FactState::Confirmed if open.state == FactState::Confirmed => {
            open.sources.insert(0, FactSource::of_fact(known));
            open.reason = open.reason.take().or(fact.reason.clone());
        }
        FactState::Confirmed => {
            // The sentence of the proposal says more than the "yes" that accepts it.
            open.state = FactState::Confirmed;
            open.valid_from = fact.at;
            open.trust = fact.trust;
            open.reason = open.reason.take().or(fact.reason.clone());
            open.rejected_option = open.rejected_option.take().or(fact.object.as_ref().map(|other| other.name.clone()));
            open.sources.insert(0, FactSource::of_fact(known));
        }
    }
}

fn new_decision(known: &FactRow) -> Decision {
    let fact = &known.fact;
    let other = fact.object.as_ref().map(|other| other.name.clone());
    let is_prohibition = fact.predicate == Predicate::Forbids;
    Decision {
        predicate: fact.predicate,
        subject: fact.subject.name.clone(),
        rejected_option: other.clone().filter(|_| !is_prohibition),
        replacement: other.filter(|_| is_prohibition),
        statement: fact.detail.clone(),
        reason: fact.reason.clone(),
        state: fact.state,
        trust: fact.trust,
        project: known.project.clone(),
        valid_from: fact.at,
        valid_to: None,
        sources: vec![FactSource::of_fact(known)],
        closed_by: None,
        // The reply is the evidence; a statement of the user's own has none.
        is_declined: fact.state == FactState::Refuted && fact.trust == Trust::Human && !fact.evidence_lines.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::EntityKind;

    use super::super::testing::{KnownFactExt, known_fact};
    use super::*;

    fn decided(minute: i64, choice: &str, state: FactState) -> FactRow {
        known_fact("a", minute, Predicate::Decided, (EntityKind::Decision, choice))
            .state(state)
            .detail(&format!("use {choice}"))
    }

    fn rendered(facts: &[FactRow]) -> Vec<(String, &'static str, bool)> {
        let all = decisions(facts);
        all.iter().map(|one| (one.subject.clone(), one.state.display_name(one.predicate), one.is_open())).collect()
    }

    fn check(facts: &[FactRow], expect: &[(&str, &str, bool)]) {
        let expect: Vec<_> = expect.iter().map(|(choice, state, open)| ((*choice).to_owned(), *state, *open)).collect();
        let found = rendered(facts);
        assert_eq!(found.len(), expect.len(), "{found:?}");
        for (one, other) in found.iter().zip(&expect) {
            assert_eq!((&one.0, one.1, one.2), (&other.0, other.1, other.2));
        }
    }

    #[test]
    fn a_later_decision_against_an_older_one_closes_but_keeps_it() {
        // S003-22
        let facts = [
            decided(1, "mysql", FactState::Confirmed),
            decided(5, "Postgres", FactState::Confirmed).object(EntityKind::Decision, "MySQL"),
        ];
        check(&facts, &[("Postgres", "accepted", true), ("mysql", "superseded", false)]);
        let older = &decisions(&facts)[1];
        assert_eq!(older.valid_to, Some(Timestamp::from_millis(300_000)));
        assert_eq!(older.closed_by.as_ref().map(|source| source.line), Some(5));
        check(&facts[..1], &[("mysql", "accepted", true)]);
    }

    #[test]
    fn a_models_conclusion_does_not_revoke_what_a_human_said() {
        // L003-17
        let by_human = |mut known: FactRow| {
            known.fact.trust = Trust::Human;
            known
        };
        let by_model = |mut known: FactRow| {
            (known.fact.trust, known.fact.model) = (Trust::Assistant, Some("m".to_owned()));
            known
        };
        let mysql = by_human(decided(1, "mysql", FactState::Confirmed));
        let instead = by_model(decided(5, "postgres", FactState::Confirmed).object(EntityKind::Decision, "mysql"));
        check(&[mysql.clone(), instead.clone()], &[("postgres", "accepted", true), ("mysql", "accepted", true)]);
        check(&[mysql, by_model(decided(5, "mysql", FactState::Refuted))], &[("mysql", "accepted", true)]);
        let older = by_model(decided(1, "mysql", FactState::Confirmed));
        check(&[older, instead], &[("postgres", "accepted", true), ("mysql", "superseded", false)]);
        let rule = |minute, predicate| known_fact("a", minute, predicate, (EntityKind::Preference, "tabs"));
        let preference = by_human(rule(1, Predicate::Prefers));
        check(&[preference, by_model(rule(2, Predicate::Forbids))], &[("tabs", "confirmed", true)]);
    }

    #[test]
    fn closing_twice_in_one_sentence_counts_once() {
        let chosen = decided(5, "postgres", FactState::Confirmed).object(EntityKind::Decision, "mysql");
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
    fn a_decision_that_a_later_sentence_drops_keeps_its_own_reason() {
        let mut chosen = decided(1, "mongo", FactState::Confirmed);
        chosen.fact.reason = Some("shapes differ".to_owned());
        let mut dropped = decided(2, "mongo", FactState::Refuted).detail("scrap mongo");
        (dropped.fact.reason, dropped.fact.trust) = (Some("one database is enough".to_owned()), Trust::Human);
        let all = decisions(&[chosen, dropped]);
        let shown: Vec<_> = all.iter().map(|one| (one.statement.as_str(), one.state, one.reason.as_deref())).collect();
        assert_eq!(
            shown,
            [
                ("scrap mongo", FactState::Refuted, Some("one database is enough")),
                ("use mongo", FactState::Superseded, Some("shapes differ")),
            ]
        );
        assert!(all[0].is_ruled_out());
    }

    #[test]
    fn a_revoked_decision_made_again_is_a_new_decision() {
        let facts = [
            decided(1, "yaml", FactState::Confirmed),
            decided(2, "yaml", FactState::Superseded),
            decided(3, "yaml", FactState::Confirmed),
        ];
        check(&facts, &[("yaml", "accepted", true), ("yaml", "superseded", false)]);
    }

    #[test]
    fn opposite_preferences_close_each_other_within_one_project() {
        let rule =
            |minute, predicate| known_fact("a", minute, predicate, (EntityKind::Preference, "pnpm")).detail("pnpm");
        let mut elsewhere = rule(2, Predicate::Forbids);
        elsewhere.project = Some("/q".to_owned());
        let facts = [rule(1, Predicate::Prefers), elsewhere, rule(3, Predicate::Forbids)];
        check(&facts, &[("pnpm", "confirmed", true), ("pnpm", "confirmed", true), ("pnpm", "superseded", false)]);
    }

    #[test]
    fn subject_statement_and_reason_are_searched() {
        let facts = [decided(1, "postgres", FactState::Confirmed)
            .with(|fact| fact.reason = Some("because of JSON columns".to_owned()))];
        let decision = &decisions(&facts)[0];
        assert!(decision.mentions_all("Postgres json") && decision.mentions_all("") && !decision.mentions_all("mysql"));
    }
}
