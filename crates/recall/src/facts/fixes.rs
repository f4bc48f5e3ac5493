//! Derives what fixed an error, how often, and which attempts failed.

use std::collections::BTreeSet;

use rethread_model::{FactState, Predicate, Timestamp, Trust};
use rethread_store::FactRow;

use super::{FactSource, normalize, oldest_first};

/// One attempt at fixing an error, with all its outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// What was done, in the wording of the newest fact.
    pub description: String,
    /// Confirmed if it helped more often than it failed, refuted if not, a hypothesis if the outcome was never
    /// observed.
    pub state: FactState,
    /// How often the error was gone afterwards.
    pub succeeded: u64,
    /// How often the error stayed or came back.
    pub failed: u64,
    /// The command that shows the error.
    pub command: Option<String>,
    /// Why it helps, if the session says so.
    pub reason: Option<String>,
    /// Lowest trust level among its sources.
    pub trust: Trust,
    /// When it was last tried.
    pub last_at: Option<Timestamp>,
    /// Where it was tried, newest first.
    pub sources: Vec<FactSource>,
}

/// What is known about one error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownFixes {
    /// What helped, best first; then what may have helped.
    pub fixes: Vec<Fix>,
    /// What did not help, newest first.
    pub failed_attempts: Vec<Fix>,
}

impl KnownFixes {
    /// Whether no attempt is known.
    pub fn is_empty(&self) -> bool {
        self.fixes.is_empty() && self.failed_attempts.is_empty()
    }
}

/// Merges all attempts at one error. An attempt that failed at least as often as it helped is never a fix, and what is
/// part of a fix never counts as an attempt that did not help. Lines that passing runs printed are not errors.
pub fn known_fixes(facts: &[FactRow]) -> KnownFixes {
    let harmless = harmless_lines(facts);
    let mut all: Vec<(String, Fix)> = Vec::new();
    for known in oldest_first(facts) {
        let is_attempt = matches!(known.fact.predicate, Predicate::FixedBy | Predicate::NotFixedBy);
        if !is_attempt || known.fact.quote.as_deref().is_some_and(|quote| harmless.contains(&normalize(quote))) {
            continue;
        }
        let key = normalize(&known.fact.detail);
        if known.fact.model.is_some() && has_observed_outcome(facts, &key) {
            continue;
        }
        let at = all.iter().position(|(other, _)| *other == key).unwrap_or_else(|| {
            all.push((key, empty_fix(known)));
            all.len() - 1
        });
        add_attempt(&mut all[at].1, known);
    }
    let judged = all.into_iter().map(|(_, fix)| Fix { state: fix_state(&fix), ..fix });
    let (mut failed_attempts, mut fixes): (Vec<Fix>, Vec<Fix>) =
        judged.partition(|fix| fix.state == FactState::Refuted);
    let confirmed = fixes.iter().filter(|fix| fix.state == FactState::Confirmed);
    let helpful: BTreeSet<String> = confirmed.flat_map(|fix| parts(&fix.description)).collect();
    failed_attempts.retain(|attempt| !parts(&attempt.description).all(|part| helpful.contains(&part)));
    let surplus = |fix: &Fix| fix.succeeded.saturating_sub(fix.failed);
    fixes.sort_by(|a, b| {
        surplus(b).cmp(&surplus(a)).then(b.last_at.cmp(&a.last_at)).then(a.description.cmp(&b.description))
    });
    failed_attempts.sort_by(|a, b| b.last_at.cmp(&a.last_at).then(a.description.cmp(&b.description)));
    KnownFixes { fixes, failed_attempts }
}

/// The error lines that runs printed which passed.
fn harmless_lines(facts: &[FactRow]) -> BTreeSet<String> {
    let printed = facts.iter().filter(|known| known.fact.predicate == Predicate::FailedWith);
    let passed = printed.filter(|known| known.fact.success_count > 0);
    passed.map(|known| normalize(&known.fact.detail)).collect()
}

/// The single changes of an attempt.
fn parts(description: &str) -> impl Iterator<Item = String> + '_ {
    description.split("; ").map(normalize)
}

/// Whether rules observed the outcome of this attempt. If so, a model's claim about it is ignored.
fn has_observed_outcome(facts: &[FactRow], key: &str) -> bool {
    let mut tried = facts.iter().filter(|known| known.fact.model.is_none());
    tried.any(|known| {
        matches!(known.fact.predicate, Predicate::FixedBy | Predicate::NotFixedBy)
            && normalize(&known.fact.detail) == key
    })
}

fn empty_fix(known: &FactRow) -> Fix {
    Fix {
        description: String::new(),
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

fn add_attempt(fix: &mut Fix, known: &FactRow) {
    let fact = &known.fact;
    match (fact.predicate, fact.state) {
        (Predicate::NotFixedBy, _) | (_, FactState::Refuted | FactState::Superseded) => {
            fix.failed += fact.failure_count.max(1);
        }
        (_, FactState::Confirmed) => fix.succeeded += fact.success_count.max(1),
        (_, FactState::Hypothesis) => {}
    }
    fix.description.clone_from(&fact.detail);
    fix.command = fact.object.as_ref().map(|command| command.name.clone()).or(fix.command.take());
    fix.reason = fact.reason.clone().or(fix.reason.take());
    fix.trust = fix.trust.min(fact.trust);
    fix.last_at = fix.last_at.max(fact.at);
    fix.sources.insert(0, FactSource::of_fact(known));
}

fn fix_state(fix: &Fix) -> FactState {
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

    use super::super::testing::{KnownFactExt, known_fact};
    use super::*;

    const ERROR: (EntityKind, &str) = (EntityKind::Error, "no such table <value>");

    fn fixed(session: &str, minute: i64, detail: &str) -> FactRow {
        known_fact(session, minute, Predicate::FixedBy, ERROR).detail(detail).object(EntityKind::Command, "cargo test")
    }

    fn tried(session: &str, minute: i64, detail: &str) -> FactRow {
        known_fact(session, minute, Predicate::NotFixedBy, ERROR).detail(detail)
    }

    #[test]
    fn a_fix_that_helped_in_two_sessions_counts_twice_and_comes_first() {
        // S003-22
        let facts = [
            fixed("a", 1, "edited src/db.rs"),
            fixed("b", 5, "Edited  src/db.rs."),
            fixed("c", 9, "ran `cargo clean`"),
            fixed("d", 12, "edited schema.sql").state(FactState::Hypothesis),
        ];
        let found = known_fixes(&facts);
        let rendered: Vec<_> =
            found.fixes.iter().map(|fix| (fix.description.as_str(), fix.state, fix.succeeded)).collect();
        assert_eq!(
            rendered,
            [
                ("Edited  src/db.rs.", FactState::Confirmed, 2),
                ("ran `cargo clean`", FactState::Confirmed, 1),
                ("edited schema.sql", FactState::Hypothesis, 0),
            ]
        );
        assert_eq!(found.fixes[0].sources.iter().map(|source| source.line).collect::<Vec<_>>(), [5, 1]);
        assert_eq!(found.fixes[0].command.as_deref(), Some("cargo test"));
        assert!(found.failed_attempts.is_empty());
    }

    #[test]
    fn an_attempt_that_failed_as_often_as_it_helped_is_never_a_fix() {
        let facts = [
            fixed("a", 1, "edited a.rs"),
            tried("b", 2, "edited a.rs"),
            tried("b", 3, "edited b.rs"),
            fixed("c", 4, "edited c.rs").state(FactState::Refuted),
        ];
        let found = known_fixes(&facts);
        assert!(found.fixes.is_empty());
        let rendered: Vec<_> =
            found.failed_attempts.iter().map(|fix| (fix.description.as_str(), fix.succeeded, fix.failed)).collect();
        assert_eq!(rendered, [("edited c.rs", 0, 1), ("edited b.rs", 0, 1), ("edited a.rs", 1, 1)]);
    }

    #[test]
    fn an_attempt_that_failed_and_the_fix_of_the_same_file_are_separate() {
        // S003-22, D35
        let facts = [
            tried("a", 1, "src/db.ts: max: 5 → max: 10"),
            fixed("a", 2, "src/db.ts: max: 10 → max: 20"),
            fixed("b", 3, "src/db.ts: max: 10 → max: 20"),
        ];
        let found = known_fixes(&facts);
        let fix = &found.fixes[0];
        assert_eq!((fix.description.as_str(), fix.succeeded), ("src/db.ts: max: 10 → max: 20", 2));
        assert_eq!(found.failed_attempts[0].description, "src/db.ts: max: 5 → max: 10");
    }

    #[test]
    fn a_part_of_the_fix_is_not_an_attempt_that_did_not_help() {
        let facts =
            [tried("a", 1, "a.ts: x → y"), tried("a", 2, "b.ts: p → q"), fixed("a", 3, "a.ts: x → y; ran `npm ci`")];
        let found = known_fixes(&facts);
        let failed: Vec<&str> = found.failed_attempts.iter().map(|fix| fix.description.as_str()).collect();
        assert_eq!(failed, ["b.ts: p → q"]);
    }

    #[test]
    fn a_line_that_passing_runs_print_has_no_fix() {
        // D36
        let passing = known_fact("b", 5, Predicate::FailedWith, (EntityKind::Command, "make"))
            .object(EntityKind::Error, ERROR.1)
            .detail("no such table: x")
            .counts(1, 0);
        let fix = |quote: &str| fixed("a", 1, "ran `make clean`").with(|fact| fact.quote = Some(quote.to_owned()));
        assert!(known_fixes(&[fix("no such table: x"), passing.clone()]).is_empty());
        assert!(!known_fixes(&[fix("no such table: y"), passing]).is_empty());
    }

    #[test]
    fn counts_are_summed_and_the_order_of_facts_does_not_matter() {
        let mut facts = vec![fixed("a", 1, "x").counts(3, 0), tried("b", 2, "x").counts(0, 2)];
        let once = known_fixes(&facts);
        assert_eq!((once.fixes[0].succeeded, once.fixes[0].failed), (3, 2));
        facts.reverse();
        assert_eq!(known_fixes(&facts), once);
    }

    #[test]
    fn removing_the_failure_restores_the_fix() {
        let facts = [fixed("a", 1, "x"), tried("b", 2, "x")];
        assert!(known_fixes(&facts).fixes.is_empty());
        assert_eq!(known_fixes(&facts[..1]).fixes[0].state, FactState::Confirmed);
    }
}
