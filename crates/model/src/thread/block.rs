//! A content block of a thread message: text or a tool call. Unknown block types are preserved unchanged.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::estimate_text_tokens;

/// Estimated tokens of an image; models do not count its bytes.
const IMAGE_TOKENS: u64 = 1200;

/// One content block of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentBlock {
    /// Plain text.
    Text(String),
    /// A tool call requested by the model.
    ToolCall {
        /// The model's id of the call; the result refers to it.
        id: String,
        /// Name of the tool.
        name: String,
        /// The arguments, in the order the model wrote them.
        arguments: Map<String, Value>,
    },
    /// A block of unknown type, unchanged.
    Other(Value),
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum BlockWire<'a> {
    Text { text: std::borrow::Cow<'a, str> },
    ToolCall { id: String, name: String, arguments: Map<String, Value> },
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        ContentBlock::Text(text.into())
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        if let ContentBlock::Text(text) = self { Some(text) } else { None }
    }

    /// The id, if this is a tool call.
    pub fn call_id(&self) -> Option<&str> {
        if let ContentBlock::ToolCall { id, .. } = self { Some(id) } else { None }
    }

    /// Estimated tokens in a model's context window, including arguments.
    pub fn estimated_tokens(&self) -> u64 {
        match self {
            ContentBlock::Text(text) => estimate_text_tokens(text),
            ContentBlock::ToolCall { name, arguments, .. } => {
                let arguments = Value::Object(arguments.clone()).to_string();
                estimate_text_tokens(&format!("{name}{arguments}"))
            }
            ContentBlock::Other(value) if value["type"] == "image" => IMAGE_TOKENS,
            ContentBlock::Other(value) => estimate_text_tokens(&value.to_string()),
        }
    }

    /// Parses a message's content: an array of blocks, or a bare string, which some programs write.
    pub fn parse_list(content: Value) -> Result<Vec<ContentBlock>, String> {
        match content {
            Value::String(text) => Ok(vec![ContentBlock::Text(text)]),
            Value::Array(values) => values.into_iter().map(ContentBlock::parse).collect(),
            _ => Err("content must be a string or an array of blocks".to_owned()),
        }
    }

    /// Parses one block. A known type with wrong fields is an error; an unknown type is preserved.
    pub fn parse(value: Value) -> Result<ContentBlock, String> {
        let Some(kind) = value.get("type").and_then(Value::as_str) else {
            return Err("a block must be an object with a \"type\"".to_owned());
        };
        if kind != "text" && kind != "toolCall" {
            return Ok(ContentBlock::Other(value));
        }
        let kind = kind.to_owned();
        match serde_json::from_value::<BlockWire<'_>>(value) {
            Ok(BlockWire::Text { text }) => Ok(ContentBlock::Text(text.into_owned())),
            Ok(BlockWire::ToolCall { id, name, arguments }) => Ok(ContentBlock::ToolCall { id, name, arguments }),
            Err(error) => Err(format!("invalid {kind} block: {error}")),
        }
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ContentBlock::Text(text) => BlockWire::Text { text: text.into() }.serialize(serializer),
            ContentBlock::ToolCall { id, name, arguments } => {
                BlockWire::ToolCall { id: id.clone(), name: name.clone(), arguments: arguments.clone() }
                    .serialize(serializer)
            }
            ContentBlock::Other(value) => value.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        ContentBlock::parse(Value::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str) -> ContentBlock {
        let block: ContentBlock = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&block).unwrap(), json);
        block
    }

    #[test]
    fn blocks_round_trip() {
        check(r#"{"type":"text","text":"a \"b\""}"#);
        check(r#"{"type":"toolCall","id":"c1","name":"bash","arguments":{"z":1,"a":{"y":[],"b":null}}}"#);
        check(r#"{"type":"hologram","z":1,"a":2}"#);
    }

    #[test]
    fn invalid_blocks_are_rejected() {
        for json in [r#""text""#, r"{}", r#"{"type":"text"}"#, r#"{"type":"toolCall","id":"x","name":"y"}"#] {
            assert!(serde_json::from_str::<ContentBlock>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn arguments_count_as_tokens() {
        // L004-05
        let call = check(r#"{"type":"toolCall","id":"c","name":"write","arguments":{"content":"0123456789"}}"#);
        assert_eq!(call.estimated_tokens(), (5_u64 + 24).div_ceil(4));
        assert_eq!(ContentBlock::text("日本語日本").estimated_tokens(), 5, "one for each character");
        assert_eq!(check(r#"{"type":"image","data":"AAAA"}"#).estimated_tokens(), 1200);
    }
}
