//! Parses lines of Droid transcripts.

use rethread_model::{EntryKind, Tokens, ToolKind};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::parse::content::{MeasuredResult, MessageBlock, MessageContent};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{
    LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};
use crate::parse::outcome::outcome_with_code;
use crate::parse::{ParseContext, TextSink, content_id, user_text};
use crate::{EventBody, SessionHeader, TitleRank, TranscriptEvent};

/// Before the exit code, at the end of a command's output.
const EXIT_MARK: &str = "[Process exited with code ";
/// The same at the beginning, where older versions write it too.
const FAILED_MARK: &str = "Command failed (exit code: ";

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DroidLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    id: LenientText<'a>,
    timestamp: LenientTimestamp,
    #[serde(borrow)]
    message: Option<LenientObject<DroidMessage<'a>>>,
    /// Early versions had the message's fields here.
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
    #[serde(borrow)]
    session_title: LenientText<'a>,
    is_session_title_manually_set: LenientBool,
    /// The session that this one was forked from.
    #[serde(borrow)]
    parent: LenientText<'a>,
    #[serde(borrow)]
    summary_text: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DroidMessage<'a> {
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    model_id: LenientText<'a>,
    /// `user_only` for notices and hooks, `llm_only` for context.
    #[serde(borrow)]
    visibility: LenientText<'a>,
    #[serde(borrow)]
    hook_event_name: LenientText<'a>,
    #[serde(borrow)]
    user_message_source: LenientText<'a>,
}

/// What is beside the transcript, and whether it is a sub-agent's.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct DroidHeader<'a> {
    is_subagent: LenientBool,
    #[serde(borrow)]
    model: LenientText<'a>,
    token_usage: Option<LenientObject<DroidTokens>>,
}

/// Sums of the whole session.
#[derive(Default, Deserialize)]
#[serde(default)]
struct DroidTokens {
    #[serde(rename = "inputTokens")]
    input: LenientNumber,
    #[serde(rename = "outputTokens")]
    output: LenientNumber,
    #[serde(rename = "cacheCreationTokens")]
    cache_write: LenientNumber,
    #[serde(rename = "cacheReadTokens")]
    cache_read: LenientNumber,
}

/// All events of one line, or of what is beside the transcript.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        let mut out = EventBuilder::new(context.location, None, "settings".to_owned());
        add_totals(serde_json::from_str(text)?, &mut out);
        return Ok(out.events);
    }
    let line: DroidLine<'_> = serde_json::from_str(text)?;
    let native_id = line.id.clone().non_empty().map_or_else(|| content_id(text), Into::into);
    let header: DroidHeader<'_> = context.header().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let is_subagent = header.is_subagent.0;
    let mut out = EventBuilder::new(context.location, line.timestamp.0, native_id);
    let sink = &mut context.sink;
    match line.kind.as_str() {
        "session_start" => add_start(line, &mut out, sink),
        "compaction_state" => out.add_text(EntryKind::Summary, line.summary_text.into_string(), None, sink),
        "message" => {
            let message = line.message.map_or_else(
                || DroidMessage { role: line.role, content: line.content, ..DroidMessage::default() },
                |message| message.0,
            );
            match message.role.as_str() {
                "user" => add_user(&message, is_subagent, &mut out, sink),
                "assistant" => add_assistant(message, &mut out, sink),
                _ => {}
            }
        }
        // Lists of tasks, outcomes of turns and unknown types are not part of the conversation.
        _ => {}
    }
    Ok(out.events)
}

fn add_totals(header: DroidHeader<'_>, out: &mut EventBuilder) {
    let model = header.model.non_empty().map(String::from);
    let Some(LenientObject(usage)) = header.token_usage else { return };
    out.push(EventBody::Usage {
        message_id: "totals".to_owned(),
        tokens: Tokens {
            input: usage.input.count(),
            output: usage.output.count(),
            cache_read: usage.cache_read.count(),
            cache_write: usage.cache_write.count(),
        },
        hour_write_tokens: 0,
        model,
        cost_usd: None,
    });
}

fn add_start(line: DroidLine<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    out.push(EventBody::Header(SessionHeader {
        external_id: out.native_id.clone(),
        cwd: line.cwd.non_empty().map(Into::into),
        parent_id: line.parent.non_empty().map(Into::into),
        parent_path: None,
    }));
    // `title` is the beginning of the prompt, unless the user changed it.
    if line.is_session_title_manually_set.0 {
        let title = line.session_title.non_empty().or(line.title.non_empty());
        out.add_title(TitleRank::Custom, LenientText(title), None, sink);
    } else if !matches!(line.session_title.as_str(), "" | "New Session") {
        out.add_title(TitleRank::Generated, line.session_title, None, sink);
    }
}

fn add_user(message: &DroidMessage<'_>, is_subagent: bool, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    if !message.hook_event_name.as_str().is_empty() {
        // What a hook printed; what it added for the model is a message of its own.
        return;
    }
    let blocks: MessageContent<'_> = parse_or_default(message.content);
    let (mut texts, mut has_image) = (Vec::new(), false);
    for block in blocks.0 {
        match block.kind.as_str() {
            "text" => texts.push(user_text::strip_added_tags(block.text.as_str()).trim().to_owned()),
            "image" | "document" => has_image = true,
            "tool_result" => add_result(block, out, sink),
            _ => {}
        }
    }
    texts.retain(|text| !text.is_empty());
    let text = texts.join("\n");
    let is_automatic = !matches!(message.user_message_source.as_str(), "" | "user" | "human");
    match message.visibility.as_str() {
        "user_only" => out.add_text(EntryKind::Notice, text, None, sink),
        "llm_only" => out.add_injected(&text, sink),
        _ if is_automatic || out.native_id.starts_with("context-") => out.add_injected(&text, sink),
        _ if text.is_empty() && has_image => out.add_user_text("[image]", is_subagent, sink),
        _ => out.add_user_text(&text, is_subagent, sink),
    }
}

fn add_assistant(message: DroidMessage<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    if let Some(model) = message.model_id.non_empty() {
        // The tokens are not known by message.
        let (tokens, model) = (Tokens::default(), Some(model.into()));
        out.push(EventBody::Usage { message_id: id.clone(), tokens, hour_write_tokens: 0, model, cost_usd: None });
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

fn add_result(block: MessageBlock<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let code = exit_code(&block.content);
    let outcome = outcome_with_code(block.content, block.is_error.0, code, code.map(|_| ToolKind::Command), sink);
    out.push(EventBody::ToolResult { call_id: block.tool_use_id.into_string(), outcome, answer: None });
}

fn exit_code(result: &MeasuredResult) -> Option<i32> {
    let number = |rest: &str, end: char| rest.split(end).next().and_then(|number| number.parse().ok());
    let last = result.tail.trim_end().lines().next_back().and_then(|line| line.strip_prefix(EXIT_MARK));
    let first = || {
        let text = result.head.trim_start();
        text.strip_prefix("Error: ").unwrap_or(text).strip_prefix(FAILED_MARK)
    };
    last.and_then(|rest| number(rest, ']')).or_else(|| number(first()?, ')'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_read_from_both_ends_of_an_output() {
        for (text, code) in [
            ("ok\n\n[Process exited with code 0]", Some(0)),
            ("Error: Command failed (exit code: 3)\nls: no\n\n[Process exited with code 3]", Some(3)),
            ("Error: Command failed (exit code: 1)\nls: no", Some(1)),
            ("[Process exited with code 7]\nis what it prints", None),
            ("fine", None),
        ] {
            assert_eq!(exit_code(&MeasuredResult::from_text(text)), code, "{text}");
        }
    }
}
