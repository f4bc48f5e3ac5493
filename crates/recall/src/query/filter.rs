//! `key:value` filters. Only the known keys count, and only with values that make sense.

use jiff::Zoned;
use rethread_model::{Agent, Timestamp};

use super::kind::Kind;
use super::scan::{Part, Quoted, quoted};
use crate::When;

/// One filter with one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    File(String),
    Tool(String),
    Agent(Agent),
    Kind(Kind),
    After(Timestamp),
    Before(Timestamp),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    File,
    Tool,
    Agent,
    Kind,
    Since,
    Before,
    Until,
}

/// Further than this no colon is looked for, so that long texts are read in one pass.
const LONGEST_KEY: usize = 6;

/// The filters at the start of `text` and their length; `None` when even one value is not understood.
pub(super) fn filters(text: &str, now: &Zoned) -> Option<(usize, Vec<Filter>)> {
    let (name, rest) = text.split_at(text.bytes().take(LONGEST_KEY + 1).position(|byte| byte == b':')?);
    let (key, rest) = (key(name)?, &rest[1..]);
    // `File::open` is code and `file:///etc/hosts` an address.
    if rest.starts_with(':') || rest.starts_with("//") {
        return None;
    }
    let (length, values) = values(rest)?;
    // Several days would have to be one of them, but the filters are one span.
    if key.is_time() && values.len() > 1 {
        return None;
    }
    let filters = values.iter().map(|value| filter(key, value, now)).collect::<Option<Vec<_>>>()?;
    Some((name.len() + 1 + length, filters))
}

/// What `-key:value` asks for: other kinds and agents, or no mention of the file or tool.
pub(super) fn denied<'a>(filters: &[Filter]) -> Option<Part<'a>> {
    let texts = filters.iter().filter_map(|filter| match filter {
        Filter::File(text) | Filter::Tool(text) => Some(text.clone()),
        _ => None,
    });
    match filters.first()? {
        Filter::File(_) | Filter::Tool(_) => Some(Part::Excluded(texts.collect())),
        Filter::Agent(_) | Filter::Kind(_) => Some(Part::Denied(filters.to_vec())),
        Filter::After(_) | Filter::Before(_) => None,
    }
}

impl Key {
    fn is_time(self) -> bool {
        matches!(self, Key::Since | Key::Before | Key::Until)
    }
}

fn key(name: &str) -> Option<Key> {
    Some(match name.to_ascii_lowercase().as_str() {
        "file" => Key::File,
        "tool" => Key::Tool,
        "agent" => Key::Agent,
        "kind" | "role" => Key::Kind,
        "after" | "since" => Key::Since,
        "before" => Key::Before,
        "until" => Key::Until,
        _ => return None,
    })
}

fn filter(key: Key, value: &str, now: &Zoned) -> Option<Filter> {
    Some(match key {
        Key::File => Filter::File(value.to_owned()),
        Key::Tool => Filter::Tool(value.to_owned()),
        Key::Agent => Filter::Agent(value.to_ascii_lowercase().parse().ok()?),
        Key::Kind => Filter::Kind(value.parse().ok()?),
        Key::Since => Filter::After(When::parse(value, now)?.from),
        Key::Before => Filter::Before(When::parse(value, now)?.from),
        Key::Until => Filter::Before(When::parse(value, now)?.to),
    })
}

/// The values of `a,"b c",d` and the length of it all; `None` when there are none.
fn values(text: &str) -> Option<(usize, Vec<&str>)> {
    let mut values = Vec::new();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let (value, length) = match quoted(rest) {
            Quoted::Closed { inner, length } => (inner.trim(), length),
            Quoted::Open { .. } => return None,
            Quoted::No => {
                let end = rest.find(|letter: char| letter == ',' || letter.is_whitespace()).unwrap_or(rest.len());
                (&rest[..end], end)
            }
        };
        at += length;
        if value.contains(char::is_alphanumeric) {
            values.push(value);
        } else if !value.is_empty() {
            return None;
        }
        match text[at..].chars().next() {
            Some(',') => at += 1,
            Some(letter) if !letter.is_whitespace() => return None,
            _ => break,
        }
    }
    (!values.is_empty()).then_some((at, values))
}
