//! Lines of Claude Code transcripts, versions 1.0 to 2.1 and whatever comes after.

use rethread_model::{Place, Speech, Status, Tokens, ToolKind, clip, one_line};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::facts::INTERRUPTED;

use super::content::{Block, Content};
use super::loose::{Flag, Number, Object, Text};
use super::out::Out;
use super::outcome::{outcome, reason_for_refusing};
use super::{EntryWay, Event, QueueStep, Scribe, TitleRank, Typed, Voice, What, human, id_by_content};

/// Notices and injected texts are kept as one short line.
const ASIDE_CHARS: usize = 300;
/// How compaction summaries begin, for versions that do not flag them.
const SUMMARY_BEGINNING: &str = "This session is being continued from a previous conversation";
/// Results larger than this are not searched for a human's answers.
const ANSWER_BYTES: usize = 256 * 1024;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    subtype: Text<'a>,
    #[serde(borrow)]
    uuid: Text<'a>,
    #[serde(borrow)]
    parent_uuid: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow)]
    git_branch: Text<'a>,
    #[serde(borrow)]
    agent_id: Text<'a>,
    is_sidechain: Flag,
    is_meta: Flag,
    is_compact_summary: Flag,
    is_api_error_message: Flag,
    is_visible_in_transcript_only: Flag,
    #[serde(borrow)]
    prompt_source: Text<'a>,
    #[serde(borrow, rename = "sourceToolUseID")]
    source_tool_use_id: Text<'a>,
    #[serde(borrow)]
    message: Object<Message<'a>>,
    #[serde(borrow)]
    request_id: Text<'a>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
    #[serde(rename = "costUSD")]
    cost_usd: Number,
    #[serde(borrow)]
    origin: Object<Origin<'a>>,
    #[serde(borrow)]
    forked_from: Object<ForkedFrom<'a>>,
    #[serde(borrow)]
    attachment: Object<Attachment<'a>>,
    #[serde(borrow)]
    operation: Text<'a>,
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(borrow)]
    custom_title: Text<'a>,
    #[serde(borrow)]
    ai_title: Text<'a>,
    #[serde(borrow)]
    last_prompt: Text<'a>,
    #[serde(borrow)]
    summary: Text<'a>,
    #[serde(borrow)]
    leaf_uuid: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Message<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    model: Text<'a>,
    #[serde(borrow)]
    content: Content<'a>,
    usage: Option<Object<Usage>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_field_names, reason = "the names are those of the wire")]
struct Usage {
    input_tokens: Number,
    output_tokens: Number,
    cache_read_input_tokens: Number,
    cache_creation_input_tokens: Number,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Origin<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ForkedFrom<'a> {
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    message_uuid: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Attachment<'a> {
    #[serde(rename = "type", borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    prompt: Content<'a>,
    #[serde(borrow)]
    command_mode: Text<'a>,
    #[serde(borrow)]
    origin: Object<Origin<'a>>,
    is_meta: Flag,
}

/// All events of one line. `known` is the surroundings last reported, so that they are not repeated on every line.
pub(super) fn events(
    text: &str,
    place: Place,
    scribe: &mut Scribe<'_>,
    known: &mut (Option<String>, Option<String>),
) -> Result<Vec<Event>, serde_json::Error> {
    let mut line: Line<'_> = serde_json::from_str(text)?;
    let native_id = line.uuid.0.take().map_or_else(|| id_by_content(text), Into::into);
    let mut out = Out::new(place, line.timestamp.as_str().parse().ok(), native_id);
    out.copy_of = line.forked_from.0.message_uuid.0.take().map(Into::into);
    out.copied_from = line.forked_from.0.session_id.0.take().map(Into::into);
    out.voice = voice(&mut line);
    surroundings(&line, known, &mut out);
    match line.kind.as_str() {
        "user" => user(line, &mut out, scribe),
        "assistant" => assistant(line, &mut out, scribe),
        "attachment" => {
            let machine = line.is_meta.0 || !is_human(&line.origin.0);
            attachment(line.attachment.0, machine, &mut out, scribe);
        }
        "queue-operation" => queue(&line, &mut out, scribe),
        "system" => system(&line, &mut out, scribe),
        "custom-title" => out.title(TitleRank::Custom, line.custom_title, None, scribe),
        "ai-title" => out.title(TitleRank::Generated, line.ai_title, None, scribe),
        "last-prompt" => out.title(TitleRank::LastPrompt, line.last_prompt, None, scribe),
        "summary" => out.title(TitleRank::Summary, line.summary, line.leaf_uuid.filled().map(Into::into), scribe),
        // Progress, snapshots, permission modes and types yet to be invented say nothing about the conversation.
        _ => {}
    }
    Ok(out.events)
}

fn voice(line: &mut Line<'_>) -> Voice {
    if line.is_sidechain.0 {
        let agent_id = line.agent_id.0.take().map(Into::into);
        Voice::Side { agent_id, parent: line.parent_uuid.0.take().map(Into::into) }
    } else {
        Voice::Main
    }
}

fn user(line: Line<'_>, out: &mut Out, scribe: &mut Scribe<'_>) {
    let mut human_text: Vec<String> = Vec::new();
    let (mut has_result, mut has_image) = (false, false);
    let answers = line.tool_use_result.and_then(answers);
    // Only commands have a standard output; the line says no more about whose result it is.
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
                result(block, answers.clone(), (kind, is_interrupted), out, scribe);
            }
            _ => {}
        }
    }
    let is_summary = human_text.first().is_some_and(|text| text.starts_with(SUMMARY_BEGINNING));
    if line.is_compact_summary.0 || is_summary {
        return out.text(Speech::Summary, human_text.join("\n"), None, scribe);
    }
    // A tool's result whose block is missing: what is left on the line is no human's.
    let is_broken_result = !has_result && line.tool_use_result.is_some();
    // A tool may put text into the conversation on a line of its own, such as a skill's instructions.
    let is_tools_own = !has_result && line.source_tool_use_id.0.is_some();
    let is_machines = line.is_meta.0
        || line.is_visible_in_transcript_only.0
        || line.prompt_source.as_str() == "system"
        || !is_human(&line.origin.0);
    if is_machines || is_broken_result || is_tools_own {
        return aside(&human_text, out, scribe);
    }
    if has_result {
        // Texts beside results were typed one by one.
        for text in human_text {
            typed(&[text], false, EntryWay::Aside, out, scribe);
        }
    } else {
        typed(&human_text, has_image, EntryWay::Line, out, scribe);
    }
}

fn assistant(line: Line<'_>, out: &mut Out, scribe: &mut Scribe<'_>) {
    let message = line.message.0;
    if line.is_api_error_message.0 {
        let texts: Vec<String> = message.content.0.into_iter().map(|block| block.text.into_string()).collect();
        return out.text(Speech::Failure, texts.join("\n"), None, scribe);
    }
    if message.model.as_str() == "<synthetic>" {
        return;
    }
    let id = message.id.filled().or(line.request_id.filled()).map_or_else(|| out.native_id.clone(), Into::into);
    if let Some(Object(usage)) = message.usage {
        out.push(What::Usage {
            message: id.clone(),
            tokens: Tokens {
                input: usage.input_tokens.count(),
                output: usage.output_tokens.count(),
                cache_read: usage.cache_read_input_tokens.count(),
                cache_write: usage.cache_creation_input_tokens.count(),
            },
            model: message.model.filled().map(Into::into),
            cost_usd: line.cost_usd.0,
        });
    }
    for block in message.content.0 {
        match block.kind.as_str() {
            "text" => out.text(Speech::Said, block.text.into_string(), Some(&id), scribe),
            "tool_use" | "server_tool_use" => out.call(block, &id, scribe),
            "thinking" => out.reasoning(&block, scribe),
            _ => {}
        }
    }
}

fn attachment(attachment: Attachment<'_>, machine: bool, out: &mut Out, scribe: &mut Scribe<'_>) {
    if attachment.kind.as_str() != "queued_command" {
        return;
    }
    let machine = machine
        || attachment.is_meta.0
        || !matches!(attachment.command_mode.as_str(), "" | "prompt")
        || !is_human(&attachment.origin.0);
    let texts: Vec<String> = attachment.prompt.0.into_iter().map(|block| block.text.into_string()).collect();
    if machine {
        aside(&texts, out, scribe);
    } else if !texts.iter().all(|text| is_bare_command(text)) {
        typed(&texts, false, EntryWay::Aside, out, scribe);
    }
}

fn queue(line: &Line<'_>, out: &mut Out, scribe: &mut Scribe<'_>) {
    let texts: Vec<&str> = line.content.0.iter().map(|block| block.text.as_str()).collect();
    let named = typed_text(&texts).map(|(_, text)| Typed::new(&text, EntryWay::Aside).fingerprint);
    let step = match line.operation.as_str() {
        "enqueue" => match typed_text(&texts) {
            Some((Speech::Prompt, text)) if !is_bare_command(&text) => {
                let Typed { fingerprint, .. } = Typed::new(&text, EntryWay::Aside);
                let text = if scribe.filter.keep_user_messages { scribe.clean(text) } else { String::new() };
                QueueStep::Typed { text, fingerprint }
            }
            _ => QueueStep::Filled,
        },
        "dequeue" => QueueStep::Sent(named),
        "remove" => QueueStep::Slipped(named),
        "popAll" => QueueStep::TakenBack,
        _ => return,
    };
    out.push(What::Queue(step));
}

fn system(line: &Line<'_>, out: &mut Out, scribe: &mut Scribe<'_>) {
    let text = line.content.0.first().map_or("", |block| block.text.as_str());
    match line.subtype.as_str() {
        "away_summary" => out.text(Speech::Recap, text.to_owned(), None, scribe),
        "local_command" => {
            // Built-in commands never reach the model, so even with arguments they are no prompts.
            if let Some((Speech::Command | Speech::Prompt, text)) = human::judge(text) {
                out.text(Speech::Command, text, None, scribe);
            }
        }
        _ => {}
    }
}

/// Whether a line's origin is a human, or is not given.
fn is_human(origin: &Origin<'_>) -> bool {
    matches!(origin.kind.as_str(), "" | "human")
}

/// Typed as it is: a slash command without arguments, a `!` command or a `#` note. None of them is a prompt.
fn is_bare_command(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(['!', '#']) || (text.starts_with('/') && !text.contains(char::is_whitespace))
}

/// The answers a human gave to the agent's questions, one per line.
fn answers(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Asked {
        answers: serde_json::Map<String, serde_json::Value>,
    }
    if raw.get().len() > ANSWER_BYTES || !raw.get().contains("\"answers\"") {
        return None;
    }
    let asked: Asked = serde_json::from_str(raw.get()).ok()?;
    let lines = asked.answers.iter().map(|(question, answer)| match answer {
        serde_json::Value::String(answer) => format!("{question} → {answer}"),
        other => format!("{question} → {other}"),
    });
    Some(lines.collect::<Vec<_>>().join("\n")).filter(|text| !text.is_empty())
}

/// Judges the text blocks of one line together: machine parts fall away, what is left is one text.
fn typed_text(texts: &[&str]) -> Option<(Speech, String)> {
    let mut judged = texts.iter().filter_map(|text| human::judge(text));
    let (speech, first) = judged.next()?;
    let mut all = (speech, first);
    for (speech, text) in judged {
        match (all.0, speech) {
            // A prompt outweighs whatever else stands on the line.
            (Speech::Prompt, Speech::Prompt) => {
                all.1.push('\n');
                all.1.push_str(&text);
            }
            (_, Speech::Prompt) => all = (speech, text),
            _ => {}
        }
    }
    Some(all)
}

/// What a human typed, after the machine's parts are gone.
fn typed(texts: &[String], has_image: bool, way: EntryWay, out: &mut Out, scribe: &mut Scribe<'_>) {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    match typed_text(&texts) {
        // The first user line of a sub-agent was written by its parent model, and so were all the others.
        Some((Speech::Prompt, text)) if matches!(out.voice, Voice::Side { .. }) => {
            out.text(Speech::Task, text, None, scribe);
        }
        Some((speech, text)) => out.text_by(speech, text, None, way, scribe),
        None if has_image => out.text_by(Speech::Prompt, "[image]".to_owned(), None, way, scribe),
        None => {}
    }
}

/// Text that a machine put into the conversation: one short line on it.
fn aside(texts: &[String], out: &mut Out, scribe: &mut Scribe<'_>) {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    if let Some((speech, text)) = typed_text(&texts) {
        let speech = if speech == Speech::Prompt { Speech::Injected } else { speech };
        let text = scribe.clean(one_line(&text));
        out.text(speech, clip(&text, ASIDE_CHARS).into_owned(), None, scribe);
    }
}

fn result(
    block: Block<'_>,
    answer: Option<String>,
    (kind, is_interrupted): (Option<ToolKind>, bool),
    out: &mut Out,
    scribe: &mut Scribe<'_>,
) {
    let said = reason_for_refusing(&block.content.head).map(str::to_owned);
    let mut outcome = outcome(block.content, block.is_error.0, kind, scribe);
    // Anybody's output may quote such words; only a refusal holds the user's own.
    let said = said.filter(|_| outcome.status == Status::Rejected);
    let answer = answer.or(said).map(|text| scribe.clean(text));
    if is_interrupted {
        outcome.summary = format!("{}, {INTERRUPTED}", outcome.summary);
    }
    out.push(What::Result { call: block.tool_use_id.into_string(), outcome, answer });
}

/// Where the session works, when that differs from what was last reported.
fn surroundings(line: &Line<'_>, known: &mut (Option<String>, Option<String>), out: &mut Out) {
    let new = |value: &Text<'_>, known: &Option<String>| {
        value.clone().filled().filter(|value| known.as_deref() != Some(value)).map(String::from)
    };
    match &out.voice {
        Voice::Main => {}
        // A sub-agent works where it began; only the first line of its conversation says so.
        Voice::Side { parent: None, .. } => *known = (None, None),
        Voice::Side { .. } => return,
    }
    let (cwd, branch) = (new(&line.cwd, &known.0), new(&line.git_branch, &known.1));
    if cwd.is_none() && branch.is_none() {
        return;
    }
    if out.voice == Voice::Main {
        known.0 = cwd.clone().or(known.0.take());
        known.1 = branch.clone().or(known.1.take());
    }
    out.push(What::Surroundings { cwd, branch });
}
