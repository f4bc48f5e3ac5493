//! Folds Junie's events: a block has one record, with the last value of each of its fields.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::files;
use crate::source::{SessionDocument, read_text};

/// Larger sessions are not read.
const MAX_BYTES: u64 = 512 << 20;

/// Kinds of events that are large, or that contain the environment, and say nothing about the conversation.
const SKIPPED_KINDS: [&str; 4] = [
    "AgentStateUpdatedEvent",
    "EnvironmentVariablesUpdatedEvent",
    "AgentPatchCreatedEvent",
    "AgentCurrentStatusUpdatedEvent",
];

/// The blocks that the agent writes word by word.
const STREAMED_KINDS: [&str; 2] = ["MarkdownBlockUpdatedEvent", "AgentThoughtBlockUpdatedEvent"];

pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let text = read_text(path, MAX_BYTES)?;
    let header = files::header(path).unwrap_or_default().to_json();
    Ok(SessionDocument::new(header, &fold(&text)))
}

/// The records of a stream, in the order in which their blocks began.
fn fold(text: &str) -> Vec<String> {
    let mut records: Vec<FoldedEvent> = Vec::new();
    let mut by_key: HashMap<String, usize> = HashMap::new();
    let mut dropped: HashSet<String> = HashSet::new();
    let mut last_line = 0;
    for (number, line) in text.lines().enumerate() {
        let is_skipped = SKIPPED_KINDS.iter().any(|kind| line.contains(&format!("\"kind\":\"{kind}\"")));
        if is_skipped || line.trim().is_empty() {
            last_line = number;
            continue;
        }
        let Ok(Value::Object(event)) = serde_json::from_str::<Value>(line) else {
            // The last line may still be written. Any other one gets a warning.
            if text[line.as_ptr().addr() - text.as_ptr().addr() + line.len()..].contains('\n') {
                records.push(FoldedEvent::unreadable(line));
            }
            continue;
        };
        last_line = number;
        note_dropped(&event, &mut dropped);
        let event = FoldedEvent::new(event, number);
        if let Some(at) = event.key.as_ref().and_then(|key| by_key.get(key)) {
            records[*at].merge(event);
            continue;
        }
        if let Some(key) = &event.key {
            by_key.insert(key.clone(), records.len());
        }
        records.push(event);
    }
    records.retain(|event| {
        let is_unsent = event.key.as_ref().is_some_and(|key| dropped.contains(key));
        let is_streaming = event.last_line == last_line && STREAMED_KINDS.contains(&event.kind()) && !event.is_done();
        !is_unsent && !is_streaming
    });
    records.iter().map(FoldedEvent::to_json).collect()
}

/// Remembers prompts that Junie took back, or accepted after all.
fn note_dropped(event: &Map<String, Value>, dropped: &mut HashSet<String>) {
    let ids = event.get("userMessageIds").and_then(Value::as_array).into_iter().flatten();
    let ids = ids.filter_map(Value::as_str).map(str::to_owned);
    match event.get("kind").and_then(Value::as_str) {
        Some("UserMessagesDroppedFromHistory" | "UserMessagesFailedInHistory") => dropped.extend(ids),
        Some("UserMessagesCommittedToHistory") => {
            let kept: HashSet<String> = ids.collect();
            dropped.retain(|id| !kept.contains(id));
        }
        _ => {}
    }
}

/// One record of a folded session.
struct FoldedEvent {
    /// The id of the block, or of the prompt.
    key: Option<String>,
    first_line: usize,
    last_line: usize,
    at: Value,
    /// The fields of the event, or of the block in it.
    fields: Map<String, Value>,
    unreadable: Option<String>,
}

impl FoldedEvent {
    fn new(mut event: Map<String, Value>, line: usize) -> Self {
        let at = event.get("timestampMs").cloned().unwrap_or_default();
        let block = event.get_mut("event").and_then(|event| event.get_mut("agentEvent")).map(Value::take);
        let fields = match block {
            Some(Value::Object(block)) => block,
            _ => event,
        };
        let key = fields.get("stepId").or(fields.get("requestId")).and_then(Value::as_str).map(str::to_owned);
        Self { key, first_line: line, last_line: line, at, fields, unreadable: None }
    }

    fn unreadable(line: &str) -> Self {
        let unreadable = Some(line.to_owned());
        Self { key: None, first_line: 0, last_line: 0, at: Value::Null, fields: Map::new(), unreadable }
    }

    /// The kind of event, without the package that older versions write before it.
    fn kind(&self) -> &str {
        let kind = self.fields.get("kind").and_then(Value::as_str).unwrap_or_default();
        kind.rsplit('.').next().unwrap_or_default()
    }

    fn is_done(&self) -> bool {
        self.fields.get("status").and_then(Value::as_str).is_some_and(|status| status != "IN_PROGRESS")
    }

    /// Takes the fields of a later event of the same block. A generic block adds nothing to a specific one.
    fn merge(&mut self, later: FoldedEvent) {
        let is_generic = later.kind() == "ToolBlockUpdatedEvent" && self.kind() != "ToolBlockUpdatedEvent";
        self.last_line = later.last_line;
        // A finished task repeats its blocks; they do not become unfinished.
        let keeps_status = self.is_done() && !later.is_done();
        for (name, value) in later.fields {
            let is_kept = value.is_null()
                || (is_generic && self.fields.contains_key(&name))
                || (keeps_status && name == "status");
            if !is_kept {
                self.fields.insert(name, value);
            }
        }
    }

    fn to_json(&self) -> String {
        match &self.unreadable {
            Some(line) => line.clone(),
            None => {
                json!({"line": self.first_line, "at": self.at, "type": self.kind(), "fields": self.fields}).to_string()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: &str, fields: &str) -> String {
        format!("{{\"kind\":\"SessionA2uxEvent\",\"event\":{{\"agentEvent\":{{\"kind\":\"{kind}\",{fields}}}}}}}\n")
    }

    #[test]
    fn a_block_that_is_still_written_is_left_out() {
        let done = block("TerminalBlockUpdatedEvent", r#""stepId":"a","command":"ls","status":"COMPLETED""#);
        let streamed = block("MarkdownBlockUpdatedEvent", r#""stepId":"b","text":"Half a sen""#);
        assert_eq!(fold(&format!("{done}{streamed}")).len(), 1);
        let after = block("CurrentDirectoryUpdatedEvent", r#""currentDirectory":"/p""#);
        assert_eq!(fold(&format!("{done}{streamed}{after}")).len(), 3);
    }

    #[test]
    fn fields_of_earlier_events_of_a_block_stay() {
        let begun = block("TerminalBlockUpdatedEvent", r#""stepId":"a","command":"ls","status":"IN_PROGRESS""#);
        let ended = block("TerminalBlockUpdatedEvent", r#""stepId":"a","command":null,"status":"FAILED","exitCode":2"#);
        let generic = block("ToolBlockUpdatedEvent", r#""stepId":"a","text":"Run ls","status":"IN_PROGRESS""#);
        let records = fold(&format!("{begun}{ended}{generic}{begun}"));
        let record: Value = serde_json::from_str(&records[0]).unwrap();
        assert_eq!((records.len(), &record["type"]), (1, &json!("TerminalBlockUpdatedEvent")));
        assert_eq!((&record["fields"]["command"], &record["fields"]["status"]), (&json!("ls"), &json!("FAILED")));
    }

    #[test]
    fn prompts_that_were_taken_back_are_left_out() {
        let prompt = "{\"kind\":\"UserPromptEvent\",\"requestId\":\"r1\",\"prompt\":\"no\"}\n";
        let dropped = "{\"kind\":\"UserMessagesDroppedFromHistory\",\"userMessageIds\":[\"r1\"]}\n";
        let kept = "{\"kind\":\"UserMessagesCommittedToHistory\",\"userMessageIds\":[\"r1\"]}\n";
        assert_eq!(fold(&format!("{prompt}{dropped}")).len(), 1);
        assert_eq!(fold(&format!("{prompt}{dropped}{kept}")).len(), 3);
    }

    #[test]
    fn only_the_last_line_may_be_torn() {
        let records = fold("{\"kind\":\n{\"kind\":\"x\"}\n{\"ki");
        assert_eq!((records.len(), records[0].as_str()), (2, "{\"kind\":"));
    }
}
