//! Writes lines as pi does, for the demo.

use rethread_model::Timestamp;
use serde_json::{Value, json};

/// The name of a transcript that began then.
pub(super) fn file_name(started: Timestamp, session: &str) -> String {
    format!("{}_{session}.jsonl", started.to_string().replace([':', '.'], "-"))
}

/// A transcript being written.
pub(super) struct Log {
    at: Timestamp,
    /// Tokens that each message reads from the cache.
    context: u64,
    lines: Vec<Value>,
    last: Option<String>,
}

impl Log {
    pub(super) fn new(session: &str, cwd: &str, started: Timestamp) -> Self {
        let header = json!({"type": "session", "version": 3, "id": session, "timestamp": started, "cwd": cwd});
        Self { at: started, context: 7_300, lines: vec![header], last: None }
    }

    /// The same for messages that read so much.
    pub(super) fn reading(self, context: u64) -> Self {
        Self { context, ..self }
    }

    /// Moves the clock.
    pub(super) fn at(&mut self, at: Timestamp) -> &mut Self {
        self.at = at;
        self
    }

    pub(super) fn named(&mut self, name: &str) {
        self.line(json!({"type": "session_info", "name": name}));
    }

    pub(super) fn user(&mut self, text: &str) {
        self.message(json!({"role": "user", "content": [{"type": "text", "text": text}]}));
    }

    pub(super) fn said(&mut self, text: &str) {
        self.model(&json!([{"type": "text", "text": text}]), "stop");
    }

    pub(super) fn called(&mut self, id: &str, name: &str, arguments: &Value) {
        self.model(&json!([{"type": "toolCall", "id": id, "name": name, "arguments": arguments}]), "toolUse");
    }

    pub(super) fn said_and_called(&mut self, text: &str, id: &str, name: &str, arguments: &Value) {
        let call = json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments});
        self.model(&json!([{"type": "text", "text": text}, call]), "toolUse");
    }

    pub(super) fn result(&mut self, id: &str, name: &str, output: &str, is_error: bool) {
        let content = json!([{"type": "text", "text": output}]);
        self.message(
            json!({"role": "toolResult", "toolCallId": id, "toolName": name, "content": content, "isError": is_error}),
        );
    }

    /// All lines.
    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| line.to_string() + "\n").collect()
    }

    fn model(&mut self, content: &Value, stop_reason: &str) {
        let cost = 0.0042 * self.context as f64 / 7_300.0;
        let usage =
            json!({"input": 9, "output": 61, "cacheRead": self.context, "cacheWrite": 120, "cost": {"total": cost}});
        self.message(json!({"role": "assistant", "content": content, "model": "claude-sonnet-4-5", "usage": usage, "stopReason": stop_reason}));
    }

    fn message(&mut self, mut message: Value) {
        message["timestamp"] = json!(self.at.as_millis());
        self.line(json!({"type": "message", "message": message}));
    }

    fn line(&mut self, mut line: Value) {
        let id = format!("{:08x}", 0x5e55_0000 + self.lines.len());
        line["id"] = json!(id);
        line["parentId"] = json!(self.last);
        line["timestamp"] = json!(self.at);
        self.lines.push(line);
        self.last = Some(id);
    }
}
