//! Reads whole-document JSON that an agent rewrites: a header, and the records of one array.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;

use serde_json::value::RawValue;

/// Larger documents are not read.
const MAX_BYTES: u64 = 256 << 20;

/// A document in memory.
#[derive(Debug)]
pub(super) struct JsonDocument {
    text: String,
    /// All fields except the records.
    pub(super) header: String,
    records: Vec<Range<usize>>,
}

impl JsonDocument {
    /// Reads a document. `InvalidData` means invalid JSON, perhaps because the agent is writing it right now.
    pub(super) fn read(file: File, size: u64, records: &str) -> io::Result<Self> {
        if size > MAX_BYTES {
            return Err(io::Error::other(format!("document of {} MB", size >> 20)));
        }
        let mut text = String::with_capacity(usize::try_from(size).unwrap_or_default());
        file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
        Self::parse(text, records)
    }

    fn parse(text: String, records: &str) -> io::Result<Self> {
        let invalid = |error| io::Error::new(io::ErrorKind::InvalidData, error);
        let mut fields: BTreeMap<String, &RawValue> = serde_json::from_str(&text).map_err(invalid)?;
        let list = fields.remove(records).map_or("[]", RawValue::get);
        let list: Vec<&RawValue> = serde_json::from_str(list).unwrap_or_default();
        let range = |record: &&RawValue| {
            let start = record.get().as_ptr().addr() - text.as_ptr().addr();
            start..start + record.get().len()
        };
        let records = list.iter().map(range).collect();
        let header = serde_json::to_string(&fields).map_err(invalid)?;
        Ok(Self { text, header, records })
    }

    /// The text of the record with this number, from 0, and its position in the document.
    pub(super) fn record(&self, number: u64) -> Option<(&str, usize)> {
        let range = self.records.get(usize::try_from(number).ok()?)?;
        Some((&self.text[range.clone()], range.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_keep_their_place_and_the_rest_is_the_header() {
        let text = r#"{"sessionId":"a","messages":[{"id":1}, {"id":2}],"title":"x"}"#;
        let document = JsonDocument::parse(text.to_owned(), "messages").unwrap();
        assert_eq!(document.header, r#"{"sessionId":"a","title":"x"}"#);
        let (second, at) = document.record(1).unwrap();
        assert_eq!((second, &text[at..at + second.len()]), (r#"{"id":2}"#, r#"{"id":2}"#));
        assert!(document.record(2).is_none());
    }

    #[test]
    fn torn_document_is_invalid_data() {
        let torn = JsonDocument::parse(r#"{"sessionId":"a","messages":[{"id"#.to_owned(), "messages");
        assert_eq!(torn.unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
