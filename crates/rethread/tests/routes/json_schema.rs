//! Validates against the part of JSON Schema that our `OpenAPI` document uses.

use serde_json::Value;

/// The mismatches, each with its path.
pub(crate) fn misfits(document: &Value, schema: &Value, answer: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(document, schema, answer, "", &mut found);
    found
}

fn check(document: &Value, schema: &Value, answer: &Value, place: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(reference.trim_start_matches('#')).unwrap();
        check(document, target, answer, place, found);
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(choices) = schema[choice].as_array() {
            let fits = |one: &Value| misfits(document, one, answer).is_empty();
            if !choices.iter().any(fits) {
                found.push(format!("{place}: none of {choice} fits {}", short(answer)));
            }
        }
    }
    for one in schema["allOf"].as_array().into_iter().flatten() {
        check(document, one, answer, place, found);
    }
    let kinds = match &schema["type"] {
        Value::String(kind) => vec![kind.as_str()],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !kinds.is_empty() && !kinds.iter().any(|kind| is(kind, answer)) {
        found.push(format!("{place}: {} is no {kinds:?}", short(answer)));
    }
    let is_chosen = schema["enum"].as_array().is_none_or(|choices| choices.contains(answer));
    if !is_chosen {
        found.push(format!("{place}: {} is none of {}", short(answer), schema["enum"]));
    }
    if schema["format"] == "date-time" && answer.as_str().is_some_and(|text| text.len() != 24 || !text.ends_with('Z')) {
        found.push(format!("{place}: {answer} is no moment"));
    }
    parts(document, schema, answer, place, found);
}

fn parts(document: &Value, schema: &Value, answer: &Value, place: &str, found: &mut Vec<String>) {
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if answer.as_object().is_some_and(|fields| !fields.contains_key(name)) {
            found.push(format!("{place}: {name} is missing"));
        }
    }
    for (name, value) in answer.as_object().into_iter().flatten() {
        let at = format!("{place}/{name}");
        match schema["properties"].get(name) {
            Some(schema) => check(document, schema, value, &at, found),
            None if schema["additionalProperties"].is_object() => {
                check(document, &schema["additionalProperties"], value, &at, found);
            }
            None => {}
        }
    }
    let firsts = schema["prefixItems"].as_array().map(Vec::as_slice).unwrap_or_default();
    for (number, value) in answer.as_array().into_iter().flatten().enumerate() {
        let of_item = firsts.get(number).unwrap_or(&schema["items"]);
        if of_item.is_object() {
            check(document, of_item, value, &format!("{place}/{number}"), found);
        }
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        other => panic!("an unknown type: {other}"),
    }
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(80).collect()
}

#[test]
fn schema_mismatches_are_found() {
    let document =
        serde_json::json!({"a": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}});
    let schema = serde_json::json!({"type": "array", "items": {"$ref": "#/a"}});
    let check = |answer: Value| misfits(&document, &schema, &answer).len();
    assert_eq!(check(serde_json::json!([{"n": 1, "more": true}])), 0);
    assert_eq!(check(serde_json::json!([{"n": "x"}, {}])), 2);
    assert_eq!(check(serde_json::json!({})), 1);
}
