//! Converts records to log lines and back. The only code that does.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::thread::checksum::{self, LineChecksum};
use crate::thread::{Compaction, ThreadInjection, ThreadMessage, ThreadRecord, ThreadSettings};

/// Version of the record format written here.
const SCHEMA_VERSION: u64 = 1;
/// Start of every line we write. Inside a JSON string its quotes would be escaped.
const RECORD_PREFIX: &[u8] = br#"{"recordType":""#;
/// Start of every message line we write.
const MESSAGE_PREFIX: &[u8] = br#"{"recordType":"message","#;
/// The fields every record starts with.
const HEADER_FIELDS: [&str; 2] = ["recordType", "schemaVersion"];

/// The line is not a valid record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid record: {reason}")]
pub struct InvalidRecord {
    /// Why it cannot be read.
    pub reason: String,
    /// Whether the line ends in the middle of a record: its writer was stopped, and it was never acknowledged.
    pub is_cut_off: bool,
}

/// What a line of a log holds.
#[derive(Clone, Debug, Default)]
pub struct ThreadLine {
    /// One record, or several if the line breaks between them are damaged.
    pub records: Vec<ThreadRecord>,
    /// What is wrong with the line, if anything.
    pub problem: Option<InvalidRecord>,
}

impl ThreadLine {
    /// How many record numbers the line uses up: a number that was acknowledged is never given again, also if its
    /// record can no longer be read.
    pub fn used_numbers(&self, line: &[u8]) -> u64 {
        match &self.problem {
            Some(problem) if !problem.is_cut_off => record_starts(line).count().max(1) as u64,
            _ => 0,
        }
    }
}

#[derive(Deserialize)]
struct RecordHeader {
    #[serde(rename = "recordType")]
    record_type: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RecordLine<'a, T> {
    record_type: &'static str,
    schema_version: u64,
    #[serde(flatten)]
    record: &'a T,
}

impl ThreadMessage {
    /// The message in its log format, for serializing it elsewhere.
    pub fn as_record(&self) -> impl Serialize + '_ {
        RecordLine { record_type: "message", schema_version: SCHEMA_VERSION, record: self }
    }
}

impl Compaction {
    /// The compaction in its log format, for serializing it elsewhere.
    pub fn as_record(&self) -> impl Serialize + '_ {
        RecordLine { record_type: "compaction", schema_version: SCHEMA_VERSION, record: self }
    }
}

impl ThreadInjection {
    /// The injection in its log format, for serializing it elsewhere.
    pub fn as_record(&self) -> impl Serialize + '_ {
        RecordLine { record_type: "injection", schema_version: SCHEMA_VERSION, record: self }
    }
}

impl ThreadSettings {
    /// The settings in their log format, for serializing them elsewhere.
    pub fn as_record(&self) -> impl Serialize + '_ {
        RecordLine { record_type: "settings", schema_version: SCHEMA_VERSION, record: self }
    }
}

impl ThreadRecord {
    /// Parses a line of a log, without its newline, and saves what a damaged line break leaves readable.
    pub fn parse_line(line: &[u8]) -> ThreadLine {
        match Self::parse(line) {
            Ok(record) => ThreadLine { records: vec![record], problem: None },
            Err(problem) => ThreadLine { records: records_around_damaged_breaks(line), problem: Some(problem) },
        }
    }

    /// Whether a line is as it was written, as far as its checksum shows.
    pub fn check_line(line: &[u8]) -> Result<(), InvalidRecord> {
        match checksum::check(line) {
            LineChecksum::Wrong => {
                Err(InvalidRecord { reason: "its checksum does not match".to_owned(), is_cut_off: false })
            }
            LineChecksum::Absent | LineChecksum::Correct => Ok(()),
        }
    }

    /// Parses one line, without its newline.
    pub fn parse(line: &[u8]) -> Result<ThreadRecord, InvalidRecord> {
        Self::check_line(line)?;
        let bad = |error: serde_json::Error| InvalidRecord {
            reason: error.to_string(),
            is_cut_off: error.is_eof() && !checksum::was_written_whole(line),
        };
        let has_checksum = checksum::check(line) == LineChecksum::Correct;
        // Fast path: nearly every line is a message that we wrote.
        let kind = if line.starts_with(MESSAGE_PREFIX) {
            RecordHeader { record_type: "message".to_owned() }
        } else {
            serde_json::from_slice(line).map_err(bad)?
        };
        match kind.record_type.as_str() {
            "message" => {
                let mut message: ThreadMessage = serde_json::from_slice(line).map_err(bad)?;
                strip_header(&mut message.extra, has_checksum);
                Ok(ThreadRecord::Message(message))
            }
            "compaction" => {
                let mut compaction: Compaction = serde_json::from_slice(line).map_err(bad)?;
                strip_header(&mut compaction.extra, has_checksum);
                Ok(ThreadRecord::Compaction(compaction))
            }
            "injection" => {
                let mut injection: ThreadInjection = serde_json::from_slice(line).map_err(bad)?;
                strip_header(&mut injection.extra, has_checksum);
                Ok(ThreadRecord::Injection(injection))
            }
            "settings" => {
                let mut settings: ThreadSettings = serde_json::from_slice(line).map_err(bad)?;
                strip_header(&mut settings.extra, has_checksum);
                Ok(ThreadRecord::Settings(settings))
            }
            _ => {
                let mut fields: Map<String, Value> = serde_json::from_slice(line).map_err(bad)?;
                if has_checksum {
                    fields.shift_remove(checksum::FIELD);
                }
                Ok(ThreadRecord::Other(fields))
            }
        }
    }

    /// Formats the record as a log line, with its checksum and its newline.
    pub fn to_line(&self) -> Vec<u8> {
        let line = match self {
            ThreadRecord::Message(message) => format_line("message", message),
            ThreadRecord::Compaction(compaction) => format_line("compaction", compaction),
            ThreadRecord::Injection(injection) => format_line("injection", injection),
            ThreadRecord::Settings(settings) => format_line("settings", settings),
            ThreadRecord::Other(fields) => serde_json::to_vec(fields),
        };
        // Writing to memory cannot fail, and every key is a string.
        let mut line = line.unwrap_or_default();
        checksum::add(&mut line);
        line.push(b'\n');
        line
    }
}

fn format_line<T: Serialize>(record_type: &'static str, record: &T) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&RecordLine { record_type, schema_version: SCHEMA_VERSION, record })
}

/// Removes the header fields and the checksum, because they are written again with every record.
fn strip_header(extra: &mut Map<String, Value>, has_checksum: bool) {
    let checksum = has_checksum.then_some(checksum::FIELD);
    for field in HEADER_FIELDS.into_iter().chain(checksum) {
        extra.shift_remove(field);
    }
}

/// The records of a line whose end, or whose breaks between records, were damaged. Only records that their checksum
/// confirms.
fn records_around_damaged_breaks(line: &[u8]) -> Vec<ThreadRecord> {
    let starts: Vec<usize> = record_starts(line).collect();
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    let pieces = starts.iter().zip(ends).map(|(start, end)| &line[*start..end]);
    let whole = |piece: &&[u8]| checksum::check(piece) == LineChecksum::Correct;
    pieces
        .filter_map(|piece| {
            let without_break = piece.split_last().map_or(piece, |(_, rest)| rest);
            let confirmed = [piece, without_break].into_iter().find(whole)?;
            ThreadRecord::parse(confirmed).ok()
        })
        .collect()
}

fn record_starts(line: &[u8]) -> impl Iterator<Item = usize> {
    line.windows(RECORD_PREFIX.len()).enumerate().filter(|(_, part)| *part == RECORD_PREFIX).map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> ThreadRecord {
        let record = ThreadRecord::parse(line.as_bytes()).unwrap();
        let mut expected = line.as_bytes().to_vec();
        checksum::add(&mut expected);
        expected.push(b'\n');
        assert_eq!(String::from_utf8(record.to_line()).unwrap(), String::from_utf8(expected.clone()).unwrap());
        assert_eq!(ThreadRecord::parse(expected.trim_ascii_end()).unwrap(), record, "the checksum is no field");
        record
    }

    #[test]
    fn records_have_the_documented_format() {
        // S004-04, S004-05, S004-06
        check(concat!(
            r#"{"recordType":"message","schemaVersion":1,"seq":1,"role":"user","#,
            r#""content":[{"type":"text","text":"What pods are running?"}],"timestamp":"2025-02-11T10:00:00.000Z"}"#
        ));
        check(concat!(
            r#"{"recordType":"message","schemaVersion":1,"seq":2,"role":"assistant","content":[{"type":"text","text":"x"},"#,
            r#"{"type":"toolCall","id":"tc_1","name":"bash","arguments":{"command":"ls","a":1}}],"#,
            r#""timestamp":"2025-02-11T10:00:01.000Z"}"#
        ));
        check(concat!(
            r#"{"recordType":"message","schemaVersion":1,"seq":3,"role":"toolResult","content":[],"toolCallId":"tc_1","#,
            r#""toolName":"bash","isError":false,"timestamp":"2025-02-11T10:00:02.000Z"}"#
        ));
        check(concat!(
            r#"{"recordType":"compaction","schemaVersion":1,"seq":4,"firstKeptSeq":3,"summary":"s","tokensBefore":9,"#,
            r#""readFiles":["a"],"modifiedFiles":[],"timestamp":"2025-02-11T10:00:03.000Z"}"#
        ));
        check(concat!(
            r#"{"recordType":"injection","schemaVersion":1,"seq":4,"text":"<x>","sections":["activity"],"#,
            r#""runId":"r","timestamp":"2025-02-11T10:00:03.000Z"}"#
        ));
        check(concat!(
            r#"{"recordType":"settings","schemaVersion":1,"seq":4,"name":"pods","nameFrom":"user","model":"small","#,
            r#""source":"cron","cronJobId":"nightly","systemPromptOverride":"Be brief.","details":{"notesOf":"/p"},"#,
            r#""timestamp":"2025-02-11T10:00:04.000Z"}"#
        ));
    }

    #[test]
    fn unknown_records_and_fields_are_preserved() {
        check(r#"{"recordType":"hologram","schemaVersion":9,"seq":7,"z":1,"a":[2]}"#);
        check(concat!(
            r#"{"recordType":"message","schemaVersion":1,"seq":1,"role":"user","content":[{"type":"smell","of":"tea"}],"#,
            r#""timestamp":"2025-02-11T10:00:00.000Z","mood":{"b":1,"a":2}}"#
        ));
    }

    #[test]
    fn bare_string_content_is_read_and_written_as_blocks() {
        // S7.12
        let line = r#"{"recordType":"message","schemaVersion":1,"seq":1,"role":"user","content":"hi","timestamp":"2025-02-11T10:00:00Z"}"#;
        let record = ThreadRecord::parse(line.as_bytes()).unwrap();
        assert!(String::from_utf8(record.to_line()).unwrap().contains(r#""content":[{"type":"text","text":"hi"}]"#));
    }

    #[test]
    fn invalid_records_are_rejected() {
        for line in ["", "{", "[]", "{}", r#"{"recordType":"message"}"#, "\u{0}"] {
            assert!(ThreadRecord::parse(line.as_bytes()).is_err(), "{line:?}");
        }
    }
}
