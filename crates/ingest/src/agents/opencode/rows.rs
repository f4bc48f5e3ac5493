//! Messages of OpenCode 2.x: a row each, whose type is a column and whose content is JSON.

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::messages::{MessageError, OpenCodeTokens, add_failure, add_program_texts, add_usage};
use super::tools::{ToolState, add_tool};
use crate::parse::TextSink;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientNumber, LenientObject, LenientText, parse_or_default};
use crate::parse::user_shell::shell_text;

#[derive(Default, Deserialize)]
#[serde(default)]
struct RowData<'a> {
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow)]
    files: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    model: LenientObject<ModelReference<'a>>,
    cost: LenientNumber,
    tokens: LenientObject<OpenCodeTokens>,
    #[serde(borrow)]
    error: LenientObject<MessageError<'a>>,
    #[serde(borrow)]
    command: LenientText<'a>,
    #[serde(borrow)]
    output: LenientText<'a>,
    exit: LenientNumber,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    summary: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ModelReference<'a> {
    #[serde(borrow, alias = "modelID")]
    id: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RowContent<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    state: LenientObject<ToolState<'a>>,
}

/// Adds a row, given its type and its content.
pub(super) fn add_row(
    kind: &str,
    data: &str,
    is_unfinished: bool,
    is_subagent: bool,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) -> Result<(), serde_json::Error> {
    let LenientObject(data): LenientObject<RowData<'_>> = serde_json::from_str(data)?;
    match kind {
        "user" if data.text.as_str().trim().is_empty() => {
            let files: Vec<&RawValue> = parse_or_default(data.files);
            let text = if files.is_empty() { "" } else { "[image]" };
            out.add_text(EntryKind::Prompt, text.to_owned(), None, sink);
        }
        "user" => out.add_user_text(data.text.as_str(), is_subagent, sink),
        "assistant" => add_assistant(data, is_unfinished, out, sink),
        "shell" if !is_unfinished => {
            let code = data.exit.0.map(|code| code as i32);
            out.add_text(EntryKind::Shell, shell_text(data.command.as_str(), code, data.output.as_str()), None, sink);
        }
        "skill" => out.add_text(EntryKind::Command, format!("/{}", data.name.as_str()), None, sink),
        "compaction" if !is_unfinished => {
            add_usage(
                &out.native_id.clone(),
                data.tokens.0.count(true),
                data.cost.0.unwrap_or_default(),
                data.model.0.id,
                out,
            );
            out.add_text(EntryKind::Summary, data.summary.into_string(), None, sink);
        }
        "synthetic" | "system" => add_program_texts(&[data.text.into_string()], out, sink),
        // Switches of agent, model and location, and the end of a turn.
        _ => {}
    }
    Ok(())
}

fn add_assistant(data: RowData<'_>, is_unfinished: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    let content: Vec<&RawValue> = parse_or_default(data.content);
    let last = content.len().saturating_sub(1);
    for (number, raw) in content.into_iter().enumerate() {
        let LenientObject(part): LenientObject<RowContent<'_>> = parse_or_default(Some(raw));
        match part.kind.as_str() {
            // Only the last text of a message can still grow.
            "text" | "reasoning" if is_unfinished && number == last => {}
            "reasoning" if sink.filter.keep_reasoning => {
                out.add_text(EntryKind::Reasoning, part.text.into_string(), None, sink);
            }
            "text" => out.add_text(EntryKind::AssistantText, part.text.into_string(), Some(&id), sink),
            "tool" => add_tool(number, part.name.as_str(), part.state.0, is_unfinished, out, sink),
            _ => {}
        }
    }
    let tokens: Tokens = data.tokens.0.count(true);
    add_usage(&id, tokens, data.cost.0.unwrap_or_default(), data.model.0.id, out);
    if !is_unfinished {
        add_failure(&data.error.0, out, sink);
    }
}
