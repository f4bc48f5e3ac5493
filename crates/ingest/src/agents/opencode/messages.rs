//! Messages of OpenCode 1.x: `info` about the message, and its parts.

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::session::is_subagent;
use super::tools::{ToolState, add_tool};
use crate::EventBody;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp};
use crate::parse::{ParseContext, TextSink, user_text};

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageInfo<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow, rename = "modelID")]
    model: LenientText<'a>,
    cost: LenientNumber,
    tokens: LenientObject<OpenCodeTokens>,
    time: LenientObject<MessageTime>,
    /// `true` on the message that a compaction wrote. Messages of users have an object here.
    summary: LenientBool,
    #[serde(borrow)]
    error: LenientObject<MessageError<'a>>,
    /// Before version 0.4, most of it was here.
    #[serde(borrow)]
    metadata: LenientObject<OldMetadata<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OldMetadata<'a> {
    time: LenientObject<MessageTime>,
    #[serde(borrow)]
    assistant: Option<LenientObject<OldUsage<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OldUsage<'a> {
    #[serde(borrow, rename = "modelID")]
    model: LenientText<'a>,
    cost: LenientNumber,
    tokens: LenientObject<OpenCodeTokens>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageTime {
    created: LenientTimestamp,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageError<'a> {
    #[serde(borrow, alias = "type")]
    name: LenientText<'a>,
    #[serde(borrow)]
    message: LenientText<'a>,
    #[serde(borrow)]
    data: LenientObject<ErrorData<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ErrorData<'a> {
    #[serde(borrow)]
    message: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct OpenCodeTokens {
    total: LenientNumber,
    input: LenientNumber,
    output: LenientNumber,
    reasoning: LenientNumber,
    cache: LenientObject<CacheTokens>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct CacheTokens {
    read: LenientNumber,
    write: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessagePart<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    text: LenientText<'a>,
    /// Written by a program.
    synthetic: LenientBool,
    /// Shown to the user only.
    ignored: LenientBool,
    #[serde(borrow)]
    tool: LenientText<'a>,
    #[serde(borrow)]
    state: LenientObject<ToolState<'a>>,
    /// The form of calls before version 0.4.
    #[serde(borrow, rename = "toolInvocation")]
    invocation: LenientObject<ToolInvocation<'a>>,
    time: LenientObject<PartTime>,
    tokens: LenientObject<OpenCodeTokens>,
    cost: LenientNumber,
    #[serde(borrow)]
    command: LenientText<'a>,
    #[serde(borrow)]
    mime: LenientText<'a>,
    #[serde(borrow)]
    filename: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PartTime {
    end: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ToolInvocation<'a> {
    #[serde(borrow)]
    tool_name: LenientText<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// Adds a message from its `info` and its parts, all JSON. A part that is not valid costs only itself. In a database,
/// `row_id` is the id of the message.
pub(super) fn add_message<'a>(
    info: &str,
    row_id: Option<&str>,
    parts: impl Iterator<Item = &'a str>,
    is_unfinished: bool,
    context: &mut ParseContext<'_>,
) -> Result<EventBuilder, serde_json::Error> {
    let LenientObject(mut info): LenientObject<MessageInfo<'_>> = serde_json::from_str(info)?;
    let created_at = info.time.0.created.0.or(info.metadata.0.time.0.created.0);
    if let Some(LenientObject(OldUsage { model, cost, tokens })) = info.metadata.0.assistant.take() {
        info = MessageInfo { model, cost, tokens, ..info };
    }
    // An export can have ids that a program overwrote, several with the same text.
    let id = row_id.or(Some(info.id.as_str()).filter(|id| id.starts_with("msg_") && !id.contains(':')));
    let native_id = id.map_or_else(|| format!("message-{}", context.location.line), str::to_owned);
    let mut out = EventBuilder::new(context.location, created_at, native_id);
    let is_subagent = is_subagent(context);
    let parts = parts.map(|part| match serde_json::from_str(part) {
        Ok(LenientObject(part)) => part,
        Err(error) => {
            context.report(format!("invalid part ({error}); skipped"));
            // It keeps its place: calls are numbered by theirs.
            MessagePart::default()
        }
    });
    let parts: Vec<MessagePart<'_>> = parts.collect();
    match info.role.as_str() {
        "user" => add_user(parts, is_subagent, &mut out, &mut context.sink),
        "assistant" => add_assistant(info, parts, is_unfinished, &mut out, &mut context.sink),
        _ => {}
    }
    Ok(out)
}

fn add_user(parts: Vec<MessagePart<'_>>, is_subagent: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let (mut typed, mut added, mut files) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        match part.kind.as_str() {
            "text" if part.ignored.0 => {}
            "text" if part.synthetic.0 => added.push(part.text.into_string()),
            "text" => typed.push(unquote(part.text.as_str()).into_owned()),
            "file" if part.mime.as_str().starts_with("image/") => files.push("[image]".to_owned()),
            "file" => files.push(format!("@{}", part.filename.as_str())),
            // A command of the user that runs in a sub-agent. Its prompt is the command's template.
            "subtask" if !part.command.as_str().is_empty() => {
                out.add_text(EntryKind::Command, format!("/{}", part.command.as_str()), None, sink);
            }
            _ => {}
        }
    }
    let typed = typed.join("\n");
    // A prompt names its files; only one without a text consists of them.
    let typed = if typed.trim().is_empty() && added.is_empty() { files.join(" ") } else { typed };
    out.add_user_text(&typed, is_subagent, sink);
    add_program_texts(&added, out, sink);
}

/// Adds texts of plugins and of the agent itself as one entry, without what we injected.
pub(super) fn add_program_texts(texts: &[String], out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let texts: Vec<_> = texts.iter().map(|text| user_text::strip_added_tags(text)).collect();
    out.add_injected(&texts.join("\n"), sink);
}

/// `opencode run "two words"` stores the argument as the shell would quote it.
fn unquote(text: &str) -> std::borrow::Cow<'_, str> {
    let inner = text.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or_default();
    let has_open_quote = inner.replace("\\\"", "").contains('"');
    if inner.contains(' ') && !has_open_quote { inner.replace("\\\"", "\"").into() } else { text.into() }
}

fn add_assistant(
    info: MessageInfo<'_>,
    parts: Vec<MessagePart<'_>>,
    is_unfinished: bool,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    let id = out.native_id.clone();
    let is_summary = info.summary.0;
    let (mut tokens, mut cost, mut has_steps) = (Tokens::default(), 0.0, false);
    for (number, part) in parts.into_iter().enumerate() {
        match part.kind.as_str() {
            "text" if part.synthetic.0 || part.ignored.0 => {}
            "text" | "reasoning" if is_unfinished && part.time.0.end.0.is_none() => {}
            "reasoning" if sink.filter.keep_reasoning => {
                out.add_text(EntryKind::Reasoning, part.text.into_string(), None, sink);
            }
            "text" if is_summary => out.add_text(EntryKind::Summary, part.text.into_string(), None, sink),
            "text" => out.add_text(EntryKind::AssistantText, part.text.into_string(), Some(&id), sink),
            "tool" => add_tool(number, part.tool.as_str(), part.state.0, is_unfinished, out, sink),
            "tool-invocation" => {
                let ToolInvocation { tool_name, args, result } = part.invocation.0;
                add_tool(number, tool_name.as_str(), ToolState::from_result(args, result), false, out, sink);
            }
            "step-finish" => {
                has_steps = true;
                tokens = tokens.plus(part.tokens.0.count(false));
                cost += part.cost.0.unwrap_or_default();
            }
            _ => {}
        }
    }
    if !has_steps {
        tokens = info.tokens.0.count(false);
        cost = info.cost.0.unwrap_or_default();
    }
    add_usage(&id, tokens, cost, info.model, out);
    add_failure(&info.error.0, out, sink);
}

pub(super) fn add_usage(id: &str, tokens: Tokens, cost: f64, model: LenientText<'_>, out: &mut EventBuilder) {
    if tokens == Tokens::default() && cost <= 0.0 {
        return;
    }
    out.push(EventBody::Usage {
        message_id: id.to_owned(),
        tokens,
        hour_write_tokens: 0,
        model: model.non_empty().map(Into::into),
        cost_usd: (cost > 0.0).then_some(cost),
    });
}

/// Adds the error that ended a message.
pub(super) fn add_failure(error: &MessageError<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let name = error.name.as_str();
    if name.to_ascii_lowercase().contains("abort") {
        return out.add_interruption(sink);
    }
    let texts = [error.data.0.message.as_str(), error.message.as_str(), name];
    if let Some(text) = texts.into_iter().find(|text| !text.is_empty()) {
        out.add_text(EntryKind::Failure, text.to_owned(), None, sink);
    }
}

impl OpenCodeTokens {
    /// `total` shows whether the reasoning is part of `output`: it was in early versions. Without it, the caller knows.
    pub(super) fn count(self, is_reasoning_separate: bool) -> Tokens {
        let (input, cache) = (self.input.count(), self.cache.0);
        let (cache_read, cache_write) = (cache.read.count(), cache.write.count());
        let written = self.output.count();
        let rest = self.total.count().saturating_sub(input.saturating_add(cache_read).saturating_add(cache_write));
        let reasoning = if is_reasoning_separate { self.reasoning.count() } else { 0 };
        // Some providers do not count the cache in their total.
        let output = if rest >= written && rest > 0 { rest } else { written.saturating_add(reasoning) };
        Tokens { input, output, cache_read, cache_write }
    }
}
