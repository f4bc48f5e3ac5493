//! What fixed an error, how often, and what did not.

use rethread_model::{FactState, Predicate, Timestamp, Trust};
use rethread_store::KnownFact;

use super::{Source, normal, oldest_first};

/// One way an error was met, with everything that is known of how it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What was done, as it was told last.
    pub what: String,
    /// Confirmed if it helped more often than not, refuted if it did not, a hypothesis if nobody saw it.
    pub state: FactState,
    /// How often the error was gone afterwards.
    pub succeeded: u64,
    /// How often it stayed or came back.
    pub failed: u64,
    /// The command that shows the error.
    pub command: Option<String>,
    /// Why it helps, where somebody said it.
    pub reason: Option<String>,
    /// Whose word it is: the least trusted of what it rests on.
    pub trust: Trust,
    /// When it was tried last.
    pub last_at: Option<Timestamp>,
    /// Where it stands, newest first.
    pub sources: Vec<Source>,
}

/// What is known against one error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fixes {
    /// What helped, best first; then what may have helped.
    pub fixes: Vec<Fix>,
    /// What did not help, newest first.
    pub dead_ends: Vec<Fix>,
}

impl Fixes {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.fixes.is_empty() && self.dead_ends.is_empty()
    }
}

/// Puts together what was tried against one error. What failed at least as often as it helped is never a fix.
pub fn fixes(facts: &[KnownFact]) -> Fixes {
    let mut all: Vec<(String, Fix)> = Vec::new();
    for known in oldest_first(facts) {
        if !matches!(known.fact.predicate, Predicate::FixedBy | Predicate::NotFixedBy) {
            continue;
        }
        let key = normal(&known.fact.detail);
        if known.fact.model.is_some() && is_seen(facts, &key) {
            continue;
        }
        let at = all.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
            all.push((key, untried(known)));
            all.len() - 1
        });
        note(&mut all[at].1, known);
    }
    let judged = all.into_iter().map(|(_, fix)| Fix { state: judge(&fix), ..fix });
    let (mut dead_ends, mut fixes): (Vec<Fix>, Vec<Fix>) = judged.partition(|fix| fix.state == FactState::Refuted);
    let surplus = |fix: &Fix| fix.succeeded.saturating_sub(fix.failed);
    fixes.sort_by(|a, b| surplus(b).cmp(&surplus(a)).then(b.last_at.cmp(&a.last_at)).then(a.what.cmp(&b.what)));
    dead_ends.sort_by(|a, b| b.last_at.cmp(&a.last_at).then(a.what.cmp(&b.what)));
    Fixes { fixes, dead_ends }
}

/// Whether rules saw how this remedy went; then a model's word on it counts for nothing.
fn is_seen(facts: &[KnownFact], key: &str) -> bool {
    let mut tried = facts.iter().filter(|known| known.fact.model.is_none());
    tried.any(|known| {
        matches!(known.fact.predicate, Predicate::FixedBy | Predicate::NotFixedBy) && normal(&known.fact.detail) == key
    })
}

fn untried(known: &KnownFact) -> Fix {
    Fix {
        what: String::new(),
        state: FactState::Hypothesis,
        succeeded: 0,
        failed: 0,
        command: None,
        reason: None,
        trust: known.fact.trust,
        last_at: None,
        sources: Vec::new(),
    }
}

fn note(fix: &mut Fix, known: &KnownFact) {
    let fact = &known.fact;
    match (fact.predicate, fact.state) {
        (Predicate::NotFixedBy, _) | (_, FactState::Refuted | FactState::Superseded) => {
            fix.failed += fact.failed.max(1);
        }
        (_, FactState::Confirmed) => fix.succeeded += fact.succeeded.max(1),
        (_, FactState::Hypothesis) => {}
    }
    fix.what.clone_from(&fact.detail);
    fix.command = fact.object.as_ref().map(|command| command.name.clone()).or(fix.command.take());
    fix.reason = fact.reason.clone().or(fix.reason.take());
    fix.trust = fix.trust.min(fact.trust);
    fix.last_at = fix.last_at.max(fact.at);
    fix.sources.insert(0, Source::of(known));
}

fn judge(fix: &Fix) -> FactState {
    if fix.succeeded > fix.failed {
        FactState::Confirmed
    } else if fix.failed > 0 {
        FactState::Refuted
    } else {
        FactState::Hypothesis
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::EntityKind;

    use super::super::testing::{With, known};
    use super::*;

    const ERROR: (EntityKind, &str) = (EntityKind::Error, "no such table <value>");

    fn fixed(session: &str, minute: i64, detail: &str) -> KnownFact {
        known(session, minute, Predicate::FixedBy, ERROR).detail(detail).object(EntityKind::Command, "cargo test")
    }

    fn tried(session: &str, minute: i64, detail: &str) -> KnownFact {
        known(session, minute, Predicate::NotFixedBy, ERROR).detail(detail)
    }

    #[test]
    fn s003_22_a_remedy_that_helped_in_two_sessions_counts_twice_and_comes_first() {
        let facts = [
            fixed("a", 1, "edited src/db.rs"),
            fixed("b", 5, "Edited  src/db.rs."),
            fixed("c", 9, "ran `cargo clean`"),
            fixed("d", 12, "edited schema.sql").state(FactState::Hypothesis),
        ];
        let found = fixes(&facts);
        let told: Vec<_> = found.fixes.iter().map(|fix| (fix.what.as_str(), fix.state, fix.succeeded)).collect();
        assert_eq!(
            told,
            [
                ("Edited  src/db.rs.", FactState::Confirmed, 2),
                ("ran `cargo clean`", FactState::Confirmed, 1),
                ("edited schema.sql", FactState::Hypothesis, 0),
            ]
        );
        assert_eq!(found.fixes[0].sources.iter().map(|source| source.line).collect::<Vec<_>>(), [5, 1]);
        assert_eq!(found.fixes[0].command.as_deref(), Some("cargo test"));
        assert!(found.dead_ends.is_empty());
    }

    #[test]
    fn what_failed_as_often_as_it_helped_is_a_dead_end_and_never_a_fix() {
        let facts = [
            fixed("a", 1, "edited a.rs"),
            tried("b", 2, "edited a.rs"),
            tried("b", 3, "edited b.rs"),
            fixed("c", 4, "edited c.rs").state(FactState::Refuted),
        ];
        let found = fixes(&facts);
        assert!(found.fixes.is_empty());
        let told: Vec<_> = found.dead_ends.iter().map(|fix| (fix.what.as_str(), fix.succeeded, fix.failed)).collect();
        assert_eq!(told, [("edited c.rs", 0, 1), ("edited b.rs", 0, 1), ("edited a.rs", 1, 1)]);
    }

    #[test]
    fn counts_of_a_fact_count_and_the_order_of_facts_does_not() {
        let mut facts = vec![fixed("a", 1, "x").counts(3, 0), tried("b", 2, "x").counts(0, 2)];
        let once = fixes(&facts);
        assert_eq!((once.fixes[0].succeeded, once.fixes[0].failed), (3, 2));
        facts.reverse();
        assert_eq!(fixes(&facts), once);
    }

    #[test]
    fn forgetting_the_failure_brings_the_fix_back() {
        let facts = [fixed("a", 1, "x"), tried("b", 2, "x")];
        assert!(fixes(&facts).fixes.is_empty());
        assert_eq!(fixes(&facts[..1]).fixes[0].state, FactState::Confirmed);
    }
}
