//! The tables of OpenCode and Kilo, in three generations. The table `event`, which can have gigabytes, is never read.
//!
//! A message is a record. While it is written it is unfinished as a whole, so that only it is read again. Two changes of
//! finished messages do not matter: the agent adds a list of changed files to a prompt, and marks old results that it no
//! longer sends as `compacted`.

use crate::source::DatabaseQueries;

/// The role of a message. Data that is not JSON must not fail the query.
macro_rules! role {
    ($table:literal) => {
        concat!("iif(json_valid(", $table, ".data), ", $table, ".data ->> '$.role', '')")
    };
}

/// Whether the user undid a record: the session names the first one until its next prompt, which deletes them. Ids sort
/// by time.
macro_rules! is_undone {
    ($table:literal) => {
        concat!("iif(json_valid(session.revert), coalesce(", $table, ".id >= session.revert ->> '$.messageID', 0), 0)")
    };
}

/// Whether the agent is still writing a message of the model, or has not stored any part of a prompt yet. A session has
/// one writer, so a message that is followed by another one of the model is over. So is one that did not change for an
/// hour: its writer was stopped.
macro_rules! message_is_unfinished {
    () => {
        concat!(
            "CASE WHEN ",
            role!("message"),
            " = 'assistant' THEN \
             message.data -> '$.time.completed' IS NULL AND message.data -> '$.error' IS NULL \
             AND message.time_updated > (unixepoch() - 3600) * 1000 \
             AND NOT EXISTS (SELECT 1 FROM message AS later WHERE later.session_id = message.session_id \
                 AND later.time_created > message.time_created AND ",
            role!("later"),
            " = 'assistant') \
             ELSE NOT EXISTS (SELECT 1 FROM part WHERE message_id = message.id) \
             AND NOT EXISTS (SELECT 1 FROM message AS later WHERE later.session_id = message.session_id \
                 AND later.time_created > message.time_created) END"
        )
    };
}

/// Whether the agent is still writing a row of 2.x.
macro_rules! row_is_unfinished {
    () => {
        "CASE WHEN NOT json_valid(session_message.data) THEN 0 \
         WHEN session_message.type = 'assistant' THEN \
             session_message.data -> '$.time.completed' IS NULL AND session_message.data -> '$.error' IS NULL \
             AND session_message.time_updated > (unixepoch() - 3600) * 1000 \
             AND NOT EXISTS (SELECT 1 FROM session_message AS later WHERE later.session_id = session_message.session_id \
                 AND later.type = 'assistant' AND later.time_created > session_message.time_created) \
         WHEN session_message.type IN ('shell', 'compaction') THEN \
             coalesce(session_message.data ->> '$.status', '') = 'running' ELSE 0 END"
    };
}

/// The queries of 2.x.
macro_rules! message_rows {
    ($sessions:literal, $order:literal, $newest_first:literal) => {
        DatabaseQueries {
            // Late versions of 1.x have the table without rows.
            applies: "SELECT 1 FROM session_message LIMIT 1",
            sessions: concat!(
                "SELECT id, id AS sessionId, parent_id AS parentSessionId, directory AS cwd, title, \
                 time_created AS timestamp, (SELECT max(session.time_updated, max(time_updated)) + CAST(total(time_updated) AS INTEGER) % 1000 \
                     FROM (SELECT time_updated FROM session_message WHERE session_id = session.id \
                     ORDER BY ", $newest_first, " LIMIT 3)) AS updated_at \
                 FROM ", $sessions, " AS session \
                 WHERE EXISTS (SELECT 1 FROM session_message WHERE session_id = session.id)"
            ),
            version: concat!(
                "session_message.id, session_message.time_updated || ", is_undone!("session_message"), " AS version"
            ),
            columns: concat!(
                "session_message.type, session_message.time_created, session_message.data, ",
                row_is_unfinished!(), " AS is_unfinished, ",
                is_undone!("session_message"), " AS is_undone, \
                 session_message.time_created < session.time_created AND EXISTS (SELECT 1 FROM session_message AS original \
                     WHERE original.time_created = session_message.time_created \
                     AND original.session_id <> session_message.session_id \
                     AND original.type = session_message.type) AS is_copy"
            ),
            from: concat!(
                "FROM session_message JOIN ", $sessions, " AS session ON session.id = session_message.session_id \
                 WHERE session_message.session_id = ?1 ORDER BY ", $order
            ),
            finished: concat!("NOT ", row_is_unfinished!()),
        }
    };
}

/// 1.2 and later: `message` and `part`.
pub(crate) const MESSAGES_AND_PARTS: DatabaseQueries = DatabaseQueries {
    applies: "",
    // A prompt changes the time of its session, but what follows does not: only then the last messages are looked at.
    // The sum of their times shows a change that is not the newest one; `total` cannot overflow.
    sessions: "SELECT id, id AS sessionId, parent_id AS parentSessionId, directory AS cwd, title, \
               time_created AS timestamp, iif(time_updated < (unixepoch() - 172800) * 1000, time_updated, \
               (SELECT max(session.time_updated, coalesce(max(time_updated), 0)) + CAST(total(time_updated) AS INTEGER) % 1000 \
               FROM (SELECT time_updated FROM message WHERE id IN (SELECT id FROM message \
                   WHERE session_id = session.id ORDER BY time_created DESC, id DESC LIMIT 3) \
               UNION ALL SELECT time_updated FROM part WHERE message_id IN (SELECT id FROM message \
                   WHERE session_id = session.id ORDER BY time_created DESC, id DESC LIMIT 3)))) AS updated_at FROM session",
    version: concat!(
        "message.id, CASE WHEN ",
        role!("message"),
        " = 'assistant' THEN (SELECT message.time_updated || '/' || count(*) || '/' \
             || coalesce(max(iif(part.time_updated > message.time_updated AND instr(part.data, '\"compacted\":') > 0, \
                 0, part.time_updated)), 0) FROM part WHERE message_id = message.id) \
         ELSE (SELECT max(time_updated) FROM part WHERE message_id = message.id) END || ",
        is_undone!("message"),
        " AS version"
    ),
    // A part of several megabytes is a file that the user attached.
    columns: concat!(
        "message.data, (SELECT group_concat(CASE WHEN octet_length(data) > 4194304 THEN '{}' ELSE data END, char(30)) \
         FROM (SELECT data FROM part WHERE message_id = message.id ORDER BY id)) AS part_texts, ",
        message_is_unfinished!(),
        " AS is_unfinished, ",
        is_undone!("message"),
        " AS is_undone, \
         message.time_created < session.time_created AND EXISTS (SELECT 1 FROM session AS other \
             JOIN message AS original ON original.session_id = other.id \
             WHERE other.project_id = session.project_id AND other.time_created < session.time_created \
             AND original.time_created = message.time_created) AS is_copy"
    ),
    from: "FROM message JOIN session ON session.id = message.session_id WHERE message.session_id = ?1 \
           ORDER BY message.time_created, message.id",
    finished: concat!("NOT ", message_is_unfinished!()),
};

/// 2.x: `session_message` with the table `session_v2`.
pub(crate) const SECOND_SESSIONS: DatabaseQueries = message_rows!("session_v2", "session_message.seq", "seq DESC");

/// 2.x: `session_message` with the table `session`, into which the sessions of 1.x are copied one by one.
pub(crate) const MESSAGE_ROWS: DatabaseQueries = message_rows!("session", "session_message.seq", "seq DESC");

/// As before, in versions without a number for each row.
pub(crate) const MESSAGE_ROWS_WITHOUT_NUMBERS: DatabaseQueries = DatabaseQueries {
    applies: "SELECT 1 FROM session_message \
              WHERE NOT EXISTS (SELECT 1 FROM pragma_table_info('session_message') WHERE name = 'seq') LIMIT 1",
    ..message_rows!("session", "session_message.time_created, session_message.id", "time_created DESC, id DESC")
};
