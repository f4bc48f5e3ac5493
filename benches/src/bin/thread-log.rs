//! Measures appending to and reading thread logs, compared with a plain file, and prints the times.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use rethread_model::Timestamp;
use rethread_model::thread::{ChatRole, ContentBlock, ThreadId, ThreadMessage, ThreadMetadata, ThreadRecord};
use rethread_store::{ThreadLog, Threads};
use serde_json::{Value, json};

const USAGE: &str = "usage: thread-log DIR [--records N] [--appends N] [--rounds N]";
/// Parallel writers of one log.
const WRITERS: usize = 8;
/// Text of about the length of a real prompt.
const TEXT: &str = "The build is red since this morning: the linker does not find the new symbol. Which commit moved it, \
                    and what would have to change so that both targets see it again? Please look before you edit.";

type BoxError = Box<dyn std::error::Error>;

#[derive(Clone, Copy)]
struct ThreadLogOptions {
    records: u64,
    appends: usize,
    rounds: usize,
}

fn main() -> ExitCode {
    let Some((folder, options)) = parse_arguments(std::env::args().skip(1)) else {
        let _ = writeln!(io::stderr(), "error: invalid arguments\nhint: {USAGE}");
        return ExitCode::from(2);
    };
    match measure(&folder, options).and_then(|report| Ok(writeln!(io::stdout(), "{report}")?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(3)
        }
    }
}

/// Parses the folder and the options. `None` if they are invalid.
fn parse_arguments(mut given: impl Iterator<Item = String>) -> Option<(PathBuf, ThreadLogOptions)> {
    let (mut folder, mut options) = (None, ThreadLogOptions { records: 100_000, appends: 400, rounds: 5 });
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--records" => options.records = given.next()?.parse().ok()?,
            "--appends" => options.appends = given.next()?.parse().ok()?,
            "--rounds" => options.rounds = given.next()?.parse().ok()?,
            _ if argument.starts_with('-') || folder.is_some() => return None,
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    (options.records > 0 && options.appends >= WRITERS && options.rounds > 0).then_some((folder?, options))
}

fn measure(folder: &Path, options: ThreadLogOptions) -> Result<Value, BoxError> {
    let threads = Threads::in_folder(folder.join("threads"));
    let long = long_thread(&threads, options.records)?;
    let reading = measure_reading(&threads, long, options)?;
    let opening = measure_opening(&threads, long)?;
    let appending = measure_appends(folder, &threads, long, options)?;
    let together = measure_parallel_appends(&threads, options)?;
    Ok(json!({
        "records": options.records, "recordBytes": record(1).to_line().len(), "logBytes": fs::metadata(threads.log_file(long)?)?.len(),
        "append": appending, "open": opening, "read": reading, "together": together,
    }))
}

/// Creates a long thread, with a single fsync at the end.
fn long_thread(threads: &Threads, records: u64) -> Result<ThreadId, BoxError> {
    let id = new_thread(threads)?.id();
    let mut file = BufWriter::new(OpenOptions::new().append(true).open(threads.log_file(id)?)?);
    for seq in 1..=records {
        file.write_all(&record(seq).to_line())?;
    }
    file.into_inner()?.sync_all()?;
    Ok(id)
}

/// Alternates single appends to a plain file, a new thread and the long thread.
fn measure_appends(
    folder: &Path,
    threads: &Threads,
    long: ThreadId,
    options: ThreadLogOptions,
) -> Result<Value, BoxError> {
    let bare = OpenOptions::new().append(true).create_new(true).open(folder.join("bare"))?;
    let (empty, long) = (new_thread(threads)?, threads.open(long)?);
    // The first append scans the log, which `measure_opening` measures.
    append(&empty)?;
    append(&long)?;
    let (mut bare_us, mut empty_us, mut long_us) = (Vec::new(), Vec::new(), Vec::new());
    for seq in 0..options.appends as u64 {
        let line = record(options.records + seq).to_line();
        bare_us.push(micros(|| write_through(&bare, &line))?);
        empty_us.push(micros(|| append(&empty))?);
        long_us.push(micros(|| append(&long))?);
    }
    Ok(
        json!({"appends": options.appends, "bareUs": percentiles(bare_us), "emptyUs": percentiles(empty_us), "longUs": percentiles(long_us)}),
    )
}

/// The first append after opening: without and with the `metadata.json` that the previous append wrote.
fn measure_opening(threads: &Threads, long: ThreadId) -> Result<Value, BoxError> {
    let first = || -> Result<f64, BoxError> {
        let log = threads.open(long)?;
        Ok(micros(|| append(&log))? / 1e3)
    };
    Ok(json!({"firstAppendMs": first()?, "laterMs": first()?}))
}

/// Alternates reading all records of the long thread with `wc -l`.
fn measure_reading(threads: &Threads, long: ThreadId, options: ThreadLogOptions) -> Result<Value, BoxError> {
    let (mut read, mut counted) = (Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        let path = threads.log_file(long)?;
        counted.push(micros(|| {
            let done = Command::new("wc").arg("-l").arg(&path).stdout(Stdio::null()).status()?;
            if done.success() { Ok(()) } else { Err("wc failed".into()) }
        })?);
        let mut found = 0;
        read.push(micros(|| {
            found = threads.read(long)?.records.len() as u64;
            Ok(())
        })?);
        if found != options.records {
            return Err(format!("read {found} records, expected {}", options.records).into());
        }
    }
    Ok(json!({"readMs": median(read) / 1e3, "wcMs": median(counted) / 1e3}))
}

/// Alternates the same number of appends by one writer and by eight writers that share a log.
fn measure_parallel_appends(threads: &Threads, options: ThreadLogOptions) -> Result<Value, BoxError> {
    let (mut alone, mut shared) = (Vec::new(), Vec::new());
    let share = options.appends / WRITERS;
    for _ in 0..options.rounds {
        for (writers, rates) in [(1, &mut alone), (WRITERS, &mut shared)] {
            let log = new_thread(threads)?;
            append(&log)?;
            let each = share * WRITERS / writers;
            let took = micros(|| write_together(&log, writers, each))?;
            rates.push((share * WRITERS) as f64 / took * 1e6);
        }
    }
    Ok(json!({"writers": WRITERS, "alonePerSecond": median(alone), "togetherPerSecond": median(shared)}))
}

fn write_together(log: &ThreadLog, writers: usize, each: usize) -> Result<(), BoxError> {
    let work = || (0..each).try_for_each(|_| append(log)).map_err(|error| error.to_string());
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..writers).map(|_| scope.spawn(work)).collect();
        for thread in running {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(())
    })
}

fn new_thread(threads: &Threads) -> Result<ThreadLog, BoxError> {
    let now = Timestamp::from_millis(1_780_000_000_000);
    Ok(threads.create(&ThreadMetadata::new(ThreadId::generate(now), now))?)
}

fn append(log: &ThreadLog) -> Result<(), BoxError> {
    log.append(record(0))?;
    Ok(())
}

fn write_through(mut file: &File, line: &[u8]) -> Result<(), BoxError> {
    file.write_all(line)?;
    Ok(file.sync_data()?)
}

fn record(seq: u64) -> ThreadRecord {
    let now = Timestamp::from_millis(1_780_000_000_000 + seq as i64);
    let mut record = ThreadRecord::Message(ThreadMessage::new(ChatRole::User, vec![ContentBlock::text(TEXT)], now));
    record.set_seq(seq);
    record
}

fn micros(act: impl FnOnce() -> Result<(), BoxError>) -> Result<f64, BoxError> {
    let start = Instant::now();
    act()?;
    Ok(start.elapsed().as_secs_f64() * 1e6)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn percentiles(mut values: Vec<f64>) -> Value {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let at = |percent: usize| values.get(last * percent / 100).copied();
    json!({"p50": at(50), "p90": at(90), "p99": at(99), "max": at(100)})
}
