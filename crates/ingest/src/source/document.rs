//! A session that is read as a whole: a header and records, from a JSON file or from whatever an agent's loader reads.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::Path;

use serde_json::value::RawValue;

use super::file;

/// Larger documents are not read.
const MAX_BYTES: u64 = 256 << 20;

/// A session in memory.
#[derive(Debug)]
pub struct SessionDocument {
    /// What contains the records.
    text: String,
    /// What is stored about the session as a whole, as JSON.
    pub(super) header: String,
    records: Vec<Range<usize>>,
}

/// A session in a file that contains several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedSession {
    /// Its id within the file, the same for every version of the file.
    pub id: String,
    /// Changes with the session: a time in milliseconds, or any other number.
    pub version: i64,
}

impl SessionDocument {
    /// A session from its header and its records, all JSON.
    pub(crate) fn new(header: String, records: &[String]) -> Self {
        let mut ends = 0;
        let ranges = records.iter().map(|record| {
            let start = ends;
            ends += record.len() + 1;
            start..start + record.len()
        });
        let records_at = ranges.collect();
        Self { text: records.join("\n"), header, records: records_at }
    }

    /// Reads a JSON object: the array with this name has the records, the other fields are the header. `InvalidData`
    /// means invalid JSON, perhaps because the agent is writing it right now.
    pub(crate) fn read(path: &Path, records: &str) -> io::Result<Self> {
        Self::parse(file::read_text(path, MAX_BYTES)?, records)
    }

    fn parse(text: String, records: &str) -> io::Result<Self> {
        let mut fields: BTreeMap<String, &RawValue> = serde_json::from_str(&text).map_err(invalid)?;
        let list = fields.remove(records).map_or("[]", RawValue::get);
        let list: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
        let records = ranges(&text, &list);
        let header = serde_json::to_string(&fields).map_err(invalid)?;
        Ok(Self { text, header, records })
    }

    /// Adds fields to the header, from files beside the document. Fields that exist stay as they are.
    pub(crate) fn with_header_fields(mut self, fields: serde_json::Map<String, serde_json::Value>) -> Self {
        self.header = complete_header(&self.header, fields);
        self
    }

    /// The same records with another header.
    pub(crate) fn with_header(mut self, header: String) -> Self {
        self.header = header;
        self
    }

    /// The text of the record with this number, from 0, and its position in the document.
    pub(super) fn record(&self, number: u64) -> Option<(&str, usize)> {
        let range = self.records.get(usize::try_from(number).ok()?)?;
        Some((&self.text[range.clone()], range.start))
    }
}

/// Adds fields to a header. Those that it has stay as they are.
pub(super) fn complete_header(header: &str, fields: serde_json::Map<String, serde_json::Value>) -> String {
    let mut header: serde_json::Map<_, _> = serde_json::from_str(header).unwrap_or_default();
    for (name, value) in fields {
        header.entry(name).or_insert(value);
    }
    serde_json::Value::Object(header).to_string()
}

/// Where the values are in the text that they borrow from.
fn ranges(text: &str, values: &[&RawValue]) -> Vec<Range<usize>> {
    let range = |value: &&RawValue| {
        let start = value.get().as_ptr().addr() - text.as_ptr().addr();
        start..start + value.get().len()
    };
    values.iter().map(range).collect()
}

fn invalid(error: serde_json::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_their_place_and_the_rest_is_the_header() {
        let text = r#"{"sessionId":"a","messages":[{"id":1}, {"id":2}],"title":"x"}"#;
        let document = SessionDocument::parse(text.to_owned(), "messages").unwrap();
        assert_eq!(document.header, r#"{"sessionId":"a","title":"x"}"#);
        let (second, at) = document.record(1).unwrap();
        assert_eq!((second, &text[at..at + second.len()]), (r#"{"id":2}"#, r#"{"id":2}"#));
        assert!(document.record(2).is_none());
    }

    #[test]
    fn given_records_are_found_by_their_number() {
        let document = SessionDocument::new("{}".to_owned(), &["{\"a\":1}".to_owned(), "{\"b\":2}".to_owned()]);
        assert_eq!(document.record(0), Some(("{\"a\":1}", 0)));
        assert_eq!(document.record(1), Some(("{\"b\":2}", 8)));
        assert_eq!(document.record(2), None);
    }

    #[test]
    fn torn_document_is_invalid_data() {
        let torn = SessionDocument::parse(r#"{"sessionId":"a","messages":[{"id"#.to_owned(), "messages");
        assert_eq!(torn.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
