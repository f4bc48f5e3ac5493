//! Parses lines of pi transcripts: versions 1 to 3, and the entries of version 4.

use rethread_model::{EntryKind, INJECTION_TAG, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::parse::content::{MeasuredResult, MessageContent};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{
    LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};
use crate::parse::machine_text::{notice_text, replace_attached_files, split_skill};
use crate::parse::outcome::outcome_with_code;
use crate::parse::user_shell::shell_text;
use crate::parse::{ParseContext, TextSink, content_id, tool_kind, user_text};
use crate::{EventBody, SessionHeader, TitleRank, TranscriptEvent};

/// Custom types that our own extension writes; its messages are never read back.
const OUR_CUSTOM_TYPES: [&str; 2] = ["session-update", INJECTION_TAG];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PiLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    /// Version 4 has the line's type here and wraps the entry.
    #[serde(rename = "kind", borrow)]
    wrapper: LenientText<'a>,
    #[serde(borrow)]
    entry: Option<&'a RawValue>,
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    parent_id: LenientText<'a>,
    timestamp: LenientTimestamp,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow, alias = "branchedFrom", alias = "legacyParentSessionPath")]
    parent_session: LenientText<'a>,
    #[serde(borrow)]
    parent_session_id: LenientText<'a>,
    #[serde(borrow)]
    message: LenientObject<PiMessage<'a>>,
    #[serde(borrow)]
    summary: LenientText<'a>,
    #[serde(borrow)]
    custom_type: LenientText<'a>,
    #[serde(borrow)]
    content: MessageContent<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    target_id: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(in crate::agents) struct PiMessage<'a> {
    #[serde(borrow)]
    role: LenientText<'a>,
    /// Not decoded until the role is known: a tool result is only measured.
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    model: LenientText<'a>,
    usage: Option<LenientObject<PiUsage>>,
    #[serde(borrow)]
    stop_reason: LenientText<'a>,
    #[serde(borrow)]
    error_message: LenientText<'a>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    tool_name: LenientText<'a>,
    is_error: LenientBool,
    #[serde(borrow)]
    details: LenientObject<ResultDetails<'a>>,
    #[serde(borrow)]
    command: LenientText<'a>,
    #[serde(borrow)]
    output: LenientText<'a>,
    exit_code: LenientNumber,
    #[serde(borrow)]
    custom_type: LenientText<'a>,
    #[serde(borrow)]
    summary: LenientText<'a>,
}

/// What a tool reports besides its text.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ResultDetails<'a> {
    exit_code: LenientNumber,
    #[serde(borrow)]
    error: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PiUsage {
    input: LenientNumber,
    output: LenientNumber,
    cache_read: LenientNumber,
    cache_write: LenientNumber,
    cost: LenientObject<PiCost>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PiCost {
    total: LenientNumber,
}

/// Adds what a user message of an agent says.
pub(in crate::agents) type AddUser = fn(&PiMessage<'_>, &mut EventBuilder, &mut TextSink<'_>);

/// All events of one line.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    events_with(text, context, add_user)
}

/// All events of one line of pi, or of an agent built on it that adds something of its own to user messages.
pub(in crate::agents) fn events_with(
    text: &str,
    context: &mut ParseContext<'_>,
    add_user: AddUser,
) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let mut line: PiLine<'_> = serde_json::from_str(text)?;
    if let ("entry", Some(entry)) = (line.wrapper.as_str(), line.entry) {
        line = serde_json::from_str(entry.get())?;
    }
    let header = line.kind.as_str() == "session" || line.wrapper.as_str() == "header";
    let own_id = line.id.0.take().map(String::from);
    let native_id = own_id.clone().unwrap_or_else(|| content_id(text));
    let mut out = EventBuilder::new(context.location, line.timestamp.0, native_id);
    if header {
        out.push(EventBody::Header(SessionHeader {
            external_id: own_id.unwrap_or_default(),
            cwd: line.cwd.non_empty().map(Into::into),
            parent_id: line.parent_session_id.non_empty().map(Into::into),
            parent_path: line.parent_session.non_empty().map(Into::into),
        }));
        return Ok(out.events);
    }
    if line.kind.as_str() == "leaf" {
        let target = line.target_id.into_string();
        // A leaf with an id can be the parent of the next entry.
        out.push(match own_id {
            Some(id) => EventBody::Node { id, parent: Some(target) },
            None => EventBody::Leaf { target },
        });
        return Ok(out.events);
    }
    if let Some(id) = own_id {
        let parent = line.parent_id.0.take().map(String::from).filter(|parent| *parent != id);
        out.push(EventBody::Node { id, parent });
    }
    let sink = &mut context.sink;
    match line.kind.as_str() {
        "message" => add_message(line.message.0, add_user, &mut out, sink),
        "compaction" | "branch_summary" => out.add_text(EntryKind::Summary, line.summary.into_string(), None, sink),
        "custom_message" => add_custom(&line.custom_type, &line.content, &mut out, sink),
        "session_info" => out.add_title(TitleRank::Custom, line.name, None, sink),
        // Model changes, labels, extension state and unknown types are only nodes of the tree.
        _ => {}
    }
    Ok(out.events)
}

pub(in crate::agents) fn add_message(
    message: PiMessage<'_>,
    add_user: AddUser,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    match message.role.as_str() {
        "user" => add_user(&message, out, sink),
        "assistant" => add_assistant(message, out, sink),
        "toolResult" => add_result(message, out, sink),
        "bashExecution" => {
            let code = message.exit_code.0.map(|code| code as i32);
            let text = shell_text(message.command.as_str(), code, message.output.as_str());
            out.add_text(EntryKind::Shell, text, None, sink);
        }
        "custom" | "hookMessage" => add_custom(&message.custom_type, &parse_or_default(message.content), out, sink),
        "branchSummary" | "compactionSummary" => {
            out.add_text(EntryKind::Summary, message.summary.into_string(), None, sink);
        }
        _ => {}
    }
}

impl<'a> PiMessage<'a> {
    pub(in crate::agents) fn role(&self) -> &str {
        self.role.as_str()
    }

    /// The blocks of a message that is not a tool result.
    pub(in crate::agents) fn blocks(&self) -> MessageContent<'a> {
        parse_or_default(self.content)
    }
}

pub(in crate::agents) fn add_user(message: &PiMessage<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let content = message.blocks();
    let texts: Vec<_> = content.0.iter().map(|block| user_text::strip_added_tags(block.text.as_str())).collect();
    let text = texts.join("\n");
    let text = text.trim_matches('\n');
    if let Some((skill, typed)) = split_skill(text) {
        // As Claude Code's commands: only with words of the user it is a prompt.
        let kind = if typed.is_empty() { EntryKind::Command } else { EntryKind::Prompt };
        out.add_text(kind, format!("/skill:{skill} {typed}").trim_end().to_owned(), None, sink);
    } else if let Some(notice) = notice_text(text.trim()) {
        out.add_text(EntryKind::Notice, notice.to_owned(), None, sink);
    } else if !text.trim().is_empty() {
        out.add_text(EntryKind::Prompt, replace_attached_files(text), None, sink);
    } else if content.0.iter().any(|block| block.kind.as_str() == "image") {
        out.add_text(EntryKind::Prompt, "[image]".to_owned(), None, sink);
    }
}

fn add_assistant(message: PiMessage<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    if let Some(LenientObject(usage)) = message.usage {
        out.push(EventBody::Usage {
            message_id: id.clone(),
            tokens: Tokens {
                input: usage.input.count(),
                output: usage.output.count(),
                cache_read: usage.cache_read.count(),
                cache_write: usage.cache_write.count(),
            },
            hour_write_tokens: 0,
            model: message.model.non_empty().map(Into::into),
            cost_usd: usage.cost.0.total.0.filter(|cost| *cost > 0.0),
        });
    }
    for block in parse_or_default::<MessageContent<'_>>(message.content).0 {
        match block.kind.as_str() {
            "text" => out.add_text(EntryKind::AssistantText, block.text.into_string(), Some(&id), sink),
            "toolCall" => out.add_call(block, &id, sink),
            "thinking" => out.add_reasoning(&block, sink),
            _ => {}
        }
    }
    match message.stop_reason.as_str() {
        "error" => {
            let text =
                message.error_message.non_empty().map_or_else(|| "the model's answer failed".to_owned(), Into::into);
            out.add_text(EntryKind::Failure, text, None, sink);
        }
        "aborted" => out.add_interruption(sink),
        _ => {}
    }
}

fn add_result(message: PiMessage<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let name = message.tool_name.as_str();
    let measured = match message.details.0.error.non_empty() {
        // The text is then an object around it.
        Some(error) if message.is_error.0 => MeasuredResult::from_text(&error),
        _ => parse_or_default(message.content),
    };
    let is_user_question = name.to_ascii_lowercase().contains("ask_user") && !message.is_error.0;
    let answer = is_user_question.then(|| sink.redact(measured.head.clone()));
    let code = message.details.0.exit_code.0.map(|code| code as i32);
    let outcome = outcome_with_code(measured, message.is_error.0, code, Some(tool_kind(name)), sink);
    out.push(EventBody::ToolResult { call_id: message.tool_call_id.into_string(), outcome, answer });
}

fn add_custom(
    custom_type: &LenientText<'_>,
    content: &MessageContent<'_>,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    if OUR_CUSTOM_TYPES.contains(&custom_type.as_str()) {
        return;
    }
    let texts: Vec<_> = content.0.iter().map(|block| user_text::strip_added_tags(block.text.as_str())).collect();
    let text = texts.join(" ");
    if !text.trim().is_empty() {
        out.add_injected(&format!("[{}] {text}", custom_type.as_str()), sink);
    }
}
