//! Reads one transcript from its stored position and parses its lines into events, chunk by chunk.

use rethread_ingest::source::file::FileStamp;
use rethread_ingest::source::{TranscriptReader, TranscriptRecords};
use rethread_ingest::{EventBody, RedactionFindings, Redactor, TranscriptEvent, TranscriptFilter, TranscriptParser};
use rethread_model::Agent;
use rethread_store::ReadCursor;

use super::plan::{JobStart, TranscriptJob, read_position};

/// A chunk ends at the first line end after this many bytes.
const CHUNK_BYTES: u64 = 4 << 20;

/// A parsed part of a transcript.
#[derive(Debug, Default)]
pub(crate) struct TranscriptChunk {
    pub(crate) events: Vec<TranscriptEvent>,
    /// Line number and message of lines that could not be read.
    pub(crate) problems: Vec<(u64, String)>,
    /// Where the next chunk starts.
    pub(crate) cursor: ReadCursor,
    pub(crate) bytes: u64,
    /// Secrets removed, counted by rule.
    pub(crate) findings: RedactionFindings,
    /// Set on the first chunk if the file must be read again from the start: what was stored of it is deleted first.
    pub(crate) is_reread: bool,
    /// Set with `is_reread` if the file has another content than before.
    pub(crate) is_replaced: bool,
    /// Set on the last chunk: size, inode and time of the file when it was opened.
    pub(crate) final_stamp: Option<FileStamp>,
}

/// Reads the transcript of a job. `send` returns false if the receiver is gone.
pub(crate) fn read_transcript(
    job: &TranscriptJob,
    filter: &TranscriptFilter,
    redactor: &Redactor,
    send: &mut dyn FnMut(TranscriptChunk) -> bool,
) -> std::io::Result<()> {
    let transcript = TranscriptReader::open(job.agent, &job.path)?;
    let FileStart { cursor, is_reread, is_replaced } = start_position(job, &transcript);
    let mut parser = TranscriptParser::new(transcript.layout, filter, redactor);
    let mut records = transcript.records(read_position(&cursor))?;
    let mut chunk = TranscriptChunk { cursor, is_reread, is_replaced, ..TranscriptChunk::default() };
    if let Some(header) = transcript.header() {
        // It can change with any record, so it is read each time.
        chunk.events = parser.parse_header(header);
    }
    while let Some(line) = records.next_line()? {
        if line.is_skipped {
            let megabytes = line.location.length >> 20;
            chunk.problems.push((line.location.line, format!("line of {megabytes} MB skipped")));
        } else if line.has_newline {
            let parsed = parser.parse_line(line.bytes, line.location);
            chunk.events.extend(parsed.events);
            chunk.problems.extend(parsed.problem.map(|problem| (line.location.line, problem)));
        } else {
            // The line has no newline yet, or the row is being written. What is whole of it is used, but the cursor
            // stays before it: it will be read again and recognized by its id. Queue events have no id, so they wait.
            let parsed = parser.parse_line(line.bytes, line.location);
            let whole = parsed.events.into_iter().filter(|_| parsed.problem.is_none());
            chunk.events.extend(whole.filter(|event| !matches!(event.body, EventBody::Queue(_))));
        }
        if line.has_newline || (line.is_skipped && transcript.only_grows()) {
            chunk.bytes += line.end() - line.location.offset;
            chunk.cursor.offset = line.end();
            chunk.cursor.lines = line.location.line;
        }
        if chunk.bytes >= CHUNK_BYTES {
            let cursor = finish_chunk(&records, &mut chunk, &mut parser)?;
            if !send(std::mem::replace(&mut chunk, TranscriptChunk { cursor, ..TranscriptChunk::default() })) {
                return Ok(());
            }
        }
    }
    finish_chunk(&records, &mut chunk, &mut parser)?;
    chunk.final_stamp = Some(transcript.stamp);
    send(chunk);
    Ok(())
}

/// Where to start reading a file.
#[derive(Default)]
struct FileStart {
    cursor: ReadCursor,
    /// What was stored of the file must be deleted first.
    is_reread: bool,
    /// What was stored of the file is not in it any more.
    is_replaced: bool,
}

fn start_position(job: &TranscriptJob, transcript: &TranscriptReader) -> FileStart {
    let from_start = FileStart::default();
    match &job.start {
        JobStart::New(_) => from_start,
        JobStart::Reread(_) => FileStart { is_reread: true, ..from_start },
        // After a reset there is nothing to compare with.
        JobStart::Known(row) if row.cursor.offset == 0 => from_start,
        JobStart::Known(row) => {
            let grown = transcript.has_only_grown(&read_position(&row.cursor));
            // Our own logs are never replaced, and nodes that share a thread have copies of it.
            let is_same = job.agent == Agent::Native || transcript.is_same_file(row.fingerprint.inode);
            if is_same && grown {
                FileStart { cursor: row.cursor, ..from_start }
            } else {
                FileStart { is_reread: true, is_replaced: !grown && transcript.only_grows(), ..from_start }
            }
        }
    }
}

/// Completes a chunk with the hashes and redactions up to its end.
fn finish_chunk(
    records: &TranscriptRecords<'_>,
    chunk: &mut TranscriptChunk,
    parser: &mut TranscriptParser<'_>,
) -> std::io::Result<ReadCursor> {
    let hashes = records.hashes(chunk.cursor.offset)?;
    chunk.cursor.head_hash = hashes.head;
    chunk.cursor.tail_hash = hashes.tail;
    chunk.findings = parser.take_findings();
    Ok(chunk.cursor)
}
