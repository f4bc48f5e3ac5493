//! Finds `name = value` pairs with a secret name, in shell, env, YAML, TOML, JSON, code and prose.
//! Whether a value looks like a value is for `values` to say.

use std::ops::Range;

use super::keys::{self, Class};
use super::values::{self, Style, Value};

/// The secret beside the name that holds the literal at `hit`, and the name of its rule.
pub(super) fn find(text: &str, hit: Range<usize>) -> Option<(Range<usize>, &'static str)> {
    let bytes = text.as_bytes();
    let name = name_around(bytes, &hit);
    let (operator, after) = operator_after(bytes, &name)?;
    let name_text = text.get(name)?;
    let (class, rule) = keys::classify(name_text)?;
    let environment = keys::is_environment(name_text);
    let accept = |(range, style): (Range<usize>, Style)| {
        let head = &text[range.start..text.floor_char_boundary(range.end)];
        let value = Value { text: head, style, environment };
        if !values::is_secret(class, &value) {
            return None;
        }
        // Only now is it worth looking for the end of a very long value.
        let is_cut = range.len() == values::HEAD;
        let end = if is_cut { unquoted(bytes, range.start, usize::MAX).end } else { range.end };
        Some((range.start..text.ceil_char_boundary(end.max(range.end)), rule))
    };
    match operator {
        Operator::Says | Operator::Space if class != Class::Password => None,
        Operator::Says => accept(value_at(bytes, after, Style::Said)?),
        Operator::Space => accept(value_at(bytes, after, Style::Beside)?),
        Operator::Flag => accept(value_at(bytes, after, Style::Loose)?),
        Operator::Equals => accept(value_at(bytes, after, tightness(bytes, after))?),
        Operator::Compares => accept(literal_at(bytes, after)?),
        // In `let token: &str = "…"` the value comes after the type.
        Operator::Colon => value_at(bytes, after, Style::Loose)
            .and_then(accept)
            .or_else(|| accept(literal_at(bytes, after_type(bytes, after)?)?)),
    }
}

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operator {
    Colon,
    Equals,
    Compares,
    /// The space after a command-line flag.
    Flag,
    /// The word "is".
    Says,
    /// A space, as in "user admin, password x".
    Space,
}

/// Longer names and values than these are not looked at, so that a hit costs little whatever surrounds it.
const NAME: usize = 64;
const SPACES: usize = 16;
const TYPE: usize = 48;

/// The whole name of which `hit` is a part.
fn name_around(bytes: &[u8], hit: &Range<usize>) -> Range<usize> {
    // A literal such as `auth"` reaches past the name.
    let in_name = |b: &&u8| is_name_byte(**b) || **b == b' ';
    let trigger_end = hit.start + bytes[hit.clone()].iter().take_while(in_name).count();
    let before = bytes[..hit.start].iter().rev().take(NAME);
    let start = hit.start - before.take_while(|b| is_name_byte(**b) || **b == b'.').count();
    let after = bytes[trigger_end..].iter().take(NAME);
    let end = trigger_end + after.take_while(|b| is_name_byte(**b)).count();
    start..end
}

/// The operator after the name, and where its right side starts.
fn operator_after(bytes: &[u8], name: &Range<usize>) -> Option<(Operator, usize)> {
    // The end of a quoted, bracketed, bold or optional name: `"token"`, `['token']`, `**Token**`, `token?`.
    let closed = skip(bytes, name.end, 6, |b| matches!(b, b'\\' | b'"' | b'\'' | b'`' | b'*' | b']' | b'?'));
    let spaced = skip(bytes, closed, SPACES, is_blank);
    let (operator, length) = match bytes.get(spaced..)? {
        [b':', b':', ..] | [b'=', b'~', ..] => return None,
        [b'=', b'=', b'=', ..] => (Operator::Compares, 3),
        [b'=', b'=', ..] => (Operator::Compares, 2),
        [b':', b'=' | b'-', ..] | [b'=', b'>', ..] => (Operator::Equals, 2),
        [b'=', ..] => (Operator::Equals, 1),
        [b':', ..] => (Operator::Colon, 1),
        [b'i', b's', b' ', ..] if spaced == closed + 1 => (Operator::Says, 3),
        [b'i', b's', b':', b' ', ..] if spaced == closed + 1 => (Operator::Says, 4),
        _ if spaced > name.end && closed == name.end && is_flag(bytes, name.start) => (Operator::Flag, 0),
        [next, ..] if spaced == name.end + 1 && next.is_ascii_graphic() => (Operator::Space, 0),
        _ => return None,
    };
    Some((operator, spaced + length))
}

/// True when the name is a command-line flag. `name_around` takes the dashes into the name.
fn is_flag(bytes: &[u8], start: usize) -> bool {
    bytes[start] == b'-' && (start == 0 || matches!(bytes[start - 1], b' ' | b'\n' | b'\t' | b'"' | b'\'' | b'`'))
}

/// A value right after `=` is shell or env style; code puts a space there.
fn tightness(bytes: &[u8], after: usize) -> Style {
    if bytes.get(after).copied().is_some_and(is_blank) { Style::Loose } else { Style::Tight }
}

/// Where the value and its quotes are. `bare` is the style of a value without quotes.
fn value_at(bytes: &[u8], after: usize, bare: Style) -> Option<(Range<usize>, Style)> {
    // Bold text in Markdown closes after the colon: `**Password:** x`.
    let bold = skip(bytes, after, 2, |b| b == b'*');
    let at = skip(bytes, bold, SPACES, is_blank);
    let opened = skip(bytes, skip(bytes, at, 2, |b| b"rbfuRBFU".contains(&b)), 8, |b| b == b'\\');
    match bytes.get(opened) {
        Some(quote @ (b'"' | b'\'')) => Some((quoted(bytes, opened, *quote), Style::Quoted)),
        Some(quote @ b'`') => Some((quoted(bytes, opened, *quote), Style::Markdown)),
        _ => {
            let range = unquoted(bytes, at, values::HEAD);
            (!range.is_empty()).then_some((range, bare))
        }
    }
}

/// The value if it is in quotes.
fn literal_at(bytes: &[u8], after: usize) -> Option<(Range<usize>, Style)> {
    value_at(bytes, after, Style::Loose).filter(|(_, style)| *style == Style::Quoted)
}

/// The text between the quote at `open` and the quote that closes it, which has as many backslashes.
/// Without one on the line, it is the text up to the first space.
fn quoted(bytes: &[u8], open: usize, quote: u8) -> Range<usize> {
    let depth = slashes_before(bytes, open);
    let start = open + 1;
    for at in memchr::memchr2_iter(quote, b'\n', &bytes[start..]).map(|at| start + at) {
        let slashes = slashes_before(&bytes[start..], at - start);
        if bytes[at] == b'\n' {
            break;
        }
        // A backslash in the value is written with twice as many again, a quote with more but not as many.
        let closes = slashes < depth || (slashes - depth).is_multiple_of(2 * (depth + 1));
        if closes {
            return start..at - slashes;
        }
    }
    unquoted(bytes, start, values::HEAD)
}

/// The value without quotes that starts at `start`, or its first `limit` bytes.
fn unquoted(bytes: &[u8], start: usize, limit: usize) -> Range<usize> {
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
    // What ends a sentence, a bracket or a list is not part of the value.
    while end > start && matches!(bytes[end - 1], b'.' | b',' | b':' | b')' | b']' | b'}' | b'>' | b'*' | b'|') {
        end -= 1;
    }
    start..end
}

/// True for what follows the comma in `password=x,user=y` and the `&` in `password=x&user=y`.
fn starts_other_pair(bytes: &[u8]) -> bool {
    let name = skip(bytes, 0, NAME, is_name_byte);
    name > 0 && matches!(bytes.get(name), Some(b'=' | b':'))
}

/// Where the right side starts in `: &str = "…"`.
fn after_type(bytes: &[u8], after: usize) -> Option<usize> {
    let in_type = |b: u8| b.is_ascii_alphanumeric() || b"_<>&'[] :|?".contains(&b);
    let equals = skip(bytes, after, TYPE, in_type);
    let is_assignment = bytes.get(equals) == Some(&b'=') && !matches!(bytes.get(equals + 1), Some(b'=' | b'>'));
    is_assignment.then_some(equals + 1)
}

fn slashes_before(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().rev().take_while(|b| **b == b'\\').count()
}

/// The first place from `from` on, at most `limit` further, where a byte does not fit.
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
