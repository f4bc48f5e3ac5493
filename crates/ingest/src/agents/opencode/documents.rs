//! Reads sessions that OpenCode stored as JSON files, and those that `opencode export` wrote.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::parse::content_id;
use crate::source::{SessionDocument, read_text};

/// Larger files are not read.
const MAX_BYTES: u64 = 256 << 20;
const MAX_MESSAGE_BYTES: u64 = 16 << 20;

#[derive(Default, Deserialize)]
#[serde(default)]
struct OpenCodeSession {
    id: Value,
    #[serde(rename = "parentID")]
    parent: Value,
    directory: Value,
    title: Value,
    time: SessionTime,
    revert: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionTime {
    created: Value,
}

#[derive(Deserialize)]
struct ExportedSession<'a> {
    #[serde(borrow)]
    info: &'a RawValue,
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ExportedMessage {
    info: MessagePlace,
}

/// Where a message belongs and ran.
#[derive(Default, Deserialize)]
#[serde(default)]
struct MessagePlace {
    id: Value,
    #[serde(rename = "sessionID")]
    session: Value,
    path: MessagePath,
    /// Before version 0.4, a message contained its parts.
    parts: Vec<Value>,
    metadata: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessagePath {
    cwd: Value,
}

/// Reads what `opencode export` wrote.
pub(crate) fn load_export(path: &Path) -> io::Result<SessionDocument> {
    let text = read_text(path, MAX_BYTES)?;
    let export: ExportedSession<'_> = serde_json::from_str(&text).map_err(invalid)?;
    Ok(read_export(&export))
}

fn read_export(export: &ExportedSession<'_>) -> SessionDocument {
    let info: OpenCodeSession = serde_json::from_str(export.info.get()).unwrap_or_default();
    let places: Vec<MessagePlace> = export.messages.iter().map(|message| place_in(message.get())).collect();
    let own_id = std::iter::once(&info.id).chain(places.iter().map(|place| &place.session));
    let id = own_id.filter_map(Value::as_str).find(|id| id.starts_with("ses_"));
    // Programs that hide secrets may overwrite ids.
    let id = id.map_or_else(|| content_id(export.info.get()), str::to_owned);
    let first_undone = info.first_undone(places.iter());
    let records = export.messages.iter().enumerate().map(|(number, message)| match message.get().strip_prefix('{') {
        Some(rest) if first_undone.is_some_and(|first| number >= first) => format!("{{\"is_undone\":true,{rest}"),
        _ => message.get().to_owned(),
    });
    SessionDocument::new(info.header(&id, &places), &records.collect::<Vec<_>>())
}

/// Reads a session from its own file and the folders with its messages and their parts.
pub(crate) fn load_folders(path: &Path) -> io::Result<SessionDocument> {
    let text = read_text(path, MAX_BYTES)?;
    // Users name an export after its session.
    if let Ok(export) = serde_json::from_str(&text) {
        return Ok(read_export(&export));
    }
    let info: OpenCodeSession = serde_json::from_str(&text).map_err(invalid)?;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let id = info.id.as_str().unwrap_or(stem).to_owned();
    let texts: Vec<(String, String)> = json_files(&message_folder(path))
        .into_iter()
        .filter_map(|file| Some((file.file_stem()?.to_str()?.to_owned(), read_text(&file, MAX_MESSAGE_BYTES).ok()?)))
        .collect();
    let places: Vec<MessagePlace> =
        texts.iter().map(|(_, text)| serde_json::from_str(text).unwrap_or_default()).collect();
    let first_undone = info.first_undone(places.iter());
    let records = texts.iter().zip(&places).enumerate().map(|(number, ((id, text), place))| {
        let files = json_files(&part_folder(path, id));
        let mut parts: Vec<String> = files.iter().filter_map(|file| read_text(file, MAX_MESSAGE_BYTES).ok()).collect();
        if parts.is_empty() {
            parts = place.parts.iter().map(Value::to_string).collect();
        }
        let is_undone = first_undone.is_some_and(|first| number >= first);
        json!({"data": text, "part_texts": parts.join("\u{1e}"), "is_undone": is_undone}).to_string()
    });
    Ok(SessionDocument::new(info.header(&id, &places), &records.collect::<Vec<_>>()))
}

/// The folder whose time changes with every message of a session.
pub(crate) fn files_beside(path: &Path) -> Vec<PathBuf> {
    vec![message_folder(path)]
}

impl OpenCodeSession {
    /// With the names that `TranscriptHead::usual_fields` knows.
    fn header(&self, id: &str, places: &[MessagePlace]) -> String {
        let in_messages = places.iter().flat_map(|place| {
            [Some(&place.path.cwd), place.metadata.pointer("/assistant/path/cwd")].into_iter().flatten()
        });
        let cwd = std::iter::once(&self.directory).chain(in_messages).find(|cwd| cwd.is_string());
        json!({
            "sessionId": id, "parentSessionId": self.parent, "cwd": cwd, "title": self.title,
            "timestamp": self.time.created,
        })
        .to_string()
    }

    /// The number of the first message that the user undid.
    fn first_undone<'a>(&self, mut places: impl Iterator<Item = &'a MessagePlace>) -> Option<usize> {
        let first = self.revert.get("messageID")?.as_str()?;
        places.position(|place| place.id == first)
    }
}

fn place_in(message: &str) -> MessagePlace {
    serde_json::from_str::<ExportedMessage>(message).unwrap_or_default().info
}

/// `<storage>/session/<project>/<id>.json`, in old versions `<storage>/session/info/<id>.json`.
fn is_old(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "info")
}

fn message_folder(path: &Path) -> PathBuf {
    let (levels, id) = (if is_old(path) { 2 } else { 3 }, path.file_stem().unwrap_or_default());
    path.ancestors().nth(levels).unwrap_or(path).join("message").join(id)
}

fn part_folder(path: &Path, message: &str) -> PathBuf {
    let id = path.file_stem().unwrap_or_default();
    if is_old(path) {
        path.ancestors().nth(2).unwrap_or(path).join("part").join(id).join(message)
    } else {
        path.ancestors().nth(3).unwrap_or(path).join("part").join(message)
    }
}

/// The JSON files of a folder, in the order of their names: ids sort by time.
fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_json = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_json).collect();
    files.sort();
    files
}

fn invalid(error: serde_json::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}
