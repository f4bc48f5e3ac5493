//! Requests to chat models and their answers, independent of the provider.

use std::time::Duration;

use rethread_model::Tokens;
use rethread_model::thread::{ChatMessage, ContentBlock, StopReason};
use serde_json::Value;

use crate::ChatError;

/// Timeouts and retries of chat requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatLimits {
    /// Timeout for connecting.
    pub connect: Duration,
    /// Longest silence: the timeout for the first byte and between bytes.
    pub idle: Duration,
    /// Timeout for one whole request.
    pub total: Duration,
    /// Retries after a busy server or a broken connection.
    pub retries: u32,
}

impl ChatLimits {
    /// For background work.
    pub const BACKGROUND: Self = Self {
        connect: Duration::from_secs(10),
        idle: Duration::from_mins(2),
        total: Duration::from_mins(2),
        retries: 3,
    };
    /// For a user who reads the answer as it arrives and can retry.
    pub const INTERACTIVE: Self = Self {
        connect: Duration::from_secs(10),
        idle: Duration::from_mins(1),
        total: Duration::from_mins(10),
        retries: 0,
    };
}

/// A request to a chat model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRequest {
    /// System prompt.
    pub system: Option<String>,
    /// The conversation so far, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Tools the model may call.
    pub tools: Vec<ToolDefinition>,
    /// Limit for the answer, sent to the provider.
    pub max_output_tokens: u64,
    /// Short label for the ledger. Not sent.
    pub purpose: &'static str,
}

/// A tool the model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDefinition {
    /// Name by which the model calls it.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON schema of the arguments.
    pub parameters: Value,
}

/// The answer of a chat model.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatAnswer {
    /// Text blocks and tool calls, in order.
    pub content: Vec<ContentBlock>,
    /// Why the answer ended.
    pub stop: StopReason,
    /// Tokens reported by the provider. `None` if it reported none or the answer is incomplete.
    pub usage: Option<Tokens>,
    /// Name of the model as reported by the provider.
    pub model: String,
}

impl ChatAnswer {
    /// Output tokens, estimated from the content.
    pub(crate) fn estimated_tokens(&self) -> u64 {
        self.content.iter().map(ContentBlock::estimated_tokens).sum()
    }
}

/// A part of an answer, passed on as it arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerChunk<'a> {
    /// Text to append.
    Text(&'a str),
    /// A tool call started. Its arguments are in the finished answer.
    CallStarted {
        /// Id of the call.
        id: &'a str,
        /// Name of the tool.
        name: &'a str,
    },
}

/// Result of a streamed request.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamedAnswer {
    /// The answer, also if it was stopped or interrupted. An incomplete tool call is dropped.
    pub answer: ChatAnswer,
    /// Why it was interrupted. `None` if it is complete or was stopped.
    pub error: Option<ChatError>,
}

/// The JSON schema an answer must follow.
#[derive(Clone, Copy, Debug)]
pub struct AnswerSchema<'a> {
    /// Name of letters, digits, `_` and `-`.
    pub name: &'a str,
    /// The JSON schema itself.
    pub schema: &'a Value,
}

/// An answer that follows the requested JSON schema.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonAnswer {
    /// The parsed JSON.
    pub value: Value,
    /// Tokens of all attempts together, as far as the provider reported them.
    pub usage: Tokens,
    /// Number of answers requested, including corrections.
    pub attempts: u32,
}
