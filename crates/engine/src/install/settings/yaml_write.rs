//! Writes values as lines of YAML.

use serde_json::Value;

/// Words that YAML does not take for text.
const RESERVED: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// A key and its value.
pub(super) fn member_lines(indent: usize, key: &str, value: &Value) -> Vec<String> {
    let head = format!("{:indent$}{}:", "", scalar_text(key));
    match value {
        Value::Object(members) if !members.is_empty() => {
            let inner = members.iter().flat_map(|(key, value)| member_lines(indent + 2, key, value));
            std::iter::once(head).chain(inner).collect()
        }
        Value::Array(items) if !items.is_empty() && !is_words(items) => {
            std::iter::once(head).chain(items.iter().flat_map(|item| item_lines(indent + 2, item))).collect()
        }
        _ => vec![format!("{head} {}", inline(value))],
    }
}

/// An element of a list.
pub(super) fn item_lines(indent: usize, value: &Value) -> Vec<String> {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let lines = members.iter().flat_map(|(key, value)| member_lines(indent + 2, key, value));
            let mut lines: Vec<String> = lines.collect();
            lines[0].replace_range(indent..=indent, "-");
            lines
        }
        _ => vec![format!("{:indent$}- {}", "", inline(value))],
    }
}

/// Text as it is, or in quotes if YAML could take it for something else.
pub(super) fn scalar_text(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c))
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { Value::from(text).to_string() }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => scalar_text(text),
        Value::Array(items) if is_words(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        // JSON is YAML, too.
        other => other.to_string(),
    }
}

/// Whether a list has only short values, which fit on one line.
fn is_words(items: &[Value]) -> bool {
    items.iter().all(|item| !item.is_object() && !item.is_array())
}
