//! One line of a thread's log: a message, a compaction, an injection, settings, or a record of unknown type.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::thread::chat::join_texts;
use crate::thread::{ChatRole, ContentBlock, ThreadInjection, ThreadSettings};
use crate::{Timestamp, Tokens};

/// Why a model stopped generating.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum StopReason {
    /// The answer is complete.
    End,
    /// The model requests tool calls.
    ToolCalls,
    /// The output limit was reached.
    Length,
    /// The model or a content filter refused.
    Refusal,
    /// The user stopped it, or the process ended during the answer.
    Aborted,
    /// The connection or the provider failed during the answer.
    Error,
    /// Any other reason a provider reports.
    #[serde(other)]
    Other,
}

/// One message of a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ThreadMessage {
    /// Number in the log.
    pub seq: u64,
    /// The author.
    pub role: ChatRole,
    /// The content, always as blocks.
    #[serde(deserialize_with = "deserialize_blocks")]
    pub content: Vec<ContentBlock>,
    /// For a tool result: the id of its call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// For a tool result: the name of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// For a tool result: whether the tool failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// Time of the message.
    pub timestamp: Timestamp,
    /// Id of the turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// For an answer: the model that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// For an answer: tokens as counted by the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Tokens>,
    /// For an answer: why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// For a user message: the directory it was sent from. For a note: its project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The client's id of the message or its turn; a message sent twice is stored once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Unknown fields, preserved unchanged.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ThreadMessage {
    /// A message that is not a tool result. Its number is assigned later.
    pub fn new(role: ChatRole, content: Vec<ContentBlock>, timestamp: Timestamp) -> Self {
        Self {
            seq: 0,
            role,
            content,
            tool_call_id: None,
            tool_name: None,
            is_error: None,
            timestamp,
            run_id: None,
            model: None,
            usage: None,
            stop_reason: None,
            cwd: None,
            client_id: None,
            extra: Map::new(),
        }
    }

    /// A tool result. Its number is assigned later.
    pub fn tool_result(call: &str, content: Vec<ContentBlock>, is_error: bool, timestamp: Timestamp) -> Self {
        let mut message = Self::new(ChatRole::ToolResult, content, timestamp);
        message.tool_call_id = Some(call.to_owned());
        message.is_error = Some(is_error);
        message
    }

    /// Estimated tokens in a model's context window.
    pub fn estimated_tokens(&self) -> u64 {
        self.content.iter().map(ContentBlock::estimated_tokens).sum()
    }

    /// All text blocks, joined with newlines.
    pub fn text(&self) -> String {
        join_texts(&self.content)
    }

    /// Id and name of each tool call.
    pub fn tool_calls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.content.iter().filter_map(|block| match block {
            ContentBlock::ToolCall { id, name, .. } => Some((id.as_str(), name.as_str())),
            _ => None,
        })
    }
}

/// A summary that replaces everything before `first_kept_seq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// Number in the log.
    pub seq: u64,
    /// The first message that is still sent to the model unchanged.
    pub first_kept_seq: u64,
    /// The summary, in Markdown.
    pub summary: String,
    /// Tokens of the summarized messages.
    pub tokens_before: u64,
    /// Files read, but not modified, in everything summarized so far.
    pub read_files: Vec<String>,
    /// Files modified in everything summarized so far.
    pub modified_files: Vec<String>,
    /// Time of the compaction.
    pub timestamp: Timestamp,
    /// Unknown fields, preserved unchanged.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One line of a thread's log.
#[derive(Clone, Debug, PartialEq)]
pub enum ThreadRecord {
    /// A message.
    Message(ThreadMessage),
    /// A summary of earlier messages.
    Compaction(Compaction),
    /// Text that was injected before the next message.
    Injection(ThreadInjection),
    /// Name, system prompt and other settings from here on.
    Settings(ThreadSettings),
    /// A record of unknown type, unchanged.
    Other(Map<String, Value>),
}

impl ThreadRecord {
    /// Its number, if it has one.
    pub fn seq(&self) -> Option<u64> {
        match self {
            ThreadRecord::Message(message) => Some(message.seq),
            ThreadRecord::Compaction(compaction) => Some(compaction.seq),
            ThreadRecord::Injection(injection) => Some(injection.seq),
            ThreadRecord::Settings(_) => None,
            ThreadRecord::Other(fields) => fields.get("seq").and_then(Value::as_u64),
        }
    }

    /// Sets its number. Settings have none of their own.
    pub fn set_seq(&mut self, seq: u64) {
        match self {
            ThreadRecord::Message(message) => message.seq = seq,
            ThreadRecord::Compaction(compaction) => compaction.seq = seq,
            ThreadRecord::Injection(injection) => injection.seq = seq,
            ThreadRecord::Settings(_) => {}
            ThreadRecord::Other(fields) => {
                fields.insert("seq".to_owned(), seq.into());
            }
        }
    }

    /// The message, if this record is one.
    pub fn message(&self) -> Option<&ThreadMessage> {
        if let ThreadRecord::Message(message) = self { Some(message) } else { None }
    }
}

fn deserialize_blocks<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<ContentBlock>, D::Error> {
    ContentBlock::parse_list(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}
