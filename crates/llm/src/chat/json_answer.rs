//! Answers that follow a JSON schema. If the provider cannot enforce it, the schema is added to the prompt; an invalid
//! answer is sent back to the model for correction.

use rethread_model::Tokens;
use rethread_model::thread::{ChatMessage, ChatRole, ContentBlock, StopReason};
use serde_json::{Map, Value};

use super::wire::AnswerFormat;
use super::{AnswerSchema, ChatAnswer, ChatModel, ChatRequest, JsonAnswer};
use crate::{ChatError, Meter, Provider};

/// Corrections the model may make.
const MAX_CORRECTIONS: u32 = 2;

impl ChatModel {
    /// Requests JSON that follows a schema. An invalid answer is sent back for correction up to two times.
    pub fn complete_json(
        &self,
        request: &ChatRequest,
        shape: &AnswerSchema<'_>,
        meter: &dyn Meter,
    ) -> Result<JsonAnswer, ChatError> {
        self.complete_checked(request, shape, meter, &mut |_| Ok(()))
    }

    /// Like [`ChatModel::complete_json`], with an additional check. Its error message is sent to the model.
    pub fn complete_checked(
        &self,
        request: &ChatRequest,
        shape: &AnswerSchema<'_>,
        meter: &dyn Meter,
        check: &mut dyn FnMut(&Value) -> Result<(), String>,
    ) -> Result<JsonAnswer, ChatError> {
        let mut request = request.clone();
        let mut formats = formats(self.provider(), *shape).into_iter();
        let mut format = formats.next().unwrap_or(AnswerFormat::Text);
        let mut usage = Tokens::default();
        let mut attempts = 0;
        loop {
            let answer = match self.complete_with_format(&request, format, meter) {
                Err(ChatError::HttpStatus { status, message, .. })
                    if !matches!(format, AnswerFormat::Text) && is_format_error(status, &message) =>
                {
                    if matches!(format, AnswerFormat::Schema(_)) {
                        add_schema_to_prompt(&mut request, shape);
                    }
                    format = formats.next().unwrap_or(AnswerFormat::Text);
                    continue;
                }
                answer => answer?,
            };
            attempts += 1;
            usage = usage.plus(answer.usage.unwrap_or_default());
            let checked = parse_answer(&answer, shape.schema).and_then(|value| check(&value).map(|()| value));
            let wrong = match checked {
                Ok(value) => return Ok(JsonAnswer { value, usage, attempts }),
                Err(wrong) => wrong,
            };
            if attempts > MAX_CORRECTIONS {
                return Err(self
                    .client
                    .invalid_response(&self.complete_endpoint, &format!("not JSON of the requested schema: {wrong}")));
            }
            ask_for_correction(&mut request, &answer, &wrong);
        }
    }
}

/// Whether the server rejected the requested format. Some report that with a 5xx status.
fn is_format_error(status: u16, message: &str) -> bool {
    matches!(status, 400 | 422) || message.contains("response_format")
}

/// Formats to try, the strictest first.
fn formats(provider: Provider, shape: AnswerSchema<'_>) -> Vec<AnswerFormat<'_>> {
    match provider {
        Provider::OpenAi => vec![AnswerFormat::Schema(shape), AnswerFormat::Json, AnswerFormat::Text],
        Provider::Anthropic | Provider::Gemini => vec![AnswerFormat::Schema(shape), AnswerFormat::Text],
    }
}

/// Adds the schema to the system prompt, for providers that cannot enforce it.
fn add_schema_to_prompt(request: &mut ChatRequest, shape: &AnswerSchema<'_>) {
    let instruction =
        format!("Answer with JSON only, without any words around it. It must fit this JSON schema:\n{}", shape.schema);
    request.system = Some(match request.system.take().filter(|system| !system.is_empty()) {
        Some(system) => format!("{system}\n\n{instruction}"),
        None => instruction,
    });
}

/// Adds the invalid answer and what is wrong with it to the conversation.
fn ask_for_correction(request: &mut ChatRequest, answer: &ChatAnswer, wrong: &str) {
    let text = answer_text(answer);
    let text = if text.trim().is_empty() { "(nothing)".to_owned() } else { text };
    request.messages.push(ChatMessage::new(ChatRole::Assistant, vec![ContentBlock::text(text)]));
    let correction = format!("This cannot be used: {wrong}. Answer again, with the corrected JSON only.");
    request.messages.push(ChatMessage::user(correction));
}

fn parse_answer(answer: &ChatAnswer, schema: &Value) -> Result<Value, String> {
    let text = answer_text(answer);
    let value: Value = match serde_json::from_str(extract_json(&text)) {
        Ok(value) => value,
        Err(_) if answer.stop == StopReason::Length => return Err("it was cut off at the output limit".to_owned()),
        Err(error) => return Err(format!("it is not valid JSON ({error})")),
    };
    check_schema(&value, schema)?;
    Ok(value)
}

fn answer_text(answer: &ChatAnswer) -> String {
    answer.content.iter().filter_map(ContentBlock::as_text).collect()
}

/// The JSON without a code fence or text around it.
fn extract_json(text: &str) -> &str {
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

/// Checks the type, the required fields and the types of the fields. Does not look deeper.
fn check_schema(value: &Value, schema: &Value) -> Result<(), String> {
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
    if types.is_empty() || types.iter().any(|kind| matches_type(kind, value)) {
        return Ok(());
    }
    Err(format!("{name} must be of type {}", types.join(" or ")))
}

fn matches_type(kind: &str, value: &Value) -> bool {
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

    fn checked(answer: &str) -> Result<Value, String> {
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
        let content = vec![ContentBlock::text(answer)];
        parse_answer(&ChatAnswer { content, stop: StopReason::End, usage: None, model: String::new() }, &schema)
    }

    #[test]
    fn json_is_found_in_a_code_fence_and_between_text() {
        let good = json!({"title": "x", "tags": []});
        let plain = good.to_string();
        for answer in [
            plain.clone(),
            format!("```json\n{plain}\n```"),
            format!("Here it is:\n```\n{plain}\n```\nAnything else?"),
            format!("Sure: {plain} - done"),
        ] {
            assert_eq!(checked(&answer), Ok(good.clone()), "{answer}");
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        for (answer, wrong) in [
            (r#"{"title":"x"}"#, "\"tags\" is missing"),
            (r#"{"title":1,"tags":[]}"#, "\"title\" must be of type string"),
            (r#"{"title":"x","tags":{}}"#, "\"tags\" must be of type array"),
            (r#"{"title":"x","tags":[],"size":1.5}"#, "\"size\" must be of type integer or null"),
            ("[]", "it must be of type object"),
            ("} {", "it is not valid JSON (expected value at line 1 column 1)"),
            ("}{", "it is not valid JSON (expected value at line 1 column 1)"),
            ("", "it is not valid JSON (EOF while parsing a value at line 1 column 0)"),
        ] {
            assert_eq!(checked(answer), Err(wrong.to_owned()), "{answer}");
        }
        assert!(checked(r#"{"title":"x","tags":[],"size":2.0,"more":1,"other":2}"#).is_ok());
    }
}
