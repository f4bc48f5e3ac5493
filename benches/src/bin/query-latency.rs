//! Runs the queries of a file repeatedly in one process and prints how long they took.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use rethread_engine::{Engine, Environment, SearchRequest, SessionScope};
use serde_json::{Value, json};

const USAGE: &str = "usage: query-latency HOME QUERIES.txt [--rounds N] (HOME after `rethread sync`)";
const LIMIT: usize = 10;

type BoxError = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let Some((home, queries, rounds)) = parse_arguments(std::env::args().skip(1)) else {
        let _ = writeln!(io::stderr(), "error: invalid arguments\nhint: {USAGE}");
        return ExitCode::from(2);
    };
    let measured = measure(&home, &queries, rounds);
    match measured.and_then(|report| Ok(writeln!(io::stdout(), "{report}")?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(3)
        }
    }
}

/// Parses home, queries and rounds. `None` if they are invalid.
fn parse_arguments(mut given: impl Iterator<Item = String>) -> Option<(PathBuf, PathBuf, usize)> {
    let (mut paths, mut rounds) = (Vec::new(), 5);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--rounds" => rounds = given.next()?.parse().ok().filter(|rounds| *rounds > 0)?,
            _ if argument.starts_with('-') => return None,
            _ => paths.push(PathBuf::from(argument)),
        }
    }
    let [home, queries] = <[PathBuf; 2]>::try_from(paths).ok()?;
    Some((home, queries, rounds))
}

/// Timings and hits of all queries with the same number of words.
#[derive(Default)]
struct QueryShapeStats {
    queries: usize,
    milliseconds: Vec<f64>,
    hits: usize,
    without_hits: usize,
}

fn measure(home: &Path, queries: &Path, rounds: usize) -> Result<Value, BoxError> {
    let text = fs::read_to_string(queries)?;
    let queries: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let start = Instant::now();
    let engine = Engine::open(Environment::for_home(home))?;
    let mut searched = 0;
    let (mut first, mut shapes) = (None, BTreeMap::<String, QueryShapeStats>::new());
    // The first round fills caches and counts hits; it is not timed.
    for query in &queries {
        let report = engine.search().run(&request(query))?;
        first.get_or_insert_with(|| start.elapsed().as_secs_f64() * 1e3);
        searched = report.searched;
        let shape = shapes.entry(shape_name(query)).or_default();
        shape.queries += 1;
        shape.hits += report.hits.len();
        shape.without_hits += usize::from(report.hits.is_empty());
    }
    if searched == 0 {
        return Err(format!("nothing is stored in {}; run `rethread sync` there", home.display()).into());
    }
    for query in queries.iter().cycle().take(queries.len() * rounds) {
        let request = request(query);
        let asked = Instant::now();
        engine.search().run(&request)?;
        let took = asked.elapsed().as_secs_f64() * 1e3;
        shapes.entry(shape_name(query)).or_default().milliseconds.push(took);
    }
    let all = shapes.values().flat_map(|shape| shape.milliseconds.clone()).collect();
    let by: BTreeMap<&str, Value> = shapes.iter().map(|(name, shape)| (name.as_str(), shape_json(shape))).collect();
    Ok(json!({
        "queries": queries.len(), "rounds": rounds, "entries": searched, "firstMs": first,
        "hits": shapes.values().map(|shape| shape.hits).sum::<usize>(), "ms": percentiles(all), "byWords": by,
    }))
}

fn request(query: &str) -> SearchRequest {
    SearchRequest { text: query.to_owned(), scope: SessionScope::AllProjects, limit: LIMIT, ..SearchRequest::default() }
}

/// The number of words of a query, or `phrase` for a quoted one.
fn shape_name(query: &str) -> String {
    if query.starts_with('"') { "phrase".to_owned() } else { query.split_whitespace().count().to_string() }
}

fn shape_json(shape: &QueryShapeStats) -> Value {
    let per_query = shape.hits as f64 / shape.queries.max(1) as f64;
    json!({
        "queries": shape.queries, "ms": percentiles(shape.milliseconds.clone()),
        "hitsPerQuery": per_query, "withoutHits": shape.without_hits,
    })
}

fn percentiles(mut milliseconds: Vec<f64>) -> Value {
    milliseconds.sort_by(f64::total_cmp);
    let last = milliseconds.len().saturating_sub(1);
    let at = |percent: usize| milliseconds.get(last * percent / 100).copied();
    json!({"p50": at(50), "p90": at(90), "p99": at(99), "max": at(100)})
}
