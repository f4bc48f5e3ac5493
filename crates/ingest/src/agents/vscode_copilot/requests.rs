//! Parses the requests of a chat: what the user asked, what the model answered and called.

use rethread_model::{EntryKind, Timestamp, Tokens, ToolKind, ToolStatus};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::chat::ChatHeader;
use crate::parse::content::MeasuredResult;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::LenientText;
use crate::parse::outcome::outcome_with_code;
use crate::parse::{ParseContext, TextSink, content_id, tool_kind};
use crate::source::path_in_uri;
use crate::{EventBody, EventScope, SessionHeader, TitleRank, TranscriptEvent, UndoStep};

/// Results are searched for an exit code and an error; no more of them is needed.
const MAX_RESULT_CHARS: usize = 64 * 1024;
/// How a denied tool call is confirmed.
const DENIED: u64 = 0;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct VscodeRequest {
    request_id: Value,
    message: Value,
    timestamp: Value,
    model_id: Value,
    is_hidden: Value,
    is_system_initiated: Value,
    is_canceled: Value,
    should_be_removed_on_send: Value,
    response: Value,
    result: VscodeResult,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", from = "Value")]
struct VscodeResult {
    error: Option<String>,
    rounds: Vec<Value>,
    results: Map<String, Value>,
    prompt_tokens: u64,
    output_tokens: u64,
    model: Option<String>,
}

impl From<Value> for VscodeResult {
    fn from(result: Value) -> Self {
        let metadata = &result["metadata"];
        Self {
            error: result["errorDetails"]["message"].as_str().map(str::to_owned),
            rounds: metadata["toolCallRounds"].as_array().cloned().unwrap_or_default(),
            results: metadata["toolCallResults"].as_object().cloned().unwrap_or_default(),
            prompt_tokens: metadata["promptTokens"].as_u64().unwrap_or_default(),
            output_tokens: metadata["outputTokens"].as_u64().unwrap_or_default(),
            model: metadata["resolvedModel"].as_str().map(str::to_owned),
        }
    }
}

/// All events of one request, or of the header.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return Ok(header_events(serde_json::from_str(text)?, context));
    }
    let request: VscodeRequest = serde_json::from_str(text)?;
    let id = request.request_id.as_str().map_or_else(|| content_id(text), |id| id.replace(':', "-"));
    let at = request.timestamp.as_i64().map(Timestamp::from_millis);
    let mut out = EventBuilder::new(context.location, at, id);
    let sink = &mut context.sink;
    add_prompt(&request, &mut out, sink);
    add_usage(&request, &mut out);
    let parts = request.response.as_array().map(Vec::as_slice).unwrap_or_default();
    add_answer(&request, parts, &mut out, sink);
    add_subagents(parts, &mut out, sink);
    if let Some(error) = request.result.error {
        out.add_text(EntryKind::Failure, error, None, sink);
    }
    if request.is_canceled == true {
        out.add_interruption(sink);
    }
    if !request.should_be_removed_on_send.is_null() {
        out.push(EventBody::Undo(UndoStep::From(out.native_id.clone())));
    }
    Ok(out.events)
}

fn header_events(header: ChatHeader, context: &mut ParseContext<'_>) -> Vec<TranscriptEvent> {
    let at = header.timestamp.map(Timestamp::from_millis);
    let mut out = EventBuilder::new(context.location, at, "header".to_owned());
    let external_id = header.session_id.unwrap_or_default();
    out.push(EventBody::Header(SessionHeader { external_id, cwd: header.cwd, ..SessionHeader::default() }));
    let title = LenientText(header.custom_title.map(Into::into));
    out.add_title(TitleRank::Generated, title, None, &mut context.sink);
    out.events
}

fn add_prompt(request: &VscodeRequest, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let text = request.message.as_str().or_else(|| request.message["text"].as_str()).unwrap_or_default();
    if request.is_hidden == true || request.is_system_initiated == true {
        out.add_injected(text, sink);
    } else {
        out.add_user_text(text, false, sink);
    }
}

fn add_usage(request: &VscodeRequest, out: &mut EventBuilder) {
    let named = request.model_id.as_str().map(|id| id.rsplit('/').next().unwrap_or(id).to_owned());
    let model = request.result.model.clone().or(named).filter(|model| !model.is_empty() && model != "auto");
    let tokens =
        Tokens { input: request.result.prompt_tokens, output: request.result.output_tokens, ..Tokens::default() };
    let message_id = format!("{}-usage", out.native_id);
    out.push(EventBody::Usage { message_id, tokens, hour_write_tokens: 0, model, cost_usd: None });
}

/// Adds the answer: from the model's rounds once they are stored, else from what the chat shows.
fn add_answer(request: &VscodeRequest, parts: &[Value], out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let shown = parts.iter().filter(|part| part["subAgentInvocationId"].is_null());
    let invocations: Vec<&Value> = shown.clone().filter(|part| is_invocation(part)).collect();
    let rounds = &request.result.rounds;
    let mut changes_files = false;
    let mut commands = invocations.iter().filter(|part| part["toolSpecificData"]["kind"] == "terminal");
    for round in rounds {
        let message = round["id"].as_str().map_or_else(|| out.native_id.clone(), str::to_owned);
        if let Some(summary) = round["summary"].as_str() {
            out.add_text(EntryKind::Summary, summary.to_owned(), None, sink);
        }
        out.add_text(EntryKind::AssistantText, text_of(&round["response"]), Some(&message), sink);
        for call in round["toolCalls"].as_array().into_iter().flatten() {
            let (id, name) = (call["id"].as_str().unwrap_or_default(), call["name"].as_str().unwrap_or_default());
            changes_files |= tool_kind(name).changes_files();
            add_call(id, name, &arguments(&call["arguments"]), &message, out, sink);
            // The ids of calls and of what the chat shows differ in some versions; their order does not.
            let same = invocations.iter().find(|part| part["toolCallId"] == call["id"]);
            let command = if tool_kind(name) == ToolKind::Command { commands.next() } else { None };
            let shown = same.or(command).copied().unwrap_or(&Value::Null);
            add_result(id, request.result.results.get(id), shown, out, sink);
        }
    }
    let is_answered = rounds.last().is_some_and(|round| round["toolCalls"].as_array().is_none_or(Vec::is_empty));
    if rounds.is_empty() {
        changes_files |= add_shown(shown.clone(), out, sink);
    } else if !is_answered {
        let after = parts.iter().rposition(is_invocation).map_or(0, |at| at + 1);
        add_shown(parts[after..].iter(), out, sink);
    }
    if !changes_files {
        add_edits(shown, out, sink);
    }
}

/// Adds texts and calls as the chat shows them. Returns whether a call changes files.
fn add_shown<'a>(parts: impl Iterator<Item = &'a Value>, out: &mut EventBuilder, sink: &mut TextSink<'_>) -> bool {
    let (mut text, mut number, mut changes_files) = (String::new(), 0, false);
    let message = |number: u32, out: &EventBuilder| format!("{}-{number}", out.native_id);
    for part in parts {
        match part["kind"].as_str().unwrap_or("markdownContent") {
            "markdownContent" => {
                let content = if part["content"].is_null() { part } else { &part["content"] };
                text.push_str(&text_of(content));
            }
            "inlineReference" => text.push_str(&reference_name(part)),
            "thinking" if sink.filter.keep_reasoning => {
                out.add_text(EntryKind::Reasoning, text_of(part), None, sink);
            }
            "toolInvocation" | "toolInvocationSerialized" => {
                number += u32::from(!text.trim().is_empty());
                let id = message(number, out);
                out.add_text(EntryKind::AssistantText, std::mem::take(&mut text), Some(&id), sink);
                changes_files |= add_invocation(part, &id, out, sink);
            }
            _ => {}
        }
    }
    let id = message(number + 1, out);
    out.add_text(EntryKind::AssistantText, text, Some(&id), sink);
    changes_files
}

/// Adds a call as the chat shows it. Returns whether it changes files.
fn add_invocation(part: &Value, message: &str, out: &mut EventBuilder, sink: &mut TextSink<'_>) -> bool {
    let (id, name) = (part["toolCallId"].as_str().unwrap_or_default(), tool_name(&part["toolId"]));
    add_call(id, &name, &shown_arguments(part), message, out, sink);
    if part["isComplete"] != false {
        add_result(id, None, part, out, sink);
    }
    tool_kind(&name).changes_files()
}

/// Adds edits of a chat whose model cannot call tools: they are only shown.
fn add_edits<'a>(parts: impl Iterator<Item = &'a Value>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let mut known: Vec<&str> = Vec::new();
    for part in parts.filter(|part| part["kind"] == "textEditGroup" || part["kind"] == "notebookEditGroup") {
        let path = part["uri"]["fsPath"].as_str().or_else(|| part["uri"]["path"].as_str());
        let Some(path) = path.filter(|path| !known.contains(path)) else { continue };
        known.push(path);
        let id = format!("{}-edit-{}", out.native_id, known.len());
        let message = format!("{}-1", out.native_id);
        add_call(&id, "edit_file", &json!({ "path": path }), &message, out, sink);
        add_result(&id, None, &Value::Null, out, sink);
    }
}

/// Adds what sub-agents called: the chat shows it among the rest.
fn add_subagents(parts: &[Value], out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    for part in parts.iter().filter(|part| is_invocation(part)) {
        let Some(agent) = part["subAgentInvocationId"].as_str() else { continue };
        let scope = EventScope::Subagent { agent_id: Some(agent.to_owned()), parent_id: None };
        let main = std::mem::replace(&mut out.scope, scope);
        let message = format!("{}-{agent}", out.native_id);
        add_invocation(part, &message, out, sink);
        out.scope = main;
    }
}

fn add_call(id: &str, name: &str, input: &Value, message: &str, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let raw: Option<Box<RawValue>> = to_raw_value(input).ok();
    let name =
        name.strip_prefix("mcp_rethread_").map_or_else(|| name.to_owned(), |tool| format!("mcp__rethread__{tool}"));
    out.add_tool_call(LenientText(Some(id.into())), &name, raw.as_deref(), message, sink);
}

/// Adds the result of a call: what the model got, and what the chat shows about it.
fn add_result(call_id: &str, result: Option<&Value>, shown: &Value, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let (terminal, details) = (&shown["toolSpecificData"], &shown["resultDetails"]);
    let mut text = String::new();
    match result {
        Some(result) => collect_text(&result["content"], &mut text),
        None => collect_text(&terminal["terminalCommandOutput"], &mut text),
    }
    let code = terminal["terminalCommandState"]["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok());
    let code = code.or_else(|| written_exit_code(&text));
    let is_denied = shown["isConfirmed"] == false || shown["isConfirmed"]["type"].as_u64() == Some(DENIED);
    let is_error = is_denied || details["isError"] == true;
    if text.is_empty() && details["isError"] == true {
        collect_text(&details["output"], &mut text);
    }
    let kind = code.is_some().then_some(ToolKind::Command);
    let mut outcome = outcome_with_code(MeasuredResult::from_text(&text), is_error, code, kind, sink);
    if is_denied {
        outcome.status = ToolStatus::Rejected;
    }
    out.push(EventBody::ToolResult { call_id: call_id.to_owned(), outcome, answer: None });
}

/// The exit code in the words with which the terminal reports a failed command.
fn written_exit_code(text: &str) -> Option<i32> {
    let line = text.trim_end().lines().next_back()?;
    let code = line.strip_prefix("Command exited with code ")?;
    code.trim_end_matches('.').parse().ok()
}

fn is_invocation(part: &Value) -> bool {
    part["kind"] == "toolInvocationSerialized" || part["kind"] == "toolInvocation"
}

/// `copilot_readFile` → `read_file`, as the model calls it.
fn tool_name(tool_id: &Value) -> String {
    let id = tool_id.as_str().unwrap_or_default();
    let Some(name) = id.strip_prefix("copilot_") else { return id.to_owned() };
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// The arguments of a call, written as JSON in a string. The files of several replacements are named one by one.
fn arguments(value: &Value) -> Value {
    let mut arguments = match value.as_str() {
        Some(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        None => value.clone(),
    };
    let replacements = arguments["replacements"].as_array();
    let files: Option<Vec<Value>> = replacements.map(|list| list.iter().map(|one| one["filePath"].clone()).collect());
    if let (Some(files), Some(fields)) = (files, arguments.as_object_mut()) {
        fields.entry("files").or_insert(Value::Array(files));
    }
    arguments
}

/// What the chat shows of the arguments: a command, the input of a server's tool, or a link to a file.
fn shown_arguments(part: &Value) -> Value {
    let data = &part["toolSpecificData"];
    let line = &data["commandLine"];
    let command = ["userEdited", "toolEdited", "original"].iter().find_map(|name| line[*name].as_str());
    if let Some(command) = command.or_else(|| line.as_str()).or_else(|| data["command"].as_str()) {
        return json!({ "command": command });
    }
    if data["rawInput"].is_object() {
        return data["rawInput"].clone();
    }
    if let Some(input) = part["resultDetails"]["input"].as_str().and_then(|text| serde_json::from_str(text).ok()) {
        return input;
    }
    let message = text_of(&part["invocationMessage"]);
    let link = message.split_once("](").and_then(|(_, rest)| rest.split(')').next());
    match link.and_then(path_in_uri) {
        Some(path) => json!({ "path": path }),
        None => json!({ "description": message }),
    }
}

/// A text, or a Markdown string with its text as `value`.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect(),
        value => value["value"].as_str().unwrap_or_default().to_owned(),
    }
}

/// How a reference to a file or symbol is shown.
fn reference_name(part: &Value) -> String {
    let reference = &part["inlineReference"];
    let path = [&reference["path"], &reference["uri"]["path"], &reference["location"]["uri"]["path"]];
    let file = || path.iter().find_map(|path| path.as_str()?.rsplit('/').next().map(str::to_owned));
    let name = part["name"].as_str().or_else(|| reference["name"].as_str()).map(str::to_owned);
    name.or_else(file).map_or_else(String::new, |name| format!("`{name}`"))
}

/// Collects the texts in a result, which may be a tree of parts of a prompt.
fn collect_text(value: &Value, text: &mut String) {
    if text.len() > MAX_RESULT_CHARS {
        return;
    }
    match value {
        Value::String(part) => text.push_str(part),
        Value::Array(list) => list.iter().for_each(|part| collect_text(part, text)),
        Value::Object(fields) => {
            for name in ["text", "value", "node", "children", "content"] {
                if let Some(part) = fields.get(name) {
                    collect_text(part, text);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_have_the_names_that_the_model_uses() {
        assert_eq!(tool_name(&json!("copilot_readFile")), "read_file");
        assert_eq!(tool_name(&json!("run_in_terminal")), "run_in_terminal");
    }

    #[test]
    fn a_result_can_be_a_tree() {
        let tree = json!([{"value": {"node": {"type": 1, "children": [{"type": 2, "text": "a\n"}, {"children": [{"text": "b"}]}]}}}]);
        let mut text = String::new();
        collect_text(&tree, &mut text);
        assert_eq!(text, "a\nb");
    }

    #[test]
    fn arguments_are_what_the_chat_shows() {
        let part =
            json!({"toolSpecificData": {"kind": "terminal", "commandLine": {"original": "ls", "userEdited": "ls -a"}}});
        assert_eq!(shown_arguments(&part), json!({"command": "ls -a"}));
        let part = json!({"invocationMessage": {"value": "Reading [](file:///a%20b.rs#1-2), lines 1 to 2"}});
        assert_eq!(shown_arguments(&part), json!({"path": "/a b.rs"}));
        let several = arguments(&json!(r#"{"replacements":[{"filePath":"/a"},{"filePath":"/b"}]}"#));
        assert_eq!(several["files"], json!(["/a", "/b"]));
    }
}
