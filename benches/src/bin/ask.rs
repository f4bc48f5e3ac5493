//! Asks every question of a retrieval benchmark in one process and prints a run for its scorer.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rethread_engine::{Engine, Environment, Scope, SearchRequest, SyncRequest, Weights};
use rethread_recall::{TABLE, Weight};
use serde_json::{Value, json};

const USAGE: &str =
    "usage: ask DEST QUESTIONS.jsonl [--without PART]… (DEST as written by as-transcripts.py), or ask --parts";

type Failure = Box<dyn std::error::Error>;

/// What is to be done.
enum Wish {
    Ask { home: PathBuf, questions: PathBuf, weights: Weights },
    Parts,
}

fn main() -> ExitCode {
    let Some(wish) = arguments(std::env::args().skip(1)) else {
        let _ = writeln!(io::stderr(), "error: arguments not understood\nhint: {USAGE}");
        return ExitCode::from(2);
    };
    let done = match &wish {
        Wish::Ask { home, questions, weights } => ask(home, questions, weights),
        Wish::Parts => parts(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(3)
        }
    }
}

/// The wish, or nothing if it cannot be understood; a part that does not exist cannot.
fn arguments(mut given: impl Iterator<Item = String>) -> Option<Wish> {
    let (mut weights, mut paths) = (Weights::default(), Vec::new());
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--parts" => return Some(Wish::Parts),
            "--without" => {
                let part = given.next().filter(|part| TABLE.iter().any(|line| line.part == part))?;
                weights = weights.without(&part);
            }
            _ if argument.starts_with('-') => return None,
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    let [home, questions] = <[PathBuf; 2]>::try_from(paths).ok()?;
    Some(Wish::Ask { home, questions, weights })
}

/// Prints the table of parts, for `--without`.
fn parts() -> Result<(), Failure> {
    let line = |line: &Weight| json!({"part": line.part, "weight": line.weight, "meaning": line.meaning});
    let table: Vec<Value> = TABLE.iter().map(line).collect();
    Ok(writeln!(io::stdout(), "{}", Value::from(table))?)
}

fn ask(home: &Path, questions: &Path, weights: &Weights) -> Result<(), Failure> {
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
            engine.sync(&SyncRequest::default(), &mut |_| {})?;
            engines.insert(folder.clone(), engine);
        }
        let request =
            SearchRequest { text: text("question"), scope: Scope::AllProjects, limit: 50, ..SearchRequest::default() };
        let report = engines[&folder].search_with(&request, weights)?;
        let (mut ranked, mut ranked_sessions) = (Vec::new(), Vec::new());
        for recalled in &report.hits {
            let hit = &recalled.hit;
            ranked.extend(entries.get(&(talk.clone(), hit.entry.native_id.clone())));
            let session = sessions.get(&(talk.clone(), hit.session.external_id.clone()));
            let session = session.cloned().unwrap_or_else(|| format!("other:{}", hit.session.external_id));
            if !ranked_sessions.contains(&session) {
                ranked_sessions.push(session);
            }
        }
        writeln!(out, "{}", json!({"qid": text("qid"), "ranked": ranked, "ranked_sessions": ranked_sessions}))?;
    }
    Ok(out.flush()?)
}

type Labels = HashMap<(String, String), String>;

/// What the benchmark calls the entries and sessions.
fn labels(path: &Path) -> Result<(Labels, Labels), Failure> {
    let (mut entries, mut sessions) = (HashMap::new(), HashMap::new());
    for line in fs::read_to_string(path)?.lines() {
        let row: Value = serde_json::from_str(line)?;
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        entries.insert((text("conv"), text("nativeId")), text("evidence"));
        sessions.insert((text("conv"), text("externalId")), text("session"));
    }
    Ok((entries, sessions))
}
