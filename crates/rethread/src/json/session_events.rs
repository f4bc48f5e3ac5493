//! JSON of a session's events.

use rethread_engine::{EventOrigin, SessionEvents};
use rethread_model::{SessionState, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::schema::{SessionStateJson, TimestampJson};
use super::search::SessionNameJson;

/// The last events of a session, oldest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SessionEventsJson<'a> {
    schema: u8,
    session: SessionNameJson<'a>,
    #[schemars(with = "SessionStateJson")]
    state: SessionState,
    /// `hooks`, or `transcript` if the events were inferred because no hook reported any.
    origin: &'static str,
    /// Number of events in all periods, including those no longer stored.
    total: u64,
    events: Vec<EventJson<'a>>,
}

/// One event, such as `prompt_submitted` or `session_idle`.
#[derive(Serialize, JsonSchema)]
struct EventJson<'a> {
    #[schemars(with = "TimestampJson")]
    at: Timestamp,
    kind: &'a str,
    /// A short text without secrets; may be empty.
    detail: &'a str,
}

impl<'a> SessionEventsJson<'a> {
    pub(crate) fn new(found: &'a SessionEvents) -> Self {
        let event = |event: &'a rethread_engine::LifecycleEvent| EventJson {
            at: event.at,
            kind: &event.kind,
            detail: &event.detail,
        };
        Self {
            schema: SCHEMA,
            session: SessionNameJson::new(&found.listed.session),
            state: found.listed.state,
            origin: match found.origin {
                EventOrigin::Hooks => "hooks",
                EventOrigin::Transcript => "transcript",
            },
            total: found.total,
            events: found.events.iter().map(event).collect(),
        }
    }
}
