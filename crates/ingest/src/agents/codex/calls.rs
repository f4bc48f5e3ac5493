//! Tool calls of Codex: shell commands in their different forms, patches, and outputs that wrap an exit code.

use rethread_model::{ToolKind, ToolStatus};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use crate::EventBody;
use crate::facts::STILL_RUNNING;
use crate::parse::content::{MeasuredResult, MessageContent};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientBool, LenientNumber, LenientObject, LenientText, parse_or_default};
use crate::parse::outcome::outcome_with_code;
use crate::parse::patch::{has_patch, patch_in_command};
use crate::parse::{TextSink, tool_kind};

/// An element of the model's conversation.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ResponseItem<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: LenientText<'a>,
    #[serde(borrow)]
    pub(super) role: LenientText<'a>,
    #[serde(borrow)]
    pub(super) id: LenientText<'a>,
    #[serde(borrow)]
    pub(super) content: MessageContent<'a>,
    #[serde(borrow)]
    pub(super) summary: MessageContent<'a>,
    #[serde(borrow)]
    call_id: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    namespace: LenientText<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    action: Option<&'a RawValue>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
}

impl ResponseItem<'_> {
    /// The ids of the line. Only a call is identified by its call: its output has the same.
    pub(super) fn ids(&self) -> [&str; 2] {
        let is_call = self.kind.as_str().ends_with("_call");
        [self.id.as_str(), if is_call { self.call_id.as_str() } else { "" }]
    }
}

/// First words of outputs of tools that failed and say so only in words.
const FAILURE_PREFIXES: [&str; 12] = [
    "apply_patch verification failed",
    "exec_command failed",
    "write_stdin failed",
    "failed to parse function arguments",
    "unsupported call",
    "unsupported custom tool call",
    "tool call error",
    "execution error",
    "unable to locate image",
    "unable to read image",
    "aborted",
    "err:",
];

/// Words with which the user's refusal is reported.
const REFUSALS: [&str; 4] = ["aborted by user", "rejected by user", "patch rejected", "exec command rejected"];

/// How outputs begin that Codex wrapped.
const WRAPPERS: [&str; 6] =
    ["Command: ", "Chunk ID: ", "Wall time: ", "Exit code: ", "Process exited with code ", "Process running with "];
/// Lines between a wrapper and the command's own output.
const OUTPUT_MARKERS: [&str; 2] = ["\nOutput:\n", "\nFinal output:\n"];

/// Adds a call of the model; other items are ignored.
pub(super) fn add_call(item: ResponseItem<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let message = out.native_id.clone();
    let id = if item.call_id.as_str().is_empty() { item.id } else { item.call_id };
    let mut add = |name: &str, input: Option<&RawValue>| out.add_tool_call(id.clone(), name, input, &message, sink);
    match item.kind.as_str() {
        "function_call" => {
            let name = item.name.as_str();
            let name = match item.namespace.as_str() {
                server if server.starts_with("mcp__") => format!("{server}__{name}"),
                _ => name.to_owned(),
            };
            match shell_call(&name, item.arguments) {
                Some(call) => add(call.name, to_raw_value(&call.input).ok().as_deref()),
                None => add(&name, item.arguments),
            }
        }
        "custom_tool_call" => {
            let text: String = parse_or_default(item.input);
            // A script of tool calls may contain a patch.
            let name = if has_patch(&text) { "apply_patch" } else { item.name.as_str() };
            let key = if tool_kind(name) == ToolKind::Command { "command" } else { "patch" };
            add(name, to_raw_value(&json!({ key: text })).ok().as_deref());
        }
        "local_shell_call" => match shell_call("local_shell", item.action) {
            Some(call) => add(call.name, to_raw_value(&call.input).ok().as_deref()),
            None => add("local_shell", None),
        },
        "web_search_call" => add("web_search", item.action),
        "tool_search_call" => add("tool_search", item.arguments),
        "image_generation_call" => add("image_generation", None),
        _ => {}
    }
}

/// A command in the usual form.
struct ShellCall<'a> {
    name: &'a str,
    input: Value,
}

/// A shell command as one text, however it is written, or the patch in it: Codex applies that itself.
fn shell_call<'a>(name: &'a str, arguments: Option<&RawValue>) -> Option<ShellCall<'a>> {
    if tool_kind(name) != ToolKind::Command {
        return None;
    }
    let raw = arguments?.get();
    let quoted: Option<String> = serde_json::from_str(raw).ok();
    let mut arguments: Map<String, Value> = serde_json::from_str(quoted.as_deref().unwrap_or(raw)).ok()?;
    let command = arguments.remove("cmd").or_else(|| arguments.remove("command"))?;
    let script = match command {
        Value::String(script) => script,
        Value::Array(words) => join_command(&words),
        _ => return None,
    };
    if let Some(patch) = patch_in_command(&script) {
        return Some(ShellCall { name: "apply_patch", input: json!({ "patch": patch }) });
    }
    let work_dir = arguments.remove("workdir").filter(Value::is_string);
    let mut input = json!({ "command": script });
    if let Some(work_dir) = work_dir {
        input["workdir"] = work_dir;
    }
    Some(ShellCall { name, input })
}

/// The script that a shell is given, else all words.
fn join_command(words: &[Value]) -> String {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [_, "-lc" | "-c" | "-Command", script] => (*script).to_owned(),
        words => words.join(" "),
    }
}

/// Adds what a call returned.
pub(super) fn add_output(item: ResponseItem<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let call_id = item.call_id.into_string();
    let output = CodexOutput::read(item.output);
    let kind = output.exit_code.is_some().then_some(ToolKind::Command);
    let answer = output.answer.map(|answer| sink.redact(answer));
    let mut outcome = outcome_with_code(output.measured, output.is_error, output.exit_code, kind, sink);
    if output.is_refused {
        outcome.status = ToolStatus::Rejected;
    }
    if output.is_running {
        outcome.summary = format!("{}, {STILL_RUNNING}", outcome.summary);
    }
    out.push(EventBody::ToolResult { call_id, outcome, answer });
}

/// Adds the result of a call to an MCP server that failed. Its output, which follows, does not say so.
pub(super) fn add_failed_mcp_call(
    call_id: LenientText<'_>,
    result: Option<&RawValue>,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct McpResult {
        #[serde(rename = "Ok")]
        ok: LenientObject<McpAnswer>,
        #[serde(rename = "Err")]
        error: Option<MeasuredResult>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct McpAnswer {
        #[serde(rename = "isError", alias = "is_error")]
        is_error: LenientBool,
        content: MeasuredResult,
    }
    let result: McpResult = parse_or_default(result);
    let failed = result.error.or(result.ok.0.is_error.0.then_some(result.ok.0.content));
    add_failure(call_id, failed, out, sink);
}

/// Adds the result of a completed item that failed.
pub(super) fn add_failed_item(raw: Option<&RawValue>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct CompletedToolItem<'a> {
        #[serde(borrow)]
        id: LenientText<'a>,
        #[serde(borrow)]
        status: LenientText<'a>,
        #[serde(borrow)]
        error: LenientObject<CallError<'a>>,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct CallError<'a> {
        #[serde(borrow)]
        message: LenientText<'a>,
    }
    let item: CompletedToolItem<'_> = parse_or_default(raw);
    let failed = (item.status.as_str() == "failed").then(|| MeasuredResult::from_text(item.error.0.message.as_str()));
    add_failure(item.id, failed, out, sink);
}

fn add_failure(
    call_id: LenientText<'_>,
    failed: Option<MeasuredResult>,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    let Some(measured) = failed else { return };
    let outcome = outcome_with_code(measured, true, None, None, sink);
    out.push(EventBody::ToolResult { call_id: call_id.into_string(), outcome, answer: None });
}

/// An output without what Codex puts around it.
#[derive(Default)]
struct CodexOutput {
    measured: MeasuredResult,
    exit_code: Option<i32>,
    is_error: bool,
    is_refused: bool,
    /// Whether the command did not end yet.
    is_running: bool,
    answer: Option<String>,
}

/// Outputs as JSON: of the first versions, and of questions to the user.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputObject<'a> {
    #[serde(borrow)]
    output: LenientText<'a>,
    #[serde(borrow)]
    content: LenientText<'a>,
    success: Option<bool>,
    metadata: LenientObject<OutputMetadata>,
    answers: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputMetadata {
    exit_code: LenientNumber,
}

impl CodexOutput {
    fn read(raw: Option<&RawValue>) -> Self {
        match raw.map_or("", RawValue::get) {
            "" => Self::default(),
            text if text.starts_with('"') => Self::from_text(&serde_json::from_str::<String>(text).unwrap_or_default()),
            object if object.starts_with('{') => Self::from_object(object),
            list => Self { measured: serde_json::from_str(list).unwrap_or_default(), ..Self::default() },
        }
    }

    fn from_object(text: &str) -> Self {
        let Ok(object) = serde_json::from_str::<OutputObject<'_>>(text) else {
            return Self { measured: serde_json::from_str(text).unwrap_or_default(), ..Self::default() };
        };
        let inner = object.output.non_empty().or(object.content.non_empty());
        let code = object.metadata.0.exit_code.0.map(|code| code as i32);
        let answer = question_answers(&object.answers);
        let mut output = match inner {
            Some(inner) => Self::from_wrapped_text(&inner),
            None => Self { measured: serde_json::from_str(text).unwrap_or_default(), ..Self::default() },
        };
        output.exit_code = code.or(output.exit_code);
        output.is_error |= object.success == Some(false);
        Self { answer, ..output }
    }

    fn from_text(text: &str) -> Self {
        let is_known = text.starts_with("{\"output\"") || text.starts_with("{\"answers\"");
        if is_known { Self::from_object(text) } else { Self::from_wrapped_text(text) }
    }

    fn from_wrapped_text(text: &str) -> Self {
        let (exit_code, body) = unwrap_output(text);
        let is_refused = REFUSALS.iter().any(|words| body.starts_with(words));
        let is_error = is_refused || FAILURE_PREFIXES.iter().any(|prefix| body.starts_with(prefix));
        // A command may print such words; then it has an exit code.
        let is_error = is_error && exit_code.is_none();
        let wrapper = &text[..text.len() - body.len()];
        Self {
            is_running: exit_code.is_none() && wrapper.contains("Process running with session ID"),
            measured: MeasuredResult::from_text(body),
            exit_code,
            is_error,
            is_refused: is_refused && is_error,
            answer: None,
        }
    }
}

/// The exit code and the command's own output.
fn unwrap_output(text: &str) -> (Option<i32>, &str) {
    if !WRAPPERS.iter().any(|wrapper| text.starts_with(wrapper)) {
        return (None, text);
    }
    let marker = OUTPUT_MARKERS.iter().filter_map(|marker| Some((text.find(marker)?, marker.len()))).min();
    let Some((end, length)) = marker else {
        let is_wrapper = |line: &&str| WRAPPERS.iter().any(|wrapper| line.starts_with(wrapper));
        let wrapper: usize = text.split_inclusive('\n').take_while(is_wrapper).map(str::len).sum();
        return (exit_code(&text[..wrapper]), &text[wrapper..]);
    };
    let (wrapper, output) = (&text[..end], &text[end + length..]);
    match exit_code(wrapper) {
        // A patch given to a shell is wrapped twice.
        None if text.starts_with("Wall time: ") && output.starts_with("Exit code: ") => unwrap_output(output),
        code => (code, output),
    }
}

fn exit_code(wrapper: &str) -> Option<i32> {
    let prefixes = ["Process exited with code ", "Exit code: "];
    let code = |line: &str| prefixes.iter().find_map(|prefix| line.strip_prefix(prefix))?.trim().parse().ok();
    wrapper.lines().rev().find_map(code)
}

/// The answers to the agent's questions, one per line.
fn question_answers(answers: &Map<String, Value>) -> Option<String> {
    let lines = answers.iter().map(|(question, answer)| {
        let list = answer.get("answers").unwrap_or(answer);
        let words: Vec<&str> = match list {
            Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
            other => other.as_str().into_iter().collect(),
        };
        format!("{question} → {}", words.join(", "))
    });
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_taken_out_of_its_wrapper() {
        for (text, expect) in [
            (
                "Chunk ID: a\nWall time: 0.1 seconds\nProcess exited with code 3\nOriginal token count: 6\nOutput:\nno\n",
                (Some(3), "no\n"),
            ),
            ("Exit code: 0\nWall time: 0 seconds\nOutput:\nOutput:\nx", (Some(0), "Output:\nx")),
            ("Wall time: 0.0000 seconds\nOutput:\nExit code: 1\nWall time: 0 seconds\nOutput:\nbad", (Some(1), "bad")),
            (
                "Chunk ID: a\nProcess running with session ID 5\nOutput:\nExit code: 1 is fine",
                (None, "Exit code: 1 is fine"),
            ),
            ("Wall time: 1.0 seconds\naborted by user", (None, "aborted by user")),
            ("Command: bash -lc 'a\nb'\nChunk ID: a\nProcess exited with code 1\nOutput:\n", (Some(1), "")),
            ("Chunk ID: a\nProcess exited with code 0\nrest", (Some(0), "rest")),
            ("plain", (None, "plain")),
            ("plain\nOutput:\nProcess exited with code 1", (None, "plain\nOutput:\nProcess exited with code 1")),
        ] {
            assert_eq!(unwrap_output(text), expect, "{text}");
        }
    }

    #[test]
    fn failures_without_an_exit_code_are_recognized_by_their_words() {
        let read = |text: &str| CodexOutput::from_text(text);
        assert!(read("apply_patch verification failed: x").is_error);
        assert!(read("aborted by user after 5.0s").is_refused);
        assert!(!read("Exit code: 0\nWall time: 1 seconds\nOutput:\naborted by user").is_error);
        let json = read(r#"{"output":"no such file\n","metadata":{"exit_code":2,"duration_seconds":0.1}}"#);
        assert_eq!((json.exit_code, json.measured.head.as_str()), (Some(2), "no such file\n"));
        assert!(read("Chunk ID: a\nProcess running with session ID 5\nOutput:\nx").is_running);
        assert!(
            !read("Chunk ID: a\nProcess exited with code 0\nOutput:\nProcess running with session ID 5").is_running
        );
        let asked = read(r#"{"answers":{"which":{"answers":["a","b"]}}}"#);
        assert_eq!(asked.answer.as_deref(), Some("which → a, b"));
    }

    #[test]
    fn commands_are_the_same_in_every_form() {
        let call = |name: &str, arguments: &str| {
            let raw: Box<RawValue> = serde_json::from_str(arguments).unwrap();
            shell_call(name, Some(&raw)).map(|call| format!("{} {}", call.name, call.input))
        };
        for (name, arguments) in [
            ("exec_command", r#""{\"cmd\":\"ls\",\"yield_time_ms\":1000}""#),
            ("shell", r#"{"command":["bash","-lc","ls"],"timeout":1}"#),
            ("local_shell", r#"{"type":"exec","command":["ls"]}"#),
        ] {
            assert_eq!(call(name, arguments), Some(format!(r#"{name} {{"command":"ls"}}"#)));
        }
        let patch = call("shell", r#"{"command":["apply_patch","*** Begin Patch\n*** Add File: a\n"]}"#).unwrap();
        assert!(patch.starts_with("apply_patch") && patch.contains("Add File"), "{patch}");
        assert_eq!(call("update_plan", r#""{}""#), None);
    }
}
