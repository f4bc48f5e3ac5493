//! Parses lines of Kimi Code's log, and what `legacy` made of kimi-cli's.

use rethread_model::{EntryKind, Tokens, ToolStatus};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::parse::content::{ChatToolCall, MeasuredResult, MessageContent};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{
    LenientBool, LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default,
};
use crate::parse::outcome::outcome_with_code;
use crate::parse::user_text::{strip_added_tags, strip_tag};
use crate::parse::{ParseContext, TextSink, content_id, tool_kind};
use crate::{EventBody, EventScope, SessionHeader, TitleRank, TranscriptEvent, UndoStep};

/// Text before the exit code in the output of a command that failed.
const EXIT_CODE: &str = "ommand failed with exit code: ";
/// Words in the result of a call that the user did not allow.
const REJECTION: &str = "rejected by the user";
/// Tags around what hooks and the agent add to a prompt.
const ADDED_TAGS: [&str; 2] = ["hook_result", "git-context"];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KimiLine<'a> {
    #[serde(rename = "type", borrow)]
    record: LenientText<'a>,
    #[serde(borrow)]
    kind: LenientText<'a>,
    time: LenientTimestamp,
    #[serde(borrow)]
    input: MessageContent<'a>,
    #[serde(borrow)]
    origin: LenientObject<KimiOrigin<'a>>,
    #[serde(borrow)]
    prompt_id: LenientText<'a>,
    #[serde(borrow)]
    message: LenientObject<KimiMessage<'a>>,
    #[serde(borrow)]
    event: LenientObject<KimiEvent<'a>>,
    #[serde(borrow)]
    summary: LenientText<'a>,
    count: LenientNumber,
    usage: LenientObject<KimiUsage>,
    #[serde(borrow)]
    model: LenientText<'a>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    /// Only in the header.
    #[serde(borrow)]
    session_id: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
    is_custom_title: LenientBool,
    /// The sub-agent inside this log, only in records that `legacy` made.
    #[serde(borrow)]
    inner_agent: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KimiOrigin<'a> {
    #[serde(borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    trigger: LenientText<'a>,
    #[serde(borrow, alias = "commandName")]
    skill_name: LenientText<'a>,
    #[serde(borrow, alias = "commandArgs")]
    skill_args: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KimiMessage<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    origin: LenientObject<KimiOrigin<'a>>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    is_error: LenientBool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KimiEvent<'a> {
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    uuid: LenientText<'a>,
    #[serde(borrow)]
    step_uuid: LenientText<'a>,
    #[serde(borrow)]
    part: LenientObject<KimiPart<'a>>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
    #[serde(borrow)]
    name: LenientText<'a>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
    #[serde(borrow)]
    result: LenientObject<KimiResult<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct KimiPart<'a> {
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow)]
    think: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KimiResult<'a> {
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    is_error: LenientBool,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct KimiUsage {
    input_other: LenientNumber,
    output: LenientNumber,
    input_cache_read: LenientNumber,
    input_cache_creation: LenientNumber,
}

/// All events of one line.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let line: KimiLine<'_> = serde_json::from_str(text)?;
    // Every message is written a second time at the end of its turn.
    if line.kind.as_str() == "event" {
        return Ok(Vec::new());
    }
    let id =
        [&line.prompt_id, &line.message.0.id, &line.event.0.uuid].into_iter().find_map(|id| id.clone().non_empty());
    let native_id = id.map_or_else(|| content_id(text), Into::into);
    let mut out = EventBuilder::new(context.location, line.time.0, native_id);
    if let Some(agent_id) = line.inner_agent.clone().non_empty() {
        out.scope = EventScope::Subagent { agent_id: Some(agent_id.into()), parent_id: None };
    }
    let header = context.header().unwrap_or_default();
    let has_turns = !header.contains("\"promptsIn\":\"message\"");
    let is_subagent = context.is_subagent() || out.scope != EventScope::Main;
    let model = line.model.clone().non_empty().map(|alias| provider_name(&alias, header));
    if context.is_header() {
        add_header(line, &mut out, &mut context.sink);
        return Ok(out.events);
    }
    let sink = &mut context.sink;
    match line.record.as_str() {
        "turn.prompt" | "turn.steer" if has_turns => {
            add_prompt(&line.input, &line.origin.0, is_subagent, &mut out, sink);
        }
        "context.append_message" => add_message(line.message.0, has_turns, is_subagent, &mut out, sink),
        "context.append_loop_event" => add_step(line.event.0, &mut out, sink),
        "context.apply_compaction" => out.add_text(EntryKind::Summary, line.summary.into_string(), None, sink),
        "context.undo" => out.push(EventBody::Undo(UndoStep::LastPrompts(line.count.count()))),
        "turn.cancel" => out.add_interruption(sink),
        "usage.record" => out.push(EventBody::Usage {
            message_id: out.native_id.clone(),
            tokens: tokens(&line.usage.0),
            hour_write_tokens: 0,
            model,
            cost_usd: None,
        }),
        "config.update" => {
            if let Some(cwd) = line.cwd.non_empty() {
                out.push(EventBody::Workspace { cwd: Some(cwd.into()), branch: None });
            }
        }
        // Requests, tools, permissions and snapshots are not part of the conversation.
        _ => {}
    }
    Ok(out.events)
}

fn add_header(line: KimiLine<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    out.push(EventBody::Header(SessionHeader {
        external_id: line.session_id.into_string(),
        cwd: line.cwd.non_empty().map(Into::into),
        ..SessionHeader::default()
    }));
    let rank = if line.is_custom_title.0 { TitleRank::Custom } else { TitleRank::Generated };
    out.add_title(rank, line.title, None, sink);
}

/// The provider's name of the model that has this name in the user's configuration.
fn provider_name(alias: &str, header: &str) -> String {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct KimiModels {
        models: Map<String, Value>,
    }
    let known: KimiModels = serde_json::from_str(header).unwrap_or_default();
    known.models.get(alias).and_then(Value::as_str).unwrap_or(alias).to_owned()
}

fn tokens(usage: &KimiUsage) -> Tokens {
    Tokens {
        input: usage.input_other.count(),
        output: usage.output.count(),
        cache_read: usage.input_cache_read.count(),
        cache_write: usage.input_cache_creation.count(),
    }
}

/// Adds what began or steered a turn.
fn add_prompt(
    content: &MessageContent<'_>,
    origin: &KimiOrigin<'_>,
    is_subagent: bool,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    let texts: Vec<&str> = content.0.iter().map(|block| block.text.as_str()).filter(|text| !text.is_empty()).collect();
    let text = ADDED_TAGS.iter().fold(texts.join("\n"), |text, tag| strip_tag(&text, tag).into_owned());
    let text = text.trim_matches('\n');
    let is_typed_name = matches!(origin.kind.as_str(), "skill_activation" | "plugin_command")
        && origin.trigger.as_str() == "user-slash"
        && !origin.skill_name.as_str().is_empty();
    if is_typed_name {
        // As Claude Code's commands: only with words of the user it is a prompt.
        let (name, typed) = (origin.skill_name.as_str(), origin.skill_args.as_str().trim());
        let kind = if typed.is_empty() { EntryKind::Command } else { EntryKind::Prompt };
        out.add_text(kind, format!("/{name} {typed}").trim_end().to_owned(), None, sink);
    } else if !matches!(origin.kind.as_str(), "" | "user") && !is_subagent {
        out.add_injected(&strip_added_tags(text), sink);
    } else if !text.trim().is_empty() {
        out.add_user_text(text, is_subagent, sink);
    } else if content.0.iter().any(|block| !matches!(block.kind.as_str(), "" | "text" | "think")) {
        out.add_user_text("[image]", is_subagent, sink);
    }
}

/// Adds a message of the conversation. A user's message repeats its turn, if turns are recorded.
fn add_message(
    message: KimiMessage<'_>,
    has_turns: bool,
    is_subagent: bool,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    match message.role.as_str() {
        "user" => {
            let origin = &message.origin.0;
            let is_repeated = has_turns && matches!(origin.kind.as_str(), "" | "user" | "system_trigger");
            let is_summary = origin.kind.as_str() == "compaction_summary";
            if !is_repeated && !is_summary {
                add_prompt(&parse_or_default(message.content), origin, is_subagent, out, sink);
            }
        }
        "assistant" => {
            let id = out.native_id.clone();
            let parts: Vec<LenientObject<KimiPart<'_>>> = parse_or_default(message.content);
            for LenientObject(part) in parts {
                add_part(part, &id, out, sink);
            }
            for LenientObject(call) in parse_or_default::<Vec<LenientObject<ChatToolCall<'_>>>>(message.tool_calls) {
                out.add_function_call(call, &id, sink);
            }
        }
        "tool" => {
            let result = KimiResult { output: message.content, is_error: message.is_error };
            add_result(message.tool_call_id.into_string(), "", &result, out, sink);
        }
        _ => {}
    }
}

fn add_part(part: KimiPart<'_>, message: &str, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    match part.kind.as_str() {
        "text" => out.add_text(EntryKind::AssistantText, part.text.into_string(), Some(message), sink),
        "think" if sink.filter.keep_reasoning => {
            out.add_text(EntryKind::Reasoning, part.think.into_string(), None, sink);
        }
        _ => {}
    }
}

/// Adds a part of a step. All parts of a step are one message of the model.
fn add_step(event: KimiEvent<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let step = event.step_uuid.non_empty().map_or_else(|| out.native_id.clone(), String::from);
    match event.kind.as_str() {
        "content.part" => add_part(event.part.0, &step, out, sink),
        "tool.call" => out.add_tool_call(event.tool_call_id, event.name.as_str(), event.args, &step, sink),
        "tool.result" => {
            add_result(event.tool_call_id.into_string(), event.name.as_str(), &event.result.0, out, sink);
        }
        _ => {}
    }
}

fn add_result(call_id: String, name: &str, result: &KimiResult<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let measured: MeasuredResult = parse_or_default(result.output);
    let code = exit_code(&measured.tail);
    let is_rejected = result.is_error.0 && measured.head.contains(REJECTION);
    // Only commands have an exit code; the line does not name the tool of the result.
    let kind = (!name.is_empty()).then(|| tool_kind(name));
    let mut outcome = outcome_with_code(measured, result.is_error.0, code, kind, sink);
    if is_rejected {
        outcome.status = ToolStatus::Rejected;
    }
    out.push(EventBody::ToolResult { call_id, outcome, answer: None });
}

/// The exit code that ends the output of a command that failed.
fn exit_code(tail: &str) -> Option<i32> {
    let line = tail.trim_end().lines().next_back()?;
    let code = &line[line.find(EXIT_CODE)? + EXIT_CODE.len()..];
    code.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
}
