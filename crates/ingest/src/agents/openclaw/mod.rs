//! OpenClaw: a database per agent of it; before that, a file of pi's lines per session. Both hold the same entries.

mod envelope;
mod files;
mod lines;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Storage};
use crate::parse::is_uuid;
use crate::source::DatabaseQueries;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    // Older files have pi's eight hex digits, which repeat across sessions.
    is_global_id: |id| is_uuid(id) || id.starts_with("line-"),
    session_id_in_path: files::session_id_in_path,
    repeats_sessions: true,
    resume: Some("openclaw agent --session-id {id} -m continue"),
    notes: AgentNotes {
        versions: "Clawdbot, Moltbot, OpenClaw up to 2026.9",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "client 2026.9.6 for the database; the older files: only the fixture",
    },
    ..AgentFormat::new(
        Agent::OpenClaw,
        files::home,
        &[
            Layout {
                storage: Storage::Database(&[WINDOWS, EVENTS]),
                extension: "sqlite",
                is_transcript: |path| path.ends_with("openclaw-agent.sqlite"),
                ..Layout::new("~/.openclaw/agents/*/agent/openclaw-agent.sqlite", files::databases, lines::row_events)
            },
            Layout {
                extension: "",
                is_transcript: files::is_transcript,
                recognizes: files::is_session_file,
                header: files::header,
                peek: files::peek,
                identify: files::identify,
                ..Layout::new("~/.openclaw/agents/*/sessions/*.jsonl", files::session_folders, lines::events)
            },
        ],
    )
};

/// A session key has one session after the other: a reset or a compaction starts the next one. Sessions that a user
/// deleted are lines in one blob.
const WINDOWS: DatabaseQueries = DatabaseQueries {
    applies: "SELECT 1 FROM pragma_table_info('session_transcript_archives') WHERE name = 'archive_blob'",
    sessions: "
        SELECT w.session_id AS id, w.session_id AS sessionId, w.display_name AS title, w.model,
            coalesce(w.started_at, w.created_at) AS timestamp,
            max(w.updated_at, coalesce(w.transcript_updated_at, 0)) AS updated_at,
            (SELECT CASE WHEN json_valid(event_json) THEN json_extract(event_json, '$.cwd') END
                FROM transcript_events WHERE session_id = w.session_id AND seq = 0) AS cwd,
            (SELECT p.session_id FROM session_windows AS p
                WHERE p.session_key = w.spawned_by AND p.created_at <= w.created_at
                ORDER BY p.created_at DESC LIMIT 1) AS parentSessionId,
            w.previous_session_id AS previous
        FROM session_windows AS w
        UNION ALL
        SELECT session_id, session_id, NULL, NULL, NULL, max(created_at), NULL, NULL, NULL
        FROM session_transcript_archives
        WHERE session_id NOT IN (SELECT session_id FROM session_windows) GROUP BY session_id",
    version: "e.seq, octet_length(e.event)",
    columns: "e.event",
    from: "FROM (
            SELECT seq, coalesce(event_json, unzstd(event_zstd)) AS event FROM transcript_events WHERE session_id = ?1
            UNION ALL
            SELECT line.key, line.value FROM (
                SELECT CASE encoding WHEN 'zstd' THEN unzstd(archive_blob) ELSE CAST(archive_blob AS TEXT) END AS text
                FROM session_transcript_archives
                WHERE session_id = ?1 AND session_id NOT IN (SELECT session_id FROM session_windows)
                ORDER BY created_at DESC LIMIT 1
            ) AS archive, json_each('[' || replace(trim(archive.text, char(10)), char(10), ',') || ']') AS line
        ) AS e ORDER BY e.seq",
    finished: "1",
};

/// Without the tables that describe sessions, the entries are still there.
const EVENTS: DatabaseQueries = DatabaseQueries {
    applies: "",
    sessions: "SELECT session_id AS id, session_id AS sessionId, max(created_at) AS updated_at,
            min(created_at) AS timestamp FROM transcript_events GROUP BY session_id",
    version: "seq, length(event_json)",
    columns: "event_json AS event",
    from: "FROM transcript_events WHERE session_id = ?1 ORDER BY seq",
    finished: "1",
};
