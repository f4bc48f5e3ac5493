//! What sessions are told, as programs get it.

use rethread_engine::{Activity, Explained, Injected, Part, SessionSummary};
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use crate::render::state;

/// A text for a session; nothing where there is nothing to say.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Awareness<'a> {
    schema: u8,
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Told<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    no_room: Vec<Told<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    silent: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<Summary<'a>>,
}

/// The session that would be told, in numbers and names.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SessionSummary")]
#[serde(rename_all = "camelCase")]
struct Summary<'a> {
    id: &'a str,
    minutes: u64,
    events: u64,
    hot_entries: usize,
    files: &'a [String],
    tools: &'a [String],
    entities: &'a [String],
    task: Option<&'a str>,
}

impl<'a> Summary<'a> {
    fn new(session: &'a SessionSummary) -> Self {
        Self {
            id: &session.id,
            minutes: session.minutes,
            events: session.events,
            hot_entries: session.hot,
            files: &session.files,
            tools: &session.tools,
            entities: &session.entities,
            task: session.task.as_deref(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ToldPart")]
struct Told<'a> {
    kind: &'static str,
    reason: &'a str,
    bytes: usize,
}

impl<'a> Told<'a> {
    fn new(part: &'a Part) -> Self {
        Self { kind: part.kind.as_str(), reason: &part.reason, bytes: part.text.len() }
    }
}

impl<'a> Awareness<'a> {
    fn nothing() -> Self {
        Self {
            schema: SCHEMA,
            text: None,
            sessions: None,
            left_out: None,
            state: None,
            tokens: None,
            parts: Vec::new(),
            no_room: Vec::new(),
            silent: &[],
            session: None,
        }
    }

    pub(crate) fn activity(told: Option<&'a Activity>) -> Self {
        Self {
            text: told.map(|told| told.text.as_str()),
            sessions: Some(told.map_or(0, |told| told.told.len())),
            left_out: Some(told.map_or(0, |told| told.left_out)),
            ..Self::nothing()
        }
    }

    pub(crate) fn explained(told: &'a Explained) -> Self {
        let composed = told.composed.as_ref();
        Self {
            text: composed.map(|composed| composed.text.as_str()),
            state: Some(state(told.state)),
            tokens: composed.map(|composed| composed.tokens),
            parts: composed.into_iter().flat_map(|composed| &composed.parts).map(Told::new).collect(),
            no_room: composed.into_iter().flat_map(|composed| &composed.left_out).map(Told::new).collect(),
            silent: &told.silent,
            session: Some(Summary::new(&told.session)),
            ..Self::nothing()
        }
    }
}

/// What a session was told up to now.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Injections<'a> {
    schema: u8,
    injections: Vec<Injection<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Injection<'a> {
    at: String,
    event: &'a str,
    text: &'a str,
    /// The parts with their reasons.
    parts: serde_json::Value,
    hash: String,
    milliseconds: f64,
}

impl<'a> Injections<'a> {
    pub(crate) fn new(told: &'a [Injected]) -> Self {
        let injections = told.iter().map(|one| Injection {
            at: one.at.to_string(),
            event: &one.event,
            text: &one.text,
            parts: serde_json::from_str(&one.parts).unwrap_or_default(),
            hash: format!("{:016x}", one.hash),
            milliseconds: one.micros as f64 / 1000.0,
        });
        Self { schema: SCHEMA, injections: injections.collect() }
    }
}
