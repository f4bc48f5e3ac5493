//! Derives how work is done in a project: commands with their success rate and what is used instead, and sequences.

use std::collections::{BTreeMap, BTreeSet};

use rethread_model::{FactState, Predicate, SessionId};
use rethread_store::FactRow;

use super::sequences::{SequenceStep, StepSequence, find_retries, find_sequences, parse_steps};
use super::{FactSource, oldest_first};

/// Minimum number of runs before a command is judged.
const MIN_RUNS: u64 = 3;
/// How many steps after a failure another command for the same purpose counts as used instead.
const MAX_STEPS_TO_ALTERNATIVE: usize = 6;
/// How often another command must have worked instead, unless it is known for a command that usually fails.
const MIN_ALTERNATIVE_USES: u64 = 2;
/// A command usually fails if at most this percentage of its runs succeeded.
const LOW_SUCCESS_PERCENT: u64 = 40;

/// How work is done in one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workflow {
    /// Project directory; `None` for sessions without one.
    pub project: Option<String>,
    /// Commands, most runs first.
    pub commands: Vec<CommandStats>,
    /// Recurring sequences of tools and commands, most significant first.
    pub sequences: Vec<StepSequence>,
    /// What is done between a failed command and its next run, most frequent first.
    pub retries: Vec<StepSequence>,
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
    let spans: Vec<(&FactRow, Vec<SequenceStep<'_>>)> =
        of(Predicate::Sequence).map(|known| (known, parse_steps(&known.fact.detail))).collect();
    let mut commands = collect_commands(of(Predicate::Ran));
    for (_, steps) in &spans {
        count_retries(&mut commands, steps);
    }
    for known in of(Predicate::FixedBy) {
        add_alternative(&mut commands, known);
    }
    add_used_instead(&mut commands, &spans);
    let mut commands: Vec<CommandStats> = commands.into_values().map(|(one, _)| one).collect();
    commands.sort_by(|a, b| b.runs().cmp(&a.runs()).then(a.command.cmp(&b.command)));
    for one in &mut commands {
        // What helped once with a command that usually succeeds was about that one call.
        let usually_fails = one.usually_fails();
        one.alternatives.retain(|(_, times)| usually_fails || *times >= MIN_ALTERNATIVE_USES);
        one.alternatives.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    let (sequences, retries) = (find_sequences(&spans), find_retries(&spans));
    Workflow { project: project.map(str::to_owned), commands, sequences, retries }
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

fn count_retries(commands: &mut CommandTable, steps: &[SequenceStep<'_>]) {
    for pair in
        steps.windows(2).filter(|pair| pair[0].name == pair[1].name && pair[0].failed && pair[1].succeeded.is_some())
    {
        if let Some((one, _)) = commands.get_mut(pair[0].name) {
            one.retried += 1;
            one.retries_succeeded += u64::from(pair[1].succeeded == Some(true));
        }
    }
}

fn add_alternative(commands: &mut CommandTable, known: &FactRow) {
    let detail = known.fact.detail.trim();
    // Something else that was run: in place of the command, or before it.
    let edits = ["sed -i", "perl -", "apply_patch"].iter().any(|program| detail.contains(program));
    let is_command = detail.starts_with("ran `") && !detail.contains("; ") && !edits;
    let Some(command) = known.fact.object.as_ref().filter(|_| is_command && known.fact.state == FactState::Confirmed)
    else {
        return;
    };
    let Some((one, _)) = commands.get_mut(&command.name) else { return };
    match one.alternatives.iter_mut().find(|(what, _)| what == detail) {
        Some((_, times)) => *times += 1,
        None => one.alternatives.push((detail.to_owned(), 1)),
    }
}

/// For commands that usually fail and have no known alternative: another command for the same purpose that succeeded
/// soon after a failure.
fn add_used_instead(commands: &mut CommandTable, spans: &[(&FactRow, Vec<SequenceStep<'_>>)]) {
    let mut used: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (_, steps) in spans {
        for (at, failed) in steps.iter().enumerate().filter(|(_, step)| step.kind.is_some() && step.failed) {
            let mut later = steps[at + 1..].iter().take(MAX_STEPS_TO_ALTERNATIVE);
            let next = later.find(|step| step.kind == failed.kind);
            if let Some(next) = next.filter(|next| next.name != failed.name && next.succeeded == Some(true)) {
                *used.entry((failed.name, next.name)).or_default() += 1;
            }
        }
    }
    for ((failed, instead), times) in used.into_iter().filter(|(_, times)| *times >= MIN_ALTERNATIVE_USES) {
        let Some((one, _)) = commands.get_mut(failed).filter(|(one, _)| one.usually_fails()) else { continue };
        if !one.alternatives.iter().any(|(what, _)| what.starts_with("ran ")) {
            one.alternatives.push((format!("used `{instead}` instead"), times));
        }
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
    fn other_command_for_the_same_purpose_is_what_people_use_instead() {
        // S003-23
        let facts = [
            ran("a", 1, "npm test", 0, 3),
            sequence("a", 2, "test:npm test! > Read > test:vitest > test:npm test! > test:vitest"),
        ];
        let one = &workflows(&facts)[0].commands[0];
        assert_eq!(one.alternatives, [("used `vitest` instead".to_owned(), 2)]);
    }

    #[test]
    fn retries_without_a_change_are_counted() {
        // S003-23
        let facts =
            [ran("a", 1, "npm install", 1, 2), sequence("a", 2, "npm install! > npm install! > npm install > Edit")];
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
