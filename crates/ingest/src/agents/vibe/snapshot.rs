//! Reads the snapshots in which newer versions of Mistral Vibe store a session.
//!
//! `CURRENT` names the newest one, whose manifest lists the chunks with the entries.

use std::io;
use std::path::{Path, PathBuf};

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::files::header_of;
use crate::parse::content::{MeasuredResult, MessageContent};
use crate::parse::derived_header::{DerivedHeader, DerivedUsage, count_at, text_at};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientObject, LenientText, LenientTimestamp, parse_or_default};
use crate::parse::outcome::tool_outcome;
use crate::parse::{ParseContext, TextSink, content_id, tool_kind};
use crate::source::{SessionDocument, read_json, read_text};
use crate::{EventBody, TranscriptEvent};

/// Larger chunks are not read.
const MAX_CHUNK_BYTES: u64 = 64 << 20;

pub(super) fn is_transcript(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == "CURRENT")
}

pub(super) fn beside(path: &Path) -> Vec<PathBuf> {
    vec![path.with_file_name("meta.json")]
}

pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let invalid = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
    let folder = path.parent().ok_or_else(|| invalid("no folder"))?;
    let generation = read_json(path).and_then(|current| text_at(&current, "/generation"));
    let generation = generation.filter(|name| is_plain(name)).ok_or_else(|| invalid("no generation"))?;
    let generation = folder.join("generations").join(generation);
    let read = |name: &str| read_json(&generation.join(name)).ok_or_else(|| invalid(&format!("{name} is missing")));
    let (manifest, projection) = (read("manifest.json")?, read("projection-state.json")?);
    let runtime = read("runtime-state.json").unwrap_or_default();
    let records = match manifest.pointer("/projection_state/chunks").and_then(Value::as_array) {
        Some(chunks) => chunks.iter().flat_map(|chunk| read_chunk(folder, chunk)).collect(),
        None => inline_entries(&projection),
    };
    Ok(SessionDocument::new(header(folder, &projection, &runtime).to_json(), &records))
}

fn header(folder: &Path, projection: &Value, runtime: &Value) -> DerivedHeader {
    let meta = read_json(&folder.join("meta.json")).unwrap_or_default();
    let session = projection.pointer("/snapshot/session").unwrap_or(&Value::Null);
    let cached = count_at(session, "/tokenUsage/cachedInputTokens");
    let tokens = Tokens {
        input: count_at(session, "/tokenUsage/inputTokens").saturating_sub(cached),
        output: count_at(session, "/tokenUsage/outputTokens"),
        cache_read: cached,
        cache_write: 0,
    };
    let parent = text_at(runtime, "/identity/parent_session_id");
    let kind = text_at(runtime, "/identity/kind").unwrap_or_default();
    let of_meta = header_of(&meta);
    DerivedHeader {
        session_id: folder.file_name().and_then(|name| name.to_str()).map(str::to_owned),
        parent_session_id: parent.clone().filter(|_| kind == "subagent"),
        forked_from: parent.filter(|_| kind == "fork"),
        cwd: of_meta.cwd.or_else(|| text_at(runtime, "/session_metadata/cwd")),
        branch: of_meta.branch,
        title: of_meta.title,
        generated_title: of_meta.generated_title.or_else(|| text_at(session, "/title")),
        model: text_at(runtime, "/session_metadata/active_model").or(of_meta.model),
        timestamp: if meta["start_time"].is_null() { session["createdAt"].clone() } else { of_meta.timestamp },
        usage: vec![DerivedUsage { message_id: "session".to_owned(), tokens, ..DerivedUsage::default() }],
    }
}

/// Whether a name in a file is that of a file in the same folder.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name != ".." && !name.contains(['/', '\\'])
}

/// The entries of a chunk. One that cannot be read becomes a record that cannot be parsed, for a warning.
fn read_chunk(folder: &Path, chunk: &Value) -> Vec<String> {
    let read = |name: &str| {
        let text = read_text(&folder.join("chunks").join(format!("{name}.json")), MAX_CHUNK_BYTES).ok()?;
        let entries: Vec<&RawValue> = serde_json::from_str(&text).ok()?;
        Some(entries.into_iter().map(|entry| entry.get().to_owned()).collect())
    };
    let name = chunk.as_str().filter(|name| is_plain(name));
    name.and_then(read).unwrap_or_else(|| vec![format!("chunk {chunk} cannot be read")])
}

fn inline_entries(projection: &Value) -> Vec<String> {
    let entries = projection.pointer("/snapshot/history/entries").and_then(Value::as_array);
    entries.into_iter().flatten().map(Value::to_string).collect()
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct VibeEntry<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow)]
    content: MessageContent<'a>,
    #[serde(borrow)]
    user_display_content: LenientObject<VibeDisplayed<'a>>,
    created_at: LenientTimestamp,
    #[serde(borrow)]
    detail: LenientObject<VibeEffect<'a>>,
    #[serde(borrow)]
    state: LenientObject<VibeEffectState<'a>>,
}

/// What the user saw of a prompt, without what Vibe added for the model.
#[derive(Default, Deserialize)]
#[serde(default)]
struct VibeDisplayed<'a> {
    #[serde(borrow)]
    content: MessageContent<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct VibeEffect<'a> {
    #[serde(borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    tool_name: LenientText<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct VibeEffectState<'a> {
    #[serde(borrow)]
    status: LenientText<'a>,
    #[serde(borrow)]
    reason: LenientText<'a>,
    #[serde(borrow)]
    error: LenientObject<VibeError<'a>>,
    #[serde(borrow)]
    output: LenientObject<VibeOutput<'a>>,
    #[serde(borrow)]
    output_text: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct VibeError<'a> {
    #[serde(borrow)]
    message: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct VibeOutput<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    let entry: VibeEntry<'_> = serde_json::from_str(text)?;
    let native_id = entry.id.clone().non_empty().map_or_else(|| content_id(text), Into::into);
    let mut out = EventBuilder::new(context.location, entry.created_at.0, native_id);
    let is_subagent = context.is_subagent();
    let sink = &mut context.sink;
    match (entry.kind.as_str(), entry.role.as_str()) {
        ("message", "user") => {
            let shown = entry.user_display_content.0.content.0;
            let blocks = if shown.is_empty() { entry.content.0 } else { shown };
            let texts: Vec<&str> = blocks.iter().map(|block| block.text.as_str()).collect();
            out.add_user_text(&texts.join("\n"), is_subagent, sink);
        }
        ("message", "assistant") => {
            let id = out.native_id.clone();
            for block in entry.content.0 {
                out.add_text(EntryKind::AssistantText, block.text.into_string(), Some(&id), sink);
            }
        }
        ("reasoning", _) if sink.filter.keep_reasoning => {
            out.add_text(EntryKind::Reasoning, entry.text.into_string(), None, sink);
        }
        ("effect", _) => add_effect(entry, &mut out, sink),
        _ => {}
    }
    Ok(out.events)
}

fn add_effect(entry: VibeEntry<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let VibeEffect { kind, tool_name, input } = entry.detail.0;
    let name = tool_name.non_empty().or(kind.non_empty()).unwrap_or_default();
    // `file_system.read_file` → `read_file`: servers of tools that are part of Vibe.
    let name = name.rsplit('.').next().unwrap_or_default();
    if name.is_empty() {
        return;
    }
    let id = out.native_id.clone();
    out.add_tool_call(LenientText(Some(id.clone().into())), name, input, &id, sink);
    let state = entry.state.0;
    let is_error = match state.status.as_str() {
        "completed" => false,
        "failed" | "errored" | "skipped" | "cancelled" => true,
        _ => return,
    };
    let mut measured: MeasuredResult = parse_or_default(state.output.0.content);
    if measured.bytes == 0 {
        let texts = [state.output_text, state.error.0.message, state.reason];
        let text = texts.into_iter().find_map(LenientText::non_empty).unwrap_or_default();
        measured = MeasuredResult::from_text(&text);
    }
    let outcome = tool_outcome(measured, is_error, Some(tool_kind(name)), sink);
    out.push(EventBody::ToolResult { call_id: id, outcome, answer: None });
}
