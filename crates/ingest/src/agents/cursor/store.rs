//! Reads the database of a session of Cursor's CLI: messages and other things by the hash of their content.
//!
//! The newest root is a protobuf message that lists the messages in their order. When the conversation is summarized, the
//! list starts again, but what it no longer has stays in the database.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::parse::protobuf::ProtobufMessage;
use crate::source::{SessionDocument, open_database, path_in_uri, read_text};

const MAX_META_BYTES: u64 = 1 << 20;
/// Longer messages contain files; they are skipped.
const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// Length of a hash.
const HASH_BYTES: usize = 32;
/// Fields of the root: the hash of a message, the address of the workspace, the repository with its branch.
const MESSAGE_FIELD: u64 = 1;
const WORKSPACE_FIELD: u64 = 9;
const REPOSITORY_FIELD: u64 = 21;
const BRANCH_FIELD: u64 = 2;

/// What the row with the key 0 says about a session.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct StoreMeta {
    latest_root_blob_id: Value,
    name: Value,
    created_at: Value,
    last_used_model: Value,
    subagent_info: Value,
}

/// A message as the database has it.
struct StoredMessage {
    id: String,
    /// Its place among everything that was stored.
    row: i64,
    json: String,
}

/// What a message says about itself, enough to put messages in order.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageKind<'a> {
    role: Value,
    #[serde(borrow, rename = "providerOptions")]
    options: Option<&'a RawValue>,
}

/// Files that belong to the same session: the log of the database, and what else is known.
pub(super) fn files_beside(path: &Path) -> Vec<PathBuf> {
    vec![path.with_file_name("store.db-wal"), path.with_file_name("meta.json")]
}

/// Reads a session.
pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let (meta, root, messages) = open_database(path, |database| {
        let meta = read_meta(database)?;
        let root = match meta.latest_root_blob_id.as_str() {
            Some(id) => database.query_row("SELECT data FROM blobs WHERE id = ?1", [id], read_bytes).optional()?,
            None => None,
        };
        Ok((meta, root.unwrap_or_default(), read_messages(database)?))
    })?;
    let root = ProtobufMessage(&root);
    let listed: Vec<String> = root.messages(MESSAGE_FIELD).filter_map(|hash| hash_in(hash.0)).collect();
    let records = in_order(&listed, &messages);
    Ok(SessionDocument::new(header(path, &meta, root), &records))
}

fn read_meta(database: &Connection) -> rusqlite::Result<StoreMeta> {
    let text: Option<String> =
        database.query_row("SELECT value FROM meta WHERE key = '0'", [], |row| row.get(0)).optional()?.flatten();
    let text = text.unwrap_or_default();
    // JSON, written as hexadecimal digits.
    let bytes = (0..text.len() / 2).map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok());
    let decoded: Option<Vec<u8>> = bytes.collect();
    let decoded = decoded.filter(|bytes| bytes.starts_with(b"{")).unwrap_or_else(|| text.into_bytes());
    Ok(serde_json::from_slice(&decoded).unwrap_or_default())
}

fn read_bytes(row: &Row<'_>) -> rusqlite::Result<Vec<u8>> {
    Ok(match row.get_ref(0)? {
        ValueRef::Blob(bytes) | ValueRef::Text(bytes) => bytes.to_vec(),
        _ => Vec::new(),
    })
}

/// Everything in the database that is a message of the user, the model or a tool.
fn read_messages(database: &Connection) -> rusqlite::Result<Vec<StoredMessage>> {
    let mut statement = database
        .prepare("SELECT data, id, rowid FROM blobs WHERE substr(data, 1, 1) = x'7B' OR substr(data, 1, 1) = '{'")?;
    let mut rows = statement.query([])?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        let (bytes, id, row) = (read_bytes(row)?, row.get::<_, String>(1)?, row.get(2)?);
        let json = String::from_utf8(bytes).ok().filter(|json| json.len() <= MAX_MESSAGE_BYTES);
        let Some(json) = json.filter(|json| is_message(json)) else { continue };
        messages.push(StoredMessage { id, row, json });
    }
    Ok(messages)
}

fn is_message(json: &str) -> bool {
    let kind: MessageKind<'_> = serde_json::from_str(json).unwrap_or_default();
    kind.role.as_str().is_some_and(|role| matches!(role, "user" | "assistant" | "tool"))
}

fn is_summary(json: &str) -> bool {
    let kind: MessageKind<'_> = serde_json::from_str(json).unwrap_or_default();
    kind.options.is_some_and(|options| options.get().contains("\"isSummary\":true"))
}

/// The messages in their order, each with the id that its hash and the number of its occurrence give.
fn in_order(listed: &[String], messages: &[StoredMessage]) -> Vec<String> {
    let is_listed: HashSet<&str> = listed.iter().map(String::as_str).collect();
    // What was summarized was stored before the first summary that is left.
    let summaries =
        messages.iter().filter(|message| is_listed.contains(message.id.as_str()) && is_summary(&message.json));
    let first_summary = summaries.map(|message| message.row).min().unwrap_or(i64::MIN);
    let earlier = |message: &&StoredMessage| message.row < first_summary && !is_listed.contains(message.id.as_str());
    let mut earlier: Vec<&StoredMessage> = messages.iter().filter(earlier).collect();
    earlier.sort_by_key(|message| message.row);
    let by_id: HashMap<&str, &StoredMessage> = messages.iter().map(|message| (message.id.as_str(), message)).collect();
    let listed = listed.iter().filter_map(|id| by_id.get(id.as_str()).copied());
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let ordered = earlier.into_iter().chain(listed).map(|message| {
        let count = counts.entry(&message.id).or_default();
        *count += 1;
        format!("{{\"id\":{},\"message\":{}}}", json!(format!("{}-{count}", message.id)), message.json)
    });
    ordered.collect()
}

fn header(path: &Path, meta: &StoreMeta, root: ProtobufMessage<'_>) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct MetaFile {
        title: Value,
        cwd: Value,
        created_at_ms: Value,
        updated_at_ms: Value,
        is_subagent: Value,
    }
    let text = read_text(&path.with_file_name("meta.json"), MAX_META_BYTES).unwrap_or_default();
    let file: MetaFile = serde_json::from_str(&text).unwrap_or_default();
    let workspace = path_in_uri(root.text(WORKSPACE_FIELD));
    let branch = root.message(REPOSITORY_FIELD).map(|repository| repository.text(BRANCH_FIELD));
    let branch = branch.filter(|branch| !branch.is_empty());
    let parents = ["parentAgentId", "parentComposerId", "parentConversationId", "parentId"];
    let parent = parents.iter().find_map(|name| meta.subagent_info[*name].as_str());
    // Some sub-agents do not say which session started them.
    let parent = parent.or((file.is_subagent == true || meta.subagent_info.is_object()).then_some(""));
    json!({
        "cwd": file.cwd.as_str().map(str::to_owned).or(workspace),
        "branch": branch,
        "title": file.title.as_str().or(meta.name.as_str()),
        "model": meta.last_used_model,
        "timestamp": if meta.created_at.is_null() { &file.created_at_ms } else { &meta.created_at },
        "updatedAt": file.updated_at_ms,
        "parentSessionId": parent,
    })
    .to_string()
}

fn hash_in(bytes: &[u8]) -> Option<String> {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    (bytes.len() == HASH_BYTES).then(|| digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, row: i64, json: &str) -> StoredMessage {
        StoredMessage { id: id.to_owned(), row, json: json.to_owned() }
    }

    #[test]
    fn what_was_summarized_comes_before_the_summary() {
        let summary = r#"{"role":"user","content":"s","providerOptions":{"cursor":{"isSummary":true}}}"#;
        let stored = || {
            vec![
                message("a", 1, r#"{"role":"user","content":"a"}"#),
                message("b", 2, r#"{"role":"assistant","content":[]}"#),
                message("s", 3, summary),
                message("c", 4, r#"{"role":"user","content":"c"}"#),
                message("undone", 5, r#"{"role":"user","content":"u"}"#),
            ]
        };
        let ids = |listed: &[&str]| {
            let listed: Vec<String> = listed.iter().map(|id| (*id).to_owned()).collect();
            let records = in_order(&listed, &stored());
            let id =
                |record: &String| serde_json::from_str::<Value>(record).unwrap()["id"].as_str().unwrap().to_owned();
            records.iter().map(id).collect::<Vec<_>>()
        };
        assert_eq!(ids(&["s", "c"]), ["a-1", "b-1", "s-1", "c-1"]);
        assert_eq!(ids(&["a", "b", "c", "c", "gone"]), ["a-1", "b-1", "c-1", "c-2"]);
    }
}
