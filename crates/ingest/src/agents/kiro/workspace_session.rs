//! Reads sessions of older versions of the Kiro IDE.
//!
//! A document has the prompts; a log per execution has what the agent did.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rethread_model::EntryKind;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::parse::content::{MeasuredResult, MessageContent};
use crate::parse::derived_header::{DerivedHeader, text_at};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientObject, LenientText, LenientTimestamp};
use crate::parse::outcome::outcome_with_code;
use crate::parse::{ParseContext, TextSink, content_id, tool_kind};
use crate::source::{SessionDocument, TranscriptHead, read_json};
use crate::{EventBody, TranscriptEvent};

/// The folder of a workspace that has its execution logs; a constant of the IDE.
const EXECUTIONS: &str = "414d1636299d2b9e4ce7e17fb11f63e9";
/// More logs than that are not searched.
const MAX_EXECUTIONS: usize = 5000;

/// The session's history with, after each answer, the actions of its execution.
pub(super) fn load(path: &Path) -> io::Result<SessionDocument> {
    let session = read_json(path).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    let cwd = text_at(&session, "/workspaceDirectory").or_else(|| text_at(&session, "/workspacePath"));
    let header = DerivedHeader {
        session_id: text_at(&session, "/sessionId").or_else(|| path.file_stem()?.to_str().map(str::to_owned)),
        cwd: cwd.clone(),
        generated_title: text_at(&session, "/title"),
        timestamp: session["dateCreated"].clone(),
        ..DerivedHeader::default()
    };
    let logs = cwd.and_then(|cwd| execution_folder(path, &cwd)).map(|folder| execution_logs(&folder));
    let mut records = Vec::new();
    for entry in session["history"].as_array().into_iter().flatten() {
        let log = text_at(entry, "/executionId").and_then(|id| read_json(logs.as_ref()?.get(&id)?));
        let actions = log.as_ref().and_then(|log| log["actions"].as_array());
        let is_answer = text_at(entry, "/message/role").is_some_and(|role| role == "assistant");
        match actions.filter(|_| is_answer) {
            Some(actions) => records.extend(actions.iter().map(|action| json!({ "action": action }).to_string())),
            None => records.push(entry.to_string()),
        }
    }
    Ok(SessionDocument::new(header.to_json(), &records))
}

/// `workspace-sessions/<name>/<session>.json` → `<hash of the workspace>/…`, beside `workspace-sessions`.
fn execution_folder(path: &Path, cwd: &str) -> Option<PathBuf> {
    let storage = path.parent()?.parent()?.parent()?;
    // The first half of the hash.
    let hash = format!("{:x}", Sha256::digest(cwd));
    Some(storage.join(&hash[..32]).join(EXECUTIONS))
}

/// The logs of a workspace by the id of their execution, which is their first field.
fn execution_logs(folder: &Path) -> HashMap<String, PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_EXECUTIONS).map(|entry| entry.path());
    let with_id = |path: PathBuf| {
        let head = TranscriptHead::of_file(&path).ok()?;
        Some((head.raw_field("executionId")?.to_owned(), path))
    };
    files.filter_map(with_id).collect()
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroHistoryEntry<'a> {
    #[serde(borrow)]
    message: LenientObject<KiroHistoryMessage<'a>>,
    #[serde(borrow)]
    action: Option<LenientObject<KiroAction<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KiroHistoryMessage<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: MessageContent<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KiroAction<'a> {
    #[serde(borrow)]
    action_id: LenientText<'a>,
    #[serde(borrow)]
    action_type: LenientText<'a>,
    #[serde(borrow)]
    action_state: LenientText<'a>,
    emitted_at: LenientTimestamp,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    output: Option<Value>,
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    let entry: KiroHistoryEntry<'_> = serde_json::from_str(text)?;
    let sink = &mut context.sink;
    if let Some(LenientObject(action)) = entry.action {
        let id = action.action_id.clone().non_empty().map_or_else(|| content_id(text), Into::into);
        let mut out = EventBuilder::new(context.location, action.emitted_at.0, id);
        add_action(action, &mut out, sink);
        return Ok(out.events);
    }
    let message = entry.message.0;
    let id = message.id.non_empty().map_or_else(|| content_id(text), Into::into);
    let mut out = EventBuilder::new(context.location, None, id);
    let id = out.native_id.clone();
    let texts: Vec<&str> = message.content.0.iter().map(|block| block.text.as_str()).collect();
    match message.role.as_str() {
        "user" => out.add_user_text(&texts.join("\n"), false, sink),
        "assistant" => out.add_text(EntryKind::AssistantText, texts.join("\n"), Some(&id), sink),
        _ => {}
    }
    Ok(out.events)
}

fn add_action(action: KiroAction<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    let output = action.output.unwrap_or_default();
    let message = text_at(&output, "/message").or_else(|| text_at(&output, "/output")).unwrap_or_default();
    // How the IDE calls what other agents call so.
    let name = match action.action_type.as_str() {
        "say" => return out.add_text(EntryKind::AssistantText, message, Some(&id), sink),
        "" | "model" | "intentClassification" => return,
        "replace" | "append" | "smartRelocate" | "relocate" => "edit",
        "create" | "write" => "write",
        "readCode" | "readFiles" | "readFile" => "read",
        "runCommand" => "shell",
        other => other,
    };
    out.add_tool_call(LenientText(Some(id.clone().into())), name, action.input, &id, sink);
    let is_error = match action.action_state.as_str() {
        "Success" | "Accepted" | "" => false,
        "Error" | "Failed" | "Rejected" | "Aborted" => true,
        // Still running.
        _ => return,
    };
    let code = output.get("exitCode").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let measured = MeasuredResult::from_text(&message);
    let outcome = outcome_with_code(measured, is_error, code, Some(tool_kind(name)), sink);
    out.push(EventBody::ToolResult { call_id: id, outcome, answer: None });
}
