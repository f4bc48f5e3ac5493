//! Makes damaged lines parseable: NULs, carriage returns, invalid UTF-8 and lone surrogates.

use std::borrow::Cow;

/// How often each byte of a damaged line may be looked at; bounds the work on a hostile one.
const MAX_SCANS: usize = 8;

/// Removes the white space and NULs that crashes and editors leave around a line.
pub(super) fn trim(bytes: &[u8]) -> &[u8] {
    let noise = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0;
    let Some(start) = bytes.iter().position(|byte| !noise(byte)) else { return &[] };
    let end = bytes.iter().rposition(|byte| !noise(byte)).map_or(start, |at| at + 1);
    &bytes[start..end]
}

/// Repairs the line so that it can be parsed as JSON, as far as possible.
pub(super) fn repair(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = if text.bytes().any(|byte| byte < 0x20) {
        // A raw control character inside a JSON string is an error; as a space only that character is lost.
        Cow::Owned(text.chars().map(|c| if (c as u32) < 0x20 { ' ' } else { c }).collect())
    } else {
        text
    };
    replace_lone_surrogates(&text)
}

/// The entries on a line that is not one object: several whole ones, or a torn one and whole ones.
pub(super) fn whole_entries(line: &str) -> Vec<&str> {
    let (mut entries, mut at) = (Vec::new(), 0);
    let mut budget = line.len().saturating_mul(MAX_SCANS);
    let mut is_torn = false;
    while let Some(start) = line[at..].find("{\"").map(|found| at + found) {
        let mut stream = serde_json::Deserializer::from_str(&line[start..]).into_iter::<LineEntry>();
        let (end, scanned) = match stream.next() {
            Some(Ok(entry)) => {
                let end = start + stream.byte_offset();
                // Objects within a torn entry are followed by a comma or a bracket.
                let is_last_or_followed = matches!(line[end..].trim_start().chars().next(), None | Some('{'));
                let is_entry = entry.is_entry() && (!is_torn || is_last_or_followed);
                (is_entry.then_some(end), end - start)
            }
            Some(Err(error)) => (None, error.column()),
            None => break,
        };
        if let Some(end) = end {
            entries.push(&line[start..end]);
        }
        is_torn |= end.is_none();
        at = end.unwrap_or(start + 1);
        let Some(left) = budget.checked_sub(scanned.max(1)) else { break };
        budget = left;
    }
    entries
}

/// The fields by which an entry of a transcript differs from the objects within one.
#[derive(Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LineEntry {
    #[serde(rename = "type", alias = "kind")]
    kind: Option<serde::de::IgnoredAny>,
    timestamp: Option<serde::de::IgnoredAny>,
    uuid: Option<serde::de::IgnoredAny>,
    session_id: Option<serde::de::IgnoredAny>,
    leaf_uuid: Option<serde::de::IgnoredAny>,
}

impl LineEntry {
    fn is_entry(&self) -> bool {
        let ids = [&self.timestamp, &self.uuid, &self.session_id, &self.leaf_uuid];
        self.kind.is_some() && ids.iter().any(|id| id.is_some())
    }
}

/// `\ud83d` without its partner is valid in JavaScript but an error in most JSON parsers.
fn replace_lone_surrogates(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let step = match escaped_code_unit(rest) {
            Some(0xD800..=0xDBFF) if matches!(rest.get(6..).and_then(escaped_code_unit), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            Some(_) => 6,
            // Any other escape is two characters; a lone backslash at the end is one.
            None => rest.chars().take(2).map(char::len_utf8).sum(),
        };
        out.push_str(&rest[..step]);
        rest = &rest[step..];
    }
    out.push_str(rest);
    out
}

/// The code unit of a `\uXXXX` escape at the start of the text.
fn escaped_code_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &[u8], expect: &str) {
        let value: serde_json::Value = serde_json::from_str(&repair(trim(line))).unwrap();
        assert_eq!(value["t"], expect);
    }

    #[test]
    fn objects_on_one_line_are_separated() {
        // D5
        let (a, b) = (r#"{"type":"user","uuid":"a"}"#, r#"{"uuid":"b","type":"user","m":{"type":"text"}}"#);
        assert_eq!(whole_entries(&format!("{a}{b}")), [a, b]);
        assert_eq!(whole_entries(&format!("{a} {b}{{\"type\":\"us")), [a, b], "a torn end");
        assert_eq!(whole_entries(&format!("{}{b}", &b[..30])), [b], "a torn start");
        assert_eq!(whole_entries(&format!("{}{b}", &a[..18])), [b], "torn within a string");
        assert_eq!(whole_entries(r#"{"type":"user","m":{"type":"text"}"#), [""; 0], "the inner object is not an entry");
        assert_eq!(whole_entries("{{{\"\"\""), [""; 0]);
        assert_eq!(whole_entries(&"{\"a".repeat(10_000)), [""; 0]);
    }

    #[test]
    fn damaged_lines_become_parseable() {
        check(b"{\"t\":\"a\"}\r", "a");
        check(b"\0\0\0{\"t\":\"a\"}\0", "a");
        check(b"{\"t\":\"a\xffb\"}", "a\u{fffd}b");
        check(br#"{"t":"a\ud83d"}"#, "a\u{fffd}");
        check(br#"{"t":"\ude00a\ud83dx"}"#, "\u{fffd}a\u{fffd}x");
        check(br#"{"t":"\ud83d\ude00"}"#, "\u{1f600}");
        check(br#"{"t":"\\ud83d"}"#, "\\ud83d");
        check(b"{\"t\":\"a\x01b\"}", "a b");
        assert_eq!(trim(b" \0\r\n"), b"");
    }
}
