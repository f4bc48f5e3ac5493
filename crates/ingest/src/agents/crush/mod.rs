//! Crush: a SQLite database per project. The parts of a message are JSON, compressed in newer versions.

mod files;
mod rows;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Storage};
use crate::source::DatabaseQueries;

/// The parts of a message as text.
macro_rules! parts {
    () => {
        "iif(substr(messages.parts, 1, 4) = x'28b52ffd', unzstd(messages.parts), CAST(messages.parts AS TEXT))"
    };
}

/// The queries, given whether a message is a summary.
macro_rules! queries {
    ($is_summary:literal) => {
        DatabaseQueries {
            applies: "",
            // Times are in seconds, in some versions in milliseconds. A message can change twice in a second, so the
            // size of the last ones counts too. What sub-agents cost is part of their parent's cost. The requests for
            // titles have sessions without messages.
            sessions: "SELECT id, id AS sessionId, parent_session_id AS parentSessionId, title, summary_message_id, \
                 iif(created_at > 100000000000, created_at, created_at * 1000) AS timestamp, \
                 (SELECT iif(file LIKE '%/.crush/crush.db', substr(file, 1, length(file) - 16), NULL) \
                     FROM pragma_database_list WHERE name = 'main') AS cwd, \
                 cost - coalesce((SELECT sum(child.cost) FROM sessions AS child \
                     WHERE child.parent_session_id = sessions.id AND child.id NOT LIKE 'title-%'), 0) AS own_cost, \
                 iif(updated_at > 100000000000, updated_at, updated_at * 1000) \
                     + coalesce((SELECT sum(octet_length(parts)) % 1000 FROM (SELECT parts FROM messages \
                         WHERE session_id = sessions.id ORDER BY rowid DESC LIMIT 3)), 0) AS updated_at \
                 FROM sessions WHERE id NOT LIKE 'title-%'",
            version: "messages.id, messages.updated_at || '/' || octet_length(messages.parts) AS version",
            columns: concat!(
                "messages.role, messages.model, messages.created_at, ",
                parts!(),
                " AS parts, ",
                $is_summary,
                " OR messages.id = sessions.summary_message_id AS is_summary"
            ),
            from: "FROM messages JOIN sessions ON sessions.id = messages.session_id WHERE messages.session_id = ?1 \
                   ORDER BY messages.rowid",
            finished: concat!(
                "messages.role <> 'assistant' OR coalesce(",
                parts!(),
                " LIKE '%\"type\":\"finish\"%', 1) \
                 OR iif(messages.updated_at > 100000000000, messages.updated_at / 1000, messages.updated_at) \
                     < unixepoch() - 3600 \
                 OR EXISTS (SELECT 1 FROM messages AS later WHERE later.session_id = messages.session_id \
                     AND later.rowid > messages.rowid AND later.role = 'assistant')"
            ),
        }
    };
}

static GENERATIONS: [DatabaseQueries; 2] = [
    DatabaseQueries {
        applies: "SELECT 1 FROM pragma_table_info('messages') WHERE name = 'is_summary_message'",
        ..queries!("messages.is_summary_message")
    },
    DatabaseQueries {
        applies: "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pragma_table_info('messages') \
                  WHERE name = 'is_summary_message')",
        ..queries!("0")
    },
];

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    resume: Some("crush --session {id}"),
    notes: AgentNotes {
        versions: "0.1 – 0.96",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Cost, Reads::Subagents],
        verified: "3 real sessions",
    },
    ..AgentFormat::new(
        Agent::Crush,
        files::home,
        &[Layout {
            storage: Storage::Database(&GENERATIONS),
            extension: "db",
            ..Layout::new("<project>/.crush/crush.db", files::roots, rows::events)
        }],
    )
};
