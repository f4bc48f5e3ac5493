//! Writes a synthetic home of transcripts and prints what it wrote. The same seed, the same bytes.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use rethread_bench::plan::{self, Kind, Transcript, Wish};
use rethread_bench::words::Words;
use rethread_bench::{claude, generator, parallel, pi};

const USAGE: &str = "usage: generate-home DEST --megabytes N --files M [--seed S]";

fn main() -> ExitCode {
    generator::run(USAGE, arguments(std::env::args().skip(1)), generate)
}

/// The home and the wish, or nothing if they cannot be understood.
fn arguments(mut given: impl Iterator<Item = String>) -> Option<(PathBuf, Wish)> {
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
    Some((home?, Wish { bytes, files: files?, seed }))
}

fn generate(home: &Path, wish: Wish) -> io::Result<serde_json::Value> {
    let start = Instant::now();
    let words = Words::new(wish.seed);
    let mut plans = plan::transcripts(wish, &words);
    // The largest first, so that no thread is left alone with one at the end.
    plans.sort_by_key(|plan| std::cmp::Reverse(plan.bytes));
    let bytes = parallel::sum(&plans, |plan| write_one(home, plan, &words))?;
    Ok(serde_json::json!({
        "files": plans.len(),
        "bytes": bytes,
        "seconds": start.elapsed().as_secs_f64(),
    }))
}

/// Writes one transcript, dated when its session ended.
fn write_one(home: &Path, plan: &Transcript, words: &Words) -> io::Result<u64> {
    let path = home.join(&plan.path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut sink = BufWriter::with_capacity(1 << 16, File::create(&path)?);
    let ended = match &plan.kind {
        Kind::Pi => pi::write(plan, words, &mut sink)?,
        Kind::Claude(_) => claude::write(plan, words, &mut sink)?,
        Kind::ClaudeAgent(agent) => {
            fs::write(path.with_extension("meta.json"), claude::sidecar(agent))?;
            claude::write(plan, words, &mut sink)?
        }
    };
    let file = sink.into_inner()?;
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(ended))?;
    Ok(file.metadata()?.len())
}
