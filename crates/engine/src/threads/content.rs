//! What a caller gives as a message's content: a text, or a JSON array of blocks.

use rethread_model::thread::{Block, ChatRole};

/// The content cannot be a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadContent {
    /// Nothing is said.
    #[error("there is nothing to append")]
    Empty,
    /// It looks like blocks and is none.
    #[error("the content begins like a JSON array of blocks and is none: {0}")]
    NotBlocks(String),
    /// Only models call tools.
    #[error("a tool can be called by the assistant only")]
    CallByOthers,
    /// A call that no result can name.
    #[error("a tool call needs an id and a name")]
    NamelessCall,
    /// Two calls of one message that results cannot tell apart.
    #[error("two tool calls have the id {0:?}")]
    CalledTwice(String),
}

/// Refuses what no provider takes. The log only grows, so what is in it can never be mended.
pub(super) fn check(role: ChatRole, content: &[Block]) -> Result<(), BadContent> {
    let mut ids: Vec<&str> = Vec::new();
    let mut says_something = role == ChatRole::ToolResult;
    for block in content {
        match block {
            Block::ToolCall { .. } if role != ChatRole::Assistant => return Err(BadContent::CallByOthers),
            Block::ToolCall { id, name, .. } if id.is_empty() || name.is_empty() => {
                return Err(BadContent::NamelessCall);
            }
            Block::ToolCall { id, .. } if ids.contains(&id.as_str()) => {
                return Err(BadContent::CalledTwice(id.clone()));
            }
            Block::ToolCall { id, .. } => ids.push(id),
            Block::Text(text) => says_something |= !text.trim().is_empty(),
            Block::Other(_) => says_something = true,
        }
    }
    if says_something || !ids.is_empty() { Ok(()) } else { Err(BadContent::Empty) }
}

/// Reads content: an array whose first element is an object is taken for blocks, everything else for text.
pub fn content_of(text: &str) -> Result<Vec<Block>, BadContent> {
    let trimmed = text.trim_start();
    let looks_like_blocks = trimmed.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with('{'));
    if !looks_like_blocks {
        // One newline at the end belongs to the shell, not to the text.
        let text = text.strip_suffix('\n').unwrap_or(text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        return if text.trim().is_empty() { Err(BadContent::Empty) } else { Ok(vec![Block::text(text)]) };
    }
    let value = serde_json::from_str(trimmed).map_err(|error| BadContent::NotBlocks(error.to_string()))?;
    Block::list(value).map_err(BadContent::NotBlocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s004_07_content_becomes_blocks_whatever_it_was() {
        assert_eq!(content_of("hello\n"), Ok(vec![Block::text("hello")]));
        assert_eq!(content_of("[1, 2]"), Ok(vec![Block::text("[1, 2]")]), "a list of numbers is a text");
        assert_eq!(content_of("[x] done"), Ok(vec![Block::text("[x] done")]));
        let blocks =
            content_of(r#" [ {"type":"text","text":"a"},{"type":"toolCall","id":"1","name":"n","arguments":{}}]"#);
        assert_eq!(blocks.map(|blocks| blocks.len()), Ok(2));
        assert!(matches!(content_of(r#"[{"type":"text"}]"#), Err(BadContent::NotBlocks(_))));
        assert!(matches!(content_of(r#"[{"type":"text","text":"a"}"#), Err(BadContent::NotBlocks(_))));
        assert_eq!(content_of(" \n"), Err(BadContent::Empty));
    }

    #[test]
    fn what_no_provider_takes_is_refused() {
        let call = |id: &str, name: &str| Block::ToolCall {
            id: id.into(),
            name: name.into(),
            arguments: serde_json::Map::new(),
        };
        let (assistant, user) = (ChatRole::Assistant, ChatRole::User);
        assert_eq!(check(user, &[call("a", "b")]), Err(BadContent::CallByOthers));
        assert_eq!(check(assistant, &[call("", "b")]), Err(BadContent::NamelessCall));
        assert_eq!(check(assistant, &[call("a", "b"), call("a", "c")]), Err(BadContent::CalledTwice("a".into())));
        assert_eq!(check(user, &[Block::text(" ")]), Err(BadContent::Empty));
        assert_eq!(check(user, &[]), Err(BadContent::Empty));
        assert_eq!(check(ChatRole::ToolResult, &[Block::text("")]), Ok(()));
        assert_eq!(check(assistant, &[call("a", "b"), call("c", "b")]), Ok(()));
    }
}
