//! The `OpenAPI` document, generated from the routes and their types.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use axum::http::{Method, StatusCode};
use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::guard::MAX_BODY_BYTES;
use super::{Route, api};
use crate::json::ErrorResponseJson;

/// Endpoints that are not [`Route`]s: method, path, summary.
const OTHER_ENDPOINTS: [(&str, &str, &str); 3] = [
    ("get", "/api/events", "Stream events as server-sent events."),
    ("get", "/ws", "Open a WebSocket: send messages, cancel runs, and receive events."),
    ("post", "/mcp", "Call MCP tools over streamable HTTP."),
];

/// Error statuses that every route can return.
const COMMON_ERRORS: [StatusCode; 7] = [
    StatusCode::BAD_REQUEST,
    StatusCode::UNAUTHORIZED,
    StatusCode::FORBIDDEN,
    StatusCode::PAYLOAD_TOO_LARGE,
    StatusCode::URI_TOO_LONG,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::SERVICE_UNAVAILABLE,
];

/// The schema of the document within itself.
pub(super) struct OpenApiDocument;

impl JsonSchema for OpenApiDocument {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Document".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object", "required": ["openapi", "info", "paths"]})
    }
}

/// The document, generated once.
pub(super) fn document() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| build(api::routes()));
    &DOCUMENT
}

fn build(rows: Vec<Route>) -> Value {
    let (mut inputs, mut outputs) = (generator(Contract::Deserialize), generator(Contract::Serialize));
    let mut paths = Map::new();
    for row in rows {
        let operation = operation(&row, &mut inputs, &mut outputs);
        add_operation(&mut paths, row.path, row.method.as_str().to_lowercase(), operation);
    }
    for (method, path, about) in OTHER_ENDPOINTS {
        add_operation(&mut paths, path, method.to_owned(), other_operation(about));
    }
    let error = outputs.subschema_for::<ErrorResponseJson>();
    let mut schemas = outputs.take_definitions(true);
    schemas.extend(inputs.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Rethread",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": env!("CARGO_PKG_LICENSE")},
            "description": api_description(),
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "tags": [
            {"name": "Sessions", "description": "Agent sessions and Rethread's own threads."},
            {"name": "Memory", "description": "Search, facts, fixes, decisions and workflows."},
            {"name": "Members", "description": "Members, tokens, audit and retention of a space. For its admins."},
            {"name": "Server", "description": "Status, health, usage and sync."},
            {"name": "Live", "description": "Events, WebSocket and MCP."},
        ],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": error_responses(&error),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "The token that `rethread token` prints; on a server of a team, the token of a member."},
            },
        },
    })
}

fn api_description() -> String {
    let max_mib = MAX_BODY_BYTES >> 20;
    format!(
        "Session memory for coding agents. Every request needs the token. On a server of a team it is that of a \
         member, and every answer is about its space: readers may use GET and what only searches, members also write, \
         admins manage. GET requests never write: they move no \
         watermark, call no model and add nothing to the ledger. Unknown parameters and fields are errors, and so are \
         values out of range. Lists in a query repeat their key. Request bodies are JSON objects of at most {max_mib} \
         MiB. Responses may gain new keys at any time."
    )
}

fn generator(contract: Contract) -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    settings.contract = contract;
    settings.into_generator()
}

fn add_operation(paths: &mut Map<String, Value>, path: &str, method: String, operation: Value) {
    let item = paths.entry(path).or_insert_with(|| json!({}));
    if let Some(item) = item.as_object_mut() {
        item.insert(method, operation);
    }
}

fn operation(row: &Route, inputs: &mut SchemaGenerator, outputs: &mut SchemaGenerator) -> Value {
    let (summary, rest) = row.description.split_once(". ").unwrap_or((row.description, ""));
    let mut operation = json!({
        "operationId": operation_id(row),
        "tags": [tag(row.path)],
        "summary": summary.trim_end_matches('.'),
    });
    if !rest.is_empty() {
        operation["description"] = rest.into();
    }
    let mut parameters = Vec::new();
    if row.path.contains("{id}") {
        parameters.push(json!({
            "name": "id", "in": "path", "required": true, "description": "Session id (ULID).",
            "schema": {"type": "string", "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"},
        }));
    }
    let names = [("name", "Name of the member.", "^[a-z0-9-]{1,64}$"), ("token", "Id of the token.", "^[0-9a-f]{12}$")];
    for (name, about, pattern) in names.into_iter().filter(|(name, ..)| row.path.contains(&format!("{{{name}}}"))) {
        let schema = json!({"type": "string", "pattern": pattern});
        parameters.push(json!({"name": name, "in": "path", "required": true, "description": about, "schema": schema}));
    }
    let takes = (row.request_schema)(inputs);
    let has_body = takes_body(&row.method);
    if has_body {
        operation["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": takes}}});
    } else {
        parameters.extend(query_parameters(takes));
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    operation["responses"] = responses(row, has_body, outputs);
    operation
}

fn takes_body(method: &Method) -> bool {
    matches!(*method, Method::POST | Method::PUT | Method::PATCH)
}

/// One query parameter for each property of the schema.
fn query_parameters(takes: Schema) -> Vec<Value> {
    let mut takes = takes.to_value();
    let required: BTreeSet<String> = string_set(&takes["required"]);
    let Some(properties) = takes["properties"].as_object_mut().map(std::mem::take) else { return Vec::new() };
    let parameter = |(name, mut schema): (String, Value)| {
        let description = schema.as_object_mut().and_then(|schema| schema.shift_remove("description"));
        // A query cannot contain null.
        let kinds = string_set(&schema["type"]);
        if let Some(kind) = kinds.iter().find(|kind| kinds.len() > 1 && *kind != "null") {
            schema["type"] = kind.as_str().into();
        }
        if let Some(choices) = schema.get_mut("enum").and_then(Value::as_array_mut) {
            choices.retain(|choice| !choice.is_null());
        }
        let is_list = schema["type"] == "array";
        let mut parameter =
            json!({"name": name, "in": "query", "required": required.contains(&name), "schema": schema});
        parameter["description"] = description.unwrap_or_default();
        if is_list {
            parameter["style"] = "form".into();
            parameter["explode"] = true.into();
        }
        parameter
    };
    properties.into_iter().map(parameter).collect()
}

fn string_set(list: &Value) -> BTreeSet<String> {
    list.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn responses(row: &Route, has_body: bool, outputs: &mut SchemaGenerator) -> Value {
    let mut all = Map::new();
    for (status, gives) in std::iter::once((row.status, row.response_schema)).chain(row.other_responses.iter().copied())
    {
        let mut good = json!({"description": status.canonical_reason().unwrap_or_default()});
        if status != StatusCode::NO_CONTENT {
            good["content"] = json!({"application/json": {"schema": gives(outputs)}});
        }
        all.insert(status.as_u16().to_string(), good);
    }
    let of_bodies: &[StatusCode] =
        if has_body { &[StatusCode::REQUEST_TIMEOUT, StatusCode::UNSUPPORTED_MEDIA_TYPE] } else { &[] };
    let refused: BTreeSet<u16> =
        COMMON_ERRORS.iter().chain(of_bodies).chain(row.error_statuses).map(StatusCode::as_u16).collect();
    for status in refused {
        let reference = format!("#/components/responses/{status}");
        all.insert(status.to_string(), json!({"$ref": reference}));
    }
    Value::Object(all)
}

/// The shared error responses by status.
fn error_responses(error: &Schema) -> Value {
    let meanings = [
        (400, "Invalid parameter, field or id."),
        (401, "Missing or invalid token."),
        (403, "Host or origin not allowed."),
        (404, "Not found."),
        (408, "The request body did not arrive in time."),
        (
            409,
            "Conflict with the current state: ambiguous reference, ended session, not a thread, no model or no budget.",
        ),
        (413, "The request body is too large."),
        (414, "The URL is longer than 64 KiB. The response has no body."),
        (415, "The request body is not JSON."),
        (429, "Too many requests are waiting."),
        (500, "Internal error (a bug)."),
        (502, "The model could not be reached, or its answer is unusable."),
        (503, "The store, the disk or the index is unavailable."),
    ];
    let response = |(status, meaning): (u16, &str)| {
        let mut response = json!({"description": meaning});
        if status != StatusCode::URI_TOO_LONG.as_u16() {
            response["content"] = json!({"application/json": {"schema": error}});
        }
        (status.to_string(), response)
    };
    Value::Object(meanings.into_iter().map(response).collect())
}

/// An operation that is documented here and handled elsewhere.
fn other_operation(about: &str) -> Value {
    let refused =
        ["401", "403"].map(|status| (status.to_owned(), json!({"$ref": format!("#/components/responses/{status}")})));
    let mut responses: Map<String, Value> = refused.into_iter().collect();
    responses.insert("default".to_owned(), json!({"description": "See docs/live.md and docs/mcp.md."}));
    json!({"tags": ["Live"], "summary": about.trim_end_matches('.'), "responses": responses})
}

/// Method and path in camel case: `getSessionsIdRecords`.
fn operation_id(row: &Route) -> String {
    let words =
        row.path.trim_start_matches("/api/").split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    row.method.as_str().to_lowercase() + &words.map(capital).collect::<String>()
}

fn tag(path: &str) -> &'static str {
    match path.trim_start_matches("/api/").split('/').next() {
        Some("sessions") => "Sessions",
        Some("members" | "tokens" | "audit" | "retention") => "Members",
        Some("links" | "usage" | "sync" | "status" | "doctor" | "health" | "openapi.json") => "Server",
        _ => "Memory",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn all_references_resolve() {
        let mut found = Vec::new();
        references(document(), &mut found);
        assert!(found.len() > 100);
        for place in found {
            let there = document().pointer(place.trim_start_matches('#'));
            assert!(there.is_some(), "{place}");
        }
    }

    #[test]
    fn operation_ids_and_schema_names_are_unique() {
        let mut ids = BTreeSet::new();
        for row in api::routes() {
            assert!(ids.insert(operation_id(&row)), "{} twice", operation_id(&row));
            assert!(row.description.ends_with('.'), "{} is not a sentence", row.description);
            assert!(!crate::serve::openapi::tag(row.path).is_empty());
        }
        let (mut inputs, mut outputs) = (generator(Contract::Deserialize), generator(Contract::Serialize));
        for row in api::routes() {
            let _ = (row.request_schema)(&mut inputs);
            let _ = (row.response_schema)(&mut outputs);
        }
        let (inputs, outputs) = (inputs.take_definitions(true), outputs.take_definitions(true));
        // schemars appends a number when two types have the same name.
        let doubled = |name: &&String| name.ends_with(|c: char| c.is_ascii_digit());
        assert_eq!(inputs.keys().chain(outputs.keys()).filter(doubled).collect::<Vec<_>>(), Vec::<&String>::new());
        let both: Vec<_> =
            inputs.keys().filter(|name| outputs.contains_key(*name) && inputs[*name] != outputs[*name]).collect();
        assert_eq!(both, Vec::<&String>::new());
    }

    #[test]
    fn every_parameter_has_a_limit_and_a_description() {
        let (mut inputs, mut unbounded) = (generator(Contract::Deserialize), Vec::new());
        for row in api::routes() {
            let _ = (row.request_schema)(&mut inputs);
            for parameter in document()["paths"][row.path][row.method.as_str().to_lowercase()]["parameters"]
                .as_array()
                .into_iter()
                .flatten()
            {
                let schema = &parameter["schema"];
                let is_bounded = match schema["type"].as_str() {
                    Some("string") => {
                        !schema["maxLength"].is_null() || !schema["enum"].is_null() || !schema["pattern"].is_null()
                    }
                    Some("integer") => !schema["maximum"].is_null(),
                    Some("array") => !schema["maxItems"].is_null(),
                    Some("boolean") => true,
                    _ => false,
                };
                let is_described = parameter["description"].as_str().is_some_and(|text| !text.is_empty());
                if !is_bounded || !is_described {
                    unbounded.push(format!("{} {}: {parameter}", row.method, row.path));
                }
            }
        }
        assert_eq!(unbounded, Vec::<String>::new());
    }
}
