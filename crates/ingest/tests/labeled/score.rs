//! Compares extracted facts with expected facts.

use std::collections::BTreeMap;
use std::fmt::Write;

use rethread_model::{Fact, Predicate};

use crate::case::Case;

/// Hits, wrong facts and missing facts.
#[derive(Clone, Copy, Default)]
pub(crate) struct Score {
    hits: u32,
    wrong: u32,
    missing: u32,
}

/// The score of each predicate, and every fault with the name of its case.
pub(crate) struct Report {
    scores: BTreeMap<Predicate, Score>,
    faults: Vec<String>,
}

impl Report {
    /// Extracts the facts of all cases and scores those of the given predicates.
    pub(crate) fn of(cases: &[Case], judged: &[Predicate]) -> Self {
        let mut report =
            Self { scores: judged.iter().map(|&one| (one, Score::default())).collect(), faults: Vec::new() };
        for case in cases {
            report.take(case, judged);
        }
        report
    }

    /// The score of all predicates together.
    pub(crate) fn total(&self) -> Score {
        self.scores.values().fold(Score::default(), |sum, score| Score {
            hits: sum.hits + score.hits,
            wrong: sum.wrong + score.wrong,
            missing: sum.missing + score.missing,
        })
    }

    /// One row per predicate and one for all.
    pub(crate) fn table(&self) -> String {
        let mut text = String::from("predicate     hits wrong missing precision recall\n");
        let rows = self.scores.iter().map(|(predicate, score)| (predicate.as_str(), *score));
        for (name, score) in rows.chain([("all", self.total())]) {
            let Score { hits, wrong, missing } = score;
            let (precision, recall) = (score.precision(), score.recall());
            writeln!(text, "{name:<13} {hits:>4} {wrong:>5} {missing:>7} {precision:>9.3} {recall:>6.3}").unwrap();
        }
        text
    }

    /// Missing and wrong facts, case by case.
    pub(crate) fn faults(&self) -> String {
        self.faults.join("\n")
    }

    fn take(&mut self, case: &Case, judged: &[Predicate]) {
        let expected: Vec<Expected> = case.expect.iter().map(|line| Expected::read(line)).collect();
        let expected: Vec<Expected> = expected.into_iter().filter(|one| judged.contains(&one.predicate)).collect();
        let mut facts = case.facts();
        facts.retain(|fact| judged.contains(&fact.predicate));
        let pairs = pair(&expected, &facts);
        for (at, one) in expected.iter().enumerate() {
            let is_met = pairs.contains(&Some(at));
            let score = self.scores.entry(one.predicate).or_default();
            if is_met {
                score.hits += 1;
            } else {
                score.missing += 1;
                self.faults.push(format!("{}: missing {}", case.name, one.shown()));
            }
        }
        for (fact, _) in facts.iter().zip(&pairs).filter(|(_, pair)| pair.is_none()) {
            self.scores.entry(fact.predicate).or_default().wrong += 1;
            self.faults.push(format!("{}: wrong {}", case.name, shown(fact)));
        }
    }
}

impl Score {
    /// The share of extracted facts that were expected.
    pub(crate) fn precision(self) -> f64 {
        share(self.hits, self.wrong)
    }

    /// The share of expected facts that were extracted.
    pub(crate) fn recall(self) -> f64 {
        share(self.hits, self.missing)
    }
}

fn share(part: u32, rest: u32) -> f64 {
    if part + rest == 0 { 1.0 } else { f64::from(part) / f64::from(part + rest) }
}

/// A line of a case: `predicate | subject | object | state | detail | reason`.
struct Expected {
    predicate: Predicate,
    fields: Vec<String>,
}

impl Expected {
    fn read(line: &str) -> Self {
        let mut fields = line.split('|').map(|field| field.trim().to_lowercase());
        let predicate = Predicate::from_stored(&fields.next().unwrap()).unwrap();
        Self { predicate, fields: fields.collect() }
    }

    fn is_met_by(&self, fact: &Fact) -> bool {
        let name = |entity: &rethread_model::Entity| entity.name.clone();
        let state = fact.state.display_name(fact.predicate).to_owned();
        let actual = [
            name(&fact.subject),
            fact.object.as_ref().map(name).unwrap_or_default(),
            state,
            fact.detail.clone(),
            fact.reason.clone().unwrap_or_default(),
        ];
        let fits = |(at, (wanted, actual)): (usize, (&String, &String))| match wanted.as_str() {
            "" | "*" => true,
            // The state must match exactly.
            wanted if at == 2 => actual == wanted,
            wanted => actual.to_lowercase().contains(wanted),
        };
        self.predicate == fact.predicate && self.fields.iter().zip(&actual).enumerate().all(fits)
    }

    fn shown(&self) -> String {
        format!("{} | {}", self.predicate.as_str(), self.fields.join(" | "))
    }
}

fn shown(fact: &Fact) -> String {
    let object = fact.object.as_ref().map_or("", |object| &object.name);
    let (predicate, subject, state) =
        (fact.predicate.as_str(), &fact.subject.name, fact.state.display_name(fact.predicate));
    let reason = fact.reason.as_deref().unwrap_or_default();
    format!("{predicate} | {subject} | {object} | {state} | {} | {reason}", fact.detail)
}

/// The expectation that each fact meets, such that as many as possible are met.
fn pair(expected: &[Expected], facts: &[Fact]) -> Vec<Option<usize>> {
    let mut pairs = vec![None; facts.len()];
    for at in 0..expected.len() {
        find_place(at, expected, facts, &mut pairs, &mut vec![false; facts.len()]);
    }
    pairs
}

/// Finds a fact for the expectation, moving earlier expectations to other facts where possible.
fn find_place(
    at: usize,
    expected: &[Expected],
    facts: &[Fact],
    pairs: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for (place, fact) in facts.iter().enumerate() {
        if tried[place] || !expected[at].is_met_by(fact) {
            continue;
        }
        tried[place] = true;
        let is_free = match pairs[place] {
            None => true,
            Some(other) => find_place(other, expected, facts, pairs, tried),
        };
        if is_free {
            pairs[place] = Some(at);
            return true;
        }
    }
    false
}
