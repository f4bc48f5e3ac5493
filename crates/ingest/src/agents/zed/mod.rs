//! Zed: a database with one compressed document per thread.

mod files;
mod messages;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Storage};
use crate::source::DatabaseQueries;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    call_ids_repeat: false,
    notes: AgentNotes {
        versions: "thread format 0.1 – 0.3",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Subagents],
        verified: "one database of another reader; Zed's source",
    },
    ..AgentFormat::new(
        Agent::Zed,
        files::home,
        &[Layout {
            storage: Storage::Database(&[THREADS]),
            extension: "db",
            is_transcript: |path| path.ends_with("threads.db"),
            ..Layout::new("~/.local/share/zed/threads/threads.db", files::databases, messages::events)
        }],
    )
};

/// Versions add columns, so those that not every version has are looked up in a subquery: a name that the table does not
/// have means the column of the same name in `missing`.
///
/// The document is one value, so its messages are taken out of it. What it says about the thread as a whole comes after
/// them, as a record that is read again every time. A document that cannot be read is an invalid message.
const THREADS: DatabaseQueries = DatabaseQueries {
    applies: "SELECT 1 FROM pragma_table_info('threads') WHERE name = 'data_type'",
    sessions: "
        SELECT t.id, t.id AS sessionId, t.summary AS title, t.updated_at AS changed,
            CAST((julianday(t.updated_at) - 2440587.5) * 86400000 AS INTEGER) AS updated_at,
            (SELECT created_at FROM threads AS own WHERE own.id = t.id) AS timestamp,
            (SELECT parent_id FROM threads AS own WHERE own.id = t.id) AS parentSessionId,
            (SELECT folder_paths FROM threads AS own WHERE own.id = t.id) AS folders,
            (SELECT folder_paths_order FROM threads AS own WHERE own.id = t.id) AS folders_order
        FROM (SELECT NULL AS created_at, NULL AS parent_id, NULL AS folder_paths, NULL AS folder_paths_order) AS missing
        CROSS JOIN threads AS t",
    version: "r.position, r.value",
    columns: "r.position, r.value AS message, r.facts",
    from: "FROM (
            WITH document AS (
                SELECT CASE data_type WHEN 'zstd' THEN unzstd(data) ELSE CAST(data AS TEXT) END AS text
                FROM threads WHERE id = ?1
            ),
            valid AS (SELECT text FROM document WHERE json_valid(text))
            SELECT m.key AS position, CASE m.type WHEN 'text' THEN json_quote(m.value) ELSE m.value END AS value,
                NULL AS facts
            FROM valid, json_each(valid.text, '$.messages') AS m
            UNION ALL
            SELECT 1000000000, '', json_object('model', json_extract(text, '$.model'),
                'usage', json_extract(text, '$.cumulative_token_usage')) FROM valid
            UNION ALL
            SELECT 0, '{', NULL FROM document WHERE NOT coalesce(json_valid(text), 0)
        ) AS r ORDER BY r.position",
    finished: "r.facts IS NULL",
};
