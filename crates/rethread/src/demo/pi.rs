//! Writes transcripts in the format of pi, for the demo.

use rethread_model::Timestamp;
use serde_json::{Value, json};

pub(super) fn file_name(started: Timestamp, session: &str) -> String {
    format!("{}_{session}.jsonl", started.to_string().replace([':', '.'], "-"))
}

pub(super) struct PiTranscript {
    time: Timestamp,
    /// Cache read tokens of each message.
    cache_read_tokens: u64,
    lines: Vec<Value>,
    last_id: Option<String>,
}

impl PiTranscript {
    pub(super) fn new(session: &str, cwd: &str, started: Timestamp) -> Self {
        let header = json!({"type": "session", "version": 3, "id": session, "timestamp": started, "cwd": cwd});
        Self { time: started, cache_read_tokens: 7_300, lines: vec![header], last_id: None }
    }

    /// Sets the cache read tokens of each message.
    pub(super) fn with_context_tokens(self, context: u64) -> Self {
        Self { cache_read_tokens: context, ..self }
    }

    /// Sets the time of the lines that follow.
    pub(super) fn set_time(&mut self, at: Timestamp) -> &mut Self {
        self.time = at;
        self
    }

    pub(super) fn session_name(&mut self, name: &str) {
        self.push_line(json!({"type": "session_info", "name": name}));
    }

    pub(super) fn user_message(&mut self, text: &str) {
        self.push_message(json!({"role": "user", "content": [{"type": "text", "text": text}]}));
    }

    pub(super) fn assistant_message(&mut self, text: &str) {
        self.push_assistant_message(&json!([{"type": "text", "text": text}]), "stop");
    }

    pub(super) fn tool_call(&mut self, id: &str, name: &str, arguments: &Value) {
        self.push_assistant_message(
            &json!([{"type": "toolCall", "id": id, "name": name, "arguments": arguments}]),
            "toolUse",
        );
    }

    pub(super) fn message_and_tool_call(&mut self, text: &str, id: &str, name: &str, arguments: &Value) {
        let call = json!({"type": "toolCall", "id": id, "name": name, "arguments": arguments});
        self.push_assistant_message(&json!([{"type": "text", "text": text}, call]), "toolUse");
    }

    pub(super) fn tool_result(&mut self, id: &str, name: &str, output: &str, is_error: bool) {
        let content = json!([{"type": "text", "text": output}]);
        self.push_message(
            json!({"role": "toolResult", "toolCallId": id, "toolName": name, "content": content, "isError": is_error}),
        );
    }

    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| line.to_string() + "\n").collect()
    }

    fn push_assistant_message(&mut self, content: &Value, stop_reason: &str) {
        let cost = 0.0042 * self.cache_read_tokens as f64 / 7_300.0;
        let usage = json!({"input": 9, "output": 61, "cacheRead": self.cache_read_tokens, "cacheWrite": 120, "cost": {"total": cost}});
        self.push_message(json!({"role": "assistant", "content": content, "model": "claude-sonnet-4-5", "usage": usage, "stopReason": stop_reason}));
    }

    fn push_message(&mut self, mut message: Value) {
        message["timestamp"] = json!(self.time.as_millis());
        self.push_line(json!({"type": "message", "message": message}));
    }

    fn push_line(&mut self, mut line: Value) {
        let id = format!("{:08x}", 0x5e55_0000 + self.lines.len());
        line["id"] = json!(id);
        line["parentId"] = json!(self.last_id);
        line["timestamp"] = json!(self.time);
        self.lines.push(line);
        self.last_id = Some(id);
    }
}
