//! Folds the model's messages of a session, for sessions without updates. They have no times and no statuses.

use rethread_model::EntryKind;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::parse::content::{ChatToolCall, MessageContent};
use crate::parse::folded::{ContentIds, FoldedPart, FoldedRecord, FoldedResult};
use crate::parse::lenient::{LenientObject, LenientText, parse_or_default};
use crate::parse::user_text::{tag_content, without_tags};

/// Context that Grok puts around a prompt.
const CONTEXT_TAGS: [&str; 5] = ["user_info", "git_status", "system-reminder", "agent_skills", "mcp_servers"];

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: LenientText<'a>,
    #[serde(borrow)]
    role: LenientText<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    summary: Option<&'a RawValue>,
    /// Why a program wrote it; an interjection is the user's.
    #[serde(borrow)]
    synthetic_reason: LenientText<'a>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: LenientText<'a>,
}

/// The conversation that a compaction left.
#[derive(Default, Deserialize)]
#[serde(default)]
struct CompactedChat<'a> {
    #[serde(borrow, alias = "compactedHistory")]
    compacted_history: Vec<LenientObject<ChatLine<'a>>>,
}

/// The summary in the file of a compaction: the last message in a user's place.
pub(super) fn checkpoint_summary(text: &str) -> Option<String> {
    let chat: CompactedChat<'_> = serde_json::from_str(text).ok()?;
    let is_users =
        |line: &&LenientObject<ChatLine<'_>>| line.0.kind.as_str() == "user" || line.0.role.as_str() == "user";
    let last = chat.compacted_history.iter().rev().find(is_users)?;
    Some(text_of(last.0.content)).filter(|text| !text.trim().is_empty())
}

pub(super) fn fold(text: &str) -> Vec<FoldedRecord> {
    let (mut ids, mut records) = (ContentIds::default(), Vec::new());
    for line in text.split_inclusive('\n') {
        match serde_json::from_str::<ChatLine<'_>>(line.trim()) {
            Ok(message) => records.push(FoldedRecord::new(ids.next(line.trim()), None, parts(&message))),
            Err(_) if line.ends_with('\n') && !line.trim().is_empty() => {
                records.push(FoldedRecord::unreadable(line.trim()));
            }
            Err(_) => {}
        }
    }
    records
}

fn parts(line: &ChatLine<'_>) -> Vec<FoldedPart> {
    let kind = if line.kind.as_str().is_empty() { line.role.as_str() } else { line.kind.as_str() };
    match kind {
        "user" => {
            let text = text_of(line.content);
            match line.synthetic_reason.as_str() {
                "" | "interjection" => vec![FoldedPart::Text(EntryKind::Prompt, user_words(&text))],
                reason if reason.starts_with("compaction") => vec![FoldedPart::Text(EntryKind::Summary, text)],
                _ => Vec::new(),
            }
        }
        "reasoning" => vec![FoldedPart::Text(EntryKind::Reasoning, text_of(line.summary.or(line.content)))],
        "assistant" => {
            let calls: Vec<LenientObject<ChatToolCall<'_>>> = parse_or_default(line.tool_calls);
            let answer = FoldedPart::Text(EntryKind::AssistantText, text_of(line.content));
            [answer].into_iter().chain(calls.into_iter().map(|call| call_part(call.0))).collect()
        }
        "tool_result" | "tool" => {
            let call = line.tool_call_id.as_str().to_owned();
            vec![FoldedPart::Result(FoldedResult { call, output: text_of(line.content), ..FoldedResult::default() })]
        }
        _ => Vec::new(),
    }
}

fn call_part(call: ChatToolCall<'_>) -> FoldedPart {
    let (id, called) = call.into_parts();
    let arguments = called.arguments.map_or("{}", RawValue::get);
    let quoted: Option<String> = serde_json::from_str(arguments).ok();
    FoldedPart::Call {
        id: id.into_string(),
        name: called.name.non_empty().map_or_else(|| "tool".to_owned(), Into::into),
        input: quoted.unwrap_or_else(|| arguments.to_owned()),
    }
}

fn text_of(content: Option<&RawValue>) -> String {
    let blocks: MessageContent<'_> = parse_or_default(content);
    blocks.0.iter().map(|block| block.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// What the user typed, without the context around it.
pub(super) fn user_words(text: &str) -> String {
    match tag_content(text, "user_query") {
        Some(query) => query.trim().to_owned(),
        None => without_tags(text, &CONTEXT_TAGS).trim().to_owned(),
    }
}
