//! Builds an answer from chunks. Independent of the provider's format.

use rethread_model::Tokens;
use rethread_model::thread::{ChatMessage, ContentBlock, InlineReasoningFilter, StopReason, without_inline_reasoning};
use serde_json::{Map, Value};

use super::{AnswerChunk, ChatAnswer};

/// Key under which arguments that are not a JSON object are kept as text.
const RAW_ARGUMENTS_KEY: &str = "_raw";
/// Prefix of ids we generate for calls without one.
const GENERATED_ID_PREFIX: &str = "call_";

/// Called with every chunk as it arrives.
pub(super) type ChunkHandler<'a> = dyn FnMut(AnswerChunk<'_>) + 'a;

/// The answer received so far.
pub(super) struct AnswerBuilder {
    parts: Vec<AnswerPart>,
    /// Filters the text after the last call.
    reasoning: InlineReasoningFilter,
    next_generated_id: u64,
    /// Set when the provider reports why the answer ended.
    pub(super) stop: Option<StopReason>,
    pub(super) usage: Option<Tokens>,
    pub(super) model: Option<String>,
}

enum AnswerPart {
    Text(String),
    Call(AnswerCall),
}

struct AnswerCall {
    /// The provider's index of the call within this answer. `None` once the call is complete.
    open_key: Option<u64>,
    id: String,
    name: String,
    /// The JSON received so far.
    arguments: String,
}

impl AnswerBuilder {
    /// An empty answer. Generated ids do not collide with those in these messages.
    pub(super) fn new(messages: &[ChatMessage]) -> Self {
        let ids = messages.iter().flat_map(|message| &message.content).filter_map(ContentBlock::call_id);
        let own = ids.filter_map(|id| id.strip_prefix(GENERATED_ID_PREFIX)?.parse::<u64>().ok());
        let reasoning = InlineReasoningFilter::default();
        let next_generated_id = own.max().unwrap_or(0).saturating_add(1);
        Self { parts: Vec::new(), reasoning, next_generated_id, stop: None, usage: None, model: None }
    }

    /// Whether nothing was received.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Appends text without the reasoning that some models write into it.
    pub(super) fn push_text(&mut self, text: &str, each: &mut ChunkHandler<'_>) {
        let text = self.reasoning.push(text);
        self.append_text(&text, each);
    }

    fn append_text(&mut self, text: &str, each: &mut ChunkHandler<'_>) {
        if text.is_empty() {
            return;
        }
        if let Some(AnswerPart::Text(last)) = self.parts.last_mut() {
            last.push_str(text);
        } else {
            self.parts.push(AnswerPart::Text(text.to_owned()));
        }
        each(AnswerChunk::Text(text));
    }

    /// Starts a tool call. Generates an id if it has none.
    pub(super) fn start_call(&mut self, key: u64, id: Option<&str>, name: &str, each: &mut ChunkHandler<'_>) {
        self.end_call(key);
        self.finish_text(each);
        let id = id.filter(|id| !id.is_empty()).map_or_else(|| self.generate_id(), str::to_owned);
        each(AnswerChunk::CallStarted { id: &id, name });
        self.parts.push(AnswerPart::Call(AnswerCall {
            open_key: Some(key),
            id,
            name: name.to_owned(),
            arguments: String::new(),
        }));
    }

    /// Appends text that was held back. Text after this may start with reasoning again.
    fn finish_text(&mut self, each: &mut ChunkHandler<'_>) {
        let held = self.reasoning.finish();
        self.append_text(&held, each);
        self.reasoning = InlineReasoningFilter::default();
    }

    /// Appends to the arguments of an open call.
    pub(super) fn add_arguments(&mut self, key: u64, text: &str) {
        if let Some(call) = self.open_call(key) {
            call.arguments.push_str(text);
        }
    }

    /// Marks a call as complete.
    pub(super) fn end_call(&mut self, key: u64) {
        if let Some(call) = self.open_call(key) {
            call.open_key = None;
        }
    }

    /// Adds a complete call. Providers send its arguments as a string or as an object.
    pub(super) fn push_call(&mut self, id: Option<&str>, name: &str, arguments: &Value, each: &mut ChunkHandler<'_>) {
        let key = u64::MAX;
        self.start_call(key, id, name, each);
        match arguments {
            Value::Null => {}
            Value::String(text) => self.add_arguments(key, text),
            other => self.add_arguments(key, &other.to_string()),
        }
        self.end_call(key);
    }

    /// Id of a call that is not complete yet.
    pub(super) fn open_call_id(&self, key: u64) -> Option<&str> {
        self.calls().find(|call| call.open_key == Some(key)).map(|call| call.id.as_str())
    }

    pub(super) fn call_count(&self) -> u64 {
        self.calls().count() as u64
    }

    /// The answer after the provider ended it. Open calls count as complete.
    pub(super) fn finish(self, model: &str) -> ChatAnswer {
        let stop = self.stop.unwrap_or(StopReason::Other);
        // Not every provider reports tool calls as the stop reason.
        let stop = if stop == StopReason::End && self.call_count() > 0 { StopReason::ToolCalls } else { stop };
        let usage = self.usage;
        ChatAnswer { usage, ..self.build(model, stop, true) }
    }

    /// The answer after a stop or an error. An incomplete call is dropped, and there is no usage.
    pub(super) fn finish_incomplete(self, model: &str, stop: StopReason) -> ChatAnswer {
        self.build(model, stop, false)
    }

    fn build(mut self, model: &str, stop: StopReason, with_open_call: bool) -> ChatAnswer {
        self.finish_text(&mut |_| {});
        // Calls arrive one after the other, so only the last one can be incomplete.
        if let Some(AnswerPart::Call(AnswerCall { open_key: Some(_), .. })) = self.parts.last()
            && !with_open_call
        {
            self.parts.pop();
        }
        let content = self.parts.into_iter().map(|part| match part {
            AnswerPart::Text(text) => ContentBlock::Text(without_inline_reasoning(&text)),
            AnswerPart::Call(call) => {
                ContentBlock::ToolCall { arguments: parse_arguments(&call.arguments), id: call.id, name: call.name }
            }
        });
        let content = content.collect();
        ChatAnswer { content, stop, usage: None, model: self.model.unwrap_or_else(|| model.to_owned()) }
    }

    fn generate_id(&mut self) -> String {
        let id = format!("{GENERATED_ID_PREFIX}{}", self.next_generated_id);
        self.next_generated_id = self.next_generated_id.saturating_add(1);
        id
    }

    fn calls(&self) -> impl Iterator<Item = &AnswerCall> {
        self.parts.iter().filter_map(|part| if let AnswerPart::Call(call) = part { Some(call) } else { None })
    }

    fn open_call(&mut self, key: u64) -> Option<&mut AnswerCall> {
        let calls =
            self.parts.iter_mut().filter_map(|part| if let AnswerPart::Call(call) = part { Some(call) } else { None });
        calls.rev().find(|call| call.open_key == Some(key))
    }
}

/// Parses arguments. Anything but a JSON object is kept as text.
fn parse_arguments(text: &str) -> Map<String, Value> {
    if text.trim().is_empty() {
        return Map::new();
    }
    serde_json::from_str(text).unwrap_or_else(|_| Map::from_iter([(RAW_ARGUMENTS_KEY.to_owned(), text.into())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty_builder() -> AnswerBuilder {
        AnswerBuilder::new(&[])
    }

    fn call(id: &str, arguments: &Value) -> ContentBlock {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        ContentBlock::ToolCall { id: id.to_owned(), name: "read".to_owned(), arguments }
    }

    #[test]
    fn texts_are_joined_and_calls_stay_separate() {
        let mut builder = empty_builder();
        let mut chunks = Vec::new();
        let mut each = |chunk: AnswerChunk<'_>| chunks.push(format!("{chunk:?}"));
        builder.push_text("a", &mut each);
        builder.push_text("", &mut each);
        builder.push_text("b", &mut each);
        builder.start_call(0, Some("x"), "read", &mut each);
        builder.start_call(1, Some("y"), "read", &mut each);
        builder.add_arguments(1, "{\"b\":");
        builder.add_arguments(0, "{\"a\":1}");
        builder.add_arguments(1, "2}");
        builder.stop = Some(StopReason::End);
        let answer = builder.finish("m");
        let (first, second) = (serde_json::json!({"a": 1}), serde_json::json!({"b": 2}));
        assert_eq!(answer.content, [ContentBlock::text("ab"), call("x", &first), call("y", &second)]);
        assert_eq!((answer.stop, answer.model.as_str()), (StopReason::ToolCalls, "m"));
        assert_eq!(chunks[..3], [r#"Text("a")"#, r#"Text("b")"#, r#"CallStarted { id: "x", name: "read" }"#]);
    }

    #[test]
    fn inline_reasoning_is_neither_reported_nor_kept() {
        // D59
        let mut builder = empty_builder();
        let mut chunks = Vec::new();
        let mut each = |chunk: AnswerChunk<'_>| chunks.push(format!("{chunk:?}"));
        for text in ["<thi", "nk>hm", " hm</think>", "\n\nYe", "s."] {
            builder.push_text(text, &mut each);
        }
        builder.push_call(Some("x"), "read", &Value::Null, &mut each);
        builder.push_text("<think>again</think>Done.", &mut each);
        builder.push_text("", &mut each);
        let answer = builder.finish("m");
        let texts: Vec<&str> = answer.content.iter().filter_map(ContentBlock::as_text).collect();
        assert_eq!(texts, ["Yes.", "Done."]);
        assert_eq!(chunks.join(" "), r#"Text("Ye") Text("s.") CallStarted { id: "x", name: "read" } Text("Done.")"#);
    }

    #[test]
    fn arguments_that_are_not_an_object_are_kept_as_text() {
        for (wrote, kept) in [
            ("", serde_json::json!({})),
            ("{\"a\":", serde_json::json!({"_raw": "{\"a\":"})),
            ("[1]", serde_json::json!({"_raw": "[1]"})),
        ] {
            let mut builder = empty_builder();
            builder.push_call(Some("x"), "read", &wrote.into(), &mut |_| {});
            assert_eq!(builder.finish("m").content, [call("x", &kept)], "{wrote}");
        }
    }

    #[test]
    fn an_incomplete_call_is_dropped_from_an_unfinished_answer() {
        let mut builder = empty_builder();
        builder.start_call(2, Some("x"), "read", &mut |_| {});
        builder.add_arguments(2, "{\"a\":1}");
        builder.start_call(3, Some("y"), "read", &mut |_| {});
        builder.usage = Some(Tokens::default());
        let answer = builder.finish_incomplete("m", StopReason::Aborted);
        assert_eq!(answer.content, [call("x", &serde_json::json!({"a": 1}))]);
        assert_eq!((answer.stop, answer.usage), (StopReason::Aborted, None));
    }

    #[test]
    fn generated_ids_are_unique_in_the_thread() {
        let before = [call("call_7", &Value::Null), call("call_x", &Value::Null), call("toolu_9", &Value::Null)];
        let message = ChatMessage::new(rethread_model::thread::ChatRole::Assistant, before.to_vec());
        let mut builder = AnswerBuilder::new(&[message]);
        builder.push_call(None, "read", &Value::Null, &mut |_| {});
        builder.push_call(Some(""), "read", &Value::Null, &mut |_| {});
        let ids: Vec<_> = builder.calls().map(|call| call.id.clone()).collect();
        assert_eq!(ids, ["call_8", "call_9"]);
    }
}
