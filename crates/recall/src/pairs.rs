//! Pairs tool calls with their results as providers require: each call is followed by exactly one result.

use rethread_model::thread::{ChatMessage, ChatRole, ContentBlock};
use rustc_hash::FxHashMap;

/// Result text for a call that was canceled or whose process ended.
const MISSING_RESULT_TEXT: &str = "No result was recorded for this call.";

/// Moves each result directly after the message with its call, in call order. Drops results without a call, duplicate
/// results and empty answers. Calls without a result get a placeholder.
pub fn pair_tool_results(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let answers = result_indexes(&messages);
    let mut messages: Vec<Option<ChatMessage>> = messages.into_iter().map(Some).collect();
    let mut paired = Vec::with_capacity(messages.len());
    for (at, answers) in answers.into_iter().enumerate() {
        let is_text = |message: &ChatMessage| match message.role {
            ChatRole::User => true,
            ChatRole::Assistant => !answers.is_empty() || !message.text().trim().is_empty(),
            ChatRole::ToolResult => false,
        };
        // A result stays in place until its call takes it.
        let Some(message) = messages[at].take_if(|message| is_text(message)) else { continue };
        let results: Vec<ChatMessage> = tool_calls(&message)
            .zip(answers)
            .map(|(call, answer)| answer.and_then(|at| messages[at].take()).unwrap_or_else(|| missing_result(&call)))
            .collect();
        paired.push(message);
        paired.extend(results);
    }
    paired
}

/// A tool call inside a message.
pub(crate) struct ToolCallRef<'a> {
    /// Id assigned by the model; not unique in a thread.
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a serde_json::Map<String, serde_json::Value>,
}

/// The tool calls of a message; only assistant messages have any.
pub(crate) fn tool_calls(message: &ChatMessage) -> impl Iterator<Item = ToolCallRef<'_>> {
    let content = if message.role == ChatRole::Assistant { &message.content[..] } else { &[] };
    content.iter().filter_map(|block| match block {
        ContentBlock::ToolCall { id, name, arguments } => Some(ToolCallRef { id, name, arguments }),
        _ => None,
    })
}

/// For each message and each of its calls: the index of the result, if there is one.
///
/// A result belongs to the nearest earlier call with its id, because some models restart their ids in every answer.
pub(crate) fn result_indexes(messages: &[ChatMessage]) -> Vec<Vec<Option<usize>>> {
    let mut callers: FxHashMap<&str, usize> = FxHashMap::default();
    let mut answers: Vec<Vec<Option<usize>>> = vec![Vec::new(); messages.len()];
    for (at, message) in messages.iter().enumerate() {
        for call in tool_calls(message) {
            callers.insert(call.id, at);
            answers[at].push(None);
        }
        let answered = message.tool_call_id.as_deref().filter(|_| message.role == ChatRole::ToolResult);
        let Some((id, caller)) = answered.and_then(|id| Some((id, *callers.get(id)?))) else { continue };
        let open = tool_calls(&messages[caller])
            .zip(&mut answers[caller])
            .find(|(call, slot)| call.id == id && slot.is_none());
        if let Some((_, slot)) = open {
            *slot = Some(at);
        }
    }
    answers
}

fn missing_result(call: &ToolCallRef<'_>) -> ChatMessage {
    ChatMessage {
        role: ChatRole::ToolResult,
        content: vec![ContentBlock::text(MISSING_RESULT_TEXT)],
        tool_call_id: Some(call.id.to_owned()),
        tool_name: Some(call.name.to_owned()),
        is_error: true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Parses a sketch: `u` user, `a` answer with text, `e` empty answer, `a:1,2` answer with calls, `r:1` result.
    fn message(rendered: &str) -> ChatMessage {
        let (kind, ids) = rendered.split_once(':').unwrap_or((rendered, ""));
        let call = |id: &str| ContentBlock::ToolCall {
            id: id.to_owned(),
            name: "bash".to_owned(),
            arguments: serde_json::Map::new(),
        };
        match kind {
            "u" => ChatMessage::user("hi"),
            "r" => ChatMessage {
                tool_call_id: Some(ids.to_owned()),
                ..ChatMessage::new(ChatRole::ToolResult, vec![ContentBlock::text("out")])
            },
            "e" => ChatMessage::new(ChatRole::Assistant, vec![ContentBlock::text(" ")]),
            _ => {
                let calls = ids.split(',').filter(|id| !id.is_empty()).map(call);
                ChatMessage::new(ChatRole::Assistant, [ContentBlock::text("ok")].into_iter().chain(calls).collect())
            }
        }
    }

    fn rendered(message: &ChatMessage) -> String {
        match (message.role, &message.tool_call_id) {
            (ChatRole::User, _) => "u".to_owned(),
            (ChatRole::ToolResult, id) => {
                let kind = if message.is_error { "missing" } else { "r" };
                format!("{kind}:{}", id.as_deref().unwrap_or_default())
            }
            (ChatRole::Assistant, _) => {
                let ids: Vec<&str> = tool_calls(message).map(|call| call.id).collect();
                if ids.is_empty() { "a".to_owned() } else { format!("a:{}", ids.join(",")) }
            }
        }
    }

    fn check(given: &str, expect: &str) {
        let paired = pair_tool_results(given.split(' ').map(message).collect());
        assert_eq!(paired.iter().map(rendered).collect::<Vec<_>>().join(" "), expect, "{given}");
    }

    #[test]
    fn results_directly_follow_their_calls() {
        // L004-07
        check("u a:1 r:1 a", "u a:1 r:1 a");
        check("u a:1,2 r:2 u r:1 a", "u a:1,2 r:1 r:2 u a");
        check("a:1 a:2 r:1 r:2", "a:1 r:1 a:2 r:2");
    }

    #[test]
    fn unmatched_results_are_dropped_and_missing_ones_filled_in() {
        check("r:9 u r:1 a:1", "u a:1 missing:1");
        check("u a:1,2 r:2", "u a:1,2 missing:1 r:2");
        check("a:1 r:1 r:1 u", "a:1 r:1 u");
        check("u e u", "u u");
    }

    #[test]
    fn a_reused_id_belongs_to_the_nearest_call() {
        check("a:0 r:0 a:0 r:0", "a:0 r:0 a:0 r:0");
        check("a:0 a:0 r:0 r:0", "a:0 missing:0 a:0 r:0");
        check("a:0,0 r:0 r:0", "a:0,0 r:0 r:0");
    }

    #[test]
    fn a_missing_result_gets_a_placeholder() {
        let paired = pair_tool_results(vec![message("a:7")]);
        assert_eq!(paired[1].text(), "No result was recorded for this call.");
        assert_eq!(paired[1].tool_name.as_deref(), Some("bash"));
        assert!(paired[1].is_error);
    }

    /// Every call is followed by its result, and there are no other results.
    fn is_well_paired(messages: &[ChatMessage]) -> bool {
        let mut due: Vec<&str> = Vec::new();
        for message in messages {
            if message.role == ChatRole::ToolResult {
                if due.is_empty() || Some(due.remove(0)) != message.tool_call_id.as_deref() {
                    return false;
                }
                continue;
            }
            if !due.is_empty() {
                return false;
            }
            due = tool_calls(message).map(|call| call.id).collect();
        }
        due.is_empty()
    }

    proptest! {
        #[test]
        fn pairing_any_messages_is_valid_and_idempotent(
            given in proptest::collection::vec("u|e|a|a:[0-4]|a:[0-4],[0-4]|r:[0-5]", 0..16)
        ) {
            let once = pair_tool_results(given.iter().map(|rendered| message(rendered)).collect());
            prop_assert!(is_well_paired(&once), "{:?}", once.iter().map(rendered).collect::<Vec<_>>());
            prop_assert_eq!(pair_tool_results(once.clone()), once);
        }
    }
}
