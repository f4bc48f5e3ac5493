//! Parses lines of Claude Code transcripts: versions 1.0 to 2.1, tolerating later ones.

use rethread_model::{EntryKind, Tokens, ToolKind, ToolStatus, clip};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::facts::INTERRUPTED;
use crate::parse::content::{MessageBlock, MessageContent};
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientBool, LenientNumber, LenientObject, LenientText};
use crate::parse::outcome::{rejection_reason, tool_outcome};
use crate::parse::{APPROVED_PLAN, LastWorkspace, ParseContext, TextSink, content_id, user_text};
use crate::{EventBody, EventScope, PromptDelivery, PromptOrigin, QueueStep, TitleRank, TranscriptEvent};

/// Start of compaction summaries, for versions that do not flag them.
const SUMMARY_PREFIX: &str = "This session is being continued from a previous conversation";
/// Results larger than this are not searched for a human's answers.
const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// Maximum length of a human's answer, such as an approved plan, in characters.
const MAX_ANSWER_CHARS: usize = 8000;
/// How a result says that a human approved a plan.
const PLAN_APPROVAL: &str = "User has approved your plan";

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    subtype: LenientText<'a>,
    #[serde(borrow)]
    uuid: LenientText<'a>,
    #[serde(borrow)]
    parent_uuid: LenientText<'a>,
    #[serde(borrow)]
    timestamp: LenientText<'a>,
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    git_branch: LenientText<'a>,
    #[serde(borrow)]
    agent_id: LenientText<'a>,
    is_sidechain: LenientBool,
    is_meta: LenientBool,
    is_compact_summary: LenientBool,
    is_api_error_message: LenientBool,
    is_visible_in_transcript_only: LenientBool,
    /// On text that the agent sends along with a human's turn.
    turn_companion: LenientBool,
    #[serde(borrow)]
    prompt_source: LenientText<'a>,
    #[serde(borrow)]
    turn_origin: LenientText<'a>,
    #[serde(borrow, rename = "sourceToolUseID")]
    source_tool_use_id: LenientText<'a>,
    #[serde(borrow)]
    message: LenientObject<ClaudeMessage<'a>>,
    #[serde(borrow)]
    request_id: LenientText<'a>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
    #[serde(rename = "costUSD")]
    cost_usd: LenientNumber,
    #[serde(borrow)]
    origin: LenientObject<ClaudeOrigin<'a>>,
    #[serde(borrow)]
    forked_from: LenientObject<ClaudeForkOrigin<'a>>,
    #[serde(borrow)]
    attachment: LenientObject<ClaudeAttachment<'a>>,
    #[serde(borrow)]
    operation: LenientText<'a>,
    #[serde(borrow)]
    content: MessageContent<'a>,
    #[serde(borrow)]
    custom_title: LenientText<'a>,
    #[serde(borrow)]
    ai_title: LenientText<'a>,
    #[serde(borrow)]
    summary: LenientText<'a>,
    #[serde(borrow)]
    leaf_uuid: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeMessage<'a> {
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    model: LenientText<'a>,
    #[serde(borrow)]
    content: MessageContent<'a>,
    usage: Option<LenientObject<ClaudeUsage>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeUsage {
    input_tokens: LenientNumber,
    output_tokens: LenientNumber,
    cache_read_input_tokens: LenientNumber,
    cache_creation_input_tokens: LenientNumber,
    cache_creation: LenientObject<ClaudeCacheWrites>,
}

/// The cache writes of a message by how long they are stored.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeCacheWrites {
    ephemeral_1h_input_tokens: LenientNumber,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeOrigin<'a> {
    #[serde(borrow)]
    kind: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeForkOrigin<'a> {
    #[serde(borrow)]
    session_id: LenientText<'a>,
    #[serde(borrow)]
    message_uuid: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeAttachment<'a> {
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    prompt: MessageContent<'a>,
    #[serde(borrow)]
    command_mode: LenientText<'a>,
    #[serde(borrow)]
    origin: LenientObject<ClaudeOrigin<'a>>,
    is_meta: LenientBool,
}

/// All events of one line.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let mut line: ClaudeLine<'_> = serde_json::from_str(text)?;
    let native_id = line.uuid.0.take().map_or_else(|| content_id(text), Into::into);
    let mut out = EventBuilder::new(context.location, line.timestamp.as_str().parse().ok(), native_id);
    out.copied_entry_id = line.forked_from.0.message_uuid.0.take().map(Into::into);
    out.copied_session_id = line.forked_from.0.session_id.0.take().map(Into::into);
    out.scope = event_scope(&mut line);
    report_workspace(&line, &mut context.last_workspace, &mut out);
    let sink = &mut context.sink;
    match line.kind.as_str() {
        "user" => add_user(line, &mut out, sink),
        "assistant" => add_assistant(line, &mut out, sink),
        "attachment" => {
            let is_machines = line.is_machines();
            add_attachment(line.attachment.0, is_machines, &mut out, sink);
        }
        "queue-operation" => add_queue_step(&line, &mut out, sink),
        "system" => add_system(&line, &mut out, sink),
        "custom-title" => out.add_title(TitleRank::Custom, line.custom_title, None, sink),
        "ai-title" => out.add_title(TitleRank::Generated, line.ai_title, None, sink),
        "summary" => out.add_title(TitleRank::Summary, line.summary, line.leaf_uuid.non_empty().map(Into::into), sink),
        // Progress, snapshots, permission modes and unknown types are not part of the conversation.
        _ => {}
    }
    Ok(out.events)
}

impl ClaudeLine<'_> {
    /// Whether the fields around the message say that no human wrote it.
    fn is_machines(&self) -> bool {
        self.is_meta.0
            || self.is_visible_in_transcript_only.0
            || self.turn_companion.0
            || self.prompt_source.as_str() == "system"
            || !matches!(self.turn_origin.as_str(), "" | "human" | "sdk")
            || !is_human(&self.origin.0)
    }
}

fn event_scope(line: &mut ClaudeLine<'_>) -> EventScope {
    if line.is_sidechain.0 {
        let agent_id = line.agent_id.0.take().map(Into::into);
        EventScope::Subagent { agent_id, parent_id: line.parent_uuid.0.take().map(Into::into) }
    } else {
        EventScope::Main
    }
}

fn add_user(line: ClaudeLine<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let is_machines = line.is_machines();
    let mut human_text: Vec<String> = Vec::new();
    let (mut has_result, mut has_image) = (false, false);
    let answers = line.tool_use_result.and_then(|raw| question_answers(raw).or_else(|| approved_plan(raw)));
    // Only commands have a standard output; the line does not name the tool of the result.
    let is_command = line.tool_use_result.is_some_and(|raw| raw.get().starts_with("{\"stdout\""));
    let kind = is_command.then_some(ToolKind::Command);
    let is_interrupted =
        is_command && line.tool_use_result.is_some_and(|raw| raw.get().contains("\"interrupted\":true"));
    for block in line.message.0.content.0 {
        match block.kind.as_str() {
            "text" => human_text.push(block.text.into_string()),
            "image" | "document" => has_image = true,
            "tool_result" => {
                has_result = true;
                add_result(block, answers.clone(), (kind, is_interrupted), out, sink);
            }
            _ => {}
        }
    }
    let is_summary = human_text.first().is_some_and(|text| text.starts_with(SUMMARY_PREFIX));
    if line.is_compact_summary.0 || is_summary {
        return out.add_text(EntryKind::Summary, human_text.join("\n"), None, sink);
    }
    // A tool result without its block: the remaining text was not typed by a human.
    let is_broken_result = !has_result && line.tool_use_result.is_some();
    // A tool can add text to the conversation on a separate line, such as a skill's instructions.
    let is_tools_own = !has_result && line.source_tool_use_id.0.is_some();
    if is_machines || is_broken_result || is_tools_own {
        let way = if has_result { PromptDelivery::Inline } else { PromptDelivery::OwnLine };
        return add_injected_text(&human_text, way, out, sink);
    }
    if has_result {
        // Texts beside results were typed one at a time.
        for text in human_text {
            add_typed_text(&[text], false, PromptDelivery::Inline, out, sink);
        }
    } else {
        add_typed_text(&human_text, has_image, PromptDelivery::OwnLine, out, sink);
    }
}

fn add_assistant(line: ClaudeLine<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let message = line.message.0;
    if line.is_api_error_message.0 {
        let texts: Vec<String> = message.content.0.into_iter().map(|block| block.text.into_string()).collect();
        return out.add_text(EntryKind::Failure, texts.join("\n"), None, sink);
    }
    if message.model.as_str() == "<synthetic>" {
        return;
    }
    let id = message.id.non_empty().or(line.request_id.non_empty()).map_or_else(|| out.native_id.clone(), Into::into);
    if let Some(LenientObject(usage)) = message.usage {
        out.push(EventBody::Usage {
            message_id: id.clone(),
            tokens: Tokens {
                input: usage.input_tokens.count(),
                output: usage.output_tokens.count(),
                cache_read: usage.cache_read_input_tokens.count(),
                cache_write: usage.cache_creation_input_tokens.count(),
            },
            hour_write_tokens: usage.cache_creation.0.ephemeral_1h_input_tokens.count(),
            model: message.model.non_empty().map(Into::into),
            cost_usd: line.cost_usd.0,
        });
    }
    for block in message.content.0 {
        match block.kind.as_str() {
            "text" => out.add_text(EntryKind::AssistantText, block.text.into_string(), Some(&id), sink),
            "tool_use" | "server_tool_use" => out.add_call(block, &id, sink),
            "thinking" => out.add_reasoning(&block, sink),
            _ => {}
        }
    }
}

fn add_attachment(
    attachment: ClaudeAttachment<'_>,
    is_machines: bool,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    if attachment.kind.as_str() != "queued_command" {
        return;
    }
    let is_machines = is_machines
        || attachment.is_meta.0
        || !matches!(attachment.command_mode.as_str(), "" | "prompt")
        || !is_human(&attachment.origin.0);
    let texts: Vec<String> = attachment.prompt.0.into_iter().map(|block| block.text.into_string()).collect();
    if is_machines {
        add_injected_text(&texts, PromptDelivery::Inline, out, sink);
    } else if !texts.iter().all(|text| is_bare_command(text)) {
        add_typed_text(&texts, false, PromptDelivery::Inline, out, sink);
    }
}

fn add_queue_step(line: &ClaudeLine<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let texts: Vec<&str> = line.content.0.iter().map(|block| block.text.as_str()).collect();
    let named = classify_texts(&texts).map(|(_, text)| PromptOrigin::new(&text, PromptDelivery::Inline).fingerprint);
    let step = match line.operation.as_str() {
        "enqueue" => match classify_texts(&texts) {
            Some((EntryKind::Prompt, text)) if !is_bare_command(&text) => {
                let PromptOrigin { fingerprint, .. } = PromptOrigin::new(&text, PromptDelivery::Inline);
                let text = if sink.filter.keep_user_messages { sink.redact(text) } else { String::new() };
                QueueStep::Queued { text, fingerprint }
            }
            _ => QueueStep::QueuedOther,
        },
        "dequeue" => QueueStep::Sent(named),
        "remove" => QueueStep::SentMidTurn(named),
        "popAll" => QueueStep::Retracted,
        _ => return,
    };
    out.push(EventBody::Queue(step));
}

fn add_system(line: &ClaudeLine<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let text = line.content.0.first().map_or("", |block| block.text.as_str());
    match line.subtype.as_str() {
        "away_summary" => out.add_text(EntryKind::Recap, text.to_owned(), None, sink),
        "local_command" => {
            // Built-in commands never reach the model, so they are not prompts even with arguments.
            if let Some((EntryKind::Command | EntryKind::Prompt, text)) = user_text::classify(text) {
                out.add_text(EntryKind::Command, text, None, sink);
            }
        }
        _ => {}
    }
}

/// Whether a line's origin is a human or not specified.
fn is_human(origin: &ClaudeOrigin<'_>) -> bool {
    matches!(origin.kind.as_str(), "" | "human")
}

/// A slash command without arguments, a `!` command or a `#` note, as typed. None of them is a prompt.
fn is_bare_command(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(['!', '#']) || (text.starts_with('/') && !text.contains(char::is_whitespace))
}

/// The answers a human gave to the agent's questions, one per line, with the options that were not selected.
fn question_answers(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct QuestionAnswers {
        answers: serde_json::Map<String, serde_json::Value>,
        #[serde(default)]
        questions: serde_json::Value,
    }
    if raw.get().len() > MAX_ANSWER_BYTES || !raw.get().contains("\"answers\"") {
        return None;
    }
    let result: QuestionAnswers = serde_json::from_str(raw.get()).ok()?;
    let lines = result.answers.iter().map(|(question, answer)| match answer {
        serde_json::Value::String(answer) => {
            let others = options_not_selected(&result.questions, question, answer);
            let others = if others.is_empty() { String::new() } else { format!(" (not {})", others.join(", ")) };
            format!("{question} → {answer}{others}")
        }
        other => format!("{question} → {other}"),
    });
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}

/// The plan that a human approved, as a text of theirs.
fn approved_plan(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct ApprovedPlan {
        plan: String,
        /// A sub-agent's plan is approved by a model.
        #[serde(default, rename = "isAgent")]
        is_agent: bool,
    }
    if raw.get().len() > MAX_ANSWER_BYTES || !raw.get().starts_with("{\"plan\"") {
        return None;
    }
    let approved: ApprovedPlan =
        serde_json::from_str(raw.get()).ok().filter(|approved: &ApprovedPlan| !approved.is_agent)?;
    Some(format!("{APPROVED_PLAN}\n\n{}", approved.plan.trim()))
}

/// The other options of a question, if its answer is one of them; none if several may be selected.
fn options_not_selected<'v>(questions: &'v serde_json::Value, question: &str, answer: &str) -> Vec<&'v str> {
    let asked = questions.as_array().into_iter().flatten().find(|one| one["question"].as_str() == Some(question));
    let Some(asked) = asked.filter(|asked| asked["multiSelect"] != true) else { return Vec::new() };
    let options = asked["options"].as_array().into_iter().flatten();
    let (selected, others): (Vec<&str>, Vec<&str>) =
        options.filter_map(|option| option["label"].as_str()).partition(|label| *label == answer);
    if selected.is_empty() { Vec::new() } else { others }
}

/// Classifies the text blocks of one line together: system text is dropped, the rest becomes one text.
fn classify_texts(texts: &[&str]) -> Option<(EntryKind, String)> {
    let mut judged = texts.iter().filter_map(|text| user_text::classify(text));
    let (kind, first) = judged.next()?;
    let mut all = (kind, first);
    for (kind, text) in judged {
        match (all.0, kind) {
            // A prompt takes precedence over any other text on the line.
            (EntryKind::Prompt, EntryKind::Prompt) => {
                all.1.push('\n');
                all.1.push_str(&text);
            }
            (_, EntryKind::Prompt) => all = (kind, text),
            _ => {}
        }
    }
    Some(all)
}

/// Adds what a human typed, without the text that the agent added.
fn add_typed_text(
    texts: &[String],
    has_image: bool,
    way: PromptDelivery,
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match classify_texts(&texts) {
        // All user lines of a sub-agent are written by its parent model.
        Some((EntryKind::Prompt, text)) if matches!(out.scope, EventScope::Subagent { .. }) => {
            out.add_text(EntryKind::Task, text, None, sink);
        }
        Some((kind, text)) => out.add_text_with_delivery(kind, text, None, way, sink),
        None if has_image => out.add_text_with_delivery(EntryKind::Prompt, "[image]".to_owned(), None, way, sink),
        None => {}
    }
}

/// Adds text that a program put into the conversation, shortened to one line.
fn add_injected_text(texts: &[String], way: PromptDelivery, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let Some((kind, text)) = classify_texts(&texts) else { return };
    // The queue does not say who added a text. The fingerprint finds the item that turns out to be the program's.
    let origin = (kind == EntryKind::Prompt).then(|| PromptOrigin::new(&text, way));
    let kind = if kind == EntryKind::Prompt { EntryKind::Injected } else { kind };
    out.add_text_with_origin(kind, sink.machine_line(&text), origin, sink);
}

fn add_result(
    block: MessageBlock<'_>,
    answer: Option<String>,
    (kind, is_interrupted): (Option<ToolKind>, bool),
    out: &mut EventBuilder,
    sink: &mut TextSink<'_>,
) {
    let reason = rejection_reason(&block.content.head).map(str::to_owned);
    let is_approval = block.content.head.contains(PLAN_APPROVAL);
    let mut outcome = tool_outcome(block.content, block.is_error.0, kind, sink);
    // Any output can quote such words; only a rejection contains the user's own.
    let reason = reason.filter(|_| outcome.status == ToolStatus::Rejected);
    // Only the agent's own words say that a human approved a plan; other tools may return one too.
    let is_human = outcome.status == ToolStatus::Ok && is_approval && matches!(out.scope, EventScope::Main);
    let answer = answer.filter(|text| is_human || !text.starts_with(APPROVED_PLAN));
    // A text is cut after its secrets are removed, because a part of a secret is not recognized.
    let max_chars = if sink.reads_originals() { usize::MAX } else { MAX_ANSWER_CHARS };
    let answer = answer.or(reason).map(|text| clip(&sink.redact(text), max_chars).into_owned());
    if is_interrupted {
        outcome.summary = format!("{}, {INTERRUPTED}", outcome.summary);
    }
    out.push(EventBody::ToolResult { call_id: block.tool_use_id.into_string(), outcome, answer });
}

/// Reports the workspace of the session if it changed since the last report.
fn report_workspace(line: &ClaudeLine<'_>, known: &mut LastWorkspace, out: &mut EventBuilder) {
    let new = |value: &LenientText<'_>, known: &Option<String>| {
        value.clone().non_empty().filter(|value| known.as_deref() != Some(value)).map(String::from)
    };
    match &out.scope {
        EventScope::Main => {}
        // A sub-agent works where it started; only the first line of its conversation has the directory.
        EventScope::Subagent { parent_id: None, .. } => *known = (None, None),
        EventScope::Subagent { .. } => return,
    }
    let (cwd, branch) = (new(&line.cwd, &known.0), new(&line.git_branch, &known.1));
    if cwd.is_none() && branch.is_none() {
        return;
    }
    if out.scope == EventScope::Main {
        known.0 = cwd.clone().or(known.0.take());
        known.1 = branch.clone().or(known.1.take());
    }
    out.push(EventBody::Workspace { cwd, branch });
}
