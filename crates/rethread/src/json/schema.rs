//! JSON schemas of types from the model crate, which itself does not depend on `schemars`.
//!
//! None of these types is ever constructed. Enum values are taken from their definition, so that they cannot drift.

use std::borrow::Cow;

use rethread_model::{EntityKind, Predicate, SessionState};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::render::state_name;

/// Defines a type that is written inline with the given schema.
macro_rules! inline_schema {
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

inline_schema!(
    /// RFC 3339 in UTC, with milliseconds.
    TimestampJson,
    json_schema!({"type": "string", "format": "date-time"})
);
inline_schema!(
    /// State of a session.
    SessionStateJson,
    {
        let names = [SessionState::Active, SessionState::Idle, SessionState::Suspended, SessionState::Ended].map(state_name);
        json_schema!({"type": "string", "enum": names})
    }
);
inline_schema!(
    /// Whether a session belongs to a sub-agent.
    SessionKindJson,
    json_schema!({"type": "string", "enum": ["main", "child"]})
);
inline_schema!(
    /// What started a thread.
    ThreadSourceJson,
    json_schema!({"type": "string", "enum": ["interactive", "cron"]})
);
inline_schema!(
    /// Predicate of a fact.
    PredicateJson,
    json_schema!({"type": "string", "enum": Predicate::ALL.map(Predicate::as_str)})
);
inline_schema!(
    /// Kind of an entity.
    EntityKindJson,
    json_schema!({"type": "string", "enum": EntityKind::ALL.map(EntityKind::as_str)})
);
inline_schema!(
    /// Why a model stopped.
    StopReasonJson,
    json_schema!({"type": "string", "enum": ["end", "toolCalls", "length", "refusal", "aborted", "error", "other"]})
);

/// Tokens as counted by the provider.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct TokensJson {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
}

/// Totals over all turns of a thread.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ThreadMetricsJson {
    turns: u64,
    tool_calls: u64,
    tokens: TokensJson,
    duration_ms: u64,
}

/// What a fact is about.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct EntityJson {
    kind: EntityKindJson,
    name: String,
}

/// A tool call without a result.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct WaitingCallJson {
    id: String,
    name: String,
}

/// A content block of a message.
pub(crate) struct BlockJson;

impl JsonSchema for BlockJson {
    fn schema_name() -> Cow<'static, str> {
        "BlockJson".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A content block of a message: {type: text, text}, {type: toolCall, id, name, arguments}, or a type added by a newer version.",
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

/// A message as sent to a model.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(crate) struct ChatMessageJson {
    /// `user`, `assistant` or `toolResult`.
    role: String,
    content: Vec<BlockJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_error: bool,
}

/// One record of a thread's log, as stored.
pub(crate) struct RecordJson;

impl JsonSchema for RecordJson {
    fn schema_name() -> Cow<'static, str> {
        "RecordJson".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (block, tokens) = (generator.subschema_for::<BlockJson>(), generator.subschema_for::<TokensJson>());
        let stop = generator.subschema_for::<StopReasonJson>();
        json_schema!({
            "description": "One record of a thread's log, as stored: a message, a compaction, or a type added by a newer version.",
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
