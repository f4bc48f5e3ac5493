//! Reads the transcripts of older versions of Cursor, which are text, as if they were lines of JSON.

use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::files;
use crate::source::{SessionDocument, read_text};

const MAX_BYTES: u64 = 64 << 20;
/// First words of the parts of an answer. The lines of a part are indented.
const CALL_MARK: &str = "[Tool call] ";
const RESULT_MARK: &str = "[Tool result]";
const THINKING_MARK: &str = "[Thinking]";

/// Reads a transcript.
pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let text = read_text(path, MAX_BYTES)?;
    let mut calls = OpenCalls::default();
    let records: Vec<String> = messages(&text).map(|(role, lines)| record(role, &lines, &mut calls)).collect();
    Ok(SessionDocument::new(files::header(path).unwrap_or_else(|| "{}".to_owned()), &records))
}

/// The messages: each begins with its role on a line.
fn messages(text: &str) -> impl Iterator<Item = (&'static str, Vec<&str>)> {
    let mut messages: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines() {
        match (line.trim_end(), messages.last_mut()) {
            ("user:", _) => messages.push(("user", Vec::new())),
            ("assistant:", _) => messages.push(("assistant", Vec::new())),
            (_, Some((_, lines))) => lines.push(line),
            (_, None) => {}
        }
    }
    messages.into_iter()
}

/// The calls whose results were not read yet. Only their names connect the two.
#[derive(Default)]
struct OpenCalls {
    count: usize,
    waiting: Vec<(String, String)>,
}

impl OpenCalls {
    fn add(&mut self, name: &str) -> String {
        self.count += 1;
        let id = format!("call-{}", self.count);
        self.waiting.push((name.to_owned(), id.clone()));
        id
    }

    fn take(&mut self, name: &str) -> Option<String> {
        let fits = |(waiting, _): &(String, String)| name.is_empty() || waiting == name;
        let at = self.waiting.iter().position(fits)?;
        Some(self.waiting.remove(at).1)
    }
}

/// A message as a line of a newer transcript has it.
fn record(role: &str, lines: &[&str], calls: &mut OpenCalls) -> String {
    let content = if role == "user" {
        vec![json!({ "type": "text", "text": lines.join("\n") })]
    } else {
        answer_blocks(lines, calls)
    };
    json!({ "role": role, "message": { "content": content } }).to_string()
}

fn answer_blocks(lines: &[&str], calls: &mut OpenCalls) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut texts: Vec<&str> = Vec::new();
    let mut rest = lines;
    while let [line, after @ ..] = rest {
        let mark = [CALL_MARK, RESULT_MARK, THINKING_MARK].into_iter().find(|mark| line.starts_with(mark));
        let Some(mark) = mark else {
            texts.push(line);
            rest = after;
            continue;
        };
        push_text(&mut texts, &mut blocks);
        let is_body = |line: &&&str| line.is_empty() || line.starts_with([' ', '\t']);
        let length = after.iter().take_while(is_body).count();
        let (body, after) = after.split_at(length);
        let name = line[mark.len()..].trim();
        match mark {
            CALL_MARK => {
                let id = calls.add(name);
                blocks.push(json!({ "type": "tool_use", "id": id, "name": name, "input": arguments(body) }));
            }
            RESULT_MARK => {
                let text = body.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
                let call = calls.take(name);
                blocks
                    .push(json!({ "type": "tool_result", "tool_use_id": call, "name": name, "content": text.trim() }));
            }
            _ => {}
        }
        rest = after;
    }
    push_text(&mut texts, &mut blocks);
    blocks
}

fn push_text(texts: &mut Vec<&str>, blocks: &mut Vec<Value>) {
    let text = texts.join("\n");
    texts.clear();
    if !text.trim().is_empty() {
        blocks.push(json!({ "type": "text", "text": text.trim() }));
    }
}

/// The arguments of a call: a JSON object, a patch, or lines such as `path: src/main.rs`.
fn arguments(lines: &[&str]) -> Value {
    let text = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
    if let Ok(object @ Value::Object(_)) = serde_json::from_str(&text) {
        return object;
    }
    if text.contains("*** Begin Patch") {
        return json!({ "patch": text });
    }
    let pairs = text.lines().filter_map(|line| line.split_once(['=', ':']));
    let pairs = pairs.map(|(name, value)| (name.trim().to_owned(), Value::from(value.trim())));
    Value::Object(pairs.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_an_answer_are_separated() {
        let text =
            "Hm.\n[Thinking]\n  secret\n[Tool call] Read\n  path: a.rs\n\n[Tool result] Read\n  fn main() {}\nDone.";
        let lines: Vec<&str> = text.lines().collect();
        let blocks = answer_blocks(&lines, &mut OpenCalls::default());
        let expected = json!([
            { "type": "text", "text": "Hm." },
            { "type": "tool_use", "id": "call-1", "name": "Read", "input": { "path": "a.rs" } },
            { "type": "tool_result", "tool_use_id": "call-1", "name": "Read", "content": "fn main() {}" },
            { "type": "text", "text": "Done." },
        ]);
        assert_eq!(Value::Array(blocks), expected);
    }
}
