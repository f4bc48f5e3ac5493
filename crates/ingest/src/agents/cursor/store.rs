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

use super::workspaces::path_of_uri;
use crate::source::{SessionDocument, open_database, read_text};

const MAX_META_BYTES: u64 = 1 << 20;
/// Longer messages contain files; they are skipped.
const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// Length of a hash.
const HASH_BYTES: usize = 32;
/// Fields of the root: the hash of a message, the address of the workspace, the repository with its branch.
const MESSAGE_FIELD: u64 = 1;
const WORKSPACE_FIELD: u64 = 9;
const REPOSITORY_FIELD: u64 = 21;

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
    let root = protobuf_fields(&root);
    let listed: Vec<String> = root.iter().filter_map(|(field, bytes)| hash_in(*field, bytes)).collect();
    let records = in_order(&listed, &messages);
    Ok(SessionDocument::new(header(path, &meta, &root), &records))
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

fn header(path: &Path, meta: &StoreMeta, root: &[(u64, Vec<u8>)]) -> String {
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
    let field = |number: u64| root.iter().find(|(field, _)| *field == number).map(|(_, bytes)| bytes.as_slice());
    let text_of = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok();
    let workspace = field(WORKSPACE_FIELD).and_then(text_of).and_then(|uri| path_of_uri(&uri));
    let repository = field(REPOSITORY_FIELD).map(protobuf_fields).unwrap_or_default();
    let branch = repository.iter().find(|(field, _)| *field == 2).and_then(|(_, bytes)| text_of(bytes));
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

fn hash_in(field: u64, bytes: &[u8]) -> Option<String> {
    let is_hash = field == MESSAGE_FIELD && bytes.len() == HASH_BYTES;
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    is_hash.then(|| digits.filter_map(|digit| char::from_digit(digit.into(), 16)).collect())
}

/// The fields of a protobuf message that have bytes: their numbers and contents. Stops at what is not one.
fn protobuf_fields(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    let mut fields = Vec::new();
    while let Some(key) = take_number(&mut bytes) {
        let length = match key & 7 {
            0 => match take_number(&mut bytes) {
                Some(_) => continue,
                None => break,
            },
            1 => 8,
            5 => 4,
            2 => match take_number(&mut bytes).and_then(|length| usize::try_from(length).ok()) {
                Some(length) => length,
                None => break,
            },
            _ => break,
        };
        let Some((content, rest)) = bytes.split_at_checked(length) else { break };
        if key & 7 == 2 {
            fields.push((key >> 3, content.to_vec()));
        }
        bytes = rest;
    }
    fields
}

/// A number of seven bits per byte, the lowest first.
fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: &str, row: i64, json: &str) -> StoredMessage {
        StoredMessage { id: id.to_owned(), row, json: json.to_owned() }
    }

    #[test]
    fn fields_with_bytes_are_found_between_others() {
        let bytes = [0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x0d, 1, 2, 3, 4, 0xb2, 0x01, 0x01, b'x', 0x0a, 0x7f];
        assert_eq!(protobuf_fields(&bytes), [(2, b"hi".to_vec()), (22, b"x".to_vec())]);
        assert_eq!(protobuf_fields(&[0xff; 12]), []);
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
