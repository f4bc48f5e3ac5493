//! Applies the log of changes that VS Code writes in place of a document.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::source::TranscriptHead;

/// A number in a path that is larger than any list: a damaged log.
const MAX_INDEX: usize = 1 << 20;
/// A longer path is damage. Values that are nested too deep would overflow the stack.
const MAX_DEPTH: usize = 64;

#[derive(Default, Deserialize)]
#[serde(default)]
struct LogEntry {
    kind: Value,
    /// The path to what changes: names of fields and numbers of elements.
    k: Vec<Value>,
    v: Value,
    /// How many elements of a list stay.
    i: Option<usize>,
}

/// Whether a file begins with the whole state of a chat.
pub(super) fn recognizes(head: &TranscriptHead) -> bool {
    let text = &head.0[..head.0.len().min(4096)];
    let has = |needle: &str| memchr::memmem::find(text, needle.as_bytes()).is_some();
    text.starts_with(b"{\"kind\":0") && has("\"v\":{") && (has("\"requests\"") || has("\"sessionId\""))
}

/// The state after all entries. A line that cannot be parsed changes nothing.
pub(super) fn replay(log: &str) -> Value {
    let mut state = Value::Null;
    for line in log.lines() {
        if let Ok(entry) = serde_json::from_str::<LogEntry>(line) {
            apply(&mut state, entry);
        }
    }
    state
}

fn apply(state: &mut Value, entry: LogEntry) {
    match (entry.kind.as_u64(), entry.k.split_last()) {
        (Some(0), _) => *state = entry.v,
        (Some(1), Some((name, path))) => {
            if let Some(place) = find(state, path) {
                set(place, name, entry.v);
            }
        }
        (Some(2), _) => {
            let Some(list) = find(state, &entry.k) else { return };
            if !list.is_array() {
                *list = Value::Array(Vec::new());
            }
            if let Value::Array(list) = list {
                list.truncate(entry.i.unwrap_or(list.len()));
                list.extend(entry.v.as_array().cloned().unwrap_or_default());
            }
        }
        (Some(3), Some((name, path))) => remove(find(state, path), name),
        _ => {}
    }
}

/// The place at a path. Fields on the way that do not exist are added.
fn find<'a>(state: &'a mut Value, path: &[Value]) -> Option<&'a mut Value> {
    if path.len() > MAX_DEPTH {
        return None;
    }
    path.iter().try_fold(state, |place, name| match name {
        Value::String(name) => {
            if place.is_null() {
                *place = Value::Object(Map::new());
            }
            Some(place.as_object_mut()?.entry(name.clone()).or_insert(Value::Null))
        }
        name => place.as_array_mut()?.get_mut(usize::try_from(name.as_u64()?).ok()?),
    })
}

fn set(place: &mut Value, name: &Value, value: Value) {
    if place.is_null() && name.is_string() {
        *place = Value::Object(Map::new());
    }
    match (place, name) {
        (Value::Object(fields), Value::String(name)) => {
            fields.insert(name.clone(), value);
        }
        (Value::Array(list), name) => {
            let Some(at) = name.as_u64().and_then(|at| usize::try_from(at).ok()).filter(|at| *at < MAX_INDEX) else {
                return;
            };
            if at >= list.len() {
                list.resize(at + 1, Value::Null);
            }
            list[at] = value;
        }
        _ => {}
    }
}

fn remove(place: Option<&mut Value>, name: &Value) {
    match (place, name) {
        (Some(Value::Object(fields)), Value::String(name)) => drop(fields.remove(name)),
        (Some(Value::Array(list)), name) => {
            let at = name.as_u64().and_then(|at| usize::try_from(at).ok()).filter(|at| *at < list.len());
            if let Some(at) = at {
                list.remove(at);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_applied_in_their_order() {
        let log = r#"{"kind":0,"v":{"sessionId":"a","requests":[]}}
{"kind":1,"k":["customTitle"],"v":"x"}
{"kind":2,"k":["requests"],"v":[{"id":1,"response":[{"v":1},{"v":2}]}]}
{"kind":2,"k":["requests",0,"response"],"v":[{"v":3}],"i":1}
{"kind":2,"k":["requests",0,"new"],"v":[1]}
{"kind":1,"k":["requests",0,"result","a"],"v":true}
torn
{"kind":3,"k":["customTitle"]}
{"kind":1,"k":["requests",9,"id"],"v":1}
{"kind":9,"k":["x"],"v":1}"#;
        let deep = format!(r#"{{"kind":1,"k":[{}"x"],"v":1}}"#, r#""x","#.repeat(100_000));
        let log = &format!("{log}\n{deep}");
        let expect =
            r#"{"sessionId":"a","requests":[{"id":1,"response":[{"v":1},{"v":3}],"new":[1],"result":{"a":true}}]}"#;
        assert_eq!(replay(log), serde_json::from_str::<Value>(expect).unwrap());
    }

    #[test]
    fn a_log_without_its_first_line_has_no_state() {
        assert_eq!(replay(r#"{"kind":1,"k":["requests",3],"v":{}}"#)["requests"], Value::Null);
    }
}
