//! Answers in JSON of a shape. Where a provider does not see to it, the model is told; where it errs, it is told again.

use rethread_model::Tokens;
use rethread_model::thread::{Block, ChatMessage, ChatRole, Stop};
use serde_json::{Map, Value};

use super::wire::Format;
use super::{Answer, ChatModel, JsonShape, Request, Structured};
use crate::{ChatError, Meter, Provider};

/// How often a model may correct itself.
const MOST_REPAIRS: u32 = 2;

impl ChatModel {
    /// Asks for JSON of this shape. An answer of another shape is given back to the model to be corrected, twice.
    pub fn complete_json(
        &self,
        request: &Request,
        shape: &JsonShape<'_>,
        meter: &dyn Meter,
    ) -> Result<Structured, ChatError> {
        self.complete_checked(request, shape, meter, &mut |_| Ok(()))
    }

    /// The same for answers that must also pass a check of the caller's; what it says is told to the model.
    pub fn complete_checked(
        &self,
        request: &Request,
        shape: &JsonShape<'_>,
        meter: &dyn Meter,
        check: &mut dyn FnMut(&Value) -> Result<(), String>,
    ) -> Result<Structured, ChatError> {
        let mut request = request.clone();
        let mut formats = formats(self.provider(), *shape).into_iter();
        let mut format = formats.next().unwrap_or(Format::Free);
        let mut usage = Tokens::default();
        let mut attempts = 0;
        loop {
            let answer = match self.complete_as(&request, format, meter) {
                Err(ChatError::Refused { status, message, .. })
                    if !matches!(format, Format::Free) && is_about_the_format(status, &message) =>
                {
                    if matches!(format, Format::Shape(_)) {
                        describe(&mut request, shape);
                    }
                    format = formats.next().unwrap_or(Format::Free);
                    continue;
                }
                answer => answer?,
            };
            attempts += 1;
            usage = usage.plus(answer.usage.unwrap_or_default());
            let checked = parse(&answer, shape.schema).and_then(|value| check(&value).map(|()| value));
            let wrong = match checked {
                Ok(value) => return Ok(Structured { value, usage, attempts }),
                Err(wrong) => wrong,
            };
            if attempts > MOST_REPAIRS {
                return Err(self.client.unusable(&self.whole, &format!("no JSON of the asked shape: {wrong}")));
            }
            ask_again(&mut request, &answer, &wrong);
        }
    }
}

/// Whether a server refuses the way it was asked. Some call it their own mistake.
fn is_about_the_format(status: u16, message: &str) -> bool {
    matches!(status, 400 | 422) || message.contains("response_format")
}

/// How to ask, the best way first.
fn formats(provider: Provider, shape: JsonShape<'_>) -> Vec<Format<'_>> {
    match provider {
        Provider::OpenAi => vec![Format::Shape(shape), Format::Json, Format::Free],
        Provider::Anthropic | Provider::Gemini => vec![Format::Shape(shape), Format::Free],
    }
}

/// Tells the model the shape that its provider does not see to.
fn describe(request: &mut Request, shape: &JsonShape<'_>) {
    let told =
        format!("Answer with JSON only, without any words around it. It must fit this JSON schema:\n{}", shape.schema);
    request.system = Some(match request.system.take().filter(|system| !system.is_empty()) {
        Some(system) => format!("{system}\n\n{told}"),
        None => told,
    });
}

/// Gives the answer back with what is wrong about it.
fn ask_again(request: &mut Request, answer: &Answer, wrong: &str) {
    let said = text(answer);
    let said = if said.trim().is_empty() { "(nothing)".to_owned() } else { said };
    request.messages.push(ChatMessage::said(ChatRole::Assistant, vec![Block::text(said)]));
    let told = format!("This cannot be used: {wrong}. Answer again, with the corrected JSON only.");
    request.messages.push(ChatMessage::user(told));
}

fn parse(answer: &Answer, schema: &Value) -> Result<Value, String> {
    let said = text(answer);
    let value: Value = match serde_json::from_str(inside(&said)) {
        Ok(value) => value,
        Err(_) if answer.stop == Stop::Length => return Err("it was cut off at its greatest length".to_owned()),
        Err(error) => return Err(format!("it is no JSON ({error})")),
    };
    check(&value, schema)?;
    Ok(value)
}

fn text(answer: &Answer) -> String {
    answer.content.iter().filter_map(Block::as_text).collect()
}

/// The JSON without a fence or words around it.
fn inside(text: &str) -> &str {
    let text = text.trim();
    if text.starts_with(['{', '[']) {
        return text;
    }
    let fenced = text.split_once("```").and_then(|(_, rest)| {
        let (_language, rest) = rest.split_once('\n')?;
        Some(rest.rsplit_once("```").map_or(rest, |(json, _)| json).trim())
    });
    let between = || text.get(text.find('{')?..=text.rfind('}')?).filter(|json| !json.is_empty());
    fenced.or_else(between).unwrap_or(text)
}

/// Whether the value fits, as far as its own type, its required fields and their types go.
fn check(value: &Value, schema: &Value) -> Result<(), String> {
    check_type("it", value, schema)?;
    let Some(fields) = value.as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !fields.contains_key(name) {
            return Err(format!("{name:?} is missing"));
        }
    }
    let empty = Map::new();
    for (name, schema) in schema["properties"].as_object().unwrap_or(&empty) {
        if let Some(value) = fields.get(name) {
            check_type(&format!("{name:?}"), value, schema)?;
        }
    }
    Ok(())
}

fn check_type(name: &str, value: &Value, schema: &Value) -> Result<(), String> {
    let several = schema["type"].as_array().into_iter().flatten();
    let types: Vec<&str> = several.chain([&schema["type"]]).filter_map(Value::as_str).collect();
    if types.is_empty() || types.iter().any(|kind| is_of(kind, value)) {
        return Ok(());
    }
    Err(format!("{name} must be of type {}", types.join(" or ")))
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn checked(said: &str) -> Result<Value, String> {
        let schema = json!({
            "type": "object",
            "required": ["title", "tags"],
            "properties": {
                "title": {"type": "string"},
                "tags": {"type": "array"},
                "size": {"type": ["integer", "null"]},
                "more": {"$ref": "#/elsewhere"},
            },
        });
        let content = vec![Block::text(said)];
        parse(&Answer { content, stop: Stop::End, usage: None, model: String::new() }, &schema)
    }

    #[test]
    fn json_is_found_in_a_fence_and_between_words() {
        let good = json!({"title": "x", "tags": []});
        let plain = good.to_string();
        for said in [
            plain.clone(),
            format!("```json\n{plain}\n```"),
            format!("Here it is:\n```\n{plain}\n```\nAnything else?"),
            format!("Sure: {plain} - done"),
        ] {
            assert_eq!(checked(&said), Ok(good.clone()), "{said}");
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        for (said, wrong) in [
            (r#"{"title":"x"}"#, "\"tags\" is missing"),
            (r#"{"title":1,"tags":[]}"#, "\"title\" must be of type string"),
            (r#"{"title":"x","tags":{}}"#, "\"tags\" must be of type array"),
            (r#"{"title":"x","tags":[],"size":1.5}"#, "\"size\" must be of type integer or null"),
            ("[]", "it must be of type object"),
            ("} {", "it is no JSON (expected value at line 1 column 1)"),
            ("}{", "it is no JSON (expected value at line 1 column 1)"),
            ("", "it is no JSON (EOF while parsing a value at line 1 column 0)"),
        ] {
            assert_eq!(checked(said), Err(wrong.to_owned()), "{said}");
        }
        assert!(checked(r#"{"title":"x","tags":[],"size":2.0,"more":1,"other":2}"#).is_ok());
    }
}
