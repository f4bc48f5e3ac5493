//! Parses the lines of rollouts: bare ones before version 0.32, events until 0.165, completed items since.

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::calls::{ResponseItem, add_call, add_failed_item, add_failed_mcp_call, add_output};
use super::header::{PromptSource, RolloutHeader};
use super::user_text::{UserText, judge, judge_message};
use crate::parse::content::MessageContent;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default};
use crate::parse::{ParseContext, TextSink, content_id};
use crate::{EventBody, PromptDelivery, PromptOrigin, QueueStep, SessionHeader, TitleRank, TranscriptEvent, UndoStep};

/// Ids of a model's API have at least this length; local models may number theirs.
const MIN_ID_LENGTH: usize = 20;
/// How summaries begin; the summary itself follows on the next line.
const SUMMARY_PREFIX: &str = "Another language model started to solve this problem";

#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutLine<'a> {
    timestamp: LenientTimestamp,
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutEvent<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    message: LenientText<'a>,
    /// On prompts of version 0.3x: what else a message in the user's place can be.
    #[serde(borrow, rename = "kind")]
    message_kind: LenientText<'a>,
    #[serde(borrow)]
    images: Option<&'a RawValue>,
    #[serde(borrow)]
    local_images: Option<&'a RawValue>,
    info: LenientObject<RolloutTokens>,
    #[serde(borrow)]
    item: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: LenientText<'a>,
    num_turns: LenientNumber,
    #[serde(borrow)]
    thread_name: LenientText<'a>,
    #[serde(borrow)]
    user_facing_hint: LenientText<'a>,
    #[serde(borrow)]
    call_id: LenientText<'a>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutTokens {
    total_token_usage: Option<LenientObject<RolloutUsage>>,
    last_token_usage: Option<LenientObject<RolloutUsage>>,
}

#[derive(Default, Clone, Deserialize)]
#[serde(default)]
struct RolloutUsage {
    /// Includes what was read from and written to the cache.
    #[serde(rename = "input_tokens")]
    input: LenientNumber,
    #[serde(rename = "cached_input_tokens")]
    cache_read: LenientNumber,
    #[serde(rename = "cache_write_input_tokens")]
    cache_write: LenientNumber,
    #[serde(rename = "output_tokens")]
    output: LenientNumber,
    #[serde(rename = "total_tokens")]
    total: LenientNumber,
}

/// `token_usage_record`, since version 0.16x beside the events with the same numbers.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutUsageRecord {
    usage: Option<LenientObject<RolloutUsage>>,
    thread_token_usage: Option<LenientObject<RolloutUsage>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutItem<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    content: MessageContent<'a>,
}

/// `session_meta`, `turn_context` and `compacted`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutFacts<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    model: LenientText<'a>,
    #[serde(borrow)]
    message: LenientText<'a>,
    #[serde(borrow)]
    git: LenientObject<RolloutGit<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutGit<'a> {
    #[serde(borrow)]
    branch: LenientText<'a>,
}

/// All events of one line.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return Ok(header_events(serde_json::from_str(text)?, context));
    }
    let line: RolloutLine<'_> = serde_json::from_str(text)?;
    let header: RolloutHeader =
        context.header().and_then(|header| serde_json::from_str(header).ok()).unwrap_or_default();
    let number = context.location.line;
    // Lines without a time are the same if they say the same.
    let id = if line.timestamp.0.is_some() { content_id(text) } else { format!("{}-{number}", content_id(text)) };
    let mut out = EventBuilder::new(context.location, line.timestamp.0, id);
    out.work_dir.clone_from(&header.cwd);
    if number <= header.copied_lines {
        out.copied_session_id.clone_from(&header.forked_from);
    }
    let sink = &mut context.sink;
    match (line.payload, line.kind.as_str()) {
        (None, _) => add_item(serde_json::from_str(text)?, &header, &mut out, sink),
        (payload, "response_item") => add_item(parse_or_default(payload), &header, &mut out, sink),
        (payload, "event_msg") => add_event(parse_or_default(payload), &header, &mut out, sink),
        (payload, "token_usage_record") => {
            let record: RolloutUsageRecord = parse_or_default(payload);
            add_usage(record.usage, record.thread_token_usage, &mut out);
        }
        (payload, kind @ ("session_meta" | "turn_context" | "compacted")) => {
            add_facts(kind, parse_or_default(payload), &header, &mut out, sink);
        }
        // The state of the world, messages between agents and unknown types are not part of the conversation.
        _ => {}
    }
    Ok(out.events)
}

fn header_events(header: RolloutHeader, context: &mut ParseContext<'_>) -> Vec<TranscriptEvent> {
    let at = header.started_at.as_deref().and_then(|at| at.parse().ok());
    let mut out = EventBuilder::new(context.location, at, "header".to_owned());
    out.push(EventBody::Header(SessionHeader {
        external_id: header.id.unwrap_or_default(),
        cwd: header.cwd,
        parent_id: header.forked_from,
        parent_path: None,
    }));
    out.push(EventBody::Workspace { cwd: None, branch: header.branch });
    out.add_title(TitleRank::Custom, LenientText(header.name.map(Into::into)), None, &mut context.sink);
    out.events
}

fn add_facts(
    kind: &str,
    facts: RolloutFacts<'_>,
    header: &RolloutHeader,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    match kind {
        // Written again when a session is resumed; a copy of another session has that one's.
        "session_meta" if header.id.as_deref() == Some(facts.id.as_str()) => {
            let branch = facts.git.0.branch.non_empty().map(Into::into);
            out.push(EventBody::Workspace { cwd: None, branch });
        }
        "turn_context" => {
            if let Some(model) = facts.model.non_empty() {
                let tokens = Tokens::default();
                let message_id = "model".to_owned();
                let model = Some(model.into());
                out.push(EventBody::Usage { message_id, tokens, hour_write_tokens: 0, model, cost_usd: None });
            }
        }
        "compacted" => {
            let text = facts.message.as_str();
            let summary = text.starts_with(SUMMARY_PREFIX).then(|| text.split_once('\n')).flatten();
            let summary = summary.map_or(text, |(_, summary)| summary);
            out.add_text(EntryKind::Summary, summary.to_owned(), None, sink);
        }
        _ => {}
    }
}

/// Adds what the model said or called, what it was sent, or what a call returned.
fn add_item(item: ResponseItem<'_>, header: &RolloutHeader, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    // A thread that was reverted goes on in another file, with copies of its lines: their ids are the same.
    if let Some(id) = item.ids().into_iter().find(|id| id.len() >= MIN_ID_LENGTH) {
        id.clone_into(&mut out.native_id);
    }
    let id = out.native_id.clone();
    match (item.kind.as_str(), item.role.as_str()) {
        ("message" | "", "assistant") => {
            for block in item.content.0 {
                out.add_text(EntryKind::AssistantText, block.text.into_string(), Some(&id), sink);
            }
        }
        ("message" | "", "user") => match judge_message(&item.content) {
            UserText::Typed(text) => match header.prompts {
                PromptSource::Events => {}
                // Not one that was expected: the same words are typed again.
                PromptSource::Messages => out.add_text_with_origin(prompt_kind(header), text, None, sink),
                PromptSource::Unknown => add_expected_prompt(text, header, out, sink),
            },
            other => add_user_text(other, header, out, sink),
        },
        ("reasoning", _) if sink.filter.keep_reasoning => {
            let texts: Vec<&str> = item.summary.0.iter().map(|block| block.text.as_str()).collect();
            out.add_text(EntryKind::Reasoning, texts.join("\n"), None, sink);
        }
        ("function_call_output" | "custom_tool_call_output" | "tool_search_output", _) => add_output(item, out, sink),
        _ => add_call(item, out, sink),
    }
}

fn add_event(event: RolloutEvent<'_>, header: &RolloutHeader, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    match event.kind.as_str() {
        "user_message" if matches!(event.message_kind.as_str(), "" | "plain") => {
            let has_image = [event.images, event.local_images].into_iter().flatten().any(|list| list.get().len() > 4);
            match judge(event.message.as_str()) {
                UserText::Codex if has_image && event.message.as_str().trim().is_empty() => {
                    add_prompt("[image]".to_owned(), header, out, sink);
                }
                text => add_user_text(text, header, out, sink),
            }
        }
        "item_completed" => add_completed(event.item, header, out, sink),
        "token_count" => add_usage(event.info.0.last_token_usage, event.info.0.total_token_usage, out),
        "mcp_tool_call_end" => add_failed_mcp_call(event.call_id, event.result, out, sink),
        "thread_name_updated" => out.add_title(TitleRank::Custom, event.thread_name, None, sink),
        "thread_rolled_back" => out.push(EventBody::Undo(UndoStep::LastPrompts(event.num_turns.count()))),
        "turn_aborted" if event.reason.as_str() == "interrupted" => {
            out.add_interruption(sink);
        }
        "entered_review_mode" => {
            let text = format!("/review {}", event.user_facing_hint.as_str());
            out.add_text(EntryKind::Command, text.trim_end().to_owned(), None, sink);
        }
        "error" => out.add_text(EntryKind::Failure, event.message.into_string(), None, sink),
        _ => {}
    }
}

/// Adds a completed item, unless a line of the model's conversation has the same.
fn add_completed(raw: Option<&RawValue>, header: &RolloutHeader, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let item: RolloutItem<'_> = parse_or_default(raw);
    match item.kind.as_str() {
        "UserMessage" => {
            if item.id.as_str().len() >= MIN_ID_LENGTH {
                item.id.as_str().clone_into(&mut out.native_id);
            }
            match judge_message(&item.content) {
                UserText::Codex if !item.content.0.is_empty() && item.content.0.iter().all(is_attachment) => {
                    add_prompt("[image]".to_owned(), header, out, sink);
                }
                text => add_user_text(text, header, out, sink),
            }
        }
        "McpToolCall" | "DynamicToolCall" => add_failed_item(raw, out, sink),
        _ => {}
    }
}

fn is_attachment(block: &crate::parse::content::MessageBlock<'_>) -> bool {
    matches!(block.kind.as_str(), "image" | "local_image" | "localImage")
}

fn add_user_text(text: UserText, header: &RolloutHeader, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    match text {
        UserText::Typed(text) => add_prompt(text, header, out, sink),
        UserText::Shell(text) => out.add_text(EntryKind::Shell, text, None, sink),
        UserText::Notice(report) => {
            let report = sink.machine_line(&report);
            out.add_text(EntryKind::Notice, report, None, sink);
        }
        UserText::Codex => {}
    }
}

/// Adds a prompt; that of a sub-agent was written by its parent's model.
fn add_prompt(text: String, header: &RolloutHeader, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    out.add_text(prompt_kind(header), text, None, sink);
}

fn prompt_kind(header: &RolloutHeader) -> EntryKind {
    if header.is_child { EntryKind::Task } else { EntryKind::Prompt }
}

/// Adds a prompt that the next lines may have again, as an event.
fn add_expected_prompt(text: String, header: &RolloutHeader, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    if header.is_child {
        return add_prompt(text, header, out, sink);
    }
    let fingerprint = PromptOrigin::new(&text, PromptDelivery::OwnLine).fingerprint;
    let text = if sink.filter.keep_user_messages { sink.redact(text) } else { String::new() };
    out.push(EventBody::Queue(QueueStep::Queued { text, fingerprint }));
}

/// Adds the tokens of one call of the model. Lines that repeat them have the same total.
fn add_usage(
    last: Option<LenientObject<RolloutUsage>>,
    total: Option<LenientObject<RolloutUsage>>,
    out: &mut EventBuilder,
) {
    let total = total.map(|LenientObject(total)| total);
    let (message_id, usage) = match (last, total) {
        (Some(LenientObject(last)), Some(total)) => (format!("usage-{}", total.total.count()), last),
        (Some(LenientObject(last)), None) => (out.native_id.clone(), last),
        // Only the sum so far: the last one counts.
        (None, Some(total)) => ("usage-total".to_owned(), total),
        (None, None) => return,
    };
    let (cached, written) = (usage.cache_read.count(), usage.cache_write.count());
    out.push(EventBody::Usage {
        message_id,
        tokens: Tokens {
            input: usage.input.count().saturating_sub(cached + written),
            output: usage.output.count(),
            cache_read: cached,
            cache_write: written,
        },
        hour_write_tokens: 0,
        model: None,
        cost_usd: None,
    });
}
