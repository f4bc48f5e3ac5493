//! The one way records become lines and lines become records.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::thread::{Compaction, Message, Record};

/// The version of the record shapes written here.
const SCHEMA_VERSION: u64 = 1;
/// How a message of ours begins.
const MESSAGE: &[u8] = br#"{"recordType":"message","#;
/// The fields every record opens with.
const HEADER: [&str; 2] = ["recordType", "schemaVersion"];

/// A line that is no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a record: {0}")]
pub struct BadRecord(pub String);

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "recordType")]
    record_type: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a, T> {
    record_type: &'static str,
    schema_version: u64,
    #[serde(flatten)]
    record: &'a T,
}

impl Message {
    /// As it stands in the log, for whoever writes it elsewhere.
    pub fn as_record(&self) -> impl Serialize + '_ {
        Line { record_type: "message", schema_version: SCHEMA_VERSION, record: self }
    }
}

impl Compaction {
    /// As it stands in the log, for whoever writes it elsewhere.
    pub fn as_record(&self) -> impl Serialize + '_ {
        Line { record_type: "compaction", schema_version: SCHEMA_VERSION, record: self }
    }
}

impl Record {
    /// Reads one line, without its newline.
    pub fn parse(line: &[u8]) -> Result<Record, BadRecord> {
        let bad = |error: serde_json::Error| BadRecord(error.to_string());
        // Nearly every line is a message of ours, and begins so.
        let kind = if line.starts_with(MESSAGE) {
            Kind { record_type: "message".to_owned() }
        } else {
            serde_json::from_slice(line).map_err(bad)?
        };
        match kind.record_type.as_str() {
            "message" => {
                let mut message: Message = serde_json::from_slice(line).map_err(bad)?;
                strip_header(&mut message.extra);
                Ok(Record::Message(message))
            }
            "compaction" => {
                let mut compaction: Compaction = serde_json::from_slice(line).map_err(bad)?;
                strip_header(&mut compaction.extra);
                Ok(Record::Compaction(compaction))
            }
            _ => serde_json::from_slice(line).map(Record::Other).map_err(bad),
        }
    }

    /// The line to append, with its newline.
    pub fn to_line(&self) -> Vec<u8> {
        let line = match self {
            Record::Message(message) => line("message", message),
            Record::Compaction(compaction) => line("compaction", compaction),
            Record::Other(fields) => serde_json::to_vec(fields),
        };
        // Writing into memory cannot fail, and every key is a text.
        let mut line = line.unwrap_or_default();
        line.push(b'\n');
        line
    }
}

fn line<T: Serialize>(record_type: &'static str, record: &T) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Line { record_type, schema_version: SCHEMA_VERSION, record })
}

/// What stands before the record's own fields is written anew each time.
fn strip_header(extra: &mut Map<String, Value>) {
    for field in HEADER {
        extra.shift_remove(field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str) -> Record {
        let record = Record::parse(line.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(record.to_line()).unwrap(), format!("{line}\n"));
        record
    }

    #[test]
    fn s004_04_to_06_records_have_the_shapes_of_the_design() {
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
    }

    #[test]
    fn what_newer_programs_write_survives() {
        check(r#"{"recordType":"hologram","schemaVersion":9,"seq":7,"z":1,"a":[2]}"#);
        check(concat!(
            r#"{"recordType":"message","schemaVersion":1,"seq":1,"role":"user","content":[{"type":"smell","of":"tea"}],"#,
            r#""timestamp":"2025-02-11T10:00:00.000Z","mood":{"b":1,"a":2}}"#
        ));
    }

    #[test]
    fn s7_12_a_bare_string_is_read_and_written_as_blocks() {
        let line = r#"{"recordType":"message","schemaVersion":1,"seq":1,"role":"user","content":"hi","timestamp":"2025-02-11T10:00:00Z"}"#;
        let record = Record::parse(line.as_bytes()).unwrap();
        assert!(String::from_utf8(record.to_line()).unwrap().contains(r#""content":[{"type":"text","text":"hi"}]"#));
    }

    #[test]
    fn what_is_no_record_is_told() {
        for line in ["", "{", "[]", "{}", r#"{"recordType":"message"}"#, "\u{0}"] {
            assert!(Record::parse(line.as_bytes()).is_err(), "{line:?}");
        }
    }
}
