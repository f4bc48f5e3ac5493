//! A message as a model gets it: no number, no time, no record around it.

use serde::{Deserialize, Serialize};

use crate::thread::{Block, Message};

/// Who speaks in a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChatRole {
    /// The human, or whoever asks.
    User,
    /// The model.
    Assistant,
    /// What a tool gave back.
    ToolResult,
}

impl ChatRole {
    /// The name in records and commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            ChatRole::User => "user",
            ChatRole::Assistant => "assistant",
            ChatRole::ToolResult => "toolResult",
        }
    }
}

/// A message as a model gets it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatMessage {
    /// Who speaks.
    pub role: ChatRole,
    /// What is said.
    pub content: Vec<Block>,
    /// Of a result: which call it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// Of a result: which tool gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Of a result: whether the tool failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl ChatMessage {
    /// A text of the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::said(ChatRole::User, vec![Block::text(text)])
    }

    /// A message that is no tool result.
    pub fn said(role: ChatRole, content: Vec<Block>) -> Self {
        Self { role, content, tool_call_id: None, tool_name: None, is_error: false }
    }

    /// What it takes in a model's window.
    pub fn estimated_tokens(&self) -> u64 {
        self.content.iter().map(Block::estimated_tokens).sum()
    }

    /// Its texts, one below the other.
    pub fn text(&self) -> String {
        text_of(&self.content)
    }
}

impl From<&Message> for ChatMessage {
    fn from(message: &Message) -> Self {
        Self {
            role: message.role,
            content: message.content.clone(),
            tool_call_id: message.tool_call_id.clone(),
            tool_name: message.tool_name.clone(),
            is_error: message.is_error.unwrap_or(false),
        }
    }
}

/// The texts among blocks, one below the other.
pub(crate) fn text_of(content: &[Block]) -> String {
    content.iter().filter_map(Block::as_text).collect::<Vec<_>>().join("\n")
}
