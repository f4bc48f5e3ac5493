//! Converts records to log lines and back. The only code that does.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::thread::{Compaction, ThreadInjection, ThreadMessage, ThreadRecord, ThreadSettings};

/// Version of the record format written here.
const SCHEMA_VERSION: u64 = 1;
/// Start of every message line we write.
const MESSAGE_PREFIX: &[u8] = br#"{"recordType":"message","#;
/// The fields every record starts with.
const HEADER_FIELDS: [&str; 2] = ["recordType", "schemaVersion"];

/// The line is not a valid record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid record: {0}")]
pub struct InvalidRecord(pub String);

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
    /// Parses one line, without its newline.
    pub fn parse(line: &[u8]) -> Result<ThreadRecord, InvalidRecord> {
        let bad = |error: serde_json::Error| InvalidRecord(error.to_string());
        // Fast path: nearly every line is a message that we wrote.
        let kind = if line.starts_with(MESSAGE_PREFIX) {
            RecordHeader { record_type: "message".to_owned() }
        } else {
            serde_json::from_slice(line).map_err(bad)?
        };
        match kind.record_type.as_str() {
            "message" => {
                let mut message: ThreadMessage = serde_json::from_slice(line).map_err(bad)?;
                strip_header(&mut message.extra);
                Ok(ThreadRecord::Message(message))
            }
            "compaction" => {
                let mut compaction: Compaction = serde_json::from_slice(line).map_err(bad)?;
                strip_header(&mut compaction.extra);
                Ok(ThreadRecord::Compaction(compaction))
            }
            "injection" => {
                let mut injection: ThreadInjection = serde_json::from_slice(line).map_err(bad)?;
                strip_header(&mut injection.extra);
                Ok(ThreadRecord::Injection(injection))
            }
            "settings" => {
                let mut settings: ThreadSettings = serde_json::from_slice(line).map_err(bad)?;
                strip_header(&mut settings.extra);
                Ok(ThreadRecord::Settings(settings))
            }
            _ => serde_json::from_slice(line).map(ThreadRecord::Other).map_err(bad),
        }
    }

    /// Formats the record as a log line, with its newline.
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
        line.push(b'\n');
        line
    }
}

fn format_line<T: Serialize>(record_type: &'static str, record: &T) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&RecordLine { record_type, schema_version: SCHEMA_VERSION, record })
}

/// Removes the header fields, because they are written again with every record.
fn strip_header(extra: &mut Map<String, Value>) {
    for field in HEADER_FIELDS {
        extra.shift_remove(field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> ThreadRecord {
        let record = ThreadRecord::parse(line.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(record.to_line()).unwrap(), format!("{line}\n"));
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
