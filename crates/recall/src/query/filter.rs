//! Parses `key:value` filters. Only known keys with valid values count.

use jiff::Zoned;
use rethread_model::{Agent, Timestamp};

use super::kind::HitKind;
use super::scan::{Quotation, TokenRole, parse_quotation};
use crate::TimePhrase;

/// One filter with one value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum QueryFilter {
    File(String),
    Tool(String),
    Agent(Agent),
    Kind(HitKind),
    After(Timestamp),
    Before(Timestamp),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FilterKey {
    File,
    Tool,
    Agent,
    Kind,
    Since,
    Before,
    Until,
}

/// Maximum key length in bytes. No colon is searched beyond it, so that long texts are parsed in one pass.
const MAX_KEY_BYTES: usize = 6;

/// Parses the filters at the start of `text` and returns their length; `None` if any value is invalid.
pub(super) fn parse_filters(text: &str, now: &Zoned) -> Option<(usize, Vec<QueryFilter>)> {
    let (name, rest) = text.split_at(text.bytes().take(MAX_KEY_BYTES + 1).position(|byte| byte == b':')?);
    let (key, rest) = (parse_key(name)?, &rest[1..]);
    // `File::open` is code and `file:///etc/hosts` a URL.
    if rest.starts_with(':') || rest.starts_with("//") {
        return None;
    }
    let (length, values) = parse_values(rest)?;
    // Several days would need to be alternatives, but time filters form one span.
    if key.is_time() && values.len() > 1 {
        return None;
    }
    let filters = values.iter().map(|value| parse_filter(key, value, now)).collect::<Option<Vec<_>>>()?;
    Some((name.len() + 1 + length, filters))
}

/// What `-key:value` excludes: a kind or agent, or mentions of the file or tool.
pub(super) fn negate_filters<'a>(filters: &[QueryFilter]) -> Option<TokenRole<'a>> {
    let texts = filters.iter().filter_map(|filter| match filter {
        QueryFilter::File(text) | QueryFilter::Tool(text) => Some(text.clone()),
        _ => None,
    });
    match filters.first()? {
        QueryFilter::File(_) | QueryFilter::Tool(_) => Some(TokenRole::Excluded(texts.collect())),
        QueryFilter::Agent(_) | QueryFilter::Kind(_) => Some(TokenRole::Denied(filters.to_vec())),
        QueryFilter::After(_) | QueryFilter::Before(_) => None,
    }
}

impl FilterKey {
    fn is_time(self) -> bool {
        matches!(self, FilterKey::Since | FilterKey::Before | FilterKey::Until)
    }
}

fn parse_key(name: &str) -> Option<FilterKey> {
    Some(match name.to_ascii_lowercase().as_str() {
        "file" => FilterKey::File,
        "tool" => FilterKey::Tool,
        "agent" => FilterKey::Agent,
        "kind" | "role" => FilterKey::Kind,
        "after" | "since" => FilterKey::Since,
        "before" => FilterKey::Before,
        "until" => FilterKey::Until,
        _ => return None,
    })
}

fn parse_filter(key: FilterKey, value: &str, now: &Zoned) -> Option<QueryFilter> {
    Some(match key {
        FilterKey::File => QueryFilter::File(value.to_owned()),
        FilterKey::Tool => QueryFilter::Tool(value.to_owned()),
        FilterKey::Agent => QueryFilter::Agent(value.to_ascii_lowercase().parse().ok()?),
        FilterKey::Kind => QueryFilter::Kind(value.parse().ok()?),
        FilterKey::Since => QueryFilter::After(TimePhrase::parse(value, now)?.from),
        FilterKey::Before => QueryFilter::Before(TimePhrase::parse(value, now)?.from),
        FilterKey::Until => QueryFilter::Before(TimePhrase::parse(value, now)?.to),
    })
}

/// The values of `a,"b c",d` and their total length; `None` if there are none.
fn parse_values(text: &str) -> Option<(usize, Vec<&str>)> {
    let mut values = Vec::new();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let (value, length) = match parse_quotation(rest) {
            Quotation::Closed { inner, length } => (inner.trim(), length),
            Quotation::Open { .. } => return None,
            Quotation::No => {
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
