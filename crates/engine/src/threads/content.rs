//! Parses and checks the content of a message: a text, or a JSON array of blocks.

use rethread_model::thread::{ChatRole, ContentBlock, without_inline_reasoning};

/// Why content cannot become a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMessageContent {
    /// It has no text and no blocks.
    #[error("the message is empty")]
    Empty,
    /// It starts like a JSON array of blocks, but cannot be parsed.
    #[error("invalid JSON array of blocks: {0}")]
    InvalidBlocks(String),
    /// A tool call in a message that is not by the assistant.
    #[error("only the assistant can call tools")]
    CallNotByAssistant,
    /// A tool call without id or name, which no result could refer to.
    #[error("a tool call needs an id and a name")]
    IncompleteCall,
    /// Two calls of one message with the same id.
    #[error("two tool calls have the id {0:?}")]
    DuplicateCallId(String),
}

/// Rejects messages that no provider accepts. The log is append-only, so an invalid message could never be removed.
pub(super) fn check_content(role: ChatRole, content: &[ContentBlock]) -> Result<(), InvalidMessageContent> {
    let mut ids: Vec<&str> = Vec::new();
    let mut says_something = role == ChatRole::ToolResult;
    for block in content {
        match block {
            ContentBlock::ToolCall { .. } if role != ChatRole::Assistant => {
                return Err(InvalidMessageContent::CallNotByAssistant);
            }
            ContentBlock::ToolCall { id, name, .. } if id.is_empty() || name.is_empty() => {
                return Err(InvalidMessageContent::IncompleteCall);
            }
            ContentBlock::ToolCall { id, .. } if ids.contains(&id.as_str()) => {
                return Err(InvalidMessageContent::DuplicateCallId(id.clone()));
            }
            ContentBlock::ToolCall { id, .. } => ids.push(id),
            ContentBlock::Text(text) => says_something |= !text.trim().is_empty(),
            ContentBlock::Other(_) => says_something = true,
        }
    }
    if says_something || !ids.is_empty() { Ok(()) } else { Err(InvalidMessageContent::Empty) }
}

/// Removes reasoning from an answer: blocks of that type, and what models write into their text.
pub(super) fn remove_reasoning(content: &mut Vec<ContentBlock>) {
    const REASONING_BLOCKS: [&str; 3] = ["thinking", "redacted_thinking", "reasoning"];
    for block in content.iter_mut() {
        if let ContentBlock::Text(text) = block {
            *text = without_inline_reasoning(text);
        }
    }
    let is_reasoning = |block: &ContentBlock| {
        matches!(block, ContentBlock::Other(value)
            if value.get("type").and_then(serde_json::Value::as_str).is_some_and(|kind| REASONING_BLOCKS.contains(&kind)))
    };
    content.retain(|block| !is_reasoning(block) && block.as_text().is_none_or(|text| !text.is_empty()));
}

/// Parses content: an array whose first element is an object becomes blocks, everything else is text.
pub fn parse_content(text: &str) -> Result<Vec<ContentBlock>, InvalidMessageContent> {
    let trimmed = text.trim_start();
    let looks_like_blocks = trimmed.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{'));
    if !looks_like_blocks {
        // One trailing newline comes from the shell, not from the text.
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        return if text.trim().is_empty() {
            Err(InvalidMessageContent::Empty)
        } else {
            Ok(vec![ContentBlock::text(text)])
        };
    }
    let value =
        serde_json::from_str(trimmed).map_err(|error| InvalidMessageContent::InvalidBlocks(error.to_string()))?;
    ContentBlock::parse_list(value).map_err(InvalidMessageContent::InvalidBlocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    // S004-07
    fn content_becomes_blocks_in_every_form() {
        assert_eq!(parse_content("hello\n"), Ok(vec![ContentBlock::text("hello")]));
        assert_eq!(parse_content("[1, 2]"), Ok(vec![ContentBlock::text("[1, 2]")]), "a list of numbers is text");
        assert_eq!(parse_content("[x] done"), Ok(vec![ContentBlock::text("[x] done")]));
        let blocks =
            parse_content(r#" [ {"type":"text","text":"a"},{"type":"toolCall","id":"1","name":"n","arguments":{}}]"#);
        assert_eq!(blocks.map(|blocks| blocks.len()), Ok(2));
        assert!(matches!(parse_content(r#"[{"type":"text"}]"#), Err(InvalidMessageContent::InvalidBlocks(_))));
        assert!(matches!(
            parse_content(r#"[{"type":"text","text":"a"}"#),
            Err(InvalidMessageContent::InvalidBlocks(_))
        ));
        assert_eq!(parse_content(" \n"), Err(InvalidMessageContent::Empty));
    }

    #[test]
    fn content_that_no_provider_accepts_is_rejected() {
        let call = |id: &str, name: &str| ContentBlock::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: serde_json::Map::new(),
        };
        let (assistant, user) = (ChatRole::Assistant, ChatRole::User);
        assert_eq!(check_content(user, &[call("a", "b")]), Err(InvalidMessageContent::CallNotByAssistant));
        assert_eq!(check_content(assistant, &[call("", "b")]), Err(InvalidMessageContent::IncompleteCall));
        assert_eq!(
            check_content(assistant, &[call("a", "b"), call("a", "c")]),
            Err(InvalidMessageContent::DuplicateCallId("a".into()))
        );
        assert_eq!(check_content(user, &[ContentBlock::text(" ")]), Err(InvalidMessageContent::Empty));
        assert_eq!(check_content(user, &[]), Err(InvalidMessageContent::Empty));
        assert_eq!(check_content(ChatRole::ToolResult, &[ContentBlock::text("")]), Ok(()));
        assert_eq!(check_content(assistant, &[call("a", "b"), call("c", "b")]), Ok(()));
    }
}
