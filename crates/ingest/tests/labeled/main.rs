//! Measures fact extraction against episodes that were labeled before the rules were written.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod case;
mod score;

use rethread_model::Predicate;
use score::Report;

/// The share of extracted facts that must be expected.
const PRECISION: f64 = 0.95;
/// The share of expected facts that must be extracted.
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
fn every_case_parses_and_has_a_unique_name() {
    let cases = case::all();
    assert!(cases.len() > 150, "only {} cases", cases.len());
    let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "two cases have the same name");
}

#[test]
fn failures_fixes_and_failed_attempts_are_found() {
    assert_good(&FIXES);
}

#[test]
fn decisions_and_preferences_are_found() {
    assert_good(&CHOICES);
}

#[test]
fn git_package_and_file_changes_are_found() {
    assert_good(&TRACES);
}

#[test]
#[ignore = "prints the table and every miss: cargo test -p rethread-ingest --test labeled report -- --ignored --nocapture"]
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
