//! Runs every question of a retrieval benchmark in one process and prints the results for its scorer.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rethread_engine::{Clock, Engine, Environment, FeatureWeights, SearchRequest, SessionScope, SyncRequest};
use rethread_model::Timestamp;
use rethread_recall::{FEATURE_TABLE, FeatureWeight};
use serde_json::{Value, json};

const USAGE: &str =
    "usage: ask DEST QUESTIONS.jsonl [--without PART]… (DEST as written by as-transcripts.py), or ask --parts";

type BoxError = Box<dyn std::error::Error>;

enum AskCommand {
    Ask { home: PathBuf, questions: PathBuf, weights: FeatureWeights },
    ListFeatures,
}

fn main() -> ExitCode {
    let Some(command) = parse_arguments(std::env::args().skip(1)) else {
        let _ = writeln!(io::stderr(), "error: invalid arguments\nhint: {USAGE}");
        return ExitCode::from(2);
    };
    let done = match &command {
        AskCommand::Ask { home, questions, weights } => ask(home, questions, weights),
        AskCommand::ListFeatures => print_features(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(3)
        }
    }
}

/// Parses the arguments. `None` if they are invalid, for example if a score feature does not exist.
fn parse_arguments(mut given: impl Iterator<Item = String>) -> Option<AskCommand> {
    let (mut weights, mut paths) = (FeatureWeights::default(), Vec::new());
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--parts" => return Some(AskCommand::ListFeatures),
            "--without" => {
                let part = given.next().filter(|part| FEATURE_TABLE.iter().any(|line| line.feature == part))?;
                weights = weights.without(&part);
            }
            _ if argument.starts_with('-') => return None,
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    let [home, questions] = <[PathBuf; 2]>::try_from(paths).ok()?;
    Some(AskCommand::Ask { home, questions, weights })
}

/// Prints the table of score features that `--without` accepts.
fn print_features() -> Result<(), BoxError> {
    let line = |line: &FeatureWeight| json!({"part": line.feature, "weight": line.weight, "meaning": line.description});
    let table: Vec<Value> = FEATURE_TABLE.iter().map(line).collect();
    Ok(writeln!(io::stdout(), "{}", Value::from(table))?)
}

fn ask(home: &Path, questions: &Path, weights: &FeatureWeights) -> Result<(), BoxError> {
    let (entries, sessions) = labels(&home.join("map.jsonl"))?;
    let merged = home.join("all").is_dir();
    let mut engines: HashMap<String, Engine> = HashMap::new();
    let mut out = io::BufWriter::new(io::stdout());
    for line in fs::read_to_string(questions)?.lines() {
        let question: Value = serde_json::from_str(line)?;
        let text = |key: &str| question[key].as_str().unwrap_or_default().to_owned();
        let (talk, folder) = (text("conv"), if merged { "all".to_owned() } else { text("conv") });
        if !engines.contains_key(&folder) {
            let engine = Engine::open(Environment::for_home(&home.join(&folder)))?;
            engine.sync().run(&SyncRequest::default(), &mut |_| {})?;
            engines.insert(folder.clone(), engine);
        }
        let asked_at = asked_at(&text("date"));
        let request = SearchRequest {
            text: text("question"),
            scope: SessionScope::AllProjects,
            // In a home with the sessions of all questions, later ones cannot be answers.
            until: asked_at.as_ref().filter(|_| merged).map(|(day, _)| day.clone()),
            limit: 50,
            ..SearchRequest::default()
        };
        let report = match asked_at {
            Some((_, now)) => {
                let environment = Environment::for_home(&home.join(&folder));
                let engine = Engine::open(Environment { clock: Clock::Frozen(now), ..environment })?;
                engine.search().run_with(&request, weights)?
            }
            None => engines[&folder].search().run_with(&request, weights)?,
        };
        let (mut ranked, mut ranked_sessions) = (Vec::new(), Vec::new());
        for recalled in &report.hits {
            let hit = &recalled.hit;
            ranked.extend(entries.get(&(talk.clone(), hit.entry.native_id.clone())));
            // Copies are shown once: a result that shows one of them counts for all.
            for session in std::iter::once(&hit.session).chain(&hit.also_in) {
                let label = sessions.get(&(talk.clone(), session.external_id.clone()));
                let label = label.cloned().unwrap_or_else(|| format!("other:{}", session.external_id));
                if !ranked_sessions.contains(&label) {
                    ranked_sessions.push(label);
                }
            }
        }
        writeln!(out, "{}", json!({"qid": text("qid"), "ranked": ranked, "ranked_sessions": ranked_sessions}))?;
    }
    Ok(out.flush()?)
}

/// The day and the time of a question, from `2023/05/20 (Sat) 02:21`; `None` if it has none.
fn asked_at(date: &str) -> Option<(String, Timestamp)> {
    let (day, rest) = date.split_once(' ')?;
    let day = day.replace('/', "-");
    let now = format!("{day}T{}:00Z", rest.rsplit(' ').next()?).parse().ok()?;
    Some((day, now))
}

type BenchmarkLabels = HashMap<(String, String), String>;

/// The benchmark's labels of entries and sessions.
fn labels(path: &Path) -> Result<(BenchmarkLabels, BenchmarkLabels), BoxError> {
    let (mut entries, mut sessions) = (HashMap::new(), HashMap::new());
    for line in fs::read_to_string(path)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        entries.insert((text("conv"), text("nativeId")), text("evidence"));
        sessions.insert((text("conv"), text("externalId")), text("session"));
    }
    Ok((entries, sessions))
}
