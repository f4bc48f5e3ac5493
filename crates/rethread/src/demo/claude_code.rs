//! Writes lines as Claude Code does, for the demo.

use rethread_model::Timestamp;
use serde_json::{Value, json};

/// A transcript being written.
pub(super) struct Log {
    session: &'static str,
    cwd: &'static str,
    branch: &'static str,
    model: &'static str,
    /// Tokens that each message reads from the cache.
    context: u64,
    agent: Option<&'static str>,
    at: Timestamp,
    lines: Vec<Value>,
    last: Option<String>,
}

impl Log {
    pub(super) fn new(session: &'static str, cwd: &'static str) -> Self {
        let (branch, model, context) = ("main", "claude-opus-4-6", 18_400);
        let (agent, at) = (None, Timestamp::default());
        Self { session, cwd, branch, model, context, agent, at, lines: Vec::new(), last: None }
    }

    /// The same on another branch.
    pub(super) fn on(self, branch: &'static str) -> Self {
        Self { branch, ..self }
    }

    /// The same by another model that reads so much.
    pub(super) fn by(self, model: &'static str, context: u64) -> Self {
        Self { model, context, ..self }
    }

    /// The same for a sub-agent's transcript.
    pub(super) fn for_agent(mut self, agent: &'static str) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Moves the clock.
    pub(super) fn at(&mut self, at: Timestamp) -> &mut Self {
        self.at = at;
        self
    }

    pub(super) fn user(&mut self, text: &str) -> &mut Self {
        self.line("user", json!({"message": {"role": "user", "content": text}}))
    }

    pub(super) fn title(&mut self, title: &str) -> &mut Self {
        self.lines.push(json!({"type": "ai-title", "aiTitle": title, "sessionId": self.session}));
        self
    }

    pub(super) fn said(&mut self, text: &str) -> &mut Self {
        self.model(&json!({"type": "text", "text": text}))
    }

    pub(super) fn call(&mut self, id: &str, name: &str, input: &Value) -> &mut Self {
        self.model(&json!({"type": "tool_use", "id": id, "name": name, "input": input}))
    }

    pub(super) fn worked(&mut self, id: &str, output: &str) -> &mut Self {
        self.result(&json!({"type": "tool_result", "tool_use_id": id, "content": output}))
    }

    pub(super) fn failed(&mut self, id: &str, output: &str) -> &mut Self {
        self.result(&json!({"type": "tool_result", "tool_use_id": id, "content": output, "is_error": true}))
    }

    /// All lines.
    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| line.to_string() + "\n").collect()
    }

    fn model(&mut self, block: &Value) -> &mut Self {
        let id = format!("msg_{}{:02}", &self.session[..8], self.lines.len());
        let usage = json!({"input_tokens": 12, "output_tokens": 84, "cache_read_input_tokens": self.context, "cache_creation_input_tokens": 310});
        let message = json!({"id": id, "type": "message", "role": "assistant", "model": self.model, "content": [block], "usage": usage});
        self.line("assistant", json!({"message": message}))
    }

    fn result(&mut self, block: &Value) -> &mut Self {
        self.line("user", json!({"message": {"role": "user", "content": [block]}}))
    }

    /// A line with the envelope that every message has.
    fn line(&mut self, kind: &str, mut line: Value) -> &mut Self {
        let tail = if self.agent.is_some() { "b" } else { "a" };
        let uuid = format!("{}-0000-4000-8000-{:011}{tail}", &self.session[..8], self.lines.len());
        line["type"] = json!(kind);
        line["parentUuid"] = json!(self.last);
        line["uuid"] = json!(uuid);
        line["timestamp"] = json!(self.at);
        line["isSidechain"] = json!(self.agent.is_some());
        line["agentId"] = json!(self.agent);
        line["sessionId"] = json!(self.session);
        line["cwd"] = json!(self.cwd);
        line["gitBranch"] = json!(self.branch);
        line["version"] = json!("2.1.78");
        self.lines.push(line);
        self.last = Some(uuid);
        self
    }
}
