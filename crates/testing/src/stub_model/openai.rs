//! Chat answers in the wire format of `OpenAI`: whole and streamed.

use std::io::{Result, Write};

use serde_json::{Value, json};

/// A whole answer that took 20 input and 4 output tokens.
pub(super) fn answer(text: &str) -> String {
    let message = json!({"role": "assistant", "content": text});
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 4});
    json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}).to_string()
}

/// One event per piece of text.
pub(super) fn write_pieces(stream: &mut impl Write, pieces: &[String]) -> Result<()> {
    pieces.iter().try_for_each(|piece| write_delta(stream, &json!({"content": piece}), &Value::Null))
}

/// One event per tool call.
pub(super) fn write_tool_calls(stream: &mut impl Write, calls: &[(&str, &str, Value)]) -> Result<()> {
    calls.iter().enumerate().try_for_each(|(index, (id, name, arguments))| {
        let function = json!({"name": name, "arguments": arguments.to_string()});
        let call = json!({"index": index, "id": id, "type": "function", "function": function});
        write_delta(stream, &json!({"tool_calls": [call]}), &Value::Null)
    })
}

/// The end of a stream that took 30 input and 7 output tokens.
pub(super) fn write_end(stream: &mut impl Write, finish_reason: &str) -> Result<()> {
    write_delta(stream, &json!({}), &json!(finish_reason))?;
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 7}});
    write!(stream, "data: {usage}\n\ndata: [DONE]\n\n")
}

fn write_delta(stream: &mut impl Write, delta: &Value, finish_reason: &Value) -> Result<()> {
    let event = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]});
    write!(stream, "data: {event}\n\n")?;
    stream.flush()
}
