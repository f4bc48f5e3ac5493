//! Tool calls of OpenCode. A part has the call and, once it ended, its result.

use rethread_model::ToolStatus;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::EventBody;
use crate::parse::content::MeasuredResult;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientNumber, LenientObject, LenientText, parse_or_default};
use crate::parse::outcome::outcome_with_code;
use crate::parse::{TextSink, tool_kind};

/// Words between the text of a rejection and what the user wrote.
const FEEDBACK: &str = "with the following feedback: ";

/// The state of a call in versions 1.x and 2.x.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolState<'a> {
    #[serde(borrow)]
    status: LenientText<'a>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    /// The result: a text, or in 2.x the parts in `content`.
    #[serde(borrow, alias = "content")]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(alias = "structured")]
    metadata: LenientObject<ToolMetadata>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolMetadata {
    #[serde(alias = "exitCode", alias = "exit_code")]
    exit: LenientNumber,
    /// The user's answers to the questions of the tool `question`.
    answers: Value,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct QuestionInput {
    questions: Vec<Question>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Question {
    question: Value,
}

impl<'a> ToolState<'a> {
    /// A call that has only arguments and a result.
    pub(super) fn from_result(input: Option<&'a RawValue>, output: Option<&'a RawValue>) -> Self {
        let status = if output.is_some() { "completed" } else { "running" };
        Self { status: LenientText(Some(status.into())), input, output, ..Self::default() }
    }
}

/// Adds the call with this number in its message, and its result.
pub(super) fn add_tool(
    number: usize,
    name: &str,
    state: ToolState<'_>,
    is_unfinished: bool,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    let status = state.status.as_str();
    // While the model writes the arguments there is no call yet.
    if name.is_empty() || (is_unfinished && matches!(status, "pending" | "streaming")) {
        return;
    }
    let (message, id) = (out.native_id.clone(), format!("{}-{number}", out.native_id));
    // Tools of MCP servers are named `<server>_<tool>`.
    let own = name.strip_prefix("rethread_").map(|tool| format!("mcp__rethread__{tool}"));
    let name = own.as_deref().unwrap_or(name);
    out.add_tool_call(LenientText(Some(id.clone().into())), name, state.input, &message, sink);
    if !matches!(status, "completed" | "error") {
        return;
    }
    let metadata = state.metadata.0;
    let is_failed = status == "error";
    let failure = if is_failed { state.error.map(error_text) } else { None };
    let measured = match &failure {
        Some(text) => MeasuredResult::from_text(text),
        None => parse_or_default(state.output),
    };
    let reason = failure.as_deref().and_then(|text| text.split_once(FEEDBACK)).map(|(_, reason)| reason.to_owned());
    let exit_code = metadata.exit.0.map(|code| code as i32);
    let outcome = outcome_with_code(measured, is_failed, exit_code, Some(tool_kind(name)), sink);
    let reason = reason.filter(|_| outcome.status == ToolStatus::Rejected);
    let answer = reason.or_else(|| question_answers(state.input, &metadata.answers)).map(|text| sink.redact(text));
    out.push(EventBody::ToolResult { call_id: id, outcome, answer });
}

/// The text of an error: itself, or the message of an object.
fn error_text(raw: &RawValue) -> String {
    match serde_json::from_str(raw.get()) {
        Ok(Value::String(text)) => text,
        Ok(Value::Object(object)) => match object.get("message") {
            Some(Value::String(text)) => text.clone(),
            _ => raw.get().to_owned(),
        },
        _ => raw.get().to_owned(),
    }
}

/// What the user answered to the agent's questions, one per line.
fn question_answers(input: Option<&RawValue>, answers: &Value) -> Option<String> {
    let answers = answers.as_array()?;
    let asked: QuestionInput = input.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let lines = answers.iter().enumerate().filter_map(|(number, answer)| {
        let chosen: Vec<&str> = match answer {
            Value::Array(chosen) => chosen.iter().filter_map(Value::as_str).collect(),
            other => other.as_str().into_iter().collect(),
        };
        let question = asked.questions.get(number).and_then(|question| question.question.as_str()).unwrap_or_default();
        (!chosen.is_empty()).then(|| format!("{question} → {}", chosen.join(", ")))
    });
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}
