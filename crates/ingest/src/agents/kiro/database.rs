//! Reads the database of older versions of Kiro CLI: a row per conversation, with all of it as JSON.

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::cli::add_result;
use crate::parse::derived_header::DerivedHeader;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientObject, LenientText, LenientTimestamp, parse_or_default};
use crate::parse::{ParseContext, TextSink, content_id};
use crate::source::DatabaseQueries;
use crate::{EventBody, TranscriptEvent};

/// The summary of a compacted conversation comes first: its history begins after it.
macro_rules! turns_of {
    ($newest:literal) => {
        concat!(
            "FROM (SELECT -1 AS number, json_extract(value, '$.latest_summary') AS value FROM ",
            $newest,
            " UNION ALL SELECT history.key, history.value FROM ",
            $newest,
            " AS newest, json_each(newest.value, '$.history') AS history) AS turn",
            " WHERE turn.value IS NOT NULL ORDER BY turn.number"
        )
    };
}

pub(super) const GENERATIONS: &[DatabaseQueries] = &[
    // The same conversation can be stored for several directories; the newest row has all of it.
    DatabaseQueries {
        applies: "SELECT 1 FROM conversations_v2 LIMIT 1",
        sessions: "SELECT conversation_id AS id, conversation_id AS sessionId, key AS cwd, created_at AS timestamp,
                   max(updated_at) AS updated_at FROM conversations_v2 GROUP BY conversation_id",
        version: "turn.number, turn.value",
        columns: "turn.number AS number, turn.value AS value",
        from: turns_of!(
            "(SELECT value FROM conversations_v2 WHERE conversation_id = ?1 ORDER BY updated_at DESC LIMIT 1)"
        ),
        finished: "1",
    },
    // One conversation per directory, without times.
    DatabaseQueries {
        applies: "SELECT 1 FROM conversations LIMIT 1",
        sessions: "SELECT json_extract(value, '$.conversation_id') AS id, json_extract(value, '$.conversation_id') AS
                   sessionId, key AS cwd, length(value) AS updated_at FROM conversations WHERE json_valid(value)",
        version: "turn.number, turn.value",
        columns: "turn.number AS number, turn.value AS value",
        from: turns_of!(
            "(SELECT value FROM conversations WHERE json_valid(value) AND json_extract(value, '$.conversation_id') = ?1)"
        ),
        finished: "1",
    },
];

/// A row: an exchange of the history, or the summary of what came before.
#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroRow<'a> {
    #[serde(borrow)]
    value: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroTurn<'a> {
    #[serde(borrow)]
    user: Option<&'a RawValue>,
    #[serde(borrow)]
    assistant: LenientObject<KiroAssistant<'a>>,
    #[serde(borrow)]
    request_metadata: LenientObject<KiroRequest<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroUser<'a> {
    #[serde(borrow)]
    content: LenientObject<KiroUserContent<'a>>,
    timestamp: LenientTimestamp,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct KiroUserContent<'a> {
    #[serde(borrow)]
    prompt: LenientObject<KiroUserPart<'a>>,
    #[serde(borrow)]
    cancelled_tool_uses: LenientObject<KiroUserPart<'a>>,
    #[serde(borrow)]
    tool_use_results: LenientObject<KiroUserPart<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroUserPart<'a> {
    #[serde(borrow)]
    prompt: LenientText<'a>,
    #[serde(borrow)]
    tool_use_results: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroStoredResult<'a> {
    #[serde(borrow)]
    tool_use_id: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    status: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "PascalCase")]
struct KiroAssistant<'a> {
    #[serde(borrow)]
    response: LenientObject<KiroAnswer<'a>>,
    #[serde(borrow)]
    tool_use: LenientObject<KiroAnswer<'a>>,
    #[serde(rename = "timestamp")]
    at: LenientTimestamp,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroAnswer<'a> {
    #[serde(borrow)]
    message_id: LenientText<'a>,
    #[serde(borrow)]
    content: LenientText<'a>,
    #[serde(borrow)]
    tool_uses: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroStoredCall<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroRequest<'a> {
    #[serde(borrow)]
    model_id: LenientText<'a>,
    #[serde(borrow)]
    message_id: LenientText<'a>,
    stream_end_timestamp_ms: LenientTimestamp,
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    let row: KiroRow<'_> = serde_json::from_str(text)?;
    let value = row.value.as_str();
    if !value.starts_with('{') {
        return Ok(add_summary(value, context));
    }
    let turn: KiroTurn<'_> = serde_json::from_str(value)?;
    let user: KiroUser<'_> = parse_or_default(turn.user);
    let request = turn.request_metadata.0;
    let sink = &mut context.sink;
    // What the human sent has no id. It has a time, and does not change once it is stored.
    let user_id = content_id(turn.user.map_or("", RawValue::get));
    let mut sent = EventBuilder::new(context.location, user.timestamp.0, user_id);
    let content = user.content.0;
    for part in [content.cancelled_tool_uses.0, content.tool_use_results.0, content.prompt.0] {
        let results: Vec<LenientObject<KiroStoredResult<'_>>> = parse_or_default(part.tool_use_results);
        for LenientObject(result) in results {
            add_result(result.tool_use_id, result.content, result.status.as_str(), &mut sent, sink);
        }
        sent.add_user_text(part.prompt.as_str(), false, sink);
    }
    let at = request.stream_end_timestamp_ms.0.or(turn.assistant.0.at.0).or(user.timestamp.0);
    let mut events = sent.events;
    for answer in [turn.assistant.0.response.0, turn.assistant.0.tool_use.0] {
        let id = answer.message_id.clone().non_empty().or(request.message_id.clone().non_empty());
        let id = id.map_or_else(|| content_id(value), Into::into);
        let mut out = EventBuilder::new(context.location, at, id);
        add_answer(answer, &request, &mut out, sink);
        events.extend(out.events);
    }
    Ok(events)
}

fn add_summary(value: &str, context: &mut ParseContext<'_>) -> Vec<TranscriptEvent> {
    // `[summary, when]`, or the summary alone.
    let parts: Vec<LenientText<'_>> = serde_json::from_str(value).unwrap_or_default();
    let summary = parts.into_iter().next().map_or_else(|| value.to_owned(), LenientText::into_string);
    let mut out = EventBuilder::new(context.location, None, content_id(&summary));
    out.add_text(EntryKind::Summary, summary, None, &mut context.sink);
    out.events
}

fn add_answer(answer: KiroAnswer<'_>, request: &KiroRequest<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    let calls: Vec<LenientObject<KiroStoredCall<'_>>> = parse_or_default(answer.tool_uses);
    if answer.content.as_str().is_empty() && calls.is_empty() {
        return;
    }
    out.push(EventBody::Usage {
        message_id: id.clone(),
        tokens: Tokens::default(),
        hour_write_tokens: 0,
        model: request.model_id.clone().non_empty().map(Into::into),
        cost_usd: None,
    });
    out.add_text(EntryKind::AssistantText, answer.content.into_string(), Some(&id), sink);
    for LenientObject(call) in calls {
        out.add_tool_call(call.id, call.name.as_str(), call.args, &id, sink);
    }
}
