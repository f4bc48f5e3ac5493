//! `docs/http.md` is generated from the `OpenAPI` document. `UPDATE_DOCS=1 cargo test -p rethread` updates it.

use std::fmt::Write;
use std::path::Path;

use crate::fixture::ApiFixture;
use serde_json::Value;

const HOW: &str = "<!-- Made from the program by `UPDATE_DOCS=1 cargo test -p rethread`. Changes here are lost. -->";

#[test]
fn route_reference_is_up_to_date() {
    let document = ApiFixture::empty().document();
    let mut out = format!("{HOW}\n\n# HTTP\n\n{}\n\n", document["info"]["description"].as_str().unwrap());
    out += "```\nrethread serve\ncurl -H \"Authorization: Bearer $(rethread token)\" http://127.0.0.1:7717/api/sessions?limit=5\n```\n\n";
    out += "A refusal is `{\"schema\":1,\"error\":{\"code\",\"message\",\"hint\"}}`; codes are stable, messages are not. The whole of it, with every field of every answer, is served as `/api/openapi.json` (OpenAPI 3.1).\n\n";
    out += "| status | meaning |\n|---|---|\n";
    for (status, response) in document["components"]["responses"].as_object().unwrap() {
        writeln!(out, "| {status} | {} |", response["description"].as_str().unwrap()).unwrap();
    }
    for tag in document["tags"].as_array().unwrap() {
        write!(out, "\n## {}\n\n{}\n", tag["name"].as_str().unwrap(), tag["description"].as_str().unwrap()).unwrap();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                if operation["tags"][0] == tag["name"] {
                    chapter(&document, method, path, operation, &mut out);
                }
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/http.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &out).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == out, "{} is out of date; run: UPDATE_DOCS=1 cargo test -p rethread", path.display());
}

fn chapter(document: &Value, method: &str, path: &str, operation: &Value, out: &mut String) {
    let (summary, more) = (operation["summary"].as_str().unwrap(), operation["description"].as_str());
    let more = more.map_or_else(String::new, |more| format!(" {more}"));
    write!(out, "\n### {} {path}\n\n{summary}.{more}\n", method.to_uppercase()).unwrap();
    let mut rows = Vec::new();
    for parameter in operation["parameters"].as_array().into_iter().flatten().filter(|one| one["in"] == "query") {
        let name = parameter["name"].as_str().unwrap();
        rows.push(row(name, parameter["required"] == true, &parameter["description"], &parameter["schema"]));
    }
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    let body = body["$ref"].as_str().and_then(|place| document.pointer(place.trim_start_matches('#'))).unwrap_or(body);
    for (name, schema) in body["properties"].as_object().into_iter().flatten() {
        let is_required = body["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name.as_str()));
        rows.push(row(name, is_required, &schema["description"], schema));
    }
    if !rows.is_empty() {
        let place = if body.is_null() { "parameter" } else { "field" };
        write!(out, "\n| {place} | what it does |\n|---|---|\n{}\n", rows.join("\n")).unwrap();
    }
    let responses = operation["responses"].as_object().unwrap();
    let good: Vec<String> = responses
        .iter()
        .filter(|(status, _)| status.starts_with('2'))
        .map(|(status, response)| {
            let keys = keys_of(document, &response["content"]["application/json"]["schema"]);
            if keys.is_empty() { status.clone() } else { format!("{status} with {}", keys.join(", ")) }
        })
        .collect();
    let special: Vec<&str> =
        responses.keys().map(String::as_str).filter(|status| ["404", "409", "429", "502"].contains(status)).collect();
    let special = if special.is_empty() { String::new() } else { format!("; also {}", special.join(", ")) };
    if !good.is_empty() {
        write!(out, "\nAnswers {}{special}.\n", good.join(" or ")).unwrap();
    }
}

fn row(name: &str, is_required: bool, about: &Value, schema: &Value) -> String {
    let mut limits = Vec::new();
    if is_required {
        limits.push("required".to_owned());
    }
    let items = if schema["items"].is_object() { &schema["items"] } else { schema };
    if let Some(choices) = items["enum"].as_array() {
        limits.push(
            choices.iter().filter_map(Value::as_str).map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(", "),
        );
    }
    if let (Some(least), Some(most)) =
        (items["minimum"].as_u64(), items["maximum"].as_u64().filter(|most| *most < 1 << 50))
    {
        limits.push(format!("{least} to {most}"));
    }
    if let Some(most) = items["maxLength"].as_u64() {
        limits.push(format!("at most {most} characters"));
    }
    if let Some(most) = schema["maxItems"].as_u64() {
        limits.push(format!("a list of at most {most}"));
    }
    if let Some(default) = Some(&schema["default"]).filter(|default| default.is_u64()) {
        limits.push(format!("default {default}"));
    }
    let about = about.as_str().unwrap_or_default().replace('\n', " ");
    let limits = if limits.is_empty() { String::new() } else { format!(" ({})", limits.join("; ")) };
    format!("| `{name}` | {}{limits} |", about.replace('|', "\\|"))
}

/// The top-level keys of a response.
fn keys_of(document: &Value, schema: &Value) -> Vec<String> {
    let schema =
        schema["$ref"].as_str().and_then(|place| document.pointer(place.trim_start_matches('#'))).unwrap_or(schema);
    let of_choices = schema["anyOf"].as_array().into_iter().flatten().next();
    if let Some(first) = of_choices {
        return keys_of(document, first);
    }
    let keys = schema["properties"].as_object().into_iter().flatten().map(|(name, _)| format!("`{name}`"));
    keys.filter(|name| name != "`schema`").collect()
}
