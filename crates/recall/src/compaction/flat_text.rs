//! Renders messages as flat text, so that a model summarizes the conversation instead of continuing it.

use std::borrow::Cow;

use rethread_model::thread::{ChatMessage, ChatRole};
use serde_json::Value;

use crate::pairs::{ToolCallRef, tool_calls};

/// Maximum length of a tool result or argument in the summary input, in characters.
const MAX_CHARS: usize = 2_000;
/// Tags that wrap text given to a model. The text inside must not be able to close them.
const OUR_TAGS: [&str; 4] = ["conversation", "previous-summary", "transcript", "question"];

/// Renders a message; empty if it has no readable content.
pub(crate) fn flatten_message(message: &ChatMessage) -> String {
    let text = message.text();
    match message.role {
        ChatRole::User if text.is_empty() => String::new(),
        ChatRole::User => format!("[User]: {text}"),
        ChatRole::ToolResult if text.is_empty() => "[Tool result]: (no text)".to_owned(),
        ChatRole::ToolResult => format!("[Tool result]: {}", clip_end(&text, MAX_CHARS)),
        ChatRole::Assistant => {
            let text_line = Some(format!("[Assistant]: {text}")).filter(|_| !text.is_empty());
            let calls: Vec<String> = tool_calls(message).map(|call| format_call(&call)).collect();
            let called = Some(format!("[Assistant tool calls]: {}", calls.join("; "))).filter(|_| !calls.is_empty());
            text_line.into_iter().chain(called).collect::<Vec<_>>().join("\n")
        }
    }
}

/// At most `max_chars` characters from the start, with a note on how many were left out.
pub(crate) fn clip_end(text: &str, max_chars: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(max_chars) else { return Cow::Borrowed(text) };
    Cow::Owned(format!("{}… [{} more characters left out]", &text[..end], text[end..].chars().count()))
}

/// About `max_chars` characters from both ends, with a note on how many were left out in the middle.
pub(crate) fn clip_middle(text: &str, max_chars: usize) -> Cow<'_, str> {
    let all = text.chars().count();
    if all <= max_chars {
        return Cow::Borrowed(text);
    }
    let half = max_chars / 2;
    let place = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
    let (end, start) = (place(half), place(all - half));
    let left_out = all - 2 * half;
    Cow::Owned(format!("{}… [{left_out} characters left out] …{}", &text[..end], &text[start..]))
}

/// Escapes closing tags that would end one of [`OUR_TAGS`].
pub(crate) fn escape_closing_tags(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let name = after.trim_start();
        let closes = |tag: &str| name.get(..tag.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(tag));
        safe.push_str(before);
        safe.push_str(if OUR_TAGS.into_iter().any(closes) { "&lt;/" } else { "</" });
        rest = after;
    }
    safe.push_str(rest);
    safe
}

fn format_call(call: &ToolCallRef<'_>) -> String {
    let argument = |(name, value): (&String, &Value)| format!("{name}={}", clip_end(&value.to_string(), MAX_CHARS));
    format!("{}({})", call.name, call.arguments.iter().map(argument).collect::<Vec<_>>().join(", "))
}
