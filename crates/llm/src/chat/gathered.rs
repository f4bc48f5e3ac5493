//! An answer that grows piece by piece, in whatever form a provider sends it.

use rethread_model::Tokens;
use rethread_model::thread::{Block, ChatMessage, Stop};
use serde_json::{Map, Value};

use super::{Answer, Piece};

/// Where arguments go that are not what they should be.
const RAW: &str = "_raw";
/// What ids of our own begin with.
const OWN_ID: &str = "call_";

/// Told of every piece that comes.
pub(super) type Each<'a> = dyn FnMut(Piece<'_>) + 'a;

/// What came so far.
pub(super) struct Gathered {
    parts: Vec<Part>,
    next_own_id: u64,
    /// Why it ended, once the provider said so.
    pub(super) stop: Option<Stop>,
    pub(super) usage: Option<Tokens>,
    pub(super) model: Option<String>,
}

enum Part {
    Text(String),
    Call(Call),
}

struct Call {
    /// The provider's number of it within this answer, while it is being written.
    key: Option<u64>,
    id: String,
    name: String,
    /// JSON, as far as it came.
    arguments: String,
}

impl Gathered {
    /// Nothing yet. Ids of our own are new among these messages.
    pub(super) fn new(messages: &[ChatMessage]) -> Self {
        let ids = messages.iter().flat_map(|message| &message.content).filter_map(Block::call_id);
        let own = ids.filter_map(|id| id.strip_prefix(OWN_ID)?.parse::<u64>().ok());
        let next_own_id = own.max().unwrap_or(0).saturating_add(1);
        Self { parts: Vec::new(), next_own_id, stop: None, usage: None, model: None }
    }

    /// Whether nothing at all came.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// More text.
    pub(super) fn say(&mut self, text: &str, each: &mut Each<'_>) {
        if text.is_empty() {
            return;
        }
        if let Some(Part::Text(said)) = self.parts.last_mut() {
            said.push_str(text);
        } else {
            self.parts.push(Part::Text(text.to_owned()));
        }
        each(Piece::Text(text));
    }

    /// A tool call begins. Where it has no id it gets one.
    pub(super) fn start_call(&mut self, key: u64, id: Option<&str>, name: &str, each: &mut Each<'_>) {
        self.end_call(key);
        let id = id.filter(|id| !id.is_empty()).map_or_else(|| self.own_id(), str::to_owned);
        each(Piece::CallStarted { id: &id, name });
        self.parts.push(Part::Call(Call { key: Some(key), id, name: name.to_owned(), arguments: String::new() }));
    }

    /// More of the arguments of a call.
    pub(super) fn add_arguments(&mut self, key: u64, text: &str) {
        if let Some(call) = self.open_call(key) {
            call.arguments.push_str(text);
        }
    }

    /// A call is there as a whole.
    pub(super) fn end_call(&mut self, key: u64) {
        if let Some(call) = self.open_call(key) {
            call.key = None;
        }
    }

    /// A call that came at once. Some write its arguments as a text, some as an object.
    pub(super) fn whole_call(&mut self, id: Option<&str>, name: &str, arguments: &Value, each: &mut Each<'_>) {
        let key = u64::MAX;
        self.start_call(key, id, name, each);
        match arguments {
            Value::Null => {}
            Value::String(text) => self.add_arguments(key, text),
            other => self.add_arguments(key, &other.to_string()),
        }
        self.end_call(key);
    }

    /// The id of a call that is still being written.
    pub(super) fn open_id(&self, key: u64) -> Option<&str> {
        self.calls().find(|call| call.key == Some(key)).map(|call| call.id.as_str())
    }

    /// How many calls there are.
    pub(super) fn call_count(&self) -> u64 {
        self.calls().count() as u64
    }

    /// The answer as its provider ended it. Every call counts as whole.
    pub(super) fn finished(self, model: &str) -> Answer {
        let stop = self.stop.unwrap_or(Stop::Other);
        // Not every provider says that it waits for tools.
        let stop = if stop == Stop::End && self.call_count() > 0 { Stop::ToolCalls } else { stop };
        let usage = self.usage;
        Answer { usage, ..self.answer(model, stop, true) }
    }

    /// What there is of an answer that was not ended: half a call is left out, and nobody counted.
    pub(super) fn unfinished(self, model: &str, stop: Stop) -> Answer {
        self.answer(model, stop, false)
    }

    fn answer(mut self, model: &str, stop: Stop, with_open_call: bool) -> Answer {
        // Calls are written one after the other, so only the last one can be half.
        if let Some(Part::Call(Call { key: Some(_), .. })) = self.parts.last()
            && !with_open_call
        {
            self.parts.pop();
        }
        let content = self.parts.into_iter().map(|part| match part {
            Part::Text(text) => Block::Text(text),
            Part::Call(call) => Block::ToolCall { arguments: object(&call.arguments), id: call.id, name: call.name },
        });
        let content = content.collect();
        Answer { content, stop, usage: None, model: self.model.unwrap_or_else(|| model.to_owned()) }
    }

    fn own_id(&mut self) -> String {
        let id = format!("{OWN_ID}{}", self.next_own_id);
        self.next_own_id = self.next_own_id.saturating_add(1);
        id
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.parts.iter().filter_map(|part| if let Part::Call(call) = part { Some(call) } else { None })
    }

    fn open_call(&mut self, key: u64) -> Option<&mut Call> {
        let calls =
            self.parts.iter_mut().filter_map(|part| if let Part::Call(call) = part { Some(call) } else { None });
        calls.rev().find(|call| call.key == Some(key))
    }
}

/// Arguments as an object, whatever the model wrote.
fn object(text: &str) -> Map<String, Value> {
    if text.trim().is_empty() {
        return Map::new();
    }
    serde_json::from_str(text).unwrap_or_else(|_| Map::from_iter([(RAW.to_owned(), text.into())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gathered() -> Gathered {
        Gathered::new(&[])
    }

    fn call(id: &str, arguments: &Value) -> Block {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        Block::ToolCall { id: id.to_owned(), name: "read".to_owned(), arguments }
    }

    #[test]
    fn texts_run_together_and_calls_stay_apart() {
        let mut said = gathered();
        let mut pieces = Vec::new();
        let mut each = |piece: Piece<'_>| pieces.push(format!("{piece:?}"));
        said.say("a", &mut each);
        said.say("", &mut each);
        said.say("b", &mut each);
        said.start_call(0, Some("x"), "read", &mut each);
        said.start_call(1, Some("y"), "read", &mut each);
        said.add_arguments(1, "{\"b\":");
        said.add_arguments(0, "{\"a\":1}");
        said.add_arguments(1, "2}");
        said.stop = Some(Stop::End);
        let answer = said.finished("m");
        let (first, second) = (serde_json::json!({"a": 1}), serde_json::json!({"b": 2}));
        assert_eq!(answer.content, [Block::text("ab"), call("x", &first), call("y", &second)]);
        assert_eq!((answer.stop, answer.model.as_str()), (Stop::ToolCalls, "m"));
        assert_eq!(pieces[..3], [r#"Text("a")"#, r#"Text("b")"#, r#"CallStarted { id: "x", name: "read" }"#]);
    }

    #[test]
    fn arguments_that_are_no_object_are_kept_as_they_came() {
        for (wrote, kept) in [
            ("", serde_json::json!({})),
            ("{\"a\":", serde_json::json!({"_raw": "{\"a\":"})),
            ("[1]", serde_json::json!({"_raw": "[1]"})),
        ] {
            let mut said = gathered();
            said.whole_call(Some("x"), "read", &wrote.into(), &mut |_| {});
            assert_eq!(said.finished("m").content, [call("x", &kept)], "{wrote}");
        }
    }

    #[test]
    fn half_a_call_is_left_out_of_what_was_not_ended() {
        let mut said = gathered();
        said.start_call(2, Some("x"), "read", &mut |_| {});
        said.add_arguments(2, "{\"a\":1}");
        said.start_call(3, Some("y"), "read", &mut |_| {});
        said.usage = Some(Tokens::default());
        let answer = said.unfinished("m", Stop::Aborted);
        assert_eq!(answer.content, [call("x", &serde_json::json!({"a": 1}))]);
        assert_eq!((answer.stop, answer.usage), (Stop::Aborted, None));
    }

    #[test]
    fn ids_of_our_own_are_new_in_the_thread() {
        let before = [call("call_7", &Value::Null), call("call_x", &Value::Null), call("toolu_9", &Value::Null)];
        let message = ChatMessage::said(rethread_model::thread::ChatRole::Assistant, before.to_vec());
        let mut said = Gathered::new(&[message]);
        said.whole_call(None, "read", &Value::Null, &mut |_| {});
        said.whole_call(Some(""), "read", &Value::Null, &mut |_| {});
        let ids: Vec<_> = said.calls().map(|call| call.id.clone()).collect();
        assert_eq!(ids, ["call_8", "call_9"]);
    }
}
