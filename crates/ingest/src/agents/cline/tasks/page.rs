//! What the page of a task showed: when each message of the model was sent, and what each request cost.

use std::collections::HashMap;
use std::path::Path;

use rethread_model::{Timestamp, Tokens};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::parse::lenient::{LenientNumber, LenientObject, LenientText, LenientTimestamp, parse_or_default};
use crate::source::read_text;

const MAX_BYTES: u64 = 256 << 20;

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PageMessage<'a> {
    ts: LenientTimestamp,
    #[serde(borrow)]
    say: LenientText<'a>,
    /// Decoded only for requests.
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    /// The last message of the model's history at that time; -1 if there was none.
    conversation_history_index: LenientNumber,
    #[serde(borrow)]
    model_info: LenientObject<PageModel<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PageModel<'a> {
    #[serde(borrow)]
    model_id: LenientText<'a>,
}

/// The text of a request.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RequestUsage<'a> {
    tokens_in: LenientNumber,
    tokens_out: LenientNumber,
    cache_writes: LenientNumber,
    cache_reads: LenientNumber,
    #[serde(alias = "totalCost")]
    cost: LenientNumber,
    #[serde(borrow)]
    api_protocol: LenientText<'a>,
}

/// A request to the model that has been answered.
#[derive(Debug, PartialEq)]
pub(super) struct AnsweredRequest {
    pub(super) at: Timestamp,
    /// Index of the message that answered it, if the version writes it.
    pub(super) answer_index: Option<usize>,
    pub(super) tokens: Tokens,
    pub(super) cost_usd: Option<f64>,
    pub(super) model: Option<String>,
}

/// The parts of a page that matter.
#[derive(Debug, Default)]
pub(super) struct TaskPage {
    pub(super) first_at: Option<Timestamp>,
    /// In the order of the page.
    pub(super) requests: Vec<AnsweredRequest>,
    /// By index of the model's message.
    times: HashMap<usize, Timestamp>,
}

impl TaskPage {
    /// Reads a page. Without one, a task has fewer times and no costs.
    pub(super) fn read(path: &Path) -> Self {
        read_text(path, MAX_BYTES).map(|text| Self::parse(&text)).unwrap_or_default()
    }

    fn parse(text: &str) -> Self {
        let messages: Vec<LenientObject<PageMessage<'_>>> = serde_json::from_str(text).unwrap_or_default();
        let mut page = Self::default();
        for LenientObject(message) in messages {
            let Some(at) = message.ts.0.filter(|at| at.is_plausible()) else { continue };
            page.first_at = page.first_at.or(Some(at));
            // The next message of the history is what the page shows there.
            let next =
                message.conversation_history_index.0.map(|last| LenientNumber(Some(last + 1.0)).count() as usize);
            if let Some(next) = next {
                page.times.entry(next).or_insert(at);
            }
            let is_answered = message.say.as_str() == "api_req_started";
            if is_answered || matches!(message.say.as_str(), "deleted_api_reqs" | "subagent_usage") {
                let answer_index = next.filter(|_| is_answered).map(|next| next + 1);
                page.requests.extend(request(&message, at, answer_index));
            }
        }
        page
    }

    /// When a message of the model's history was sent.
    pub(super) fn time_of(&self, index: usize) -> Option<Timestamp> {
        self.times.get(&index).copied()
    }
}

/// A request is written before it is answered, and its usage added afterwards.
fn request(message: &PageMessage<'_>, at: Timestamp, answer_index: Option<usize>) -> Option<AnsweredRequest> {
    let text: String = parse_or_default(message.text);
    let usage: RequestUsage<'_> = serde_json::from_str(&text).ok()?;
    if usage.tokens_in.0.is_none() && usage.tokens_out.0.is_none() {
        return None;
    }
    let (cache_read, cache_write) = (usage.cache_reads.count(), usage.cache_writes.count());
    let input = usage.tokens_in.count();
    // Roo Code names the protocol since it counts the cache as input.
    let has_cache = !usage.api_protocol.as_str().is_empty() && input >= cache_read + cache_write;
    Some(AnsweredRequest {
        at,
        answer_index,
        tokens: Tokens {
            input: if has_cache { input - cache_read - cache_write } else { input },
            output: usage.tokens_out.count(),
            cache_read,
            cache_write,
        },
        cost_usd: usage.cost.0.filter(|cost| *cost > 0.0),
        model: message.model_info.0.model_id.clone().non_empty().map(Into::into),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_get_the_time_of_what_the_page_shows_next() {
        let page = TaskPage::parse(
            r#"[{"ts":1769064454625,"type":"say","say":"text","text":"do it"},
                {"ts":1769064455442,"say":"api_req_started","conversationHistoryIndex":-1,"text":"{\"tokensIn\":1}"},
                {"ts":1769064463096,"say":"text","conversationHistoryIndex":0,"text":"I'll"},
                7, {"ts":0}]"#,
        );
        let millis = |index| page.time_of(index).map(Timestamp::as_millis);
        assert_eq!((millis(0), millis(1), millis(2)), (Some(1_769_064_455_442), Some(1_769_064_463_096), None));
        assert_eq!(page.requests[0].answer_index, Some(1));
    }

    #[test]
    fn cached_tokens_are_not_input() {
        let tokens = |text: &str| {
            let text = serde_json::to_string(text).unwrap();
            let page = TaskPage::parse(&format!(r#"[{{"ts":1769064455442,"say":"api_req_started","text":{text}}}]"#));
            page.requests.first().map(|request| (request.tokens.input, request.tokens.cache_read))
        };
        assert_eq!(tokens(r#"{"tokensIn":10,"tokensOut":1,"cacheReads":90}"#), Some((10, 90)));
        assert_eq!(tokens(r#"{"apiProtocol":"openai","tokensIn":100,"cacheReads":90}"#), Some((10, 90)));
        assert_eq!(tokens(r#"{"apiProtocol":"anthropic","tokensIn":10,"cacheReads":90}"#), Some((10, 90)));
        assert_eq!(tokens(r#"{"request":"still running"}"#), None);
        assert_eq!(tokens("no JSON"), None);
    }
}
