//! One line of a thread's log: a message, a compaction, or something a newer program wrote.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::thread::chat::text_of;
use crate::thread::{Block, ChatRole};
use crate::{Timestamp, Tokens};

/// Why a model stopped speaking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stop {
    /// It had said everything.
    End,
    /// It wants tools to be used.
    ToolCalls,
    /// It reached the limit of its answer.
    Length,
    /// It, or a filter around it, would not go on.
    Refusal,
    /// Somebody stopped it, or the process ended while it spoke.
    Aborted,
    /// The connection or the provider failed while it spoke.
    Error,
    /// Anything else a provider says.
    #[serde(other)]
    Other,
}

/// What somebody said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Its number in the log.
    pub seq: u64,
    /// Who speaks.
    pub role: ChatRole,
    /// What is said: always blocks.
    #[serde(deserialize_with = "blocks")]
    pub content: Vec<Block>,
    /// Of a result: which call it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Of a result: which tool gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Of a result: whether the tool failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_error: Option<bool>,
    /// When.
    pub timestamp: Timestamp,
    /// The turn it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Of an answer: the model that gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Of an answer: tokens as the provider counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Tokens>,
    /// Of an answer: why it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<Stop>,
    /// Of a user's text: the directory it was typed in. Of a note: the project it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What a client called it or its turn, so that one that is sent twice is stored once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Fields unknown here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Message {
    /// A message that is no tool result and has no number yet.
    pub fn new(role: ChatRole, content: Vec<Block>, timestamp: Timestamp) -> Self {
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

    /// A tool's result that has no number yet.
    pub fn result(call: &str, content: Vec<Block>, is_error: bool, timestamp: Timestamp) -> Self {
        let mut message = Self::new(ChatRole::ToolResult, content, timestamp);
        message.tool_call_id = Some(call.to_owned());
        message.is_error = Some(is_error);
        message
    }

    /// What it takes in a model's window.
    pub fn estimated_tokens(&self) -> u64 {
        self.content.iter().map(Block::estimated_tokens).sum()
    }

    /// Its texts, one below the other.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }

    /// Its tool calls: id and name.
    pub fn calls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.content.iter().filter_map(|block| match block {
            Block::ToolCall { id, name, .. } => Some((id.as_str(), name.as_str())),
            _ => None,
        })
    }
}

/// A summary that stands for everything before `first_kept_seq`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Compaction {
    /// Its number in the log.
    pub seq: u64,
    /// The first message that is still given word for word.
    pub first_kept_seq: u64,
    /// The summary, in Markdown.
    pub summary: String,
    /// Tokens of what was summarised.
    pub tokens_before: u64,
    /// Files read in all that was ever summarised, and not modified.
    pub read_files: Vec<String>,
    /// Files modified in all that was ever summarised.
    pub modified_files: Vec<String>,
    /// When.
    pub timestamp: Timestamp,
    /// Fields unknown here.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// One line of a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// What somebody said.
    Message(Message),
    /// A summary of what was said.
    Compaction(Compaction),
    /// A record of a kind unknown here, whole.
    Other(Map<String, Value>),
}

impl Record {
    /// Its number, if it has one.
    pub fn seq(&self) -> Option<u64> {
        match self {
            Record::Message(message) => Some(message.seq),
            Record::Compaction(compaction) => Some(compaction.seq),
            Record::Other(fields) => fields.get("seq").and_then(Value::as_u64),
        }
    }

    /// Gives it its number.
    pub fn set_seq(&mut self, seq: u64) {
        match self {
            Record::Message(message) => message.seq = seq,
            Record::Compaction(compaction) => compaction.seq = seq,
            Record::Other(fields) => {
                fields.insert("seq".to_owned(), seq.into());
            }
        }
    }

    /// The message, if it is one.
    pub fn message(&self) -> Option<&Message> {
        if let Record::Message(message) = self { Some(message) } else { None }
    }
}

fn blocks<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<Block>, D::Error> {
    Block::list(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
}
