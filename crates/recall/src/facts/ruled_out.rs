//! Finds names that the user ruled out: rejected options of decisions, rejected proposals and prohibitions.

use std::collections::HashMap;

use rethread_model::{FactState, Predicate, Timestamp, Trust};

use super::names::{NameForm, name_form, position_of_name};
use super::{Decision, normalize};

/// Words shortly before a name that show the user does not want it either.
const DENYING_WORDS: &str = "not no don't dont never without avoid stop remove removing drop dropping \
    uninstall replace replacing replaced than over of from off delete removed dropped";
/// Number of words before a name in which such a word counts.
const DENYING_DISTANCE: usize = 3;

/// Words shortly before a name that show it is to be used.
const ADOPTING_WORDS: &str = "use using used add adding install installing introduce introducing switch switching migrate migrating \
    move moving go going try trying bring bringing pull pulling integrate integrating adopt adopting import importing set want need";
/// Words right before a name that show it, if the prompt starts with an order.
const JOINING_WORDS: &str = "with in via on to through";
/// Words with which an order starts.
const ORDERS: &str = "write build implement create do make fetch call parse style cache store test validate run deploy log send render mock \
    format lint schedule queue host serve generate rewrite refactor port convert load save index search plot draw process handle please let's \
    lets can could";

/// Something that the user ruled out, and the decision that says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuledOut {
    /// What was ruled out.
    pub name: String,
    /// What to use instead.
    pub instead: Option<String>,
    /// The decision, rejection or prohibition.
    pub decision: Decision,
    form: Option<NameForm>,
}

impl RuledOut {
    /// Whether it is the package of that name.
    pub fn is_package(&self, package: &str) -> bool {
        // An ordinary word is a package only where another one is used in its place.
        let is_replaced = || self.instead.is_some() && self.decision.statement.to_lowercase().contains("use ");
        self.name.eq_ignore_ascii_case(package) && (self.form.is_some() || is_replaced())
    }

    /// Whether a prompt wants to use it. Merely naming it is not enough.
    pub fn is_wanted_by(&self, prompt: &str) -> bool {
        let Some(before) = self.form.and_then(|form| position_of_name(prompt, &self.name, form)) else { return false };
        let is_in = |word: &String, table: &str| table.split_ascii_whitespace().any(|known| known == word);
        let near = || before.iter().rev().take(DENYING_DISTANCE);
        let is_order = before.first().is_some_and(|first| is_in(first, ORDERS)) && !prompt.trim_end().ends_with('?');
        let is_joined = before.last().is_some_and(|last| is_in(last, JOINING_WORDS));
        let is_adopted = near().any(|word| is_in(word, ADOPTING_WORDS)) || (is_order && is_joined);
        is_adopted && !near().any(|word| is_in(word, DENYING_WORDS))
    }
}

/// Everything that the user ruled out and did not take up again, newest first. Only what a human said counts.
pub fn ruled_out(decisions: &[Decision]) -> Vec<RuledOut> {
    let mut all: Vec<RuledOut> = decisions.iter().filter_map(rule_out).collect();
    if all.is_empty() {
        return all;
    }
    // When each name was last accepted.
    let mut accepted: HashMap<String, Option<Timestamp>> = HashMap::new();
    for decision in decisions.iter().filter(|decision| accepts(decision)) {
        let last = accepted.entry(normalize(&decision.subject)).or_default();
        *last = decision.valid_from.max(*last);
    }
    all.retain(|one| {
        let since = one.decision.valid_to.or(one.decision.valid_from);
        // What was accepted later is taken up again.
        accepted.get(&normalize(&one.name)).is_none_or(|last| *last < since)
    });
    all
}

fn rule_out(decision: &Decision) -> Option<RuledOut> {
    let holds = decision.is_open() && decision.state == FactState::Confirmed;
    let (name, instead) = match decision.predicate {
        Predicate::Decided if holds => (decision.rejected_option.clone()?, Some(decision.subject.clone())),
        Predicate::Decided if decision.state == FactState::Refuted => (decision.subject.clone(), None),
        Predicate::Forbids if holds => (decision.subject.clone(), decision.replacement.clone()),
        _ => return None,
    };
    let form = name_form(&name, &decision.statement);
    // A package of the name is meant even if it is an ordinary word otherwise, but not if it is a description.
    let is_word = name.split_whitespace().count() == 1;
    let is_by_human = decision.trust == Trust::Human;
    (is_by_human && (form.is_some() || is_word)).then(|| RuledOut { name, instead, decision: decision.clone(), form })
}

/// Whether a decision or preference accepts its subject.
fn accepts(decision: &Decision) -> bool {
    decision.state == FactState::Confirmed
        && decision.is_open()
        && matches!(decision.predicate, Predicate::Decided | Predicate::Prefers)
}

#[cfg(test)]
mod tests {
    use rethread_model::EntityKind;
    use rethread_store::FactRow;

    use super::super::decisions;
    use super::super::testing::{KnownFactExt, known_fact};
    use super::*;

    fn said(minute: i64, predicate: Predicate, subject: &str, state: FactState, sentence: &str) -> FactRow {
        let known = known_fact("a", minute, predicate, (EntityKind::Decision, subject)).state(state).detail(sentence);
        known.with(|fact| fact.trust = Trust::Human)
    }

    fn names(facts: &[FactRow]) -> Vec<(String, Option<String>)> {
        ruled_out(&decisions(facts)).into_iter().map(|one| (one.name, one.instead)).collect()
    }

    fn instead(minute: i64) -> FactRow {
        said(minute, Predicate::Decided, "ky", FactState::Confirmed, "use ky instead of axios")
            .object(EntityKind::Decision, "axios")
    }

    #[test]
    fn rejected_options_proposals_and_prohibitions_are_ruled_out() {
        // D41
        assert_eq!(names(&[instead(1)]), [("axios".to_owned(), Some("ky".to_owned()))]);
        let no_redis = said(1, Predicate::Decided, "redis", FactState::Refuted, "no redis here");
        assert_eq!(names(&[no_redis]), [("redis".to_owned(), None)]);
        let no_moment = said(1, Predicate::Forbids, "moment", FactState::Confirmed, "never use moment, use dayjs")
            .object(EntityKind::Preference, "dayjs");
        assert_eq!(names(&[no_moment]), [("moment".to_owned(), Some("dayjs".to_owned()))]);
    }

    #[test]
    fn what_was_taken_up_again_or_said_by_a_model_is_not_ruled_out() {
        let again = said(5, Predicate::Decided, "axios", FactState::Confirmed, "let's go with axios after all");
        assert_eq!(names(&[instead(1), again]), []);
        let by_agent = instead(1).with(|fact| fact.trust = Trust::Assistant);
        assert_eq!(names(&[by_agent]), []);
        let proposal = said(1, Predicate::Decided, "ky", FactState::Hypothesis, "maybe ky instead of axios")
            .object(EntityKind::Decision, "axios");
        assert_eq!(names(&[proposal]), []);
    }

    #[test]
    fn a_prompt_that_turns_it_down_itself_does_not_want_it() {
        let facts = [instead(1)];
        let all = ruled_out(&decisions(&facts));
        for (prompt, wants) in [
            ("let's add axios", true),
            ("fetch it with axios", true),
            ("remove axios from the client", false),
            ("use fetch instead of axios", false),
            ("do not use axios", false),
            ("add a taxi", false),
            ("why does the widget bundle axios?", false),
            ("a customer asks whether it works with axios", false),
            ("the docs still mention axios, clean that up", false),
        ] {
            assert_eq!(all[0].is_wanted_by(prompt), wants, "{prompt}");
        }
    }

    #[test]
    fn an_ordinary_word_is_only_meant_as_a_package() {
        let facts = [said(1, Predicate::Decided, "got", FactState::Confirmed, "use got instead of request")
            .object(EntityKind::Decision, "request")];
        let all = ruled_out(&decisions(&facts));
        assert!(all[0].is_package("request") && !all[0].is_wanted_by("answer the request"));
        let vague = [said(1, Predicate::Decided, "ky", FactState::Confirmed, "use ky instead of the old approach")
            .object(EntityKind::Decision, "old approach")];
        assert_eq!(names(&vague), []);
    }
}
