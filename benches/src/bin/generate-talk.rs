//! Generates a home with many short episodes, and queries about them. The same seed gives the same bytes.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use rethread_bench::talk::plan::{TalkSessionPlan, TalkSpec, plan_sessions};
use rethread_bench::talk::queries::generate_queries;
use rethread_bench::talk::shared_content::TalkContent;
use rethread_bench::talk::transcript;
use rethread_bench::{generator, parallel};

const USAGE: &str = "usage: generate-talk DEST --episodes N --sessions M [--seed S]";

fn main() -> ExitCode {
    generator::run(USAGE, parse_arguments(std::env::args().skip(1)), generate)
}

/// Parses the arguments. `None` if they are invalid.
fn parse_arguments(mut given: impl Iterator<Item = String>) -> Option<(PathBuf, TalkSpec)> {
    let mut home = None;
    let (mut episodes, mut sessions, mut seed) = (None, None, 1);
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--episodes" => episodes = Some(given.next()?.parse().ok()?),
            "--sessions" => sessions = Some(given.next()?.parse().ok()?),
            "--seed" => seed = given.next()?.parse().ok()?,
            _ if argument.starts_with('-') || home.is_some() => return None,
            _ => home = Some(PathBuf::from(argument)),
        }
    }
    let (episodes, sessions): (usize, usize) = (episodes?, sessions?);
    (episodes > 0 && sessions > 0).then_some((home?, TalkSpec { episodes, sessions, seed }))
}

fn generate(home: &Path, spec: TalkSpec) -> io::Result<serde_json::Value> {
    let start = Instant::now();
    let content = TalkContent::new(spec.seed, spec.sessions);
    let plans = plan_sessions(spec, &content);
    let bytes = parallel::sum(&plans, |plan| write_one(home, plan, &content))?;
    fs::write(home.join("queries.txt"), generate_queries(&plans, &content, spec.seed).join("\n") + "\n")?;
    Ok(serde_json::json!({
        "files": plans.len(),
        "bytes": bytes,
        "episodes": spec.episodes,
        "seconds": start.elapsed().as_secs_f64(),
    }))
}

/// Writes one transcript and sets its modification time to the end of the session.
fn write_one(home: &Path, plan: &TalkSessionPlan, content: &TalkContent) -> io::Result<u64> {
    let path = home.join(&plan.path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut sink = BufWriter::with_capacity(1 << 16, File::create(&path)?);
    let ended = transcript::write(plan, content, &mut sink)?;
    let file = sink.into_inner()?;
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(ended))?;
    Ok(file.metadata()?.len())
}
