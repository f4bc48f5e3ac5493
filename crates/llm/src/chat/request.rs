//! What a model is asked and what it answers, whoever it belongs to.

use std::time::Duration;

use rethread_model::Tokens;
use rethread_model::thread::{Block, ChatMessage, Stop};
use serde_json::Value;

use crate::ChatError;

/// How long to wait, and how often to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatLimits {
    /// For a connection.
    pub connect: Duration,
    /// For the next byte: whoever is silent for longer is too slow.
    pub first_byte: Duration,
    /// For one request from beginning to end.
    pub whole: Duration,
    /// How often a request is repeated that met a busy server or a broken connection.
    pub retries: u32,
}

impl ChatLimits {
    /// Where nobody waits.
    pub const PATIENT: Self = Self {
        connect: Duration::from_secs(10),
        first_byte: Duration::from_mins(2),
        whole: Duration::from_mins(2),
        retries: 3,
    };
    /// Where somebody reads along and can ask again.
    pub const INTERACTIVE: Self = Self {
        connect: Duration::from_secs(10),
        first_byte: Duration::from_mins(1),
        whole: Duration::from_mins(10),
        retries: 0,
    };
}

/// What a model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Instructions above everything that is said.
    pub system: Option<String>,
    /// What was said so far.
    pub messages: Vec<ChatMessage>,
    /// What it may use.
    pub tools: Vec<Tool>,
    /// The most it may answer.
    pub max_output_tokens: u64,
    /// What for: a word for the books, which is not sent.
    pub purpose: &'static str,
}

/// A tool the model may ask to be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// The JSON schema of its arguments.
    pub parameters: Value,
}

/// What a model answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Texts and tool calls.
    pub content: Vec<Block>,
    /// Why it ended.
    pub stop: Stop,
    /// Tokens as the provider counted them. None if it did not, or the answer broke off.
    pub usage: Option<Tokens>,
    /// The model that answered, as the provider calls it.
    pub model: String,
}

impl Answer {
    /// What it takes, as far as that can be told from what was said.
    pub(crate) fn estimated_tokens(&self) -> u64 {
        self.content.iter().map(Block::estimated_tokens).sum()
    }
}

/// What just came of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// More text.
    Text(&'a str),
    /// The model began to write a tool call. Its arguments come with the answer.
    CallStarted {
        /// The id of the call.
        id: &'a str,
        /// The tool.
        name: &'a str,
    },
}

/// An answer that was read along.
#[derive(Clone, Debug, PartialEq)]
pub struct Streamed {
    /// What was said, also where it was stopped or broke off. Half a tool call is left out.
    pub answer: Answer,
    /// Why it broke off; nothing if it was said to its end or stopped.
    pub failed: Option<ChatError>,
}

/// The shape of JSON that is asked for.
#[derive(Clone, Copy, Debug)]
pub struct JsonShape<'a> {
    /// A name of letters, digits, `_` and `-`.
    pub name: &'a str,
    /// Its JSON schema.
    pub schema: &'a Value,
}

/// JSON of the shape that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Structured {
    /// The JSON.
    pub value: Value,
    /// Tokens of all answers together, as far as the provider counted them.
    pub usage: Tokens,
    /// How many answers it took.
    pub attempts: u32,
}
