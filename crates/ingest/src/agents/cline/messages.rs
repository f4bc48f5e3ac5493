//! Parses the messages of Cline's sessions: version 1 of its documented contract.

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::outcomes::{ClineResultBlock, add_result};
use crate::parse::content::MessageContent;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default};
use crate::parse::{ParseContext, TextSink, content_id, user_text};
use crate::{EventBody, SessionHeader, TitleRank, TranscriptEvent};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClineMessage<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    ts: LenientTimestamp,
    #[serde(borrow)]
    model_info: LenientObject<ClineModel<'a>>,
    metrics: Option<LenientObject<ClineMetrics>>,
    #[serde(borrow)]
    metadata: LenientObject<ClineMetadata<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClineModel<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
}

/// Usage of one call of the model.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClineMetrics {
    /// Includes what was read from the cache and written to it.
    input_tokens: LenientNumber,
    output_tokens: LenientNumber,
    cache_read_tokens: LenientNumber,
    cache_write_tokens: LenientNumber,
    cost: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClineMetadata<'a> {
    #[serde(borrow)]
    display_role: LenientText<'a>,
}

/// The fields of the document other than its messages, and those of the manifest.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClineDocument<'a> {
    #[serde(borrow)]
    session_id: LenientText<'a>,
    #[serde(borrow)]
    agent: LenientText<'a>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    branch: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
    started_at: LenientTimestamp,
}

/// All events of one message, or of the document's header.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return header_events(text, context);
    }
    let message: ClineMessage<'_> = serde_json::from_str(text)?;
    let native_id = message.id.clone().non_empty().map_or_else(|| content_id(text), Into::into);
    let is_lead = !context.header().is_some_and(is_subagents);
    let mut out = EventBuilder::new(context.location, message.ts.0, native_id);
    let sink = &mut context.sink;
    match message.role.as_str() {
        "user" => add_user(&message, is_lead, &mut out, sink),
        "assistant" => add_assistant(message, &mut out, sink),
        _ => {}
    }
    Ok(out.events)
}

fn header_events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let header: ClineDocument<'_> = serde_json::from_str(text)?;
    let mut out = EventBuilder::new(context.location, header.started_at.0, "header".to_owned());
    out.push(EventBody::Header(SessionHeader {
        external_id: header.session_id.into_string(),
        cwd: header.cwd.non_empty().map(Into::into),
        parent_id: None,
        parent_path: None,
    }));
    if let Some(branch) = header.branch.non_empty() {
        out.push(EventBody::Workspace { cwd: None, branch: Some(branch.into()) });
    }
    out.add_title(TitleRank::Generated, LenientText(header.title.non_empty()), None, &mut context.sink);
    Ok(out.events)
}

/// Whether the document with this header is a sub-agent's: its first message was written by a model.
fn is_subagents(header: &str) -> bool {
    let header: ClineDocument<'_> = serde_json::from_str(header).unwrap_or_default();
    !matches!(header.agent.as_str(), "" | "lead")
}

fn add_user(message: &ClineMessage<'_>, is_lead: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let blocks: MessageContent<'_> = parse_or_default(message.content);
    if blocks.0.iter().any(|block| block.kind.as_str() == "tool_result") {
        let results: Vec<LenientObject<ClineResultBlock<'_>>> = parse_or_default(message.content);
        for result in results {
            add_result(result.0, out, sink);
        }
    }
    let texts = blocks.0.iter().filter(|block| block.kind.as_str() == "text").map(|block| block.text.as_str());
    if message.metadata.0.display_role.as_str() == "system" {
        for text in texts {
            out.add_injected(&user_text::strip_added_tags(text), sink);
        }
        return;
    }
    let typed: Vec<String> = texts.map(typed_text).collect();
    let has_image = blocks.0.iter().any(|block| block.kind.as_str() == "image");
    let text = typed.join("\n");
    let text = if text.trim().is_empty() && has_image { "[image]".to_owned() } else { text };
    out.add_user_text(&text, !is_lead, sink);
}

/// What was typed: without the tags around it and the notices inside it.
fn typed_text(text: &str) -> String {
    let text = user_text::without_tags(text, &["hook_context", "mode_notice", "environment_details"]);
    let inner = user_text::tag_body(&text, "user_input").map(str::to_owned);
    inner.unwrap_or_else(|| text.into_owned())
}

fn add_assistant(message: ClineMessage<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    let model = message.model_info.0.id.non_empty().map(String::from);
    if let Some(LenientObject(metrics)) = message.metrics {
        let (cache_read, cache_write) = (metrics.cache_read_tokens.count(), metrics.cache_write_tokens.count());
        out.push(EventBody::Usage {
            message_id: id.clone(),
            tokens: Tokens {
                input: metrics.input_tokens.count().saturating_sub(cache_read + cache_write),
                output: metrics.output_tokens.count(),
                cache_read,
                cache_write,
            },
            hour_write_tokens: 0,
            model,
            cost_usd: metrics.cost.0.filter(|cost| *cost > 0.0),
        });
    }
    for block in parse_or_default::<MessageContent<'_>>(message.content).0 {
        match block.kind.as_str() {
            "text" => out.add_text(EntryKind::AssistantText, block.text.into_string(), Some(&id), sink),
            "tool_use" => out.add_call(block, &id, sink),
            "thinking" => out.add_reasoning(&block, sink),
            _ => {}
        }
    }
}
