//! Asks every question of a retrieval benchmark in one process and prints a run for its scorer.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rethread_engine::{Engine, Environment, Scope, SearchRequest, SyncRequest, Weights};
use serde_json::{Value, json};

const USAGE: &str = "usage: ask DEST QUESTIONS.jsonl [--without PART]… (DEST as written by as-transcripts.py)";

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let mut weights = Weights::default();
    let mut paths = Vec::new();
    let mut given = std::env::args().skip(1);
    while let Some(argument) = given.next() {
        match (argument.as_str(), given.next()) {
            ("--without", Some(part)) => weights = weights.without(&part),
            (_, next) => {
                paths.push(PathBuf::from(&argument));
                paths.extend(next.map(PathBuf::from));
            }
        }
    }
    let [home, questions] = paths.as_slice() else {
        let _ = writeln!(io::stderr(), "error: arguments not understood\nhint: {USAGE}");
        return ExitCode::from(2);
    };
    match ask(home, questions, &weights) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(3)
        }
    }
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
