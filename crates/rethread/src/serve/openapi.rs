//! The `OpenAPI` document: made from the rows and their types, so that it tells what is answered and nothing else.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use axum::http::{Method, StatusCode};
use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::guard::LARGEST_BODY;
use super::{Route, api};
use crate::json::Failed;

/// What is answered beside the rows: method, path, what it is.
const BESIDE: [(&str, &str, &str); 3] = [
    ("get", "/api/events", "What happens while it happens, as server-sent events."),
    ("get", "/ws", "A WebSocket for conversations: send_message and cancel go in, everything that happens comes out."),
    ("post", "/mcp", "The Model Context Protocol over streamable HTTP."),
];

/// Refusals that every route has.
const ALWAYS: [StatusCode; 7] = [
    StatusCode::BAD_REQUEST,
    StatusCode::UNAUTHORIZED,
    StatusCode::FORBIDDEN,
    StatusCode::PAYLOAD_TOO_LARGE,
    StatusCode::URI_TOO_LONG,
    StatusCode::INTERNAL_SERVER_ERROR,
    StatusCode::SERVICE_UNAVAILABLE,
];

/// The document as the document itself tells it.
pub(super) struct Document;

impl JsonSchema for Document {
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

/// The document.
pub(super) fn document() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| made(api::routes()));
    &DOCUMENT
}

fn made(rows: Vec<Route>) -> Value {
    let (mut asked, mut told) = (generator(Contract::Deserialize), generator(Contract::Serialize));
    let mut paths = Map::new();
    for row in rows {
        let operation = operation(&row, &mut asked, &mut told);
        put(&mut paths, row.path, row.method.as_str().to_lowercase(), operation);
    }
    for (method, path, about) in BESIDE {
        put(&mut paths, path, method.to_owned(), beside(about));
    }
    let error = told.subschema_for::<Failed>();
    let mut schemas = told.take_definitions(true);
    schemas.extend(asked.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Rethread",
            "version": env!("CARGO_PKG_VERSION"),
            "license": {"name": env!("CARGO_PKG_LICENSE")},
            "description": about(),
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "tags": [
            {"name": "Sessions", "description": "Sessions of agents and threads of ours."},
            {"name": "Memory", "description": "What was said, done and learned."},
            {"name": "Server", "description": "How it is, and what it costs."},
            {"name": "Live", "description": "What happens while it happens, and the protocol of models."},
        ],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": refusals(&error),
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "What `rethread token` prints."},
            },
        },
    })
}

fn about() -> String {
    let most = LARGEST_BODY >> 20;
    format!(
        "The memory of coding sessions. Whoever asks shows the token; nobody is let in without. GET never writes: it moves \
         no watermark, asks no model and enters nothing in the ledger. Parameters and fields that are not known are refused, \
         and so are numbers and texts out of their limits. A list in a query is its key repeated. Bodies are JSON objects of \
         at most {most} MiB, and keys may be added to answers at any time."
    )
}

fn generator(contract: Contract) -> SchemaGenerator {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    settings.contract = contract;
    settings.into_generator()
}

fn put(paths: &mut Map<String, Value>, path: &str, method: String, operation: Value) {
    let item = paths.entry(path).or_insert_with(|| json!({}));
    if let Some(item) = item.as_object_mut() {
        item.insert(method, operation);
    }
}

fn operation(row: &Route, asked: &mut SchemaGenerator, told: &mut SchemaGenerator) -> Value {
    let (summary, rest) = row.about.split_once(". ").unwrap_or((row.about, ""));
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
            "name": "id", "in": "path", "required": true, "description": "The session, by our own id.",
            "schema": {"type": "string", "pattern": "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"},
        }));
    }
    let takes = (row.takes)(asked);
    let has_body = takes_body(&row.method);
    if has_body {
        operation["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": takes}}});
    } else {
        parameters.extend(in_query(takes));
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    operation["responses"] = responses(row, has_body, told);
    operation
}

fn takes_body(method: &Method) -> bool {
    matches!(*method, Method::POST | Method::PUT | Method::PATCH)
}

/// Each property of what is taken as a parameter of its own.
fn in_query(takes: Schema) -> Vec<Value> {
    let mut takes = takes.to_value();
    let required: BTreeSet<String> = names(&takes["required"]);
    let Some(properties) = takes["properties"].as_object_mut().map(std::mem::take) else { return Vec::new() };
    let parameter = |(name, mut schema): (String, Value)| {
        let description = schema.as_object_mut().and_then(|schema| schema.shift_remove("description"));
        // Nobody can write null into an address.
        let kinds = names(&schema["type"]);
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

fn names(list: &Value) -> BTreeSet<String> {
    list.as_array().into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

fn responses(row: &Route, has_body: bool, told: &mut SchemaGenerator) -> Value {
    let mut all = Map::new();
    for (status, gives) in std::iter::once((row.status, row.gives)).chain(row.also.iter().copied()) {
        let mut good = json!({"description": status.canonical_reason().unwrap_or_default()});
        if status != StatusCode::NO_CONTENT {
            good["content"] = json!({"application/json": {"schema": gives(told)}});
        }
        all.insert(status.as_u16().to_string(), good);
    }
    let of_bodies: &[StatusCode] =
        if has_body { &[StatusCode::REQUEST_TIMEOUT, StatusCode::UNSUPPORTED_MEDIA_TYPE] } else { &[] };
    let refused: BTreeSet<u16> = ALWAYS.iter().chain(of_bodies).chain(row.refuses).map(StatusCode::as_u16).collect();
    for status in refused {
        let place = format!("#/components/responses/{status}");
        all.insert(status.to_string(), json!({"$ref": place}));
    }
    Value::Object(all)
}

/// What every refusal is, by its status.
fn refusals(error: &Schema) -> Value {
    let meanings = [
        (400, "A parameter, a field or an id is not what is taken here."),
        (401, "The token is missing or wrong."),
        (403, "The request comes under another name or from another page."),
        (404, "There is nothing of that name."),
        (408, "The body did not arrive in time."),
        (409, "It cannot be done as things are: ambiguous, ended, no thread, no model, no budget."),
        (413, "The body is too large."),
        (414, "The address is longer than 64 KiB; nothing else is said."),
        (415, "The body is not JSON."),
        (429, "Too many wait already."),
        (500, "A mistake in Rethread itself."),
        (502, "The model could not be asked, or its answer cannot be used."),
        (503, "The store, the disk or the index cannot be used now."),
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

/// An operation that is no row: it is told, and answered elsewhere.
fn beside(about: &str) -> Value {
    let refused =
        ["401", "403"].map(|status| (status.to_owned(), json!({"$ref": format!("#/components/responses/{status}")})));
    let mut responses: Map<String, Value> = refused.into_iter().collect();
    responses.insert("default".to_owned(), json!({"description": "See docs/live.md and docs/mcp.md."}));
    json!({"tags": ["Live"], "summary": about.trim_end_matches('.'), "responses": responses})
}

/// The method and the path in one word: `getSessionsIdRecords`.
fn operation_id(row: &Route) -> String {
    let words =
        row.path.trim_start_matches("/api/").split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    row.method.as_str().to_lowercase() + &words.map(capital).collect::<String>()
}

fn tag(path: &str) -> &'static str {
    match path.trim_start_matches("/api/").split('/').next() {
        Some("sessions") => "Sessions",
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
    fn everything_that_is_referred_to_is_there() {
        let mut found = Vec::new();
        references(document(), &mut found);
        assert!(found.len() > 100);
        for place in found {
            let there = document().pointer(place.trim_start_matches('#'));
            assert!(there.is_some(), "{place}");
        }
    }

    #[test]
    fn each_operation_and_each_shape_has_a_name_of_its_own() {
        let mut ids = BTreeSet::new();
        for row in api::routes() {
            assert!(ids.insert(operation_id(&row)), "{} twice", operation_id(&row));
            assert!(row.about.ends_with('.'), "{} is no sentence", row.about);
            assert!(!crate::serve::openapi::tag(row.path).is_empty());
        }
        let (mut asked, mut told) = (generator(Contract::Deserialize), generator(Contract::Serialize));
        for row in api::routes() {
            let _ = (row.takes)(&mut asked);
            let _ = (row.gives)(&mut told);
        }
        let (asked, told) = (asked.take_definitions(true), told.take_definitions(true));
        // A name with a number was given because two types have the same.
        let doubled = |name: &&String| name.ends_with(|c: char| c.is_ascii_digit());
        assert_eq!(asked.keys().chain(told.keys()).filter(doubled).collect::<Vec<_>>(), Vec::<&String>::new());
        let both: Vec<_> =
            asked.keys().filter(|name| told.contains_key(*name) && asked[*name] != told[*name]).collect();
        assert_eq!(both, Vec::<&String>::new());
    }

    #[test]
    fn every_list_and_text_that_is_taken_has_its_limit() {
        let (mut asked, mut unbounded) = (generator(Contract::Deserialize), Vec::new());
        for row in api::routes() {
            let _ = (row.takes)(&mut asked);
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
                let is_told = parameter["description"].as_str().is_some_and(|told| !told.is_empty());
                if !is_bounded || !is_told {
                    unbounded.push(format!("{} {}: {parameter}", row.method, row.path));
                }
            }
        }
        assert_eq!(unbounded, Vec::<String>::new());
    }
}
