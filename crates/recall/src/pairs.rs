//! Pairs tool calls with their results, the way providers demand it: each call is answered at once, and only once.

use rethread_model::thread::{Block, ChatMessage, ChatRole};
use rustc_hash::FxHashMap;

/// What stands for the result of a call that was cancelled, or whose process ended.
const NO_RESULT: &str = "No result was recorded for this call.";

/// Puts each result directly behind the message with its call, in the order of the calls. Results without a call,
/// second results and answers that say nothing are left out; calls without a result get one that says so.
pub fn pair_up(messages: Vec<ChatMessage>) -> Vec<ChatMessage> {
    let answers = answers(&messages);
    let mut messages: Vec<Option<ChatMessage>> = messages.into_iter().map(Some).collect();
    let mut paired = Vec::with_capacity(messages.len());
    for (at, answers) in answers.into_iter().enumerate() {
        let says = |message: &ChatMessage| match message.role {
            ChatRole::User => true,
            ChatRole::Assistant => !answers.is_empty() || !message.text().trim().is_empty(),
            ChatRole::ToolResult => false,
        };
        // A result stays where it is until its call fetches it.
        let Some(message) = messages[at].take_if(|message| says(message)) else { continue };
        let results: Vec<ChatMessage> = calls(&message)
            .zip(answers)
            .map(|(call, answer)| answer.and_then(|at| messages[at].take()).unwrap_or_else(|| no_result(&call)))
            .collect();
        paired.push(message);
        paired.extend(results);
    }
    paired
}

/// A tool call of a message.
pub(crate) struct Call<'a> {
    /// The model's own id of it.
    pub(crate) id: &'a str,
    /// The tool.
    pub(crate) name: &'a str,
    /// What it is called with.
    pub(crate) arguments: &'a serde_json::Map<String, serde_json::Value>,
}

/// The calls of a message. Only a model calls tools.
pub(crate) fn calls(message: &ChatMessage) -> impl Iterator<Item = Call<'_>> {
    let content = if message.role == ChatRole::Assistant { &message.content[..] } else { &[] };
    content.iter().filter_map(|block| match block {
        Block::ToolCall { id, name, arguments } => Some(Call { id, name, arguments }),
        _ => None,
    })
}

/// For each message, for each of its calls: where the result stands, if there is one.
///
/// A result belongs to the nearest call before it with its id, because some models count their ids from zero in each
/// answer.
pub(crate) fn answers(messages: &[ChatMessage]) -> Vec<Vec<Option<usize>>> {
    let mut asked: FxHashMap<&str, usize> = FxHashMap::default();
    let mut answers: Vec<Vec<Option<usize>>> = vec![Vec::new(); messages.len()];
    for (at, message) in messages.iter().enumerate() {
        for call in calls(message) {
            asked.insert(call.id, at);
            answers[at].push(None);
        }
        let answered = message.tool_call_id.as_deref().filter(|_| message.role == ChatRole::ToolResult);
        let Some((id, asker)) = answered.and_then(|id| Some((id, *asked.get(id)?))) else { continue };
        let open =
            calls(&messages[asker]).zip(&mut answers[asker]).find(|(call, slot)| call.id == id && slot.is_none());
        if let Some((_, slot)) = open {
            *slot = Some(at);
        }
    }
    answers
}

fn no_result(call: &Call<'_>) -> ChatMessage {
    ChatMessage {
        role: ChatRole::ToolResult,
        content: vec![Block::text(NO_RESULT)],
        tool_call_id: Some(call.id.to_owned()),
        tool_name: Some(call.name.to_owned()),
        is_error: true,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `u` the user, `a` an answer with a text, `e` one with nothing, `a:1,2` one with calls, `r:1` a result.
    fn message(told: &str) -> ChatMessage {
        let (kind, ids) = told.split_once(':').unwrap_or((told, ""));
        let call = |id: &str| Block::ToolCall {
            id: id.to_owned(),
            name: "bash".to_owned(),
            arguments: serde_json::Map::new(),
        };
        match kind {
            "u" => ChatMessage::user("hi"),
            "r" => ChatMessage {
                tool_call_id: Some(ids.to_owned()),
                ..ChatMessage::said(ChatRole::ToolResult, vec![Block::text("out")])
            },
            "e" => ChatMessage::said(ChatRole::Assistant, vec![Block::text(" ")]),
            _ => {
                let calls = ids.split(',').filter(|id| !id.is_empty()).map(call);
                ChatMessage::said(ChatRole::Assistant, [Block::text("ok")].into_iter().chain(calls).collect())
            }
        }
    }

    fn told(message: &ChatMessage) -> String {
        match (message.role, &message.tool_call_id) {
            (ChatRole::User, _) => "u".to_owned(),
            (ChatRole::ToolResult, id) => {
                let kind = if message.is_error { "missing" } else { "r" };
                format!("{kind}:{}", id.as_deref().unwrap_or_default())
            }
            (ChatRole::Assistant, _) => {
                let ids: Vec<&str> = calls(message).map(|call| call.id).collect();
                if ids.is_empty() { "a".to_owned() } else { format!("a:{}", ids.join(",")) }
            }
        }
    }

    fn check(given: &str, expect: &str) {
        let paired = pair_up(given.split(' ').map(message).collect());
        assert_eq!(paired.iter().map(told).collect::<Vec<_>>().join(" "), expect, "{given}");
    }

    #[test]
    fn l004_07_results_stand_right_behind_their_calls() {
        check("u a:1 r:1 a", "u a:1 r:1 a");
        check("u a:1,2 r:2 u r:1 a", "u a:1,2 r:1 r:2 u a");
        check("a:1 a:2 r:1 r:2", "a:1 r:1 a:2 r:2");
    }

    #[test]
    fn what_has_no_partner_is_left_out_or_filled_in() {
        check("r:9 u r:1 a:1", "u a:1 missing:1");
        check("u a:1,2 r:2", "u a:1,2 missing:1 r:2");
        check("a:1 r:1 r:1 u", "a:1 r:1 u");
        check("u e u", "u u");
    }

    #[test]
    fn an_id_that_is_used_again_means_the_nearest_call() {
        check("a:0 r:0 a:0 r:0", "a:0 r:0 a:0 r:0");
        check("a:0 a:0 r:0 r:0", "a:0 missing:0 a:0 r:0");
        check("a:0,0 r:0 r:0", "a:0,0 r:0 r:0");
    }

    #[test]
    fn a_missing_result_says_so() {
        let paired = pair_up(vec![message("a:7")]);
        assert_eq!(paired[1].text(), "No result was recorded for this call.");
        assert_eq!(paired[1].tool_name.as_deref(), Some("bash"));
        assert!(paired[1].is_error);
    }

    /// Every call is followed by its result and no result stands elsewhere.
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
            due = calls(message).map(|call| call.id).collect();
        }
        due.is_empty()
    }

    proptest! {
        #[test]
        fn any_messages_become_well_paired_and_stay_so(
            given in proptest::collection::vec("u|e|a|a:[0-4]|a:[0-4],[0-4]|r:[0-5]", 0..16)
        ) {
            let once = pair_up(given.iter().map(|told| message(told)).collect());
            prop_assert!(is_well_paired(&once), "{:?}", once.iter().map(told).collect::<Vec<_>>());
            prop_assert_eq!(pair_up(once.clone()), once);
        }
    }
}
