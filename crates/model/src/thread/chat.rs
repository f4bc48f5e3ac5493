//! A message as sent to a model: without number, time or record.

use serde::{Deserialize, Serialize};

use crate::thread::{ContentBlock, ThreadMessage};

/// The author of a thread message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ChatRole {
    /// The human, or the program that sent the prompt.
    User,
    /// The model.
    Assistant,
    /// The result of a tool.
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

/// A message as sent to a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatMessage {
    /// The author.
    pub role: ChatRole,
    /// The content blocks.
    pub content: Vec<ContentBlock>,
    /// For a tool result: the id of its call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// For a tool result: the name of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// For a tool result: whether the tool failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl ChatMessage {
    /// A text message from the user.
    pub fn user(text: impl Into<String>) -> Self {
        Self::new(ChatRole::User, vec![ContentBlock::text(text)])
    }

    /// A message that is not a tool result.
    pub fn new(role: ChatRole, content: Vec<ContentBlock>) -> Self {
        Self { role, content, tool_call_id: None, tool_name: None, is_error: false }
    }

    /// Estimated tokens in a model's context window.
    pub fn estimated_tokens(&self) -> u64 {
        self.content.iter().map(ContentBlock::estimated_tokens).sum()
    }

    /// All text blocks, joined with newlines.
    pub fn text(&self) -> String {
        join_texts(&self.content)
    }
}

impl From<&ThreadMessage> for ChatMessage {
    fn from(message: &ThreadMessage) -> Self {
        Self {
            role: message.role,
            content: message.content.clone(),
            tool_call_id: message.tool_call_id.clone(),
            tool_name: message.tool_name.clone(),
            is_error: message.is_error.unwrap_or(false),
        }
    }
}

/// All text blocks, joined with newlines.
pub(crate) fn join_texts(content: &[ContentBlock]) -> String {
    content.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
}
