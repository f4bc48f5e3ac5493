//! JSON of activity, of injections and of why each section was injected.

use rethread_engine::{ActivityBlock, InjectionExplanation, InjectionRow, InjectionSection, SessionSummary};
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use crate::render::state_name;

/// The text for a session's context; `text` is null if there is nothing to inject.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AwarenessJson<'a> {
    schema: u8,
    text: Option<&'a str>,
    /// Activity only: sessions that the text mentions.
    #[serde(skip_serializing_if = "Option::is_none")]
    sessions: Option<usize>,
    /// Activity only: active sessions that did not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    /// Estimated size of the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    /// The sections of the text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<InjectionSectionJson<'a>>,
    /// Sections that exceeded the token budget.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    no_room: Vec<InjectionSectionJson<'a>>,
    /// Why other sections were skipped.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    silent: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionSummaryJson<'a>>,
}

/// The session that would receive the injection.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionSummaryJson<'a> {
    id: &'a str,
    /// Minutes since its current period of work began.
    minutes: u64,
    events: u64,
    hot_entries: usize,
    files: &'a [String],
    tools: &'a [String],
    entities: &'a [String],
    task: Option<&'a str>,
}

impl<'a> SessionSummaryJson<'a> {
    fn new(session: &'a SessionSummary) -> Self {
        Self {
            id: &session.id,
            minutes: session.minutes,
            events: session.events,
            hot_entries: session.hot_entries,
            files: &session.files,
            tools: &session.tools,
            entities: &session.entities,
            task: session.task.as_deref(),
        }
    }
}

/// One section of an injection and why it is there.
#[derive(Serialize, JsonSchema)]
struct InjectionSectionJson<'a> {
    kind: &'static str,
    reason: &'a str,
    bytes: usize,
}

impl<'a> InjectionSectionJson<'a> {
    fn new(part: &'a InjectionSection) -> Self {
        Self { kind: part.kind.as_str(), reason: &part.reason, bytes: part.text.len() }
    }
}

impl<'a> AwarenessJson<'a> {
    fn empty() -> Self {
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

    pub(crate) fn from_activity(activity: Option<&'a ActivityBlock>) -> Self {
        Self {
            text: activity.map(|activity| activity.text.as_str()),
            sessions: Some(activity.map_or(0, |activity| activity.included.len())),
            left_out: Some(activity.map_or(0, |activity| activity.left_out)),
            ..Self::empty()
        }
    }

    pub(crate) fn from_explanation(explained: &'a InjectionExplanation) -> Self {
        let composed = explained.composed.as_ref();
        Self {
            text: composed.map(|composed| composed.text.as_str()),
            state: Some(state_name(explained.state)),
            tokens: composed.map(|composed| composed.tokens),
            parts: composed
                .into_iter()
                .flat_map(|composed| &composed.sections)
                .map(InjectionSectionJson::new)
                .collect(),
            no_room: composed
                .into_iter()
                .flat_map(|composed| &composed.left_out)
                .map(InjectionSectionJson::new)
                .collect(),
            silent: &explained.skipped,
            session: Some(SessionSummaryJson::new(&explained.session)),
            ..Self::empty()
        }
    }
}

/// Everything that was injected into a session, in order.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InjectionListJson<'a> {
    schema: u8,
    injections: Vec<InjectionJson<'a>>,
}

/// One injection.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct InjectionJson<'a> {
    at: String,
    /// The hook event that triggered it.
    event: &'a str,
    text: &'a str,
    /// Its sections, each with the reason.
    parts: serde_json::Value,
    /// Hash of the text, in hexadecimal.
    hash: String,
    /// How long it took to compose.
    milliseconds: f64,
}

impl<'a> InjectionListJson<'a> {
    pub(crate) fn new(injected: &'a [InjectionRow]) -> Self {
        let injections = injected.iter().map(|one| InjectionJson {
            at: one.at.to_string(),
            event: &one.event,
            text: &one.text,
            parts: serde_json::from_str(&one.sections_json).unwrap_or_default(),
            hash: format!("{:016x}", one.text_hash),
            milliseconds: one.duration_micros as f64 / 1000.0,
        });
        Self { schema: SCHEMA, injections: injections.collect() }
    }
}
