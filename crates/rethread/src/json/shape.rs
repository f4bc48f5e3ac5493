//! Shapes of what the model crate writes, for the document of the API: `model` itself knows of no schemas.
//!
//! None of these is ever made. Names are taken from where they are defined, so that they cannot drift.

use std::borrow::Cow;

use rethread_model::{EntityKind, Predicate, State};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::render::state;

/// Gives a shape to a name: what stands in its place in the document.
macro_rules! shape {
    ($(#[$about:meta])* $name:ident, $schema:expr) => {
        $(#[$about])*
        pub(crate) struct $name;

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

shape!(
    /// A moment in UTC.
    Moment,
    json_schema!({"type": "string", "format": "date-time"})
);
shape!(
    /// Where a session is in its life.
    StateName,
    {
        let names = [State::Active, State::Idle, State::Suspended, State::Ended].map(state);
        json_schema!({"type": "string", "enum": names})
    }
);
shape!(
    /// How a session came to be.
    SessionKindName,
    json_schema!({"type": "string", "enum": ["main", "child"]})
);
shape!(
    /// What started a thread.
    ThreadSourceName,
    json_schema!({"type": "string", "enum": ["interactive", "cron"]})
);
shape!(
    /// What a fact says of its subject.
    PredicateName,
    json_schema!({"type": "string", "enum": Predicate::ALL.map(Predicate::as_str)})
);
shape!(
    /// What kind of thing a fact is about.
    EntityKindName,
    json_schema!({"type": "string", "enum": EntityKind::ALL.map(EntityKind::as_str)})
);
shape!(
    /// Why a model stopped speaking.
    StopName,
    json_schema!({"type": "string", "enum": ["end", "toolCalls", "length", "refusal", "aborted", "error", "other"]})
);

/// Tokens as a provider counted them.
#[derive(JsonSchema)]
#[schemars(rename = "Tokens", rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct TokensShape {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

/// Sums over all turns of a thread.
#[derive(JsonSchema)]
#[schemars(rename = "Metrics", rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct MetricsShape {
    turns: u64,
    tool_calls: u64,
    tokens: TokensShape,
    duration_ms: u64,
}

/// A thing that facts are about.
#[derive(JsonSchema)]
#[schemars(rename = "Entity")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct EntityShape {
    kind: EntityKindName,
    name: String,
}

/// A tool call that has no result yet.
#[derive(JsonSchema)]
#[schemars(rename = "WaitingCall")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct WaitingCallShape {
    id: String,
    name: String,
}

/// A piece of a message: a text, a tool call, or what newer programs write.
pub(crate) struct BlockShape;

impl JsonSchema for BlockShape {
    fn schema_name() -> Cow<'static, str> {
        "Block".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A piece of a message: {type: text, text}, {type: toolCall, id, name, arguments}, or what newer programs write.",
            "type": "object",
            "required": ["type"],
            "properties": {
                "type": {"type": "string"},
                "text": {"type": "string"},
                "id": {"type": "string"},
                "name": {"type": "string"},
                "arguments": {"type": "object"}
            }
        })
    }
}

/// A message as a model gets it.
#[derive(JsonSchema)]
#[schemars(rename = "ChatMessage", rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
pub(crate) struct ChatMessageShape {
    /// `user`, `assistant` or `toolResult`.
    role: String,
    content: Vec<BlockShape>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

/// One record of a thread's log, as it stands there.
pub(crate) struct RecordShape;

impl JsonSchema for RecordShape {
    fn schema_name() -> Cow<'static, str> {
        "Record".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (block, tokens) = (generator.subschema_for::<BlockShape>(), generator.subschema_for::<TokensShape>());
        let stop = generator.subschema_for::<StopName>();
        json_schema!({
            "description": "One record of a thread's log, as it stands there: a message, a compaction, or what newer programs write.",
            "type": "object",
            "required": ["recordType"],
            "properties": {
                "recordType": {"type": "string"},
                "schemaVersion": {"type": "integer"},
                "seq": {"type": "integer", "minimum": 0},
                "timestamp": {"type": "string", "format": "date-time"},
                "role": {"type": "string", "enum": ["user", "assistant", "toolResult"]},
                "content": {"type": "array", "items": block},
                "toolCallId": {"type": "string"},
                "toolName": {"type": "string"},
                "isError": {"type": "boolean"},
                "runId": {"type": "string"},
                "model": {"type": "string"},
                "usage": tokens,
                "stopReason": stop,
                "cwd": {"type": "string"},
                "firstKeptSeq": {"type": "integer", "minimum": 0},
                "summary": {"type": "string"},
                "tokensBefore": {"type": "integer", "minimum": 0},
                "readFiles": {"type": "array", "items": {"type": "string"}},
                "modifiedFiles": {"type": "array", "items": {"type": "string"}}
            }
        })
    }
}
