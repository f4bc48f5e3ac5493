//! Builds transcripts line by line in the formats of Claude Code and pi.

use std::fmt::Write as _;

use rethread_model::Timestamp;
use serde_json::{Map, Value, json};

const START: &str = "2026-03-02T09:00:00Z";

/// A transcript of Claude Code. Line `n`, counted from 1, is written `n` steps after the start.
#[derive(Clone)]
pub struct TranscriptBuilder {
    envelope: Map<String, Value>,
    id_prefix: String,
    has_uuids: bool,
    clock: LineClock,
    model: String,
    text: String,
}

#[derive(Clone, Copy)]
struct LineClock {
    start: Timestamp,
    step_seconds: i64,
    lines: i64,
}

impl LineClock {
    fn new() -> Self {
        Self { start: START.parse().unwrap(), step_seconds: 60, lines: 0 }
    }

    fn next(&mut self) -> String {
        self.lines += 1;
        Timestamp::from_millis(self.start.as_millis() + self.lines * self.step_seconds * 1000).to_string()
    }
}

impl TranscriptBuilder {
    /// A session in the project `/app`, on the branch `main`, with one line a minute.
    pub fn new(session: &str) -> Self {
        let mut envelope = Map::new();
        envelope.insert("sessionId".to_owned(), json!(session));
        envelope.insert("cwd".to_owned(), json!("/app"));
        envelope.insert("gitBranch".to_owned(), json!("main"));
        let (id_prefix, model) = (session.to_owned(), "m".to_owned());
        Self { envelope, id_prefix, has_uuids: false, clock: LineClock::new(), model, text: String::new() }
    }

    /// The working directory of the session.
    #[must_use]
    pub fn cwd(mut self, cwd: &str) -> Self {
        self.envelope.insert("cwd".to_owned(), json!(cwd));
        self
    }

    /// The git branch of the session.
    #[must_use]
    pub fn branch(mut self, branch: &str) -> Self {
        self.envelope.insert("gitBranch".to_owned(), json!(branch));
        self
    }

    /// The model of all answers.
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        model.clone_into(&mut self.model);
        self
    }

    /// The time of the start, and the seconds from one line to the next.
    #[must_use]
    pub fn times(mut self, start: Timestamp, step_seconds: i64) -> Self {
        self.clock.start = start;
        self.clock.step_seconds = step_seconds;
        self
    }

    /// Begins the ids of lines and messages with this instead of the session id.
    #[must_use]
    pub fn ids(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.id_prefix);
        self
    }

    /// Gives lines UUIDs, as Claude Code does, instead of short ids. Only a UUID means the same entry in every
    /// session, so that a copy is noticed.
    #[must_use]
    pub fn uuids(mut self) -> Self {
        self.has_uuids = true;
        self
    }

    /// A line typed by a user, or whatever else has the role `user`.
    #[must_use]
    pub fn user(self, content: impl Into<Value>) -> Self {
        self.line(json!({"type": "user", "message": {"role": "user", "content": content.into()}}))
    }

    /// A text answer.
    #[must_use]
    pub fn assistant(self, text: &str) -> Self {
        self.assistant_blocks(&[text_block(text)])
    }

    /// An answer with any content blocks.
    #[must_use]
    pub fn assistant_blocks(self, blocks: &[Value]) -> Self {
        let id = format!("msg_{}-{}", self.id_prefix, self.clock.lines);
        let message = json!({"role": "assistant", "id": id, "model": self.model, "content": blocks});
        self.line(json!({"type": "assistant", "message": message}))
    }

    /// A call of a tool.
    #[must_use]
    pub fn tool_call(self, id: &str, name: &str, input: &Value) -> Self {
        self.assistant_blocks(&[tool_call_block(id, name, input)])
    }

    /// The result of a call.
    #[must_use]
    pub fn tool_result(self, id: &str, output: &str, is_error: bool) -> Self {
        self.user(vec![tool_result_block(id, output, is_error)])
    }

    /// A call of `Bash` and its result.
    #[must_use]
    pub fn command(self, command: &str, output: &str, is_error: bool) -> Self {
        let id = format!("toolu_{}-{}", self.id_prefix, self.clock.lines);
        let result = json!({"role": "user", "content": [tool_result_block(&id, output, is_error)]});
        let native = json!({"stdout": output, "stderr": ""});
        let call = self.tool_call(&id, "Bash", &json!({"command": command}));
        call.line(json!({"type": "user", "message": result, "toolUseResult": native}))
    }

    /// A call of `Edit` that succeeds.
    #[must_use]
    pub fn edit(self, path: &str) -> Self {
        let id = format!("toolu_{}-{}", self.id_prefix, self.clock.lines);
        let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
        self.tool_call(&id, "Edit", &input).tool_result(&id, "done", false)
    }

    /// A line with an id, a time and the fields of the session added; fields of `line` itself are kept.
    #[must_use]
    pub fn line(mut self, line: Value) -> Self {
        let timestamp = self.clock.next();
        let mut whole = self.envelope.clone();
        let (prefix, number) = (&self.id_prefix, self.clock.lines);
        let id = if self.has_uuids {
            format!("{number:08x}-aaaa-4bbb-8ccc-000000000000")
        } else {
            format!("{prefix}-{number}")
        };
        whole.insert("uuid".to_owned(), json!(id));
        whole.insert("timestamp".to_owned(), json!(timestamp));
        let Value::Object(fields) = line else { panic!("a line is an object: {line}") };
        whole.extend(fields);
        self.raw(&Value::Object(whole))
    }

    /// A line with a time and nothing else added.
    #[must_use]
    pub fn timed(mut self, mut line: Value) -> Self {
        line["timestamp"] = json!(self.clock.next());
        self.raw(&line)
    }

    /// A line as it is.
    #[must_use]
    pub fn raw(mut self, line: &Value) -> Self {
        writeln!(self.text, "{line}").unwrap();
        self
    }

    /// The lines so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole transcript.
    pub fn build(self) -> String {
        self.text
    }
}

/// A text in an answer of Claude Code or pi.
pub fn text_block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// A tool call in an answer of Claude Code.
pub fn tool_call_block(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "tool_use", "id": id, "name": name, "input": input})
}

/// A tool result in a transcript of Claude Code.
pub fn tool_result_block(id: &str, output: &str, is_error: bool) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": output, "is_error": is_error})
}

/// A transcript of pi. Each entry follows the one before it unless it names its parent.
#[derive(Clone)]
pub struct PiTranscriptBuilder {
    clock: LineClock,
    last_id: Option<String>,
    id_prefix: String,
    text: String,
}

impl PiTranscriptBuilder {
    /// A session with one line a second. The first line names the session.
    pub fn new(session: &str, cwd: &str, start: &str) -> Self {
        let head = json!({"type": "session", "version": 3, "id": session, "timestamp": start, "cwd": cwd});
        let mut builder = Self::continued(session, start);
        writeln!(builder.text, "{head}").unwrap();
        builder
    }

    /// More lines of a session whose first line is already written.
    pub fn continued(id_prefix: &str, start: &str) -> Self {
        let clock = LineClock { start: start.parse().unwrap(), step_seconds: 1, lines: 0 };
        Self { clock, last_id: None, id_prefix: id_prefix.to_owned(), text: String::new() }
    }

    /// Begins the ids of entries with this instead of the session id.
    #[must_use]
    pub fn ids(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.id_prefix);
        self
    }

    /// The seconds from one line to the next.
    #[must_use]
    pub fn step_seconds(mut self, seconds: i64) -> Self {
        self.clock.step_seconds = seconds;
        self
    }

    /// A prompt.
    #[must_use]
    pub fn user(self, text: &str) -> Self {
        self.message(&json!({"role": "user", "content": [text_block(text)]}))
    }

    /// A text answer.
    #[must_use]
    pub fn assistant(self, text: &str) -> Self {
        self.message(&json!({"role": "assistant", "content": [text_block(text)]}))
    }

    /// Any message.
    #[must_use]
    pub fn message(self, message: &Value) -> Self {
        self.entry(json!({"type": "message", "message": message}))
    }

    /// Any entry. Id, parent and time are added where they are missing.
    #[must_use]
    pub fn entry(mut self, mut entry: Value) -> Self {
        let timestamp = self.clock.next();
        let id = format!("{}-{:04x}", self.id_prefix, self.clock.lines);
        for (key, value) in [("id", json!(id)), ("parentId", json!(self.last_id)), ("timestamp", json!(timestamp))] {
            if entry.get(key).is_none() {
                entry[key] = value;
            }
        }
        self.last_id = entry["id"].as_str().map(str::to_owned);
        writeln!(self.text, "{entry}").unwrap();
        self
    }

    /// The whole transcript.
    pub fn build(self) -> String {
        self.text
    }
}
