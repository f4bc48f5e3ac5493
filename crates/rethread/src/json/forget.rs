//! What was forgotten, as programs get it.

use rethread_engine::Forgotten as Told;
use rethread_model::Session;
use serde::Serialize;

use super::SCHEMA;

/// What was forgotten, or would be.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Forgotten<'a> {
    schema: u8,
    dry_run: bool,
    sessions: Vec<Named<'a>>,
    shortened: Vec<Named<'a>>,
    threads: Vec<String>,
    removed: Vec<Removed>,
    staying: Vec<Staying>,
    tombstones: u64,
    seconds: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Named<'a> {
    id: String,
    agent: &'static str,
    external_id: &'a str,
}

#[derive(Serialize)]
struct Removed {
    place: &'static str,
    count: u64,
    left: u64,
}

#[derive(Serialize)]
struct Staying {
    place: &'static str,
    count: u64,
}

impl<'a> Forgotten<'a> {
    /// From what the engine tells.
    pub(crate) fn new(told: &'a Told, dry_run: bool) -> Self {
        let removed = told.removed.iter();
        Self {
            schema: SCHEMA,
            dry_run,
            sessions: told.sessions.iter().map(named).collect(),
            shortened: told.shortened.iter().map(named).collect(),
            threads: told.threads.iter().map(ToString::to_string).collect(),
            removed: removed.map(|one| Removed { place: one.place, count: one.count, left: one.left }).collect(),
            staying: told.staying.iter().map(|(place, count)| Staying { place, count: *count }).collect(),
            tombstones: told.tombstones,
            seconds: told.seconds,
        }
    }
}

fn named(session: &Session) -> Named<'_> {
    Named { id: session.id.to_string(), agent: session.agent.as_str(), external_id: &session.external_id }
}
