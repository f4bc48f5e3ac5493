//! Parses Cursor's messages: lines of a transcript, and the richer ones in the CLI's database.

use rethread_model::{EntryKind, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;
use xxhash_rust::xxh3::xxh3_64;

use super::user_query::{sent_at, typed_text};
use crate::parse::content::MeasuredResult;
use crate::parse::event_builder::EventBuilder;
use crate::parse::lenient::{LenientBool, LenientObject, LenientText, LenientTimestamp, parse_or_default};
use crate::parse::outcome::outcome_with_code;
use crate::parse::{ParseContext, TextSink, tool_kind};
use crate::{EventBody, SessionHeader, TitleRank, TranscriptEvent};

/// In place of reasoning that the model's provider does not show.
const REDACTED: &str = "[REDACTED]";
/// Before the exit code in the result of a command.
const EXIT_CODE_MARK: &str = "Exit code: ";
/// The name of a session that has none yet.
const NO_TITLE: &str = "New Agent";
/// In the error of a turn that the user stopped.
const ABORTED: &str = "abort";

/// A line, or a record of the database.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CursorLine<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    id: LenientText<'a>,
    #[serde(borrow)]
    role: LenientText<'a>,
    timestamp: LenientTimestamp,
    #[serde(borrow)]
    message: LenientObject<CursorMessage<'a>>,
    #[serde(borrow)]
    status: LenientText<'a>,
    #[serde(borrow)]
    error: LenientText<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CursorMessage<'a> {
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    provider_options: LenientObject<MessageOptions<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageOptions<'a> {
    #[serde(borrow)]
    cursor: LenientObject<CursorOptions<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CursorOptions<'a> {
    is_summary: LenientBool,
    #[serde(borrow)]
    high_level_tool_call_result: LenientObject<CursorReport<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CursorReport<'a> {
    is_error: LenientBool,
    #[serde(borrow)]
    output: Option<&'a RawValue>,
}

/// The field that is set says how the call ended.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ReportedOutput<'a> {
    #[serde(borrow)]
    failure: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    rejected: Option<&'a RawValue>,
}

/// A part of a message. The database spells the names in another way than the lines.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CursorBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: LenientText<'a>,
    #[serde(borrow)]
    text: LenientText<'a>,
    #[serde(borrow, alias = "toolCallId", alias = "tool_use_id")]
    id: LenientText<'a>,
    #[serde(borrow, alias = "toolName")]
    name: LenientText<'a>,
    #[serde(borrow, alias = "args")]
    input: Option<&'a RawValue>,
    #[serde(borrow, alias = "content")]
    result: Option<&'a RawValue>,
    is_error: LenientBool,
}

/// What is known about a session as a whole.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CursorHeader<'a> {
    #[serde(borrow)]
    cwd: LenientText<'a>,
    #[serde(borrow)]
    branch: LenientText<'a>,
    #[serde(borrow)]
    title: LenientText<'a>,
    #[serde(borrow)]
    model: LenientText<'a>,
    timestamp: LenientTimestamp,
    updated_at: LenientTimestamp,
}

/// All events of a line, a record or a header.
pub(super) fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return header_events(text, context);
    }
    let line: CursorLine<'_> = serde_json::from_str(text)?;
    // Two lines may be the same, so the place is part of the id.
    let id = line.id.non_empty().map_or_else(
        || format!("{}-{:016x}", context.location.line, xxh3_64(text.as_bytes())),
        |id| id.replace(':', "-"),
    );
    let message = line.message.0;
    let content = MessageBlocks::new(message.content);
    let at = line.timestamp.0.or_else(|| content.0.iter().find_map(|block| sent_at(block.text.as_str())));
    let mut out = EventBuilder::new(context.location, at, id);
    let is_task = context.is_subagent();
    let sink = &mut context.sink;
    let options = message.provider_options.0.cursor.0;
    let role = if line.role.as_str().is_empty() { message.role } else { line.role };
    match (role.as_str(), line.kind.as_str()) {
        ("user", _) if options.is_summary.0 => out.add_text(EntryKind::Summary, content.text(), None, sink),
        ("user" | "tool", _) => {
            if role.as_str() == "user" {
                let kind = if is_task { EntryKind::Task } else { EntryKind::Prompt };
                out.add_text(kind, content.typed(), None, sink);
            }
            let report = options.high_level_tool_call_result.0;
            content.0.into_iter().for_each(|block| add_result(block, &report, &mut out, sink));
        }
        ("assistant", _) => add_answer(content, &mut out, sink),
        (_, "turn_ended") if line.status.as_str() == "error" => add_failure(line.error.into_string(), &mut out, sink),
        _ => {}
    }
    Ok(out.events)
}

fn header_events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    let header: CursorHeader<'_> = serde_json::from_str(text)?;
    let mut out = EventBuilder::new(context.location, header.timestamp.0, "session".to_owned());
    let cwd = header.cwd.non_empty().map(Into::into);
    out.push(EventBody::Header(SessionHeader { cwd, ..SessionHeader::default() }));
    out.push(EventBody::Workspace { cwd: None, branch: header.branch.non_empty().map(Into::into) });
    if header.title.as_str() != NO_TITLE {
        out.add_title(TitleRank::Generated, header.title, None, &mut context.sink);
    }
    if let Some(model) = header.model.non_empty() {
        out.push(EventBody::Usage {
            message_id: "session".to_owned(),
            tokens: Tokens::default(),
            hour_write_tokens: 0,
            model: Some(model.into()),
            cost_usd: None,
        });
    }
    // Most messages have no time.
    let mut end = EventBuilder::new(context.location, header.updated_at.0, "session".to_owned());
    end.push(EventBody::Header(SessionHeader::default()));
    Ok(out.events.into_iter().chain(end.events).collect())
}

struct MessageBlocks<'a>(Vec<CursorBlock<'a>>);

impl<'a> MessageBlocks<'a> {
    /// The blocks of a list, or one block with the text of a string.
    fn new(content: Option<&'a RawValue>) -> Self {
        let list: Option<Vec<&RawValue>> = content.and_then(|content| serde_json::from_str(content.get()).ok());
        let Some(list) = list else {
            let text = LenientText(
                content.and_then(|content| serde_json::from_str::<String>(content.get()).ok()).map(Into::into),
            );
            return Self(vec![CursorBlock { kind: LenientText(Some("text".into())), text, ..CursorBlock::default() }]);
        };
        Self(list.into_iter().filter_map(|block| serde_json::from_str(block.get()).ok()).collect())
    }

    fn text(&self) -> String {
        let texts = self.0.iter().filter(|block| block.kind.as_str() == "text").map(|block| block.text.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// What a human typed in a message: the blocks with context are left out.
    fn typed(&self) -> String {
        let texts = self.0.iter().map(|block| match block.kind.as_str() {
            "text" => typed_text(block.text.as_str()),
            "image" => "[image]".to_owned(),
            _ => String::new(),
        });
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

fn add_answer(content: MessageBlocks<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    let id = out.native_id.clone();
    for block in content.0 {
        match block.kind.as_str() {
            "text" => {
                let lines = block.text.as_str().lines().filter(|line| line.trim() != REDACTED);
                let text = lines.collect::<Vec<_>>().join("\n");
                out.add_text(EntryKind::AssistantText, text.trim().to_owned(), Some(&id), sink);
            }
            "reasoning" | "thinking" if sink.filter.keep_reasoning => {
                out.add_text(EntryKind::Reasoning, block.text.into_string(), None, sink);
            }
            "tool_use" | "tool-call" => out.add_tool_call(block.id, block.name.as_str(), block.input, &id, sink),
            "tool_result" | "tool-result" => add_result(block, &CursorReport::default(), out, sink),
            _ => {}
        }
    }
}

fn add_result(block: CursorBlock<'_>, report: &CursorReport<'_>, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    if !matches!(block.kind.as_str(), "tool_result" | "tool-result") {
        return;
    }
    let output: ReportedOutput<'_> = parse_or_default(report.output);
    let is_rejected = output.rejected.is_some();
    let has_failed = output.failure.is_some() || output.error.is_some() || is_rejected;
    let is_error = block.is_error.0 || report.is_error.0 || has_failed;
    let measured: MeasuredResult =
        if is_rejected { MeasuredResult::from_text("User rejected the call") } else { parse_or_default(block.result) };
    let code = exit_code(&measured.head);
    let kind = tool_kind(block.name.as_str());
    let outcome = outcome_with_code(measured, is_error, code, Some(kind), sink);
    out.push(EventBody::ToolResult { call_id: block.id.into_string(), outcome, answer: None });
}

/// The exit code in the first line of a command's result.
fn exit_code(text: &str) -> Option<i32> {
    text.lines().next()?.strip_prefix(EXIT_CODE_MARK)?.trim().parse().ok()
}

fn add_failure(error: String, out: &mut EventBuilder, sink: &mut TextSink<'_>) {
    if error.to_ascii_lowercase().contains(ABORTED) {
        out.add_interruption(sink);
    } else {
        out.add_text(EntryKind::Failure, error, None, sink);
    }
}
