//! Reads one transcript from where it was left and turns its lines into events, a chunk at a time.

use std::fs::File;
use std::io::{Seek, SeekFrom};

use rethread_ingest::source::file::{self, Stamp};
use rethread_ingest::source::lines::Lines;
use rethread_ingest::{Event, Filter, Findings, Parser, Redactor, What};
use rethread_store::Cursor;

use super::plan::{Job, Start, fingerprint, hashes_of};

/// A chunk ends at the first line border past this many bytes of transcript.
const CHUNK_BYTES: u64 = 4 << 20;

/// A part of a transcript, read.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    /// What the lines say.
    pub(crate) events: Vec<Event>,
    /// Lines that could not be read.
    pub(crate) problems: Vec<(u64, String)>,
    /// Where the next chunk begins.
    pub(crate) cursor: Cursor,
    /// Bytes of the lines in it.
    pub(crate) bytes: u64,
    /// Secrets removed.
    pub(crate) findings: Findings,
    /// Set on the first chunk when the file must be taken as new.
    pub(crate) anew: bool,
    /// Set on the last chunk: the file as it was when it was opened.
    pub(crate) finished: Option<Stamp>,
}

/// Reads the transcript of a job. `send` returns false when nobody wants the rest.
pub(crate) fn read(
    job: &Job,
    filter: &Filter,
    redactor: &Redactor,
    send: &mut dyn FnMut(Chunk) -> bool,
) -> std::io::Result<()> {
    let (mut file, stamp) = file::open(&job.path)?;
    let (cursor, anew) = beginning(job, &file, stamp);
    file.seek(SeekFrom::Start(cursor.offset))?;
    let mut parser = Parser::new(job.agent, filter, redactor);
    let mut lines = Lines::new(&file, cursor.offset, cursor.line, stamp.size.saturating_sub(cursor.offset));
    let mut chunk = Chunk { cursor, anew, ..Chunk::default() };
    while let Some(line) = lines.next_line()? {
        if line.given_up {
            let megabytes = line.place.length >> 20;
            chunk.problems.push((line.place.line, format!("{megabytes} MB on one line; the line was skipped")));
        } else if line.terminated {
            let parsed = parser.line(line.bytes, line.place);
            chunk.events.extend(parsed.events);
            chunk.problems.extend(parsed.problem.map(|problem| (line.place.line, problem)));
        } else {
            // The last line has no newline yet. If it is a whole object it is taken in, but the cursor stays before
            // it: it will be met again and recognised. Steps of the queue have no id to be recognised by.
            let parsed = parser.line(line.bytes, line.place);
            chunk.events.extend(parsed.events.into_iter().filter(|event| !matches!(event.what, What::Queue(_))));
            break;
        }
        chunk.bytes += line.end() - line.place.offset;
        chunk.cursor.offset = line.end();
        chunk.cursor.line = line.place.line;
        if chunk.bytes >= CHUNK_BYTES {
            let cursor = seal(&file, &mut chunk, &mut parser)?;
            if !send(std::mem::replace(&mut chunk, Chunk { cursor, ..Chunk::default() })) {
                return Ok(());
            }
        }
    }
    seal(&file, &mut chunk, &mut parser)?;
    chunk.finished = Some(stamp);
    send(chunk);
    Ok(())
}

/// Where to begin, and whether what was stored of the file must go.
fn beginning(job: &Job, file: &File, stamp: Stamp) -> (Cursor, bool) {
    match &job.start {
        Start::New(_) => (Cursor::default(), false),
        Start::Again(_) => (Cursor::default(), true),
        // After a reset there is nothing to compare with.
        Start::Known(row) if row.cursor.offset == 0 => (Cursor::default(), false),
        Start::Known(row) => {
            let same_file = row.fingerprint.inode == 0 || row.fingerprint.inode == fingerprint(stamp).inode;
            let grown = file::has_only_grown(file, stamp.size, row.cursor.offset, hashes_of(&row.cursor));
            if same_file && grown { (row.cursor, false) } else { (Cursor::default(), true) }
        }
    }
}

/// Completes a chunk with what is known at its end.
fn seal(file: &File, chunk: &mut Chunk, parser: &mut Parser<'_>) -> std::io::Result<Cursor> {
    let hashes = file::hashes(file, chunk.cursor.offset)?;
    chunk.cursor.head_hash = hashes.head;
    chunk.cursor.tail_hash = hashes.tail;
    chunk.findings = parser.take_findings();
    Ok(chunk.cursor)
}
