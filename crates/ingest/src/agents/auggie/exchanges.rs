//! Parses exchanges of Auggie: what was sent to the model, and its answer, each a list of numbered kinds of nodes.

use rethread_model::{EntryKind, Tokens, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::parse::content::MeasuredResult;
use crate::parse::derived_header::DerivedHeader;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{
    LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};
use crate::parse::outcome::outcome_with_code;
use crate::parse::user_text::tag_content;
use crate::parse::{ParseContext, TextSink, content_id};
use crate::{EventBody, TranscriptEvent};

/// Kinds of request nodes.
const REQUEST_TEXT: u64 = 0;
const REQUEST_RESULT: u64 = 1;
const REQUEST_IMAGE: u64 = 2;
/// Kinds of response nodes.
const RESPONSE_CALL: u64 = 5;
const RESPONSE_THINKING: u64 = 8;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct AuggieRecord<'a> {
    #[serde(borrow)]
    exchange: LenientObject<AuggieExchange<'a>>,
    finished_at: LenientTimestamp,
    is_history_summary: LenientBool,
    /// Added by `files::load`.
    is_unanswered: LenientBool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuggieExchange<'a> {
    #[serde(borrow)]
    request_message: LenientText<'a>,
    #[serde(borrow)]
    response_text: LenientText<'a>,
    #[serde(borrow)]
    request_id: LenientText<'a>,
    #[serde(borrow)]
    model_id: LenientText<'a>,
    #[serde(borrow)]
    request_nodes: Option<&'a RawValue>,
    #[serde(borrow)]
    response_nodes: Option<&'a RawValue>,
}

/// A node of either direction. Fields of the kinds that a node is not stay empty.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AuggieNode<'a> {
    #[serde(rename = "type")]
    kind: LenientNumber,
    #[serde(borrow)]
    content: LenientText<'a>,
    #[serde(borrow)]
    text_node: LenientObject<AuggieText<'a>>,
    #[serde(borrow)]
    tool_result_node: LenientObject<AuggieResult<'a>>,
    #[serde(borrow)]
    tool_use: LenientObject<AuggieCall<'a>>,
    #[serde(borrow)]
    thinking: LenientObject<AuggieThinking<'a>>,
    token_usage: Option<LenientObject<AuggieUsage>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuggieText<'a> {
    #[serde(borrow)]
    content: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuggieResult<'a> {
    #[serde(borrow)]
    tool_use_id: LenientText<'a>,
    #[serde(borrow)]
    content: LenientText<'a>,
    #[serde(borrow)]
    content_nodes: Option<&'a RawValue>,
    is_error: LenientBool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuggieCall<'a> {
    #[serde(borrow)]
    tool_use_id: LenientText<'a>,
    #[serde(borrow)]
    tool_name: LenientText<'a>,
    #[serde(borrow)]
    input_json: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuggieThinking<'a> {
    #[serde(borrow, alias = "summary")]
    content: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuggieUsage {
    #[serde(rename = "input_tokens")]
    input: LenientNumber,
    #[serde(rename = "output_tokens")]
    output: LenientNumber,
    #[serde(rename = "cache_read_input_tokens")]
    cache_read: LenientNumber,
    #[serde(rename = "cache_creation_input_tokens")]
    cache_write: LenientNumber,
}

pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    let record: AuggieRecord<'_> = serde_json::from_str(text)?;
    let exchange = record.exchange.0;
    let native_id = exchange.request_id.clone().non_empty().map_or_else(|| content_id(text), Into::into);
    let mut out = EventBuilder::new(context.location, record.finished_at.0, native_id);
    let is_subagent = context.is_subagent();
    let sink = &mut context.sink;
    let sent: Vec<LenientObject<AuggieNode<'_>>> = parse_or_default(exchange.request_nodes);
    if record.is_history_summary.0 {
        out.add_text(EntryKind::Summary, sent_text(&exchange, &sent), None, sink);
        return Ok(out.events);
    }
    let has_image = sent.iter().any(|node| node.0.kind.0 == Some(REQUEST_IMAGE as f64));
    let typed = without_supervisor(&sent_text(&exchange, &sent));
    for LenientObject(node) in sent.into_iter().filter(|node| is_kind(&node.0, REQUEST_RESULT)) {
        add_result(node.tool_result_node.0, &mut out, sink);
    }
    out.add_user_text(if has_image && typed.trim().is_empty() { "[image]" } else { &typed }, is_subagent, sink);
    if !record.is_unanswered.0 {
        add_response(exchange, &mut out, sink);
    }
    Ok(out.events)
}

fn is_kind(node: &AuggieNode<'_>, kind: u64) -> bool {
    node.kind.0.is_some_and(|found| found as u64 == kind)
}

/// What was typed: the message, or the text nodes of versions that leave it empty.
fn sent_text(exchange: &AuggieExchange<'_>, nodes: &[LenientObject<AuggieNode<'_>>]) -> String {
    if !exchange.request_message.as_str().trim().is_empty() {
        return exchange.request_message.as_str().to_owned();
    }
    let texts = nodes.iter().filter(|node| is_kind(&node.0, REQUEST_TEXT));
    texts.map(|node| node.0.text_node.0.content.as_str()).collect::<Vec<_>>().join("\n")
}

/// Removes reminders that Augment adds for the model.
fn without_supervisor(text: &str) -> String {
    let mut text = text.to_owned();
    while let Some(start) = text.find("<supervisor>") {
        let end = text[start..].find("</supervisor>").map_or(text.len(), |at| start + at + "</supervisor>".len());
        text.replace_range(start..end, "");
    }
    text
}

fn add_result(result: AuggieResult<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let text = result.content.as_str();
    // Commands: the code in a tag, and the output in another one.
    let code = tag_content(text, "return-code").and_then(|code| code.trim().parse().ok());
    let shown = code.and_then(|_: i32| tag_content(text, "output")).unwrap_or(text).trim_matches('\n');
    let measured = match result.content_nodes.filter(|_| text.is_empty()) {
        Some(raw) => MeasuredResult::from_text(&content_texts(raw)),
        None => MeasuredResult::from_text(shown),
    };
    let mut outcome = outcome_with_code(measured, result.is_error.0, code, None, sink);
    if result.is_error.0 && text.starts_with("The user rejected") {
        outcome.status = ToolStatus::Rejected;
    }
    out.push(EventBody::ToolResult { call_id: result.tool_use_id.into_string(), outcome, answer: None });
}

/// The texts of a result that is a list of nodes.
fn content_texts(raw: &RawValue) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct AuggieContentNode<'a> {
        #[serde(borrow)]
        text_content: LenientText<'a>,
    }
    let nodes: Vec<LenientObject<AuggieContentNode<'_>>> = parse_or_default(Some(raw));
    nodes.iter().map(|node| node.0.text_content.as_str()).collect::<Vec<_>>().join("\n")
}

fn add_response(exchange: AuggieExchange<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    let nodes: Vec<LenientObject<AuggieNode<'_>>> = parse_or_default(exchange.response_nodes);
    let usage = nodes.iter().filter_map(|node| node.0.token_usage.as_ref()).map(|usage| &usage.0);
    let tokens = usage.map(tokens_of).find(|tokens| *tokens != Tokens::default());
    let model: Option<String> = exchange.model_id.non_empty().map(Into::into);
    if tokens.is_some() || model.is_some() {
        out.push(EventBody::Usage {
            message_id: id.clone(),
            tokens: tokens.unwrap_or_default(),
            hour_write_tokens: 0,
            model,
            cost_usd: None,
        });
    }
    let mut text = exchange.response_text.into_string();
    if text.trim().is_empty() {
        // Kind 0 comes in pieces; kind 2 repeats the whole at the end.
        let texts = nodes.iter().filter(|node| is_kind(&node.0, 0)).map(|LenientObject(node)| {
            if node.content.as_str().is_empty() { node.text_node.0.content.as_str() } else { node.content.as_str() }
        });
        text = texts.collect();
    }
    out.add_text(EntryKind::AssistantText, text, Some(&id), sink);
    for LenientObject(node) in nodes {
        if is_kind(&node, RESPONSE_CALL) {
            let AuggieCall { tool_use_id, tool_name, input_json } = node.tool_use.0;
            out.add_tool_call(tool_use_id, tool_name.as_str(), input_json, &id, sink);
        } else if is_kind(&node, RESPONSE_THINKING) && sink.filter.keep_reasoning {
            out.add_text(EntryKind::Reasoning, node.thinking.0.content.into_string(), None, sink);
        }
    }
}

fn tokens_of(usage: &AuggieUsage) -> Tokens {
    Tokens {
        input: usage.input.count(),
        output: usage.output.count(),
        cache_read: usage.cache_read.count(),
        cache_write: usage.cache_write.count(),
    }
}
