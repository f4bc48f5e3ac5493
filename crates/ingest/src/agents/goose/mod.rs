//! goose: one SQLite database since 1.10, a `.jsonl` file per session before.

mod files;
mod messages;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Storage};
use crate::source::DatabaseQueries;

/// The queries, given a condition for the sessions.
macro_rules! queries {
    ($condition:literal) => {
        DatabaseQueries {
            applies: "",
            // Times are in seconds, so the number of the last message counts too. Which other columns there are depends
            // on the version.
            sessions: concat!(
                "SELECT unixepoch(updated_at) * 1000 + coalesce((SELECT max(messages.id) FROM messages \
                     WHERE session_id = sessions.id), 0) % 1000 AS updated_at, \
                 id AS sessionId, working_dir AS cwd, unixepoch(created_at) * 1000 AS timestamp, sessions.* \
                 FROM sessions", $condition
            ),
            // What changes in a stored message is whether it is sent again, and a title for its calls.
            version: "coalesce(messages.message_id, messages.id) AS message_id, messages.role",
            columns: "messages.content_json, messages.created_timestamp, messages.metadata_json, \
                (SELECT count(*) FROM messages AS earlier WHERE earlier.message_id = messages.message_id \
                    AND earlier.session_id = messages.session_id AND earlier.id < messages.id) AS repeats, \
                iif(messages.metadata_json LIKE '%\"userVisible\":false%', (SELECT content_json FROM messages AS later \
                    WHERE later.session_id = messages.session_id AND later.id > messages.id \
                    ORDER BY later.id LIMIT 1), NULL) AS next_content",
            from: "FROM messages WHERE messages.session_id = ?1 ORDER BY messages.id",
            finished: "1",
        }
    };
}

static GENERATIONS: [DatabaseQueries; 2] = [
    queries!(" WHERE session_type IS NOT 'hidden'"),
    DatabaseQueries {
        applies: "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pragma_table_info('sessions') WHERE name = 'session_type')",
        ..queries!("")
    },
];

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    // A copy of a session keeps the ids of its messages.
    is_global_id: |id| id.starts_with("msg_") || id.starts_with("chatcmpl-"),
    resume: Some("goose session --resume --session-id {id}"),
    start: Some("goose run --interactive --text {prompt}"),
    notes: AgentNotes {
        versions: "1.0 – 1.40 (tables up to version 17)",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "fixture only",
    },
    ..AgentFormat::new(
        Agent::Goose,
        files::home,
        &[
            Layout {
                storage: Storage::Database(&GENERATIONS),
                extension: "db",
                peek: files::peek_row,
                identify: files::identify,
                ..Layout::new("~/.local/share/goose/sessions/sessions.db", files::databases, messages::row_events)
            },
            Layout {
                recognizes: files::is_session,
                peek: files::peek_line,
                ..Layout::new("~/.local/share/goose/sessions/*.jsonl", files::folders, messages::line_events)
            },
        ],
    )
};
