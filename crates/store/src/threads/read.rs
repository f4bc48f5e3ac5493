//! Reading a log: every record that is whole, and where something is not.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use rethread_model::thread::Record;

use super::log::LONGEST_RECORD;

/// Bytes read at a time.
const WINDOW: usize = 64 * 1024;

/// A line that could not be read as a record. It is passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// Which line, counted from one.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
}

/// What a log holds.
#[derive(Clone, Debug, Default)]
pub struct LoggedRecords {
    /// All records in the order of the log.
    pub records: Vec<Record>,
    /// Lines that are none.
    pub problems: Vec<LineProblem>,
    /// Whether the last line was cut off; it was never acknowledged.
    pub is_torn: bool,
}

/// All records of a log.
pub(super) fn records(file: &File) -> io::Result<LoggedRecords> {
    let mut loaded = LoggedRecords::default();
    let mut number = 0;
    loaded.is_torn = each_line(file, 0, &mut |line| {
        number += 1;
        match Record::parse(line.trim_ascii_end()) {
            Ok(record) => loaded.records.push(record),
            // The newline that closes a torn end leaves nothing else on its line.
            Err(_) if line.trim_ascii().is_empty() => {}
            Err(error) => loaded.problems.push(LineProblem { line: number, reason: error.to_string() }),
        }
    })?;
    Ok(loaded)
}

/// Calls with every whole line from a position on, newline included; whether something without a newline follows.
pub(super) fn each_line(file: &File, from: u64, each: &mut dyn FnMut(&[u8])) -> io::Result<bool> {
    let mut file = file;
    file.seek(SeekFrom::Start(from))?;
    let mut reader = BufReader::with_capacity(WINDOW, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(false);
        }
        if line.last() != Some(&b'\n') {
            return Ok(true);
        }
        each(&line);
    }
}

/// The last whole line that ends at a position, if it is not longer than any record.
pub(super) fn line_before(file: &File, end: u64) -> io::Result<Option<Vec<u8>>> {
    let short = line_within(file, end, WINDOW)?;
    if short.is_some() { Ok(short) } else { line_within(file, end, LONGEST_RECORD) }
}

fn line_within(file: &File, end: u64, window: usize) -> io::Result<Option<Vec<u8>>> {
    let start = end.saturating_sub(window as u64);
    let mut bytes = vec![0; (end - start) as usize];
    let mut file = file;
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(&mut bytes)?;
    let Some((b'\n', before)) = bytes.split_last() else { return Ok(None) };
    let begin = before.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    Ok(match begin {
        Some(begin) => Some(before[begin..].to_vec()),
        None if start == 0 => Some(before.to_vec()),
        None => None,
    })
}
