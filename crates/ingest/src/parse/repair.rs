//! Makes damaged lines parseable: NULs, carriage returns, invalid UTF-8 and lone surrogates.

use std::borrow::Cow;

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
