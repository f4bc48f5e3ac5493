//! Where Warp stores conversations, and what its tables contain.
//!
//! Tasks have the whole dialogue as Protocol Buffers; conversations of older versions have only prompts.

use std::path::PathBuf;

use rethread_model::Tokens;
use serde::Deserialize;
use serde_json::Value;

use super::tasks;
use crate::parse::derived_header::DerivedHeader;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientText, LenientTimestamp};
use crate::parse::{ParseContext, content_id};
use crate::source::{DatabaseQueries, SourceConfig};
use crate::{EventBody, TranscriptEvent};

/// Where Warp and its preview store the database, on Linux and on macOS.
const FOLDERS: [&str; 4] = [
    ".local/state/warp-terminal",
    ".local/state/warp-terminal-preview",
    "Library/Group Containers/2BBY89MBSN.dev.warp/Library/Application Support/dev.warp.Warp-Stable",
    "Library/Application Support/dev.warp.Warp-Stable",
];

/// A conversation has tasks, or only prompts if an older version wrote it.
const RECORDS: &str = "FROM (
        SELECT 0 AS part, id, last_modified_at || length(task) AS stamp, hex(task) AS task, NULL AS exchange_id,
            NULL AS start_ts, NULL AS input, NULL AS working_directory, NULL AS model_id
        FROM agent_tasks WHERE conversation_id = ?1
        UNION ALL
        SELECT 1, id, input, NULL, exchange_id, start_ts, input, working_directory, model_id
        FROM ai_queries WHERE conversation_id = ?1
    ) AS record ORDER BY part, id";

pub(super) const GENERATIONS: &[DatabaseQueries] = &[
    DatabaseQueries {
        applies: "SELECT 1 FROM agent_conversations LIMIT 1",
        // Times have seconds; two changes in one second differ in the length of the tasks.
        sessions: "SELECT conversation_id AS id, conversation_id AS sessionId,
                iif(json_valid(conversation_data), json_extract(conversation_data, '$.parent_conversation_id'), NULL)
                    AS parentSessionId,
                (SELECT working_directory FROM ai_queries AS query WHERE query.conversation_id =
                    conversation.conversation_id AND working_directory <> '' ORDER BY id LIMIT 1) AS cwd,
                (SELECT model_id FROM ai_queries AS query WHERE query.conversation_id = conversation.conversation_id
                    AND model_id <> '' ORDER BY id DESC LIMIT 1) AS model,
                (SELECT min(start_ts) FROM ai_queries AS query WHERE query.conversation_id =
                    conversation.conversation_id) AS timestamp,
                EXISTS (SELECT 1 FROM agent_tasks AS task WHERE task.conversation_id = conversation.conversation_id)
                    AS hasTasks,
                CAST(strftime('%s', last_modified_at) AS INTEGER) * 1000 + (SELECT coalesce(sum(length(task)), 0) % 1000
                    FROM agent_tasks AS task WHERE task.conversation_id = conversation.conversation_id) AS updated_at
            FROM agent_conversations AS conversation",
        version: "record.part || '/' || record.id, record.stamp",
        columns: "record.*",
        from: RECORDS,
        finished: "1",
    },
    DatabaseQueries {
        applies: "SELECT 1 FROM ai_queries LIMIT 1",
        sessions: "SELECT conversation_id AS id, conversation_id AS sessionId, min(start_ts) AS timestamp,
                max(working_directory) AS cwd, max(model_id) AS model,
                CAST(strftime('%s', max(start_ts)) AS INTEGER) * 1000 + count(*) AS updated_at
            FROM ai_queries GROUP BY conversation_id",
        version: "record.id, record.input",
        columns: "record.*",
        from: "FROM ai_queries AS record WHERE conversation_id = ?1 ORDER BY id",
        finished: "1",
    },
];

pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let folders = FOLDERS.map(|folder| source_config.home.join(folder));
    folders.iter().find(|folder| folder.is_dir()).unwrap_or(&folders[0]).clone()
}

pub(super) fn roots(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    FOLDERS.map(|folder| (source_config.home.join(folder).join("warp.sqlite"), "default location")).into()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct WarpRow<'a> {
    #[serde(borrow)]
    task: LenientText<'a>,
    #[serde(borrow)]
    exchange_id: LenientText<'a>,
    start_ts: LenientTimestamp,
    #[serde(borrow)]
    input: LenientText<'a>,
    #[serde(borrow)]
    working_directory: LenientText<'a>,
    #[serde(borrow)]
    model_id: LenientText<'a>,
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    let row: WarpRow<'_> = serde_json::from_str(text)?;
    if row.task.as_str().is_empty() {
        return query_events(row, text, context);
    }
    tasks::events(row.task.as_str(), context)
}

/// The prompt of an exchange, unless the tasks have it.
fn query_events(
    row: WarpRow<'_>,
    text: &str,
    context: &mut ParseContext<'_>,
) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let inputs: Value = serde_json::from_str(row.input.as_str())?;
    if context.header().is_some_and(|header| header.contains("\"hasTasks\":1")) {
        return Ok(Vec::new());
    }
    let id = row.exchange_id.non_empty().map_or_else(|| content_id(text), Into::into);
    let mut out = EventBuilder::new(context.location, row.start_ts.0, id);
    let cwd = row.working_directory.non_empty().map(Into::into);
    out.push(EventBody::Workspace { cwd, branch: None });
    if let Some(model) = row.model_id.non_empty() {
        out.push(EventBody::Usage {
            message_id: out.native_id.clone(),
            tokens: Tokens::default(),
            hour_write_tokens: 0,
            model: Some(model.into()),
            cost_usd: None,
        });
    }
    for input in inputs.as_array().into_iter().flatten() {
        // What was typed, in the form of newer and of older versions.
        let typed = input.pointer("/Query/text").or(input.get("query")).and_then(Value::as_str);
        out.add_user_text(typed.unwrap_or_default(), false, &mut context.sink);
    }
    Ok(out.events)
}
