//! Reads a log: all complete records, and the lines that are not records.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};

use rethread_model::thread::{InvalidRecord, ThreadRecord};

use super::MAX_RECORD_BYTES;

/// Bytes read at a time.
pub(super) const BUFFER_BYTES: usize = 64 * 1024;

/// A line that is not a record. Readers skip it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadLineProblem {
    /// Line number, from 1.
    pub line: u64,
    /// Why it is not a record.
    pub reason: String,
    /// Whether an acknowledged record was damaged. Otherwise its writer was stopped, and it was never acknowledged.
    pub is_damage: bool,
}

/// The content of a log.
#[derive(Clone, Debug, Default)]
pub struct ThreadRecords {
    /// All records, in the order of the log.
    pub records: Vec<ThreadRecord>,
    /// Lines that are not records.
    pub problems: Vec<ThreadLineProblem>,
    /// Whether the last line is incomplete; it was never acknowledged.
    pub is_torn: bool,
}

pub(super) fn records(log: impl BufRead) -> io::Result<ThreadRecords> {
    let mut loaded = ThreadRecords::default();
    let mut number = 0;
    let torn = each_line(log, &mut |line| {
        number += 1;
        // Closing an incomplete end can leave a blank line.
        if line.trim_ascii().is_empty() {
            return;
        }
        let parsed = ThreadRecord::parse_line(line.trim_ascii_end());
        loaded.records.extend(parsed.records);
        loaded.problems.extend(parsed.problem.map(|problem| describe(number, &problem)));
    })?;
    if let Some(end) = torn {
        loaded.is_torn = true;
        // Only its line break is damaged, or the whole line: then it had been acknowledged.
        let problem = ThreadRecord::parse_line(&end).problem.filter(|problem| !problem.is_cut_off);
        loaded.problems.extend(problem.map(|problem| describe(number + 1, &problem)));
    }
    Ok(loaded)
}

/// The records of a log in memory, whose reading cannot fail.
pub(super) fn records_in(log: &[u8]) -> ThreadRecords {
    records(log).unwrap_or_default()
}

fn describe(line: u64, problem: &InvalidRecord) -> ThreadLineProblem {
    ThreadLineProblem { line, reason: problem.to_string(), is_damage: !problem.is_cut_off }
}

/// Calls `each` with every complete line, newline included. Returns the incomplete line that follows, if any.
pub(super) fn each_line(mut reader: impl BufRead, each: &mut dyn FnMut(&[u8])) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        if line.last() != Some(&b'\n') {
            return Ok(Some(line));
        }
        each(&line);
    }
}

/// The line that ends at a position, without its newline; None if it is longer than any record.
pub(super) fn line_before(file: &File, end: u64) -> io::Result<Option<Vec<u8>>> {
    let short = line_within(file, end, BUFFER_BYTES)?;
    if short.is_some() { Ok(short) } else { line_within(file, end, MAX_RECORD_BYTES) }
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
