//! Derives how work is done in a project: commands with their success rate, and recurring command sequences.

use std::collections::{BTreeMap, BTreeSet};

use rethread_model::{FactState, Predicate, SessionId, Timestamp};
use rethread_store::FactRow;

use super::{FactSource, oldest_first};

/// Separator between the commands of a stored sequence.
const SEPARATOR: &str = " > ";
/// Suffix of a command that failed in a stored sequence.
const FAILED_SUFFIX: char = '!';
/// Lengths of the sequences that are counted.
const SEQUENCE_LENGTHS: std::ops::RangeInclusive<usize> = 2..=5;
/// Minimum number of repetitions for a sequence to be reported.
const MIN_REPEATS: u64 = 3;
/// Maximum number of sequences reported per project.
const MAX_SEQUENCES: usize = 20;
/// Minimum number of runs before a command is judged.
const MIN_RUNS: u64 = 3;
/// A command usually fails if at most this percentage of its runs succeeded.
const LOW_SUCCESS_PERCENT: u64 = 40;

/// How work is done in one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workflow {
    /// Project directory; `None` for sessions without one.
    pub project: Option<String>,
    /// Commands, most runs first.
    pub commands: Vec<CommandStats>,
    /// Recurring sequences, most significant first.
    pub sequences: Vec<CommandSequence>,
}

/// Statistics of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandStats {
    /// Program and subcommand.
    pub command: String,
    /// Number of successful runs.
    pub succeeded: u64,
    /// Number of failed runs.
    pub failed: u64,
    /// Runs directly after a failed run, with nothing done in between.
    pub retried: u64,
    /// How many of those succeeded.
    pub retries_succeeded: u64,
    /// What worked instead and how often, most frequent first.
    pub alternatives: Vec<(String, u64)>,
    /// Number of sessions that ran it.
    pub session_count: u64,
    /// Where it last ran.
    pub last_source: FactSource,
}

impl CommandStats {
    /// Total number of runs.
    pub fn runs(&self) -> u64 {
        self.succeeded + self.failed
    }

    /// Share of successful runs, 0 to 1; `None` without runs.
    pub fn success_rate(&self) -> Option<f64> {
        (self.runs() > 0).then(|| self.succeeded as f64 / self.runs() as f64)
    }

    /// Whether it failed in most of its runs, given enough runs.
    pub fn usually_fails(&self) -> bool {
        self.runs() >= MIN_RUNS && self.succeeded * 100 <= self.runs() * LOW_SUCCESS_PERCENT
    }
}

/// A recurring sequence of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandSequence {
    /// The commands, in order.
    pub commands: Vec<String>,
    /// Number of repetitions.
    pub count: u64,
    /// How often the last command succeeded.
    pub succeeded: u64,
    /// Number of sessions it occurred in.
    pub session_count: u64,
    /// When it last occurred.
    pub last_at: Option<Timestamp>,
    /// Where it last occurred.
    pub last_source: FactSource,
}

impl CommandSequence {
    /// Share of repetitions in which the last command succeeded, 0 to 1.
    pub fn success_rate(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.succeeded as f64 / self.count as f64 }
    }
}

/// Workflows by project, most runs first.
pub fn workflows(facts: &[FactRow]) -> Vec<Workflow> {
    let mut projects: BTreeMap<Option<&str>, Vec<&FactRow>> = BTreeMap::new();
    for known in oldest_first(facts) {
        projects.entry(known.project.as_deref()).or_default().push(known);
    }
    let mut all: Vec<Workflow> =
        projects.into_iter().map(|(project, facts)| project_workflow(project, &facts)).collect();
    all.retain(|one| !one.commands.is_empty() || !one.sequences.is_empty());
    let runs = |one: &Workflow| one.commands.iter().map(CommandStats::runs).sum::<u64>();
    all.sort_by_key(|one| std::cmp::Reverse(runs(one)));
    all
}

fn project_workflow(project: Option<&str>, facts: &[&FactRow]) -> Workflow {
    let of = |predicate: Predicate| facts.iter().copied().filter(move |known| known.fact.predicate == predicate);
    let sequences: Vec<(&FactRow, Vec<SequenceStep>)> =
        of(Predicate::Sequence).map(|known| (known, parse_steps(&known.fact.detail))).collect();
    let mut commands = collect_commands(of(Predicate::Ran));
    for (_, steps) in &sequences {
        count_retries(&mut commands, steps);
    }
    for known in of(Predicate::FixedBy) {
        add_alternative(&mut commands, known);
    }
    let mut commands: Vec<CommandStats> = commands.into_values().map(|(one, _)| one).collect();
    commands.sort_by(|a, b| b.runs().cmp(&a.runs()).then(a.command.cmp(&b.command)));
    for one in &mut commands {
        one.alternatives.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    Workflow { project: project.map(str::to_owned), commands, sequences: find_sequences(&sequences) }
}

type CommandTable = BTreeMap<String, (CommandStats, BTreeSet<SessionId>)>;

fn collect_commands<'a>(ran: impl Iterator<Item = &'a FactRow>) -> CommandTable {
    let mut all = CommandTable::new();
    for known in ran {
        let name = &known.fact.subject.name;
        let (one, sessions) = all.entry(name.clone()).or_insert_with(|| (empty_stats(name, known), BTreeSet::new()));
        sessions.insert(known.session);
        one.session_count = sessions.len() as u64;
        one.succeeded += known.fact.success_count;
        one.failed += known.fact.failure_count;
        one.last_source = FactSource::of_fact(known);
    }
    all
}

fn empty_stats(name: &str, known: &FactRow) -> CommandStats {
    CommandStats {
        command: name.to_owned(),
        succeeded: 0,
        failed: 0,
        retried: 0,
        retries_succeeded: 0,
        alternatives: Vec::new(),
        session_count: 0,
        last_source: FactSource::of_fact(known),
    }
}

fn count_retries(commands: &mut CommandTable, steps: &[SequenceStep]) {
    for pair in steps.windows(2).filter(|pair| pair[0].name == pair[1].name && pair[0].failed) {
        if let Some((one, _)) = commands.get_mut(pair[0].name) {
            one.retried += 1;
            one.retries_succeeded += u64::from(!pair[1].failed);
        }
    }
}

fn add_alternative(commands: &mut CommandTable, known: &FactRow) {
    let detail = known.fact.detail.trim();
    let is_instead = detail.starts_with("ran ") && detail.ends_with(" instead");
    let Some(command) = known.fact.object.as_ref().filter(|_| is_instead && known.fact.state == FactState::Confirmed)
    else {
        return;
    };
    let Some((one, _)) = commands.get_mut(&command.name) else { return };
    match one.alternatives.iter_mut().find(|(what, _)| what == detail) {
        Some((_, times)) => *times += 1,
        None => one.alternatives.push((detail.to_owned(), 1)),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SequenceStep<'a> {
    name: &'a str,
    failed: bool,
}

fn parse_steps(detail: &str) -> Vec<SequenceStep<'_>> {
    let parts = detail.split(SEPARATOR).map(str::trim).filter(|part| !part.is_empty());
    parts
        .map(|part| SequenceStep {
            name: part.trim_end_matches(FAILED_SUFFIX).trim_end(),
            failed: part.ends_with(FAILED_SUFFIX),
        })
        .collect()
}

/// Merges consecutive runs of the same command; the last run decides the outcome.
fn collapse_repeats<'a>(steps: &[SequenceStep<'a>]) -> Vec<SequenceStep<'a>> {
    let mut out: Vec<SequenceStep<'a>> = Vec::with_capacity(steps.len());
    for step in steps {
        match out.last_mut() {
            Some(last) if last.name == step.name => *last = *step,
            _ => out.push(*step),
        }
    }
    out
}

fn find_sequences(sequences: &[(&FactRow, Vec<SequenceStep<'_>>)]) -> Vec<CommandSequence> {
    let mut all: BTreeMap<Vec<&str>, (CommandSequence, BTreeSet<SessionId>)> = BTreeMap::new();
    for (known, steps) in sequences {
        let steps = collapse_repeats(steps);
        for length in SEQUENCE_LENGTHS {
            count_sequences(&mut all, known, &steps, length);
        }
    }
    let frequent: Vec<CommandSequence> =
        all.into_values().map(|(pattern, _)| pattern).filter(|pattern| pattern.count >= MIN_REPEATS).collect();
    let is_part = |short: &CommandSequence, long: &CommandSequence| {
        long.count == short.count
            && long.commands.len() > short.commands.len()
            && long.commands.windows(short.commands.len()).any(|part| part == short.commands)
    };
    let is_whole = |pattern: &&CommandSequence| !frequent.iter().any(|longer| is_part(pattern, longer));
    let mut whole: Vec<CommandSequence> = frequent.iter().filter(is_whole).cloned().collect();
    let weight = |pattern: &CommandSequence| pattern.count * (pattern.commands.len() as u64 - 1);
    whole.sort_by(|a, b| weight(b).cmp(&weight(a)).then(a.commands.cmp(&b.commands)));
    whole.truncate(MAX_SEQUENCES);
    whole
}

/// Counts the sequences of one length. Overlapping occurrences count once.
fn count_sequences<'a>(
    all: &mut BTreeMap<Vec<&'a str>, (CommandSequence, BTreeSet<SessionId>)>,
    known: &FactRow,
    steps: &[SequenceStep<'a>],
    length: usize,
) {
    let mut free_from: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    for (at, window) in steps.windows(length).enumerate() {
        let names: Vec<&str> = window.iter().map(|step| step.name).collect();
        if free_from.get(&names).is_some_and(|free| at < *free) {
            continue;
        }
        free_from.insert(names.clone(), at + length);
        let (pattern, sessions) =
            all.entry(names).or_insert_with_key(|names| (empty_sequence(names, known), BTreeSet::new()));
        sessions.insert(known.session);
        pattern.session_count = sessions.len() as u64;
        pattern.count += 1;
        pattern.succeeded += u64::from(window.last().is_some_and(|step| !step.failed));
        pattern.last_at = known.fact.at;
        pattern.last_source = FactSource::of_fact(known);
    }
}

fn empty_sequence(names: &[&str], known: &FactRow) -> CommandSequence {
    CommandSequence {
        commands: names.iter().map(ToString::to_string).collect(),
        count: 0,
        succeeded: 0,
        session_count: 0,
        last_at: None,
        last_source: FactSource::of_fact(known),
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::EntityKind;

    use super::super::testing::{KnownFactExt, known_fact};
    use super::*;

    fn ran(session: &str, minute: i64, command: &str, succeeded: u64, failed: u64) -> FactRow {
        known_fact(session, minute, Predicate::Ran, (EntityKind::Command, command)).counts(succeeded, failed)
    }

    fn sequence(session: &str, minute: i64, detail: &str) -> FactRow {
        known_fact(session, minute, Predicate::Sequence, (EntityKind::Command, "edit")).detail(detail)
    }

    #[test]
    fn failing_commands_are_listed_with_what_worked_instead() {
        // S003-23
        let facts = [
            ran("a", 1, "python", 0, 2),
            ran("b", 2, "python", 1, 2),
            ran("a", 3, "cargo test", 9, 1),
            known_fact("a", 4, Predicate::FixedBy, (EntityKind::Error, "command not found"))
                .object(EntityKind::Command, "python")
                .detail("ran `python3 x.py` instead"),
        ];
        let found = &workflows(&facts)[0];
        let rendered: Vec<_> =
            found.commands.iter().map(|one| (one.command.as_str(), one.runs(), one.usually_fails())).collect();
        assert_eq!(rendered, [("cargo test", 10, false), ("python", 5, true)]);
        assert_eq!(found.commands[1].alternatives, [("ran `python3 x.py` instead".to_owned(), 1)]);
        assert_eq!(found.commands[1].session_count, 2);
        assert_eq!(found.commands[1].success_rate(), Some(0.2));
    }

    #[test]
    fn recurring_sequences_are_listed_once_with_their_success() {
        // S003-23
        let facts = [
            sequence("a", 1, "edit > edit > cargo test! > edit > cargo test > git commit"),
            sequence("b", 2, "edit > cargo test > git commit"),
            sequence("c", 3, "edit > cargo test > git commit!"),
        ];
        let found = &workflows(&facts)[0].sequences;
        let rendered: Vec<_> =
            found.iter().map(|one| (one.commands.join(" > "), one.count, one.succeeded, one.session_count)).collect();
        assert_eq!(
            rendered,
            [("edit > cargo test > git commit".to_owned(), 3, 2, 3), ("edit > cargo test".to_owned(), 4, 3, 3)]
        );
    }

    #[test]
    fn retries_without_a_change_are_counted() {
        // S003-23
        let facts =
            [ran("a", 1, "npm install", 1, 2), sequence("a", 2, "npm install! > npm install! > npm install > edit")];
        let one = &workflows(&facts)[0].commands[0];
        assert_eq!((one.retried, one.retries_succeeded), (2, 1));
        assert!(workflows(&facts)[0].sequences.is_empty());
    }

    #[test]
    fn projects_are_separate() {
        let mut other = ran("b", 2, "make", 5, 0);
        other.project = Some("/q".to_owned());
        let found = workflows(&[ran("a", 1, "make", 1, 0), other]);
        let rendered: Vec<_> = found.iter().map(|one| (one.project.as_deref(), one.commands[0].runs())).collect();
        assert_eq!(rendered, [(Some("/q"), 5), (Some("/p"), 1)]);
    }
}
