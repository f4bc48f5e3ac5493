//! Writes transcripts in the format of Claude Code, for the demo.

use rethread_model::Timestamp;
use serde_json::{Value, json};

pub(super) struct ClaudeCodeTranscript {
    session: &'static str,
    cwd: &'static str,
    branch: &'static str,
    model: &'static str,
    /// Cache read tokens of each message.
    cache_read_tokens: u64,
    agent: Option<&'static str>,
    time: Timestamp,
    lines: Vec<Value>,
    last_id: Option<String>,
}

/// An edit of the demo.
pub(super) struct DemoEdit {
    pub(super) path: &'static str,
    /// Line of the first of the lines around it.
    pub(super) line: u64,
    /// The lines before and after it.
    pub(super) around: [&'static str; 2],
    pub(super) old: &'static str,
    pub(super) new: &'static str,
}

impl ClaudeCodeTranscript {
    pub(super) fn new(session: &'static str, cwd: &'static str) -> Self {
        let (branch, model, cache_read_tokens) = ("main", "claude-opus-4-6", 18_400);
        let (agent, time) = (None, Timestamp::default());
        Self { session, cwd, branch, model, cache_read_tokens, agent, time, lines: Vec::new(), last_id: None }
    }

    pub(super) fn on_branch(self, branch: &'static str) -> Self {
        Self { branch, ..self }
    }

    /// `context` is the number of cache read tokens of each message.
    pub(super) fn with_model(self, model: &'static str, context: u64) -> Self {
        Self { model, cache_read_tokens: context, ..self }
    }

    /// Makes it the transcript of a sub-agent.
    pub(super) fn for_sub_agent(mut self, agent: &'static str) -> Self {
        self.agent = Some(agent);
        self
    }

    /// Sets the time of the lines that follow.
    pub(super) fn set_time(&mut self, at: Timestamp) -> &mut Self {
        self.time = at;
        self
    }

    pub(super) fn user_message(&mut self, text: &str) -> &mut Self {
        self.push_line("user", json!({"message": {"role": "user", "content": text}}))
    }

    pub(super) fn title(&mut self, title: &str) -> &mut Self {
        self.lines.push(json!({"type": "ai-title", "aiTitle": title, "sessionId": self.session}));
        self
    }

    pub(super) fn assistant_message(&mut self, text: &str) -> &mut Self {
        self.push_assistant_block(&json!({"type": "text", "text": text}))
    }

    pub(super) fn tool_call(&mut self, id: &str, name: &str, input: &Value) -> &mut Self {
        self.push_assistant_block(&json!({"type": "tool_use", "id": id, "name": name, "input": input}))
    }

    pub(super) fn tool_success(&mut self, id: &str, output: &str) -> &mut Self {
        self.push_tool_result(&json!({"type": "tool_result", "tool_use_id": id, "content": output}))
    }

    pub(super) fn tool_error(&mut self, id: &str, output: &str) -> &mut Self {
        self.push_tool_result(&json!({"type": "tool_result", "tool_use_id": id, "content": output, "is_error": true}))
    }

    /// An edit and its result.
    pub(super) fn edit(&mut self, id: &str, edit: &DemoEdit) -> &mut Self {
        let input = json!({"file_path": edit.path, "old_string": edit.old, "new_string": edit.new});
        self.tool_call(id, "Edit", &input);
        let marked = |mark: &str, text: &str| text.lines().map(|line| format!("{mark}{line}")).collect::<Vec<_>>();
        let [before, after] = edit.around;
        let lines = [marked(" ", before), marked("-", edit.old), marked("+", edit.new), marked(" ", after)].concat();
        let hunk = json!({"oldStart": edit.line, "newStart": edit.line, "lines": lines});
        let output = format!("The file {} has been updated.", edit.path);
        let block = json!({"type": "tool_result", "tool_use_id": id, "content": output});
        let result = json!({"filePath": edit.path, "structuredPatch": [hunk]});
        self.push_line("user", json!({"message": {"role": "user", "content": [block]}, "toolUseResult": result}))
    }

    pub(super) fn text(&self) -> String {
        self.lines.iter().map(|line| line.to_string() + "\n").collect()
    }

    fn push_assistant_block(&mut self, block: &Value) -> &mut Self {
        let id = format!("msg_{}{:02}", &self.session[..8], self.lines.len());
        let usage = json!({"input_tokens": 12, "output_tokens": 84, "cache_read_input_tokens": self.cache_read_tokens, "cache_creation_input_tokens": 310});
        let message = json!({"id": id, "type": "message", "role": "assistant", "model": self.model, "content": [block], "usage": usage});
        self.push_line("assistant", json!({"message": message}))
    }

    fn push_tool_result(&mut self, block: &Value) -> &mut Self {
        self.push_line("user", json!({"message": {"role": "user", "content": [block]}}))
    }

    /// Adds a line with the fields that every message has.
    fn push_line(&mut self, kind: &str, mut line: Value) -> &mut Self {
        let tail = if self.agent.is_some() { "b" } else { "a" };
        let uuid = format!("{}-0000-4000-8000-{:011}{tail}", &self.session[..8], self.lines.len());
        line["type"] = json!(kind);
        line["parentUuid"] = json!(self.last_id);
        line["uuid"] = json!(uuid);
        line["timestamp"] = json!(self.time);
        line["isSidechain"] = json!(self.agent.is_some());
        line["agentId"] = json!(self.agent);
        line["sessionId"] = json!(self.session);
        line["cwd"] = json!(self.cwd);
        line["gitBranch"] = json!(self.branch);
        line["version"] = json!("2.1.78");
        self.lines.push(line);
        self.last_id = Some(uuid);
        self
    }
}
