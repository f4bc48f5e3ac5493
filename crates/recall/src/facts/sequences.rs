//! Finds recurring sequences of steps: how agents work up to a check, and how they go on after a failure.

use std::collections::{BTreeMap, BTreeSet};

use rethread_model::{SessionId, Timestamp};
use rethread_store::FactRow;

use super::FactSource;

/// Separator between the steps of a stored sequence.
const SEPARATOR: &str = " > ";
/// Suffix of a step that failed.
const FAILED_SUFFIX: char = '!';
/// Suffix of a step whose success would not be visible.
const UNKNOWN_SUFFIX: char = '?';
/// Steps that are tools; all others are commands.
const TOOLS: [&str; 6] = ["Read", "Grep", "Edit", "Write", "Web", "Agent"];
/// Kinds of commands that a stored step begins with, as in `test:cargo test`.
const KINDS: [&str; 6] = ["test", "build", "check", "format", "install", "commit"];
/// Lengths of the sequences that are counted.
const SEQUENCE_LENGTHS: std::ops::RangeInclusive<usize> = 2..=5;
/// Steps between a failure and the next run that a retry lists.
const MAX_RETRY_STEPS: usize = 3;
/// Minimum number of repetitions for a sequence to be reported.
const MIN_REPEATS: u64 = 3;
/// Maximum number of sequences reported per project.
const MAX_SEQUENCES: usize = 12;
/// A part of a longer sequence is only reported if the longer one is at most this share of it, in percent.
const MAX_COVERED_PERCENT: u64 = 75;
/// A kind is shown as the name of its command if at least this share of its runs had that name, in percent.
const MIN_NAME_PERCENT: u64 = 80;

/// A recurring sequence of tools and commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepSequence {
    /// Kinds of tools (`Read`, `Edit`), commands (`cargo test`) or kinds of commands (`test`), in order. `!` marks a
    /// failed command.
    pub steps: Vec<String>,
    /// Number of repetitions.
    pub count: u64,
    /// How often the result of the last command is known.
    pub checked: u64,
    /// How often the last command succeeded.
    pub succeeded: u64,
    /// Number of sessions it occurred in.
    pub session_count: u64,
    /// When it last occurred.
    pub last_at: Option<Timestamp>,
    /// Where it last occurred.
    pub last_source: FactSource,
}

impl StepSequence {
    /// Share of repetitions with a known result in which the last command succeeded, 0 to 1.
    pub fn success_rate(&self) -> Option<f64> {
        (self.checked > 0).then(|| self.succeeded as f64 / self.checked as f64)
    }
}

/// One step of a stored sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SequenceStep<'a> {
    /// The purpose of a command, if it is a common one.
    pub(super) kind: Option<&'a str>,
    pub(super) name: &'a str,
    pub(super) failed: bool,
    /// `None` if unknown, or if only a failure would be visible, which would distort the rate.
    pub(super) succeeded: Option<bool>,
}

impl<'a> SequenceStep<'a> {
    pub(super) fn is_command(&self) -> bool {
        !TOOLS.contains(&self.name)
    }

    /// What sequences are compared by: different commands for the same purpose are equal.
    fn label(&self) -> &'a str {
        self.kind.unwrap_or(self.name)
    }
}

/// Parses a stored sequence.
pub(super) fn parse_steps(detail: &str) -> Vec<SequenceStep<'_>> {
    let parts = detail.split(SEPARATOR).map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| {
            let (part, is_visible) = part.strip_suffix(UNKNOWN_SUFFIX).map_or((part, true), |part| (part, false));
            let (step, failed) = part.strip_suffix(FAILED_SUFFIX).map_or((part, false), |step| (step, true));
            let (kind, name) = match step.split_once(':') {
                Some((kind, name)) if KINDS.contains(&kind) => (Some(kind), name),
                _ => (None, step),
            };
            SequenceStep { kind, name, failed, succeeded: is_visible.then_some(!failed) }
        })
        .collect()
}

/// The recurring sequences of these spans, most significant first: tools in the order of their first use, then the
/// commands after them.
pub(super) fn find_sequences(spans: &[(&FactRow, Vec<SequenceStep<'_>>)]) -> Vec<StepSequence> {
    let mut counter = SequenceCounter::default();
    for (known, steps) in spans {
        for unit in work_units(steps) {
            for length in SEQUENCE_LENGTHS {
                for window in unit.windows(length).filter(|window| is_work(window)) {
                    counter.count(window, known);
                }
            }
        }
    }
    let frequent = counter.frequent();
    let covers = |long: &StepSequence, short: &StepSequence| {
        long.steps.len() > short.steps.len()
            && long.count * 100 > short.count * MAX_COVERED_PERCENT
            && long.steps.windows(short.steps.len()).any(|part| part == short.steps)
    };
    let mut whole: Vec<StepSequence> =
        frequent.iter().filter(|one| !frequent.iter().any(|longer| covers(longer, one))).cloned().collect();
    whole.truncate(MAX_SEQUENCES);
    whole
}

/// What was done between a failed command and its next run, most frequent first.
pub(super) fn find_retries(spans: &[(&FactRow, Vec<SequenceStep<'_>>)]) -> Vec<StepSequence> {
    let mut counter = SequenceCounter::default();
    for (known, steps) in spans {
        for (at, failed) in steps.iter().enumerate().filter(|(_, step)| step.is_command() && step.failed) {
            let Some(length) = steps[at + 1..].iter().position(|step| step.name == failed.name) else { continue };
            let mut between: Vec<SequenceStep<'_>> = Vec::new();
            for step in &steps[at + 1..=at + length] {
                if !between.iter().any(|known| known.label() == step.label()) {
                    between.push(*step);
                }
            }
            if between.is_empty() {
                continue;
            }
            if between.len() > MAX_RETRY_STEPS {
                between.retain(|step| !step.is_command());
                between.truncate(MAX_RETRY_STEPS);
            }
            let retry = [&[*failed], between.as_slice(), &[steps[at + 1 + length]]].concat();
            counter.count(&retry, known);
        }
    }
    let mut found = counter.frequent();
    found.truncate(MAX_SEQUENCES);
    for one in &mut found {
        one.steps[0].push(FAILED_SUFFIX);
    }
    found
}

/// Whether steps end with a command, and change something if they use tools at all.
fn is_work(steps: &[SequenceStep<'_>]) -> bool {
    let uses_tools = steps.iter().any(|step| !step.is_command());
    let changes = steps.iter().any(|step| matches!(step.name, "Edit" | "Write"));
    steps.last().is_some_and(SequenceStep::is_command) && (changes || !uses_tools)
}

/// Splits the steps of a span: each unit is the use of tools and the commands after it, each once. The last run of a
/// command decides its result.
fn work_units<'a>(steps: &[SequenceStep<'a>]) -> Vec<Vec<SequenceStep<'a>>> {
    let mut units: Vec<Vec<SequenceStep<'a>>> = Vec::new();
    for step in steps {
        let begins = units.last().is_none_or(|unit| !step.is_command() && unit.iter().any(SequenceStep::is_command));
        if begins {
            units.push(Vec::new());
        }
        let Some(unit) = units.last_mut() else { continue };
        match unit.iter_mut().find(|known| known.label() == step.label()) {
            Some(known) => *known = *step,
            None => unit.push(*step),
        }
    }
    units
}

#[derive(Default)]
struct SequenceCounter<'a> {
    /// By the labels of the steps.
    found: BTreeMap<Vec<&'a str>, CountedSequence<'a>>,
}

struct CountedSequence<'a> {
    sequence: StepSequence,
    sessions: BTreeSet<SessionId>,
    /// How often each step had which name.
    names: Vec<BTreeMap<&'a str, u64>>,
}

impl<'a> SequenceCounter<'a> {
    fn count(&mut self, steps: &[SequenceStep<'a>], known: &FactRow) {
        let labels: Vec<&str> = steps.iter().map(SequenceStep::label).collect();
        let counted = self.found.entry(labels).or_insert_with(|| CountedSequence {
            sequence: StepSequence {
                steps: Vec::new(),
                count: 0,
                checked: 0,
                succeeded: 0,
                session_count: 0,
                last_at: None,
                last_source: FactSource::of_fact(known),
            },
            sessions: BTreeSet::new(),
            names: vec![BTreeMap::new(); steps.len()],
        });
        counted.sessions.insert(known.session);
        for (step, names) in steps.iter().zip(&mut counted.names) {
            *names.entry(step.name).or_default() += 1;
        }
        let result = steps.last().and_then(|step| step.succeeded);
        let sequence = &mut counted.sequence;
        sequence.count += 1;
        sequence.checked += u64::from(result.is_some());
        sequence.succeeded += u64::from(result == Some(true));
        sequence.session_count = counted.sessions.len() as u64;
        sequence.last_at = known.fact.at;
        sequence.last_source = FactSource::of_fact(known);
    }

    /// The sequences that recur, those that explain most steps first.
    fn frequent(self) -> Vec<StepSequence> {
        let recurring = self.found.into_iter().filter(|(_, counted)| counted.sequence.count >= MIN_REPEATS);
        let mut all: Vec<StepSequence> = recurring
            .map(|(labels, counted)| StepSequence {
                steps: labels.iter().zip(&counted.names).map(|(label, names)| shown_name(label, names)).collect(),
                ..counted.sequence
            })
            .collect();
        let weight = |one: &StepSequence| one.count * (one.steps.len() as u64 - 1);
        all.sort_by(|a, b| weight(b).cmp(&weight(a)).then(a.steps.cmp(&b.steps)));
        all
    }
}

/// The name of a step: of the command if it is nearly always the same, else its kind.
fn shown_name(label: &str, names: &BTreeMap<&str, u64>) -> String {
    let all: u64 = names.values().sum();
    let most = names.iter().max_by_key(|(_, count)| **count);
    most.filter(|(_, count)| **count * 100 >= all * MIN_NAME_PERCENT).map_or(label, |(name, _)| name).to_owned()
}

#[cfg(test)]
mod tests {
    use rethread_model::{EntityKind, Predicate};

    use super::super::testing::{KnownFactExt, known_fact};
    use super::*;

    fn sequences_of(
        details: &[&str],
        find: fn(&[(&FactRow, Vec<SequenceStep<'_>>)]) -> Vec<StepSequence>,
    ) -> Vec<String> {
        let facts: Vec<FactRow> = details
            .iter()
            .zip(1..)
            .map(|(detail, minute)| {
                known_fact("a", minute, Predicate::Sequence, (EntityKind::Command, "x")).detail(detail)
            })
            .collect();
        let spans: Vec<_> = facts.iter().map(|known| (known, parse_steps(&known.fact.detail))).collect();
        let text =
            |one: &StepSequence| format!("{} {}/{}/{}", one.steps.join(" → "), one.succeeded, one.checked, one.count);
        find(&spans).iter().map(text).collect()
    }

    #[test]
    fn tools_and_commands_are_one_sequence() {
        // S003-23
        let details = [
            "Read > Grep > Edit > test:cargo test > commit:git commit",
            "Read > Grep > Edit > test:cargo test! > Edit > test:cargo test",
            "Read > Grep > Edit > test:cargo test?",
        ];
        assert_eq!(
            sequences_of(&details, find_sequences),
            ["Read → Grep → Edit → cargo test 1/2/3", "Edit → cargo test 2/3/4"]
        );
    }

    #[test]
    fn commands_for_one_purpose_are_counted_together() {
        // S003-23
        let details = ["Edit > test:npm test", "Edit > test:pnpm test", "Edit > test:vitest!"];
        assert_eq!(sequences_of(&details, find_sequences), ["Edit → test 2/3/3"]);
    }

    #[test]
    fn last_run_of_a_command_decides() {
        let details = ["Edit > check:tsc! > check:tsc", "Edit > check:tsc", "Edit > check:tsc!"];
        assert_eq!(sequences_of(&details, find_sequences), ["Edit → tsc 2/3/3"]);
    }

    #[test]
    fn retries_show_what_was_done_after_a_failure() {
        // S003-23
        let details = [
            "test:cargo test! > Read > Edit > test:cargo test! > Read > Edit > test:cargo test",
            "Edit > test:cargo test!? > Read > Edit > test:cargo test",
            "git push! > git push",
        ];
        assert_eq!(sequences_of(&details, find_retries), ["cargo test! → Read → Edit → cargo test 2/3/3"]);
    }
}
