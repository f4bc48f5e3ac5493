//! Measures the rules that draw facts against episodes that were labelled before the rules were written.
#![expect(clippy::unwrap_used, reason = "a case that cannot be read must fail the test")]

mod case;
mod score;

use rethread_model::Predicate;
use score::Report;

/// How many of the facts that are drawn must be true.
const PRECISION: f64 = 0.95;
/// How many of the facts that are there must be drawn.
const RECALL: f64 = 0.8;

const FIXES: [Predicate; 3] = [Predicate::FailedWith, Predicate::FixedBy, Predicate::NotFixedBy];
const CHOICES: [Predicate; 3] = [Predicate::Decided, Predicate::Prefers, Predicate::Forbids];
const TRACES: [Predicate; 8] = [
    Predicate::Committed,
    Predicate::Reverted,
    Predicate::Branched,
    Predicate::Merged,
    Predicate::Added,
    Predicate::Removed,
    Predicate::Deleted,
    Predicate::Renamed,
];

#[test]
fn every_case_can_be_read_and_has_a_name_of_its_own() {
    let cases = case::all();
    assert!(cases.len() > 150, "only {} cases", cases.len());
    let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "two cases have the same name");
}

#[test]
fn failures_fixes_and_dead_ends_are_found() {
    assert_good(&FIXES);
}

#[test]
fn choices_and_standing_rules_are_found() {
    assert_good(&CHOICES);
}

#[test]
fn what_happened_to_git_packages_and_files_is_found() {
    assert_good(&TRACES);
}

#[test]
#[ignore = "prints the table and every miss: cargo test -p rethread-ingest --test labelled report -- --ignored --nocapture"]
fn report() {
    use std::io::Write;
    let report = Report::of(&case::all(), &[&FIXES[..], &CHOICES, &TRACES].concat());
    writeln!(std::io::stderr(), "\n{}\n{}", report.table(), report.faults()).unwrap();
}

fn assert_good(group: &[Predicate]) {
    let report = Report::of(&case::all(), group);
    let total = report.total();
    assert!(
        total.precision() >= PRECISION && total.recall() >= RECALL,
        "precision must be {PRECISION} and recall {RECALL}:\n{}\n{}",
        report.table(),
        report.faults()
    );
}
