//! Exchanges in order, as programs get them.

use rethread_engine::{Happened, Timeline};
use rethread_model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::search::Named;
use super::shape::Moment;

/// Exchanges, oldest first.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Timeline")]
pub(crate) struct Happenings<'a> {
    schema: u8,
    episodes: Vec<Happening<'a>>,
}

impl<'a> Happenings<'a> {
    pub(crate) fn new(line: &'a Timeline) -> Self {
        Self { schema: SCHEMA, episodes: line.episodes.iter().map(Happening::new).collect() }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TimelineEpisode")]
#[serde(rename_all = "camelCase")]
struct Happening<'a> {
    id: &'a str,
    number: u64,
    session: Named<'a>,
    #[schemars(with = "Option<Moment>")]
    started_at: Option<Timestamp>,
    #[schemars(with = "Option<Moment>")]
    ended_at: Option<Timestamp>,
    lines: (u64, u64),
    prompt: Option<&'a str>,
    answer: Option<&'a str>,
    tool_calls: u64,
    tool_errors: u64,
    edited: &'a [String],
    open: bool,
    abandoned: bool,
    anchor: bool,
    citation: String,
}

impl<'a> Happening<'a> {
    fn new(happened: &'a Happened) -> Self {
        let episode = &happened.episode;
        Self {
            id: &episode.id,
            number: episode.number,
            session: Named::new(&happened.session),
            started_at: episode.started_at,
            ended_at: episode.ended_at,
            lines: episode.lines,
            prompt: happened.prompt.as_deref(),
            answer: happened.answer.as_deref(),
            tool_calls: episode.tool_calls,
            tool_errors: episode.tool_errors,
            edited: &happened.edited,
            open: episode.open,
            abandoned: episode.abandoned,
            anchor: happened.is_anchor,
            citation: happened.session.citation(episode.lines.0),
        }
    }
}
