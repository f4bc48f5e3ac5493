//! Finds `name = value` pairs with a secret name in shell, env, YAML, TOML, JSON, code and prose. Whether the value
//! looks like a secret is decided in `values`.

use std::ops::Range;

use super::keys::{self, KeyClass};
use super::values::{self, PairValue, ValueStyle};

/// The secret next to the name that contains the literal at `hit`, and the name of its rule.
pub(super) fn find(text: &str, hit: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let bytes = text.as_bytes();
    let name = name_around(bytes, &hit);
    let (operator, after) = operator_after(bytes, &name)?;
    let name_text = text.get(name)?;
    let (class, rule) = keys::classify(name_text)?;
    let environment = keys::is_env_name(name_text);
    let accept = |(range, style): (Range<usize>, ValueStyle)| {
        let head = &text[range.start..text.floor_char_boundary(range.end)];
        let value = PairValue { text: head, style, is_env: environment };
        if !values::is_secret(class, &value) {
            return None;
        }
        // Only now is it worth searching for the end of a very long value.
        let is_cut = range.len() == values::HEAD_BYTES;
        let end = if is_cut { unquoted_range(bytes, range.start, usize::MAX).end } else { range.end };
        Some((range.start..text.ceil_char_boundary(end.max(range.end)), rule))
    };
    match operator {
        PairOperator::Is | PairOperator::Space if class != KeyClass::Password => None,
        PairOperator::Is => accept(value_at(bytes, after, ValueStyle::AfterIs)?),
        PairOperator::Space => accept(value_at(bytes, after, ValueStyle::AfterSpace)?),
        PairOperator::Flag => accept(value_at(bytes, after, ValueStyle::Loose)?),
        PairOperator::Equals => accept(value_at(bytes, after, equals_style(bytes, after))?),
        PairOperator::Compares => accept(quoted_value_at(bytes, after)?),
        // In `let token: &str = "…"` the value comes after the type.
        PairOperator::Colon => value_at(bytes, after, ValueStyle::Loose)
            .and_then(accept)
            .or_else(|| accept(quoted_value_at(bytes, after_type(bytes, after)?)?)),
    }
}

/// The operator between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PairOperator {
    Colon,
    Equals,
    Compares,
    /// The space after a command-line flag.
    Flag,
    /// The word "is".
    Is,
    /// A space, as in "user admin, password x".
    Space,
}

/// Length limits in bytes, so that a hit costs little whatever surrounds it.
const MAX_NAME_BYTES: usize = 64;
const MAX_SPACES: usize = 16;
const MAX_TYPE_BYTES: usize = 48;

/// The whole name that contains `hit`.
fn name_around(bytes: &[u8], hit: &Range<usize>) -> Range<usize> {
    // A literal such as `auth"` extends past the name.
    let in_name = |b: &&u8| is_name_byte(**b) || **b == b' ';
    let trigger_end = hit.start + bytes[hit.clone()].iter().take_while(in_name).count();
    let before = bytes[..hit.start].iter().rev().take(MAX_NAME_BYTES);
    let start = hit.start - before.take_while(|b| is_name_byte(**b) || **b == b'.').count();
    let after = bytes[trigger_end..].iter().take(MAX_NAME_BYTES);
    let end = trigger_end + after.take_while(|b| is_name_byte(**b)).count();
    start..end
}

/// The operator after the name, and the offset of its right side.
fn operator_after(bytes: &[u8], name: &Range<usize>) -> Option<(PairOperator, usize)> {
    // The end of a quoted, bracketed, bold or optional name: `"token"`, `['token']`, `**Token**`, `token?`.
    let closed = skip(bytes, name.end, 6, |b| matches!(b, b'\\' | b'"' | b'\'' | b'`' | b'*' | b']' | b'?'));
    let spaced = skip(bytes, closed, MAX_SPACES, is_blank);
    let (operator, length) = match bytes.get(spaced..)? {
        [b':', b':', ..] | [b'=', b'~', ..] => return None,
        [b'=', b'=', b'=', ..] => (PairOperator::Compares, 3),
        [b'=', b'=', ..] => (PairOperator::Compares, 2),
        [b':', b'=' | b'-', ..] | [b'=', b'>', ..] => (PairOperator::Equals, 2),
        [b'=', ..] => (PairOperator::Equals, 1),
        [b':', ..] => (PairOperator::Colon, 1),
        [b'i', b's', b' ', ..] if spaced == closed + 1 => (PairOperator::Is, 3),
        [b'i', b's', b':', b' ', ..] if spaced == closed + 1 => (PairOperator::Is, 4),
        _ if spaced > name.end && closed == name.end && is_flag(bytes, name.start) => (PairOperator::Flag, 0),
        [next, ..] if spaced == name.end + 1 && next.is_ascii_graphic() => (PairOperator::Space, 0),
        _ => return None,
    };
    Some((operator, spaced + length))
}

/// Whether the name is a command-line flag. `name_around` includes the dashes in the name.
fn is_flag(bytes: &[u8], start: usize) -> bool {
    bytes[start] == b'-' && (start == 0 || matches!(bytes[start - 1], b' ' | b'\n' | b'\t' | b'"' | b'\'' | b'`'))
}

/// A value right after `=` is shell or env style; code puts a space there.
fn equals_style(bytes: &[u8], after: usize) -> ValueStyle {
    if bytes.get(after).copied().is_some_and(is_blank) { ValueStyle::Loose } else { ValueStyle::Tight }
}

/// The range and style of a value. `bare` is the style of a value without quotes.
fn value_at(bytes: &[u8], after: usize, bare: ValueStyle) -> Option<(Range<usize>, ValueStyle)> {
    // Bold text in Markdown closes after the colon: `**Password:** x`.
    let bold = skip(bytes, after, 2, |b| b == b'*');
    let at = skip(bytes, bold, MAX_SPACES, is_blank);
    let opened = skip(bytes, skip(bytes, at, 2, |b| b"rbfuRBFU".contains(&b)), 8, |b| b == b'\\');
    match bytes.get(opened) {
        Some(quote @ (b'"' | b'\'')) => Some((quoted_range(bytes, opened, *quote), ValueStyle::Quoted)),
        Some(quote @ b'`') => Some((quoted_range(bytes, opened, *quote), ValueStyle::Markdown)),
        _ => {
            let range = unquoted_range(bytes, at, values::HEAD_BYTES);
            (!range.is_empty()).then_some((range, bare))
        }
    }
}

/// The value, if it is quoted.
fn quoted_value_at(bytes: &[u8], after: usize) -> Option<(Range<usize>, ValueStyle)> {
    value_at(bytes, after, ValueStyle::Loose).filter(|(_, style)| *style == ValueStyle::Quoted)
}

/// The text between the quote at `open` and its closing quote, which has the same number of backslashes. Without one on
/// the line, the text up to the first space.
fn quoted_range(bytes: &[u8], open: usize, quote: u8) -> Range<usize> {
    let depth = slashes_before(bytes, open);
    let start = open + 1;
    for at in memchr::memchr2_iter(quote, b'\n', &bytes[start..]).map(|at| start + at) {
        let slashes = slashes_before(&bytes[start..], at - start);
        if bytes[at] == b'\n' {
            break;
        }
        // A backslash in the value doubles the number of backslashes; an escaped quote has more, but not twice as many.
        let closes = slashes < depth || (slashes - depth).is_multiple_of(2 * (depth + 1));
        if closes {
            return start..at - slashes;
        }
    }
    unquoted_range(bytes, start, values::HEAD_BYTES)
}

/// The unquoted value that starts at `start`, or its first `limit` bytes.
fn unquoted_range(bytes: &[u8], start: usize, limit: usize) -> Range<usize> {
    let mut end = start;
    while let Some(byte) = bytes.get(end) {
        let next = bytes.get(end + 1).copied().unwrap_or(b' ');
        let ends = match byte {
            b'"' | b'\'' | b'`' | b';' => true,
            b'\\' => matches!(next, b'n' | b'r' | b't' | b'"' | b'\'' | b'\\'),
            b',' | b'&' => next == b'&' || starts_other_pair(&bytes[end + 1..]),
            byte => byte.is_ascii_whitespace(),
        };
        if ends {
            break;
        }
        if end - start == limit {
            return start..end;
        }
        end += 1;
    }
    // Trailing punctuation of a sentence, a bracket or a list is not part of the value.
    while end > start && matches!(bytes[end - 1], b'.' | b',' | b':' | b')' | b']' | b'}' | b'>' | b'*' | b'|') {
        end -= 1;
    }
    start..end
}

/// Whether another pair follows, as after the comma in `password=x,user=y` or the `&` in `password=x&user=y`.
fn starts_other_pair(bytes: &[u8]) -> bool {
    let name = skip(bytes, 0, MAX_NAME_BYTES, is_name_byte);
    name > 0 && matches!(bytes.get(name), Some(b'=' | b':'))
}

/// The offset of the right side in `: &str = "…"`.
fn after_type(bytes: &[u8], after: usize) -> Option<usize> {
    let in_type = |b: u8| b.is_ascii_alphanumeric() || b"_<>&'[] :|?".contains(&b);
    let equals = skip(bytes, after, MAX_TYPE_BYTES, in_type);
    let is_assignment = bytes.get(equals) == Some(&b'=') && !matches!(bytes.get(equals + 1), Some(b'=' | b'>'));
    is_assignment.then_some(equals + 1)
}

fn slashes_before(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().rev().take_while(|b| **b == b'\\').count()
}

/// The first offset from `from`, at most `limit` further, where a byte does not match.
fn skip(bytes: &[u8], from: usize, limit: usize, fits: impl Fn(u8) -> bool) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take(limit).take_while(|b| fits(**b)).count()
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}
