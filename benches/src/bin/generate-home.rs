//! Generates a synthetic home with transcripts and prints a report. The same seed gives the same bytes.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use rethread_bench::plan::{self, HomeSpec, TranscriptKind, TranscriptPlan};
use rethread_bench::vocabulary::Vocabulary;
use rethread_bench::{claude, generator, parallel, pi};

const USAGE: &str = "usage: generate-home DEST --megabytes N --files M [--seed S]";

fn main() -> ExitCode {
    generator::run(USAGE, parse_arguments(std::env::args().skip(1)), generate)
}

/// Parses the arguments. `None` if they are invalid.
fn parse_arguments(mut given: impl Iterator<Item = String>) -> Option<(PathBuf, HomeSpec)> {
    let mut home = None;
    let (mut megabytes, mut files, mut seed) = (None, None, 1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--megabytes" => megabytes = Some(given.next()?.parse::<u64>().ok()?),
            "--files" => files = Some(given.next()?.parse().ok()?),
            "--seed" => seed = given.next()?.parse().ok()?,
            _ if argument.starts_with('-') || home.is_some() => return None,
            _ => home = Some(PathBuf::from(argument)),
        }
    }
    let bytes = megabytes?.checked_mul(1_000_000)?;
    Some((home?, HomeSpec { bytes, files: files?, seed }))
}

fn generate(home: &Path, spec: HomeSpec) -> io::Result<serde_json::Value> {
    let start = Instant::now();
    let words = Vocabulary::new(spec.seed);
    let mut plans = plan::plan_transcripts(spec, &words);
    // Largest first, so that no single large file delays the end.
    plans.sort_by_key(|plan| std::cmp::Reverse(plan.bytes));
    let bytes = parallel::sum(&plans, |plan| write_one(home, plan, &words))?;
    Ok(serde_json::json!({
        "files": plans.len(),
        "bytes": bytes,
        "seconds": start.elapsed().as_secs_f64(),
    }))
}

/// Writes one transcript and sets its modification time to the end of the session.
fn write_one(home: &Path, plan: &TranscriptPlan, words: &Vocabulary) -> io::Result<u64> {
    let path = home.join(&plan.path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut sink = BufWriter::with_capacity(1 << 16, File::create(&path)?);
    let ended = match &plan.kind {
        TranscriptKind::Pi => pi::write(plan, words, &mut sink)?,
        TranscriptKind::Claude(_) => claude::write(plan, words, &mut sink)?,
        TranscriptKind::ClaudeAgent(agent) => {
            fs::write(path.with_extension("meta.json"), claude::subagent_meta(agent))?;
            claude::write(plan, words, &mut sink)?
        }
    };
    let file = sink.into_inner()?;
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(ended))?;
    Ok(file.metadata()?.len())
}
