//! How work is done in a project: commands with how they went, and sequences of them that come back.

use std::collections::{BTreeMap, BTreeSet};

use rethread_model::{FactState, Predicate, SessionId, Timestamp};
use rethread_store::KnownFact;

use super::{Source, oldest_first};

/// What stands between the commands of a sequence.
const BETWEEN: &str = " > ";
/// What marks a command of a sequence that failed.
const FAILED: char = '!';
/// Sequences of so many commands are looked for.
const LENGTHS: std::ops::RangeInclusive<usize> = 2..=5;
/// A sequence must come back so often to be a habit.
const OFTEN: u64 = 3;
/// No more sequences than this are told of a project.
const MOST_PATTERNS: usize = 20;
/// A command is judged after so many runs.
const ENOUGH_RUNS: u64 = 3;
/// It usually fails if no more than so many percent of its runs went well.
const LOW_SUCCESS: u64 = 40;

/// How work is done in one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workflow {
    /// The project.
    pub project: Option<String>,
    /// Commands, those with most runs first.
    pub commands: Vec<CommandUse>,
    /// Sequences that come back, most telling first.
    pub patterns: Vec<Pattern>,
}

/// How a command goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandUse {
    /// Program and subcommand.
    pub command: String,
    /// Runs that went well.
    pub succeeded: u64,
    /// Runs that failed.
    pub failed: u64,
    /// Runs right after a failed one, with nothing done in between.
    pub retried: u64,
    /// How many of those went well.
    pub retries_succeeded: u64,
    /// What worked instead, and how often; most often first.
    pub instead: Vec<(String, u64)>,
    /// In how many sessions.
    pub sessions: u64,
    /// When it ran last.
    pub last: Source,
}

impl CommandUse {
    /// How often it ran.
    pub fn runs(&self) -> u64 {
        self.succeeded + self.failed
    }

    /// The share of runs that went well, from 0 to 1.
    pub fn success_rate(&self) -> Option<f64> {
        (self.runs() > 0).then(|| self.succeeded as f64 / self.runs() as f64)
    }

    /// Whether it ran often enough to say that it usually fails.
    pub fn usually_fails(&self) -> bool {
        self.runs() >= ENOUGH_RUNS && self.succeeded * 100 <= self.runs() * LOW_SUCCESS
    }
}

/// Commands that follow each other again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// In order.
    pub commands: Vec<String>,
    /// How often.
    pub times: u64,
    /// How often the last of them went well.
    pub succeeded: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// When it was last.
    pub last_at: Option<Timestamp>,
    /// Where it was last.
    pub last: Source,
}

impl Pattern {
    /// The share of times the last command went well, from 0 to 1.
    pub fn success_rate(&self) -> f64 {
        if self.times == 0 { 0.0 } else { self.succeeded as f64 / self.times as f64 }
    }
}

/// How work is done, by project; those with most runs first.
pub fn workflows(facts: &[KnownFact]) -> Vec<Workflow> {
    let mut projects: BTreeMap<Option<&str>, Vec<&KnownFact>> = BTreeMap::new();
    for known in oldest_first(facts) {
        projects.entry(known.project.as_deref()).or_default().push(known);
    }
    let mut all: Vec<Workflow> = projects.into_iter().map(|(project, facts)| workflow(project, &facts)).collect();
    all.retain(|one| !one.commands.is_empty() || !one.patterns.is_empty());
    let runs = |one: &Workflow| one.commands.iter().map(CommandUse::runs).sum::<u64>();
    all.sort_by_key(|one| std::cmp::Reverse(runs(one)));
    all
}

fn workflow(project: Option<&str>, facts: &[&KnownFact]) -> Workflow {
    let of = |predicate: Predicate| facts.iter().copied().filter(move |known| known.fact.predicate == predicate);
    let sequences: Vec<(&KnownFact, Vec<Step>)> =
        of(Predicate::Sequence).map(|known| (known, steps(&known.fact.detail))).collect();
    let mut commands = commands(of(Predicate::Ran));
    for (_, steps) in &sequences {
        note_retries(&mut commands, steps);
    }
    for known in of(Predicate::FixedBy) {
        note_instead(&mut commands, known);
    }
    let mut commands: Vec<CommandUse> = commands.into_values().map(|(one, _)| one).collect();
    commands.sort_by(|a, b| b.runs().cmp(&a.runs()).then(a.command.cmp(&b.command)));
    for one in &mut commands {
        one.instead.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    Workflow { project: project.map(str::to_owned), commands, patterns: patterns(&sequences) }
}

type Commands = BTreeMap<String, (CommandUse, BTreeSet<SessionId>)>;

fn commands<'a>(ran: impl Iterator<Item = &'a KnownFact>) -> Commands {
    let mut all = Commands::new();
    for known in ran {
        let name = &known.fact.subject.name;
        let (one, sessions) = all.entry(name.clone()).or_insert_with(|| (unused(name, known), BTreeSet::new()));
        sessions.insert(known.session);
        one.sessions = sessions.len() as u64;
        one.succeeded += known.fact.succeeded;
        one.failed += known.fact.failed;
        one.last = Source::of(known);
    }
    all
}

fn unused(name: &str, known: &KnownFact) -> CommandUse {
    CommandUse {
        command: name.to_owned(),
        succeeded: 0,
        failed: 0,
        retried: 0,
        retries_succeeded: 0,
        instead: Vec::new(),
        sessions: 0,
        last: Source::of(known),
    }
}

fn note_retries(commands: &mut Commands, steps: &[Step]) {
    for pair in steps.windows(2).filter(|pair| pair[0].name == pair[1].name && pair[0].failed) {
        if let Some((one, _)) = commands.get_mut(pair[0].name) {
            one.retried += 1;
            one.retries_succeeded += u64::from(!pair[1].failed);
        }
    }
}

fn note_instead(commands: &mut Commands, known: &KnownFact) {
    let detail = known.fact.detail.trim();
    let is_instead = detail.starts_with("ran ") && detail.ends_with(" instead");
    let Some(command) = known.fact.object.as_ref().filter(|_| is_instead && known.fact.state == FactState::Confirmed)
    else {
        return;
    };
    let Some((one, _)) = commands.get_mut(&command.name) else { return };
    match one.instead.iter_mut().find(|(what, _)| what == detail) {
        Some((_, times)) => *times += 1,
        None => one.instead.push((detail.to_owned(), 1)),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step<'a> {
    name: &'a str,
    failed: bool,
}

fn steps(detail: &str) -> Vec<Step<'_>> {
    let parts = detail.split(BETWEEN).map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| Step { name: part.trim_end_matches(FAILED).trim_end(), failed: part.ends_with(FAILED) }).collect()
}

/// The same command several times in a row is one step, which went as the last of them.
fn collapsed<'a>(steps: &[Step<'a>]) -> Vec<Step<'a>> {
    let mut out: Vec<Step<'a>> = Vec::with_capacity(steps.len());
    for step in steps {
        match out.last_mut() {
            Some(last) if last.name == step.name => *last = *step,
            _ => out.push(*step),
        }
    }
    out
}

fn patterns(sequences: &[(&KnownFact, Vec<Step<'_>>)]) -> Vec<Pattern> {
    let mut all: BTreeMap<Vec<&str>, (Pattern, BTreeSet<SessionId>)> = BTreeMap::new();
    for (known, steps) in sequences {
        let steps = collapsed(steps);
        for length in LENGTHS {
            count(&mut all, known, &steps, length);
        }
    }
    let frequent: Vec<Pattern> =
        all.into_values().map(|(pattern, _)| pattern).filter(|pattern| pattern.times >= OFTEN).collect();
    let is_part = |short: &Pattern, long: &Pattern| {
        long.times == short.times
            && long.commands.len() > short.commands.len()
            && long.commands.windows(short.commands.len()).any(|part| part == short.commands)
    };
    let is_whole = |pattern: &&Pattern| !frequent.iter().any(|longer| is_part(pattern, longer));
    let mut whole: Vec<Pattern> = frequent.iter().filter(is_whole).cloned().collect();
    let weight = |pattern: &Pattern| pattern.times * (pattern.commands.len() as u64 - 1);
    whole.sort_by(|a, b| weight(b).cmp(&weight(a)).then(a.commands.cmp(&b.commands)));
    whole.truncate(MOST_PATTERNS);
    whole
}

/// Counts the sequences of one length. Where one overlaps with itself it counts once.
fn count<'a>(
    all: &mut BTreeMap<Vec<&'a str>, (Pattern, BTreeSet<SessionId>)>,
    known: &KnownFact,
    steps: &[Step<'a>],
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
            all.entry(names).or_insert_with_key(|names| (uncounted(names, known), BTreeSet::new()));
        sessions.insert(known.session);
        pattern.sessions = sessions.len() as u64;
        pattern.times += 1;
        pattern.succeeded += u64::from(window.last().is_some_and(|step| !step.failed));
        pattern.last_at = known.fact.at;
        pattern.last = Source::of(known);
    }
}

fn uncounted(names: &[&str], known: &KnownFact) -> Pattern {
    Pattern {
        commands: names.iter().map(ToString::to_string).collect(),
        times: 0,
        succeeded: 0,
        sessions: 0,
        last_at: None,
        last: Source::of(known),
    }
}

#[cfg(test)]
mod tests {
    use rethread_model::EntityKind;

    use super::super::testing::{With, known};
    use super::*;

    fn ran(session: &str, minute: i64, command: &str, succeeded: u64, failed: u64) -> KnownFact {
        known(session, minute, Predicate::Ran, (EntityKind::Command, command)).counts(succeeded, failed)
    }

    fn sequence(session: &str, minute: i64, detail: &str) -> KnownFact {
        known(session, minute, Predicate::Sequence, (EntityKind::Command, "edit")).detail(detail)
    }

    #[test]
    fn s003_23_failing_commands_are_told_with_what_worked_instead() {
        let facts = [
            ran("a", 1, "python", 0, 2),
            ran("b", 2, "python", 1, 2),
            ran("a", 3, "cargo test", 9, 1),
            known("a", 4, Predicate::FixedBy, (EntityKind::Error, "command not found"))
                .object(EntityKind::Command, "python")
                .detail("ran `python3 x.py` instead"),
        ];
        let found = &workflows(&facts)[0];
        let told: Vec<_> =
            found.commands.iter().map(|one| (one.command.as_str(), one.runs(), one.usually_fails())).collect();
        assert_eq!(told, [("cargo test", 10, false), ("python", 5, true)]);
        assert_eq!(found.commands[1].instead, [("ran `python3 x.py` instead".to_owned(), 1)]);
        assert_eq!(found.commands[1].sessions, 2);
        assert_eq!(found.commands[1].success_rate(), Some(0.2));
    }

    #[test]
    fn s003_23_sequences_that_come_back_are_told_once_with_how_they_end() {
        let facts = [
            sequence("a", 1, "edit > edit > cargo test! > edit > cargo test > git commit"),
            sequence("b", 2, "edit > cargo test > git commit"),
            sequence("c", 3, "edit > cargo test > git commit!"),
        ];
        let found = &workflows(&facts)[0].patterns;
        let told: Vec<_> =
            found.iter().map(|one| (one.commands.join(" > "), one.times, one.succeeded, one.sessions)).collect();
        assert_eq!(
            told,
            [("edit > cargo test > git commit".to_owned(), 3, 2, 3), ("edit > cargo test".to_owned(), 4, 3, 3)]
        );
    }

    #[test]
    fn s003_23_retries_without_a_change_are_counted() {
        let facts =
            [ran("a", 1, "npm install", 1, 2), sequence("a", 2, "npm install! > npm install! > npm install > edit")];
        let one = &workflows(&facts)[0].commands[0];
        assert_eq!((one.retried, one.retries_succeeded), (2, 1));
        assert!(workflows(&facts)[0].patterns.is_empty());
    }

    #[test]
    fn projects_are_apart() {
        let mut other = ran("b", 2, "make", 5, 0);
        other.project = Some("/q".to_owned());
        let found = workflows(&[ran("a", 1, "make", 1, 0), other]);
        let told: Vec<_> = found.iter().map(|one| (one.project.as_deref(), one.commands[0].runs())).collect();
        assert_eq!(told, [(Some("/q"), 5), (Some("/p"), 1)]);
    }
}
