//! Writes a home of many short exchanges, and queries about them. The same seed, the same bytes.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use rethread_bench::talk::plan::{Plan, Wish, sessions};
use rethread_bench::talk::queries::queries;
use rethread_bench::talk::transcript;
use rethread_bench::talk::world::World;
use rethread_bench::{generator, parallel};

const USAGE: &str = "usage: generate-talk DEST --episodes N --sessions M [--seed S]";

fn main() -> ExitCode {
    generator::run(USAGE, arguments(std::env::args().skip(1)), generate)
}

/// The home and the wish, or nothing if they cannot be understood.
fn arguments(mut given: impl Iterator<Item = String>) -> Option<(PathBuf, Wish)> {
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
    (episodes > 0 && sessions > 0).then_some((home?, Wish { episodes, sessions, seed }))
}

fn generate(home: &Path, wish: Wish) -> io::Result<serde_json::Value> {
    let start = Instant::now();
    let world = World::new(wish.seed, wish.sessions);
    let plans = sessions(wish, &world);
    let bytes = parallel::sum(&plans, |plan| write_one(home, plan, &world))?;
    fs::write(home.join("queries.txt"), queries(&plans, &world, wish.seed).join("\n") + "\n")?;
    Ok(serde_json::json!({
        "files": plans.len(),
        "bytes": bytes,
        "episodes": wish.episodes,
        "seconds": start.elapsed().as_secs_f64(),
    }))
}

/// Writes one transcript, dated when its session ended.
fn write_one(home: &Path, plan: &Plan, world: &World) -> io::Result<u64> {
    let path = home.join(&plan.path);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut sink = BufWriter::with_capacity(1 << 16, File::create(&path)?);
    let ended = transcript::write(plan, world, &mut sink)?;
    let file = sink.into_inner()?;
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(ended))?;
    Ok(file.metadata()?.len())
}
