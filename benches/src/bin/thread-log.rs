//! Appends to threads and reads them in one process, in turns with a bare file, and prints how long it took.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use rethread_model::Timestamp;
use rethread_model::thread::{Block, ChatRole, Message, Metadata, Record, ThreadId};
use rethread_store::{ThreadLog, Threads};
use serde_json::{Value, json};

const USAGE: &str = "usage: thread-log DIR [--records N] [--appends N] [--rounds N]";
/// Writers that share one log.
const WRITERS: usize = 8;
/// About as long as what people say.
const TEXT: &str = "The build is red since this morning: the linker does not find the new symbol. Which commit moved it, \
                    and what would have to change so that both targets see it again? Please look before you edit.";

type Failure = Box<dyn std::error::Error>;

/// How much is measured.
#[derive(Clone, Copy)]
struct Wish {
    records: u64,
    appends: usize,
    rounds: usize,
}

fn main() -> ExitCode {
    let Some((folder, wish)) = arguments(std::env::args().skip(1)) else {
        let _ = writeln!(io::stderr(), "error: arguments not understood\nhint: {USAGE}");
        return ExitCode::from(2);
    };
    match measure(&folder, wish).and_then(|report| Ok(writeln!(io::stdout(), "{report}")?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::from(3)
        }
    }
}

/// The folder and the wish, or nothing if they cannot be understood.
fn arguments(mut given: impl Iterator<Item = String>) -> Option<(PathBuf, Wish)> {
    let (mut folder, mut wish) = (None, Wish { records: 100_000, appends: 400, rounds: 5 });
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--records" => wish.records = given.next()?.parse().ok()?,
            "--appends" => wish.appends = given.next()?.parse().ok()?,
            "--rounds" => wish.rounds = given.next()?.parse().ok()?,
            _ if argument.starts_with('-') || folder.is_some() => return None,
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    (wish.records > 0 && wish.appends >= WRITERS && wish.rounds > 0).then_some((folder?, wish))
}

fn measure(folder: &Path, wish: Wish) -> Result<Value, Failure> {
    let threads = Threads::new(folder.join("threads"));
    let long = long_thread(&threads, wish.records)?;
    let reading = reading(&threads, long, wish)?;
    let opening = opening(&threads, long)?;
    let appending = appending(folder, &threads, long, wish)?;
    let together = together(&threads, wish)?;
    Ok(json!({
        "records": wish.records, "recordBytes": record(1).to_line().len(), "logBytes": fs::metadata(threads.log_path(long))?.len(),
        "append": appending, "open": opening, "read": reading, "together": together,
    }))
}

/// A thread of many records, written without waiting for the disk.
fn long_thread(threads: &Threads, records: u64) -> Result<ThreadId, Failure> {
    let id = new_thread(threads)?.id();
    let mut file = BufWriter::new(OpenOptions::new().append(true).open(threads.log_path(id))?);
    for seq in 1..=records {
        file.write_all(&record(seq).to_line())?;
    }
    file.into_inner()?.sync_all()?;
    Ok(id)
}

/// One append each to a bare file, to a thread that was empty and to the long one, in turns.
fn appending(folder: &Path, threads: &Threads, long: ThreadId, wish: Wish) -> Result<Value, Failure> {
    let bare = OpenOptions::new().append(true).create_new(true).open(folder.join("bare"))?;
    let (empty, long) = (new_thread(threads)?, threads.open(long)?);
    // The first append to each looks at the log, which is measured elsewhere.
    append(&empty)?;
    append(&long)?;
    let (mut bare_us, mut empty_us, mut long_us) = (Vec::new(), Vec::new(), Vec::new());
    for seq in 0..wish.appends as u64 {
        let line = record(wish.records + seq).to_line();
        bare_us.push(micros(|| write_through(&bare, &line))?);
        empty_us.push(micros(|| append(&empty))?);
        long_us.push(micros(|| append(&long))?);
    }
    Ok(
        json!({"appends": wish.appends, "bareUs": spread(bare_us), "emptyUs": spread(empty_us), "longUs": spread(long_us)}),
    )
}

/// The first append after opening: with nothing but the log, and with what the one before wrote down.
fn opening(threads: &Threads, long: ThreadId) -> Result<Value, Failure> {
    let first = || -> Result<f64, Failure> {
        let log = threads.open(long)?;
        Ok(micros(|| append(&log))? / 1e3)
    };
    Ok(json!({"firstAppendMs": first()?, "laterMs": first()?}))
}

/// All records of the long thread, in turns with `wc -l`.
fn reading(threads: &Threads, long: ThreadId, wish: Wish) -> Result<Value, Failure> {
    let (mut read, mut counted) = (Vec::new(), Vec::new());
    for _ in 0..wish.rounds {
        let path = threads.log_path(long);
        counted.push(micros(|| {
            let done = Command::new("wc").arg("-l").arg(&path).stdout(Stdio::null()).status()?;
            if done.success() { Ok(()) } else { Err("wc failed".into()) }
        })?);
        let mut found = 0;
        read.push(micros(|| {
            found = threads.read(long)?.records.len() as u64;
            Ok(())
        })?);
        if found != wish.records {
            return Err(format!("{found} records were read, not {}", wish.records).into());
        }
    }
    Ok(json!({"readMs": median(read) / 1e3, "wcMs": median(counted) / 1e3}))
}

/// As many appends by one writer as by eight that share the log, in turns.
fn together(threads: &Threads, wish: Wish) -> Result<Value, Failure> {
    let (mut alone, mut shared) = (Vec::new(), Vec::new());
    let share = wish.appends / WRITERS;
    for _ in 0..wish.rounds {
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

fn write_together(log: &ThreadLog, writers: usize, each: usize) -> Result<(), Failure> {
    let work = || (0..each).try_for_each(|_| append(log)).map_err(|error| error.to_string());
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..writers).map(|_| scope.spawn(work)).collect();
        for thread in running {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(())
    })
}

fn new_thread(threads: &Threads) -> Result<ThreadLog, Failure> {
    let now = Timestamp::from_millis(1_780_000_000_000);
    Ok(threads.create(&Metadata::new(ThreadId::draw(now), now))?)
}

fn append(log: &ThreadLog) -> Result<(), Failure> {
    log.append(record(0))?;
    Ok(())
}

fn write_through(mut file: &File, line: &[u8]) -> Result<(), Failure> {
    file.write_all(line)?;
    Ok(file.sync_data()?)
}

fn record(seq: u64) -> Record {
    let now = Timestamp::from_millis(1_780_000_000_000 + seq as i64);
    let mut record = Record::Message(Message::new(ChatRole::User, vec![Block::text(TEXT)], now));
    record.set_seq(seq);
    record
}

fn micros(act: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let start = Instant::now();
    act()?;
    Ok(start.elapsed().as_secs_f64() * 1e6)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

fn spread(mut values: Vec<f64>) -> Value {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let at = |percent: usize| values.get(last * percent / 100).copied();
    json!({"p50": at(50), "p90": at(90), "p99": at(99), "max": at(100)})
}
