//! Parses steps of Antigravity's log.

use rethread_model::{EntryKind, Tokens, ToolKind};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use crate::parse::content::MeasuredResult;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientNumber, LenientObject, LenientText, parse_or_default};
use crate::parse::outcome::{leading_code, outcome_with_code};
use crate::parse::user_text::{strip_tag, tag_content};
use crate::parse::{ParseContext, TextSink, content_id};
use crate::{EventBody, SessionHeader, TranscriptEvent, UndoStep};

/// Tags beside the request, with what the program adds to it.
const ADDED_TAGS: [&str; 3] = ["ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "EPHEMERAL_MESSAGE"];
/// States of a step that is not finished.
const UNFINISHED: [&str; 4] = ["RUNNING", "IN_PROGRESS", "PENDING", "WAITING"];
/// What comes before the exit code in the result of a command.
const EXIT_CODE: &str = "The command exited with code ";
/// Names of arguments, and the usual names for them.
const ARGUMENT_NAMES: [(&str, &str); 15] = [
    ("CommandLine", "command"),
    ("Cwd", "cwd"),
    ("TargetFile", "file_path"),
    ("AbsolutePath", "file_path"),
    ("File", "file_path"),
    ("DirectoryPath", "path"),
    ("SearchPath", "path"),
    ("SearchDirectory", "path"),
    ("Query", "query"),
    ("Pattern", "pattern"),
    ("Url", "url"),
    ("CodeContent", "content"),
    ("TargetContent", "old_string"),
    ("ReplacementContent", "new_string"),
    ("ReplacementChunks", "edits"),
];

#[derive(Default, Deserialize)]
#[serde(default)]
struct AntigravityStep<'a> {
    step_index: LenientNumber,
    #[serde(borrow)]
    source: LenientText<'a>,
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    status: LenientText<'a>,
    #[serde(borrow)]
    created_at: LenientText<'a>,
    #[serde(borrow)]
    content: LenientText<'a>,
    #[serde(borrow)]
    thinking: LenientText<'a>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    exit_code: LenientNumber,
    /// Only in the header.
    #[serde(rename = "sessionId", borrow)]
    session_id: LenientText<'a>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AntigravityCall<'a> {
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

/// The id of a step. Its number comes again after a prompt was taken back.
pub(super) fn step_id(number: i64, created_at: &str) -> String {
    format!("step-{number}-{}", created_at.replace(':', ""))
}

/// All events of one step.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let step: AntigravityStep<'_> = serde_json::from_str(text)?;
    let number = step.step_index.0.map(|_| step.step_index.count() as i64);
    let native_id = number.map_or_else(|| content_id(text), |number| step_id(number, step.created_at.as_str()));
    let mut out = EventBuilder::new(context.location, step.created_at.as_str().parse().ok(), native_id);
    if context.is_header() {
        out.push(EventBody::Header(SessionHeader {
            external_id: step.session_id.into_string(),
            cwd: step.cwd.non_empty().map(Into::into),
            ..SessionHeader::default()
        }));
        return Ok(out.events);
    }
    let undone = if step.kind.as_str() == "USER_INPUT" { undone_prompt(context) } else { None };
    if let Some(id) = undone {
        out.push(EventBody::Undo(UndoStep::From(id)));
    }
    let sink = &mut context.sink;
    match step.kind.as_str() {
        "USER_INPUT" => add_request(&step, &mut out, sink),
        "PLANNER_RESPONSE" => add_answer(step, number.unwrap_or_default() + 1, &mut out, sink),
        "CHECKPOINT" => out.add_text(EntryKind::Summary, step.content.into_string(), None, sink),
        "ERROR_MESSAGE" => out.add_text(EntryKind::Failure, step.content.into_string(), None, sink),
        // Context for the model.
        "CONVERSATION_HISTORY" | "SYSTEM_MESSAGE" | "EPHEMERAL_MESSAGE" => {}
        _ if matches!(step.source.as_str(), "SYSTEM" | "system") => {}
        _ => add_result(&step, number.unwrap_or_default(), &mut out, sink),
    }
    Ok(out.events)
}

/// The earlier prompt that the one on this line takes back, with everything after it.
fn undone_prompt(context: &ParseContext<'_>) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct AntigravityHeader {
        undone: Map<String, Value>,
    }
    let header = context.header().filter(|header| header.contains("\"undone\""))?;
    let header: AntigravityHeader = serde_json::from_str(header).ok()?;
    header.undone.get(&context.location.line.to_string())?.as_str().map(str::to_owned)
}

fn add_request(step: &AntigravityStep<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let content = step.content.as_str();
    if let Some(model) = selected_model(content) {
        // No step names its model; the user's selection does.
        out.push(EventBody::Usage {
            message_id: out.native_id.clone(),
            tokens: Tokens::default(),
            hour_write_tokens: 0,
            model: Some(model.to_owned()),
            cost_usd: None,
        });
    }
    let text = match tag_content(content, "USER_REQUEST") {
        Some(request) => request.to_owned(),
        None => ADDED_TAGS.iter().fold(content.to_owned(), |text, tag| strip_tag(&text, tag).into_owned()),
    };
    let text = text.trim_matches('\n');
    if matches!(step.source.as_str(), "" | "USER_EXPLICIT" | "USER" | "user") {
        out.add_user_text(text, false, sink);
    } else {
        out.add_injected(text, sink);
    }
}

/// The model in the note about a changed setting.
fn selected_model(content: &str) -> Option<&str> {
    let change = tag_content(content, "USER_SETTINGS_CHANGE")?;
    let names = change.split("`Model Selection` from ").nth(1)?.split(" to ").nth(1)?;
    let end = names.find(". ").or_else(|| names.find(".\n")).unwrap_or(names.len());
    Some(names[..end].trim().trim_end_matches('.')).filter(|name| !name.is_empty())
}

/// Adds an answer and its calls. The results of the calls are the steps from `next` on, in the same order.
fn add_answer(step: AntigravityStep<'_>, next: i64, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let message = out.native_id.clone();
    out.add_text(EntryKind::AssistantText, step.content.into_string(), Some(&message), sink);
    if sink.filter.keep_reasoning {
        let mut side = out.with_id(format!("{message}-thinking"));
        side.add_text(EntryKind::Reasoning, step.thinking.into_string(), None, sink);
        out.events.append(&mut side.events);
    }
    add_calls(step.tool_calls, next, out, sink);
}

fn add_calls(calls: Option<&RawValue>, first_result: i64, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let calls: Vec<LenientObject<AntigravityCall<'_>>> = parse_or_default(calls);
    let message = out.native_id.clone();
    for (number, LenientObject(call)) in (first_result..).zip(calls) {
        let name = call.name.as_str();
        let name = name.strip_prefix("default_api:").unwrap_or(name);
        let arguments = call.args.map(usual_arguments).unwrap_or_default();
        let directory = arguments.get("cwd").and_then(Value::as_str);
        // Without a project, commands run in the agent's own folder.
        if let Some(cwd) = directory.filter(|path| path.starts_with('/') && !path.contains("/.gemini/antigravity")) {
            out.push(EventBody::Workspace { cwd: Some(cwd.to_owned()), branch: None });
        }
        let arguments = to_raw_value(&arguments).ok();
        let id = LenientText(Some(result_id(number).into()));
        out.add_tool_call(id, name, arguments.as_deref(), &message, sink);
    }
}

fn result_id(step: i64) -> String {
    format!("result-{step}")
}

/// Arguments under the usual names. The log has strings as JSON inside a string.
fn usual_arguments(raw: &RawValue) -> Map<String, Value> {
    let arguments: Map<String, Value> = serde_json::from_str(raw.get()).unwrap_or_default();
    let described = ["toolAction", "toolSummary"];
    let usual = arguments.into_iter().filter(|(name, _)| !described.contains(&name.as_str())).map(|(name, value)| {
        let inner = value.as_str().and_then(|text| serde_json::from_str(text).ok()).filter(Value::is_string);
        let known = ARGUMENT_NAMES.iter().find(|(theirs, _)| *theirs == name).map(|(_, usual)| (*usual).to_owned());
        (known.unwrap_or(name), inner.unwrap_or(value))
    });
    usual.collect()
}

/// Adds the result of the call that expects this step.
fn add_result(step: &AntigravityStep<'_>, number: i64, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    add_calls(step.tool_calls, number, out, sink);
    if UNFINISHED.contains(&step.status.as_str()) {
        return;
    }
    let text = without_times(step.content.as_str());
    let code = step.exit_code.0.map(|code| code as i32).or_else(|| exit_code(text));
    let is_error = matches!(step.status.as_str(), "ERROR" | "error" | "CANCELED" | "CANCELLED");
    let kind = match step.kind.as_str() {
        "RUN_COMMAND" => Some(ToolKind::Command),
        "VIEW_FILE" => Some(ToolKind::Read),
        _ => None,
    };
    let output = if kind == Some(ToolKind::Command) { command_output(text) } else { text };
    let silent = code.filter(|code| *code != 0 && output.is_empty()).map(|code| format!("Exit code {code}"));
    let measured = MeasuredResult::from_text(silent.as_deref().unwrap_or(output));
    let outcome = outcome_with_code(measured, is_error, code, kind, sink);
    out.push(EventBody::ToolResult { call_id: result_id(number), outcome, answer: None });
}

/// The text after the two times with which a result begins.
fn without_times(text: &str) -> &str {
    let mut rest = text.trim_start();
    while ["Created At: ", "Completed At: "].iter().any(|name| rest.starts_with(name)) {
        rest = rest.split_once('\n').map_or("", |(_, after)| after).trim_start();
    }
    rest.strip_prefix("Encountered error in step execution: ").unwrap_or(rest).trim_end()
}

fn exit_code(text: &str) -> Option<i32> {
    if text.starts_with("The command completed successfully.") {
        return Some(0);
    }
    leading_code(text.strip_prefix(EXIT_CODE)?)
}

/// The output of a command, after the sentence about its end.
fn command_output(text: &str) -> &str {
    if exit_code(text).is_none() {
        return text;
    }
    let after = text.split_once('\n').map_or("", |(_, after)| after).trim_start();
    let output = after.strip_prefix("Output:").or_else(|| after.strip_prefix("Stdout:")).unwrap_or(after).trim();
    output.strip_suffix("Stderr:").unwrap_or(output).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_model_ends_with_its_sentence() {
        let note =
            |text: &str| format!("<USER_SETTINGS_CHANGE>\nThe user changed setting {text}\n</USER_SETTINGS_CHANGE>");
        let known = note("`Model Selection` from None to Gemini 3.5 Flash (High). No need to comment on this change.");
        assert_eq!(selected_model(&known), Some("Gemini 3.5 Flash (High)"));
        assert_eq!(selected_model(&note("`Model Selection` from A to B.")), Some("B"));
        assert_eq!(selected_model(&note("`Theme` from A to B.")), None);
    }

    #[test]
    fn results_are_separated_from_the_words_around_them() {
        let text = "Created At: 1\nCompleted At: 2\n\n\t\tThe command exited with code 1.\n\t\tOutput:\n\t\tboom\n";
        let text = without_times(text);
        assert_eq!((exit_code(text), command_output(text)), (Some(1), "boom"));
        assert_eq!(without_times("Created At: 1\nEncountered error in step execution: denied"), "denied");
    }
}
