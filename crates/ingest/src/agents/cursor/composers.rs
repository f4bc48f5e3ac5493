//! How Cursor's editor stores sessions in its databases, and which directory each belongs to.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension};
use serde_json::json;

use super::workspaces::{directory_in_workspaces, directory_of_slug, directory_of_workspace};
use crate::source::{DatabaseQueries, open_database, path_in_uri, split_address};

/// The first messages that are searched for a directory.
const SEARCHED_BUBBLES: u32 = 20;

/// A table of keys and values. A session is the value of `composerData:<id>`, which lists its messages in their order;
/// a message is the value of `bubbleId:<session>:<id>`. In old versions the session contains its messages.
///
/// Every change of a value gives it a new row number. The last digits of the time of a session's last change are those of
/// the number, because the time itself does not change with every message.
pub(super) const COMPOSERS: DatabaseQueries = DatabaseQueries {
    applies: "SELECT 1 FROM sqlite_master WHERE name = 'cursorDiskKV'",
    sessions: "
        SELECT c.id, c.id AS sessionId, json_extract(c.text, '$.name') AS title,
            json_extract(c.text, '$.createdAt') AS timestamp,
            coalesce(json_extract(c.text, '$.lastUpdatedAt'), json_extract(c.text, '$.createdAt'), 0) / 1000 * 1000
                + c.row % 1000 AS updated_at,
            json_extract(c.text, '$.lastUpdatedAt') AS updatedAt,
            json_extract(c.text, '$.workspaceIdentifier.uri.fsPath') AS cwd,
            json_extract(c.text, '$.createdOnBranch') AS branch,
            json_extract(c.text, '$.modelConfig.modelName') AS model,
            coalesce(json_extract(c.text, '$.subagentInfo.parentComposerId'),
                json_extract(c.text, '$.subagentInfo.parentConversationId')) AS parentSessionId,
            (SELECT sum(json_extract(u.value, '$.costInCents')) FROM json_each(c.text, '$.usageData') AS u
                WHERE u.type = 'object') AS cents
        FROM (
            SELECT substr(key, 14) AS id, rowid AS row, CAST(value AS TEXT) AS text FROM cursorDiskKV
            WHERE key >= 'composerData:' AND key < 'composerData;'
        ) AS c
        WHERE json_valid(c.text) AND (json_array_length(c.text, '$.fullConversationHeadersOnly') > 0
            OR json_array_length(c.text, '$.conversation') > 0)",
    version: "r.id, octet_length(r.value)",
    columns: "r.id, r.value AS bubble",
    // Both lists give their elements in their order, so the rows need no other one.
    from: "FROM (
            WITH composer AS MATERIALIZED (
                SELECT text, json_extract(text, '$.status') AS status,
                    json_array_length(text, '$.fullConversationHeadersOnly') AS length
                FROM (SELECT CAST(value AS TEXT) AS text FROM cursorDiskKV WHERE key = 'composerData:' || ?1)
                WHERE json_valid(text)
            )
            SELECT json_extract(h.value, '$.bubbleId') AS id, CAST(b.value AS TEXT) AS value,
                composer.status = 'generating' AND h.key = composer.length - 1 AS is_growing
            FROM composer CROSS JOIN json_each(composer.text, '$.fullConversationHeadersOnly') AS h
                CROSS JOIN cursorDiskKV AS b ON b.key = 'bubbleId:' || ?1 || ':' || json_extract(h.value, '$.bubbleId')
            WHERE h.type = 'object' AND coalesce(json_extract(h.value, '$.grouping.isRenderable'), 1)
            UNION ALL
            SELECT coalesce(json_extract(c.value, '$.bubbleId'), c.key), c.value, 0
            FROM composer CROSS JOIN json_each(composer.text, '$.conversation') AS c
            WHERE c.type = 'object'
        ) AS r",
    finished: "NOT coalesce(r.is_growing, 0) AND CASE WHEN json_valid(r.value)
        THEN coalesce(json_extract(r.value, '$.toolFormerData.status'), '') NOT IN ('loading', 'running', 'pending')
        ELSE 1 END",
};

/// The chats of the first versions: one value with all of them.
pub(super) const OLD_CHATS: DatabaseQueries = DatabaseQueries {
    applies: "SELECT 1 FROM ItemTable WHERE key = 'workbench.panel.aichat.view.aichat.chatdata'",
    sessions: "
        SELECT json_extract(t.value, '$.tabId') AS id, json_extract(t.value, '$.tabId') AS sessionId,
            json_extract(t.value, '$.chatTitle') AS title, json_extract(t.value, '$.lastSendTime') AS timestamp,
            coalesce(json_extract(t.value, '$.lastSendTime'), 0) / 1000 * 1000
                + json_array_length(t.value, '$.bubbles') % 1000 AS updated_at
        FROM (SELECT CAST(value AS TEXT) AS text FROM ItemTable
            WHERE key = 'workbench.panel.aichat.view.aichat.chatdata') AS i, json_each(i.text, '$.tabs') AS t
        WHERE json_valid(i.text) AND t.type = 'object' AND json_array_length(t.value, '$.bubbles') > 0",
    version: "b.key, octet_length(b.value)",
    columns: "'bubble-' || b.key AS id, b.value AS bubble",
    from: "FROM (SELECT CAST(value AS TEXT) AS text FROM ItemTable
            WHERE key = 'workbench.panel.aichat.view.aichat.chatdata') AS i
        CROSS JOIN json_each(i.text, '$.tabs') AS t CROSS JOIN json_each(t.value, '$.bubbles') AS b
        WHERE json_valid(i.text) AND t.type = 'object' AND json_extract(t.value, '$.tabId') = ?1",
    finished: "1",
};

/// The directory of a session, if the session itself does not say it.
pub(super) fn header(address: &Path) -> Option<String> {
    let (database, session) = split_address(address)?;
    let found = open_database(database, |connection| directory_in_session(connection, session)).ok()?;
    let directory = match found {
        InSession::Itself => return None,
        InSession::Bubble(directory) => directory,
        InSession::Nowhere => {
            let storage = database.parent()?.parent()?.join("workspaceStorage");
            directory_in_workspaces(&storage, session)?
        }
    };
    Some(json!({ "cwd": directory }).to_string())
}

/// The directory of a workspace's database.
pub(super) fn workspace_header(address: &Path) -> Option<String> {
    let (database, _) = split_address(address)?;
    Some(json!({ "cwd": directory_of_workspace(database.parent()?)? }).to_string())
}

/// Where a session says which directory it belongs to.
enum InSession {
    Itself,
    Bubble(String),
    Nowhere,
}

fn directory_in_session(database: &Connection, session: &str) -> rusqlite::Result<InSession> {
    let query = "SELECT json_extract(CAST(value AS TEXT), '$.workspaceIdentifier.uri.fsPath') IS NOT NULL
        FROM cursorDiskKV WHERE key = 'composerData:' || ?1 AND json_valid(CAST(value AS TEXT))";
    if database.query_row(query, [session], |row| row.get(0)).optional()? == Some(true) {
        return Ok(InSession::Itself);
    }
    let query = "SELECT json_extract(text, '$.workspaceProjectDir'), json_extract(text, '$.workspaceUris[0]')
        FROM (SELECT CAST(value AS TEXT) AS text FROM cursorDiskKV
            WHERE key >= 'bubbleId:' || ?1 || ':' AND key < 'bubbleId:' || ?1 || ';' LIMIT ?2)
        WHERE json_valid(text)";
    let mut statement = database.prepare(query)?;
    let mut rows = statement.query((session, SEARCHED_BUBBLES))?;
    while let Some(row) = rows.next()? {
        let [folder, uri] = [row.get::<_, Option<String>>(0)?, row.get::<_, Option<String>>(1)?];
        let directory = uri.and_then(|uri| path_in_uri(&uri)).or_else(|| directory_of_folder(&folder?));
        if let Some(directory) = directory {
            return Ok(InSession::Bubble(directory));
        }
    }
    Ok(InSession::Nowhere)
}

/// The directory itself, or that of the project whose folder below `.cursor/projects` it is.
fn directory_of_folder(folder: &str) -> Option<String> {
    match folder.split_once("/.cursor/projects/") {
        Some((_, slug)) => directory_of_slug(slug),
        None => Some(folder.to_owned()).filter(|folder| folder.starts_with('/')),
    }
}
