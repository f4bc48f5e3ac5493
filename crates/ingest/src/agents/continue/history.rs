//! Folds the items of a session's history: calls have their results with them, and nothing has an id.

use rethread_model::{EntryKind, Tokens, ToolKind};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::parse::content::MessageContent;
use crate::parse::folded::{ContentIds, FoldedPart, FoldedRecord, FoldedResult};
use crate::parse::lenient::{LenientNumber, LenientObject, LenientText, parse_or_default};
use crate::parse::outcome::leading_code;
use crate::parse::tool_kind;

/// Start of the ids that an item has in all forks of its session.
const SHARED: &str = "shared-";
/// Words before an exit code, in the texts of the CLI and the extensions.
const EXIT_MARKS: [&str; 3] = ["(exit code ", "exit code: ", "exit code "];
/// The exit code of a failed command is in its first line.
const MAX_STATUS_BYTES: usize = 300;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HistoryItem<'a> {
    #[serde(borrow)]
    message: LenientObject<HistoryMessage<'a>>,
    #[serde(borrow)]
    tool_call_states: Option<&'a RawValue>,
    /// Older versions have one call per item.
    #[serde(borrow)]
    tool_call_state: Option<&'a RawValue>,
    #[serde(borrow)]
    prompt_logs: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: LenientObject<HistoryReasoning<'a>>,
    #[serde(borrow)]
    conversation_summary: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct HistoryMessage<'a> {
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    usage: Option<LenientObject<HistoryUsage<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HistoryReasoning<'a> {
    #[serde(borrow)]
    text: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HistoryUsage<'a> {
    #[serde(alias = "promptTokens")]
    prompt_tokens: LenientNumber,
    #[serde(alias = "completionTokens")]
    completion_tokens: LenientNumber,
    #[serde(alias = "promptTokensDetails")]
    prompt_tokens_details: LenientObject<PromptDetails>,
    #[serde(borrow)]
    model: LenientText<'a>,
    cost_cents: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PromptDetails {
    #[serde(alias = "cachedTokens", alias = "cache_read_tokens")]
    cached_tokens: LenientNumber,
    #[serde(alias = "cacheWriteTokens")]
    cache_write_tokens: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ContinueCall<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    function: LenientObject<ContinueFunction<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ContinueFunction<'a> {
    #[serde(borrow)]
    name: LenientText<'a>,
    /// JSON, as the model wrote it.
    #[serde(borrow)]
    arguments: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CallState<'a> {
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    tool_call: LenientObject<ContinueCall<'a>>,
    #[serde(borrow)]
    status: LenientText<'a>,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputItem<'a> {
    #[serde(borrow)]
    content: LenientText<'a>,
    /// Of a terminal: whether the command succeeded.
    #[serde(borrow)]
    status: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PromptLog<'a> {
    #[serde(borrow)]
    model_title: LenientText<'a>,
}

/// Whether an id is the same in a session and its forks, which begin with copies of its items.
pub(super) fn is_global_id(id: &str) -> bool {
    id.starts_with(SHARED) || is_unique_call(id)
}

/// Whether an id of a call was made by a model's provider, and not by counting.
fn is_unique_call(id: &str) -> bool {
    id.len() >= 20 && (id.starts_with("call_") || id.starts_with("toolu_"))
}

pub(super) fn fold(history: &[&RawValue]) -> Vec<FoldedRecord> {
    let (mut ids, mut records) = (ContentIds::default(), Vec::new());
    let items: Vec<HistoryItem<'_>> = history.iter().map(|raw| parse_or_default(Some(raw))).collect();
    // Only the ids of calls are unique. Sessions whose first one is the same are forks of each other.
    let origin = items.iter().flat_map(calls).find(|call| is_unique_call(call.id.as_str()));
    let origin = origin.map(|call| call.id.into_string());
    for item in items {
        let calls = calls(&item);
        // States of calls change in place; what was said does not.
        let names: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        let content = text_of(item.message.0.content);
        let content = format!("{}:{}:{content}", item.message.0.role.as_str(), names.join(","));
        let id = match &origin {
            Some(origin) => format!("{SHARED}{}", ids.next(&format!("{origin}:{content}"))),
            None => ids.next(&content),
        };
        let mut parts = message_parts(&item, &id, &calls);
        if let Some(summary) = item.conversation_summary.non_empty() {
            parts.push(FoldedPart::Text(EntryKind::Summary, summary.into()));
        }
        records.push(FoldedRecord::new(id, None, parts));
    }
    records
}

fn calls<'a>(item: &HistoryItem<'a>) -> Vec<ContinueCall<'a>> {
    let listed: Vec<LenientObject<ContinueCall<'_>>> = parse_or_default(item.message.0.tool_calls);
    if listed.is_empty() {
        return states(item).into_iter().map(|state| state.tool_call.0).collect();
    }
    listed.into_iter().map(|call| call.0).collect()
}

fn states<'a>(item: &HistoryItem<'a>) -> Vec<CallState<'a>> {
    let several: Vec<LenientObject<CallState<'_>>> = parse_or_default(item.tool_call_states);
    let single: Option<LenientObject<CallState<'_>>> =
        item.tool_call_state.and_then(|raw| serde_json::from_str(raw.get()).ok());
    let single = single.filter(|_| several.is_empty());
    several.into_iter().chain(single).map(|state| state.0).collect()
}

fn message_parts(item: &HistoryItem<'_>, id: &str, calls: &[ContinueCall<'_>]) -> Vec<FoldedPart> {
    let message = &item.message.0;
    let text = text_of(message.content);
    match message.role.as_str() {
        "user" => vec![FoldedPart::Text(EntryKind::Prompt, text)],
        "thinking" => vec![FoldedPart::Text(EntryKind::Reasoning, text)],
        // In some versions, results are also messages.
        "tool" => {
            let call = message.tool_call_id.clone().into_string();
            vec![FoldedPart::Result(FoldedResult { call, output: text, ..FoldedResult::default() })]
        }
        "assistant" => {
            let mut parts: Vec<_> = usage(item).into_iter().collect();
            let thought = item.reasoning.0.text.as_str();
            parts.push(FoldedPart::Text(EntryKind::Reasoning, thought.to_owned()));
            parts.push(FoldedPart::Text(EntryKind::AssistantText, text));
            for (number, call) in calls.iter().enumerate() {
                let function = &call.function.0;
                parts.push(FoldedPart::Call {
                    id: call_id(&call.id, id, number),
                    name: function.name.as_str().to_owned(),
                    input: function.arguments.as_str().to_owned(),
                });
            }
            let results = states(item).into_iter().enumerate();
            parts.extend(results.filter_map(|(number, state)| result(&state, id, number)).map(FoldedPart::Result));
            parts
        }
        _ => Vec::new(),
    }
}

fn call_id(own: &LenientText<'_>, item: &str, number: usize) -> String {
    own.clone().non_empty().map_or_else(|| format!("{item}-{number}"), Into::into)
}

fn text_of(content: Option<&RawValue>) -> String {
    let blocks: MessageContent<'_> = parse_or_default(content);
    let has_image = blocks.0.iter().any(|block| block.kind.as_str() == "imageUrl");
    let text = blocks.0.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n");
    if text.trim().is_empty() && has_image { "[image]".to_owned() } else { text }
}

fn usage(item: &HistoryItem<'_>) -> Option<FoldedPart> {
    if let Some(LenientObject(usage)) = &item.message.0.usage {
        let details = &usage.prompt_tokens_details.0;
        let (cache_read, cache_write) = (details.cached_tokens.count(), details.cache_write_tokens.count());
        return Some(FoldedPart::Usage {
            tokens: Tokens {
                input: usage.prompt_tokens.count().saturating_sub(cache_read + cache_write),
                output: usage.completion_tokens.count(),
                cache_read,
                cache_write,
            },
            model: usage.model.clone().non_empty().map(Into::into),
            cost_usd: usage.cost_cents.0.map(|cents| cents / 100.0).filter(|cost| *cost > 0.0),
        });
    }
    let logs: Vec<LenientObject<PromptLog<'_>>> = parse_or_default(item.prompt_logs);
    let model = logs.into_iter().find_map(|log| log.0.model_title.non_empty())?;
    Some(FoldedPart::Usage { tokens: Tokens::default(), model: Some(model.into()), cost_usd: None })
}

/// The result of a call that has ended.
fn result(state: &CallState<'_>, item: &str, number: usize) -> Option<FoldedResult> {
    let status = state.status.as_str();
    if !matches!(status, "done" | "errored" | "canceled") {
        return None;
    }
    let items: Vec<LenientObject<OutputItem<'_>>> = parse_or_default(state.output);
    let output = items.iter().map(|item| item.0.content.as_str()).collect::<Vec<_>>().join("\n");
    let is_error = status == "errored";
    let said = items.iter().find_map(|item| exit_code(item.0.status.as_str()));
    let tool = state.tool_call.0.function.0.name.as_str();
    let is_command = tool_kind(tool) == ToolKind::Command;
    let own_id = if state.tool_call_id.as_str().is_empty() { &state.tool_call.0.id } else { &state.tool_call_id };
    Some(FoldedResult {
        call: call_id(own_id, item, number),
        tool: tool.to_owned(),
        exit_code: said.or_else(|| exit_code(&output).filter(|_| is_error && is_command)),
        output,
        is_error,
        is_rejected: status == "canceled",
        answer: None,
    })
}

fn exit_code(text: &str) -> Option<i32> {
    let text = text[..text.floor_char_boundary(MAX_STATUS_BYTES)].to_ascii_lowercase();
    let (at, mark) = EXIT_MARKS.iter().find_map(|mark| Some((text.find(mark)?, mark)))?;
    leading_code(&text[at + mark.len()..])
}
