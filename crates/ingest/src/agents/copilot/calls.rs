//! Tool calls of Copilot and their results.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::EventBody;
use crate::parse::content::MeasuredResult;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientNumber, LenientObject, LenientText};
use crate::parse::outcome::outcome_with_code;
use crate::parse::own_text::without_injections;
use crate::parse::{ShellReport, TextSink};
use rethread_model::{ToolKind, ToolStatus};

/// How the name of an MCP tool begins where its server is not named beside it.
const OWN_SERVER_PREFIX: &str = "rethread-";
/// What follows a result if a hook added to it.
const HOOK_GUIDANCE: &str = " Additional guidance from postToolUse hooks:";
/// How the shell's line about the exit code ends: `<shellId: 1 completed with exit code 3>`.
const EXIT_CODE: &str = "exit code ";
/// How answers to the agent's questions begin.
const ANSWER_PREFIXES: [&str; 2] = ["User selected: ", "User responded: "];

/// A call in the model's message.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolRequest<'a> {
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    mcp_server_name: LenientText<'a>,
    #[serde(borrow)]
    mcp_tool_name: LenientText<'a>,
}

/// The start and the end of a call.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolExecution<'a> {
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    tool_name: LenientText<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    mcp_server_name: LenientText<'a>,
    #[serde(borrow)]
    mcp_tool_name: LenientText<'a>,
    #[serde(borrow)]
    success: Option<&'a RawValue>,
    #[serde(borrow)]
    result: LenientObject<ToolText<'a>>,
    #[serde(borrow)]
    error: Option<LenientObject<ToolText<'a>>>,
    shell_execution: LenientObject<ShellExecution>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolText<'a> {
    #[serde(borrow, alias = "message")]
    content: LenientText<'a>,
    #[serde(borrow)]
    code: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ShellExecution {
    exit_code: LenientNumber,
}

impl<'a> From<ToolExecution<'a>> for ToolRequest<'a> {
    fn from(execution: ToolExecution<'a>) -> Self {
        Self {
            tool_call_id: execution.tool_call_id,
            name: execution.tool_name,
            arguments: execution.arguments,
            mcp_server_name: execution.mcp_server_name,
            mcp_tool_name: execution.mcp_tool_name,
        }
    }
}

/// Adds a call. It is in the model's message and at its start; the first one counts.
pub(super) fn add_request(request: ToolRequest<'_>, message: &str, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let name = request.name.as_str();
    let name = match (request.mcp_server_name.as_str(), request.mcp_tool_name.as_str()) {
        (server, tool) if !server.is_empty() && !tool.is_empty() => format!("mcp__{server}__{tool}"),
        _ => name
            .strip_prefix(OWN_SERVER_PREFIX)
            .map_or_else(|| name.to_owned(), |tool| format!("mcp__rethread__{tool}")),
    };
    out.add_tool_call(request.tool_call_id, &name, request.arguments, message, sink);
}

/// Adds the result of a call.
pub(super) fn add_result(execution: ToolExecution<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let has_failed = execution.success.is_some_and(|success| success.get() == "false");
    let error = execution.error.map(|LenientObject(error)| error).unwrap_or_default();
    let content = execution.result.0.content;
    let text = if content.as_str().is_empty() { error.content.as_str() } else { without_guidance(content.as_str()) };
    let text = without_injections(text);
    let (written_code, text) = split_exit_code(&text);
    let code = execution.shell_execution.0.exit_code.0.map(|code| code as i32).or(written_code);
    let kind = code.is_some().then_some(ToolKind::Command);
    let answer = ANSWER_PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix)).map(str::to_owned);
    let answer = answer.filter(|_| !has_failed).map(|answer| sink.redact(answer));
    let mut outcome = outcome_with_code(MeasuredResult::from_text(text), has_failed, code, kind, sink);
    if has_failed && matches!(error.code.as_str(), "rejected" | "denied") {
        outcome.status = ToolStatus::Rejected;
    }
    out.push(EventBody::ToolResult { call_id: execution.tool_call_id.into_string(), outcome, answer });
}

/// The result without what a hook added to it for the model.
fn without_guidance(text: &str) -> &str {
    let Some(at) = text.rfind(HOOK_GUIDANCE) else { return text };
    text[..at].rfind("\n\nTool \"").map_or(text, |start| &text[..start])
}

/// What the result of a command says, if it names an exit code.
pub(super) fn shell_report(text: &str) -> Option<ShellReport<'_>> {
    let (exit_code, output) = split_exit_code(without_guidance(text));
    exit_code.map(|_| ShellReport { output, exit_code })
}

/// The exit code in the last line, and the output before that line.
pub(super) fn split_exit_code(text: &str) -> (Option<i32>, &str) {
    let trimmed = text.trim_end();
    let (output, last) = trimmed.rsplit_once('\n').unwrap_or(("", trimmed));
    let code = last.strip_prefix('<').and_then(|line| line.strip_suffix('>')).and_then(|line| {
        let at = line.rfind(EXIT_CODE)?;
        line[at + EXIT_CODE.len()..].parse().ok()
    });
    if code.is_some() { (code, output) } else { (None, text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_in_the_last_line_before_what_hooks_added() {
        let text = "a\n<shellId: 1 completed with exit code 3>\n\nTool \"bash\" succeeded. Additional guidance from postToolUse hooks:\nCTX";
        assert_eq!(split_exit_code(without_guidance(text)), (Some(3), "a"));
        assert_eq!(split_exit_code("<exited with exit code 0>"), (Some(0), ""));
        assert_eq!(split_exit_code("prints exit code 3"), (None, "prints exit code 3"));
    }
}
