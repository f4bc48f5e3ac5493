//! A piece of a message: a text, or a tool call. What newer programs write is kept as it is.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::estimate_text;

/// Tokens an image is taken for; models do not count its bytes.
const IMAGE_TOKENS: u64 = 1200;

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// What is said.
    Text(String),
    /// A tool the model wants to be used.
    ToolCall {
        /// The model's own id of the call; its result names it.
        id: String,
        /// The tool.
        name: String,
        /// What it is called with, in the order the model wrote it.
        arguments: Map<String, Value>,
    },
    /// A kind of block unknown here, whole.
    Other(Value),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Wire<'a> {
    Text { text: std::borrow::Cow<'a, str> },
    ToolCall { id: String, name: String, arguments: Map<String, Value> },
}

impl Block {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Block::Text(text.into())
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        if let Block::Text(text) = self { Some(text) } else { None }
    }

    /// The id of a tool call.
    pub fn call_id(&self) -> Option<&str> {
        if let Block::ToolCall { id, .. } = self { Some(id) } else { None }
    }

    /// What it takes in a model's window, arguments included.
    pub fn estimated_tokens(&self) -> u64 {
        match self {
            Block::Text(text) => estimate_text(text),
            Block::ToolCall { name, arguments, .. } => {
                let arguments = Value::Object(arguments.clone()).to_string();
                (name.chars().count() + arguments.chars().count()).div_ceil(4) as u64
            }
            Block::Other(value) if value["type"] == "image" => IMAGE_TOKENS,
            Block::Other(value) => estimate_text(&value.to_string()),
        }
    }

    /// The blocks of a message's content: an array of blocks, or, from programs that are careless, a bare text.
    pub fn list(content: Value) -> Result<Vec<Block>, String> {
        match content {
            Value::String(text) => Ok(vec![Block::Text(text)]),
            Value::Array(values) => values.into_iter().map(Block::parse).collect(),
            _ => Err("content must be a text or an array of blocks".to_owned()),
        }
    }

    /// One block. A known type with the wrong fields is refused; an unknown type is kept.
    pub fn parse(value: Value) -> Result<Block, String> {
        let Some(kind) = value.get("type").and_then(Value::as_str) else {
            return Err("a block is an object with a \"type\"".to_owned());
        };
        if kind != "text" && kind != "toolCall" {
            return Ok(Block::Other(value));
        }
        let kind = kind.to_owned();
        match serde_json::from_value::<Wire<'_>>(value) {
            Ok(Wire::Text { text }) => Ok(Block::Text(text.into_owned())),
            Ok(Wire::ToolCall { id, name, arguments }) => Ok(Block::ToolCall { id, name, arguments }),
            Err(error) => Err(format!("a {kind} block: {error}")),
        }
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Block::Text(text) => Wire::Text { text: text.into() }.serialize(serializer),
            Block::ToolCall { id, name, arguments } => {
                Wire::ToolCall { id: id.clone(), name: name.clone(), arguments: arguments.clone() }
                    .serialize(serializer)
            }
            Block::Other(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Block::parse(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str) -> Block {
        let block: Block = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&block).unwrap(), json);
        block
    }

    #[test]
    fn every_block_is_written_as_it_was_read() {
        check(r#"{"type":"text","text":"a \"b\""}"#);
        check(r#"{"type":"toolCall","id":"c1","name":"bash","arguments":{"z":1,"a":{"y":[],"b":null}}}"#);
        check(r#"{"type":"hologram","z":1,"a":2}"#);
    }

    #[test]
    fn what_is_no_block_is_refused() {
        for json in [r#""text""#, r"{}", r#"{"type":"text"}"#, r#"{"type":"toolCall","id":"x","name":"y"}"#] {
            assert!(serde_json::from_str::<Block>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn l004_05_arguments_count_as_tokens() {
        let call = check(r#"{"type":"toolCall","id":"c","name":"write","arguments":{"content":"0123456789"}}"#);
        assert_eq!(call.estimated_tokens(), (5_u64 + 24).div_ceil(4));
        assert_eq!(Block::text("日本語日本").estimated_tokens(), 2, "characters, not bytes");
        assert_eq!(check(r#"{"type":"image","data":"AAAA"}"#).estimated_tokens(), 1200);
    }
}
