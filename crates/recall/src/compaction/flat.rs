//! Writes messages as flat text, so that a model summarises the conversation and does not go on with it.

use std::borrow::Cow;

use rethread_model::thread::{ChatMessage, ChatRole};
use serde_json::Value;

use crate::pairs::{Call, calls};

/// Characters of a tool's result, or of one argument, that are worth reading for a summary.
const LONGEST: usize = 2_000;
/// Tags around what a model is given; nothing inside may close them.
const CLOSED_BY_US: [&str; 4] = ["conversation", "previous-summary", "transcript", "question"];

/// A message as a model reads it; empty if it has nothing that can be read.
pub(crate) fn flat(message: &ChatMessage) -> String {
    let text = message.text();
    match message.role {
        ChatRole::User if text.is_empty() => String::new(),
        ChatRole::User => format!("[User]: {text}"),
        ChatRole::ToolResult if text.is_empty() => "[Tool result]: (no text)".to_owned(),
        ChatRole::ToolResult => format!("[Tool result]: {}", shortened(&text, LONGEST)),
        ChatRole::Assistant => {
            let said = Some(format!("[Assistant]: {text}")).filter(|_| !text.is_empty());
            let calls: Vec<String> = calls(message).map(|call| written(&call)).collect();
            let called = Some(format!("[Assistant tool calls]: {}", calls.join("; "))).filter(|_| !calls.is_empty());
            said.into_iter().chain(called).collect::<Vec<_>>().join("\n")
        }
    }
}

/// At most that many characters from the beginning, with a note on how many were left out.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(most) else { return Cow::Borrowed(text) };
    Cow::Owned(format!("{}… [{} more characters left out]", &text[..end], text[end..].chars().count()))
}

/// About that many characters from both ends, with a note on how many were left out between them.
pub(crate) fn without_middle(text: &str, most: usize) -> Cow<'_, str> {
    let all = text.chars().count();
    if all <= most {
        return Cow::Borrowed(text);
    }
    let half = most / 2;
    let place = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
    let (end, start) = (place(half), place(all - half));
    let left_out = all - 2 * half;
    Cow::Owned(format!("{}… [{left_out} characters left out] …{}", &text[..end], &text[start..]))
}

/// The text with the closing tags of ours in it made harmless.
pub(crate) fn protected(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        let name = after.trim_start();
        let closes = |tag: &str| name.get(..tag.len()).is_some_and(|beginning| beginning.eq_ignore_ascii_case(tag));
        safe.push_str(before);
        safe.push_str(if CLOSED_BY_US.into_iter().any(closes) { "&lt;/" } else { "</" });
        rest = after;
    }
    safe.push_str(rest);
    safe
}

fn written(call: &Call<'_>) -> String {
    let argument = |(name, value): (&String, &Value)| format!("{name}={}", shortened(&value.to_string(), LONGEST));
    format!("{}({})", call.name, call.arguments.iter().map(argument).collect::<Vec<_>>().join(", "))
}
