//! URLs of pages, with encoded query parameters.

use rethread_model::SessionId;

/// A path with a query; `None` and empty values are left out.
pub(super) fn link(path: &str, query: &[(&str, Option<&str>)]) -> String {
    let mut out = path.to_owned();
    let given =
        query.iter().filter_map(|(name, value)| value.filter(|value| !value.is_empty()).map(|value| (name, value)));
    for (at, (name, value)) in given.enumerate() {
        out.push(if at == 0 { '?' } else { '&' });
        out.push_str(name);
        out.push('=');
        encode(value, &mut out);
    }
    out
}

pub(super) fn to_session(id: SessionId) -> String {
    format!("/sessions/{id}")
}

/// A line of a session: opens the page around it and jumps to it.
pub(super) fn to_line(id: SessionId, line: u64) -> String {
    format!("/sessions/{id}?line={line}#L{line}")
}

/// The graph around an entity.
pub(super) fn to_entity(kind: &str, name: &str) -> String {
    link("/memory/graph", &[("of", Some(name)), ("kind", Some(kind))])
}

fn encode(text: &str, out: &mut String) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_inject_other_parameters() {
        let made = link("/search", &[("q", Some("a&b=c #\"é\"")), ("agent", None), ("kind", Some(""))]);
        assert_eq!(made, "/search?q=a%26b%3Dc%20%23%22%C3%A9%22");
        assert_eq!(
            link("/", &[("project", Some("/home/dev/shop")), ("state", Some("idle"))]),
            "/?project=/home/dev/shop&state=idle"
        );
    }
}
