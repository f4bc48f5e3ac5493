//! JSON of the timeline.

use rethread_engine::{Timeline, TimelineEpisode};
use rethread_model::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::schema::TimestampJson;
use super::search::SessionNameJson;

/// Episodes, oldest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TimelineJson<'a> {
    schema: u8,
    episodes: Vec<TimelineEpisodeJson<'a>>,
}

impl<'a> TimelineJson<'a> {
    pub(crate) fn new(line: &'a Timeline) -> Self {
        Self { schema: SCHEMA, episodes: line.episodes.iter().map(TimelineEpisodeJson::new).collect() }
    }
}

/// One episode on the timeline.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TimelineEpisodeJson<'a> {
    id: &'a str,
    number: u64,
    session: SessionNameJson<'a>,
    #[schemars(with = "Option<TimestampJson>")]
    started_at: Option<Timestamp>,
    #[schemars(with = "Option<TimestampJson>")]
    ended_at: Option<Timestamp>,
    /// First and last line in the transcript.
    lines: (u64, u64),
    prompt: Option<&'a str>,
    answer: Option<&'a str>,
    tool_calls: u64,
    tool_errors: u64,
    edited: &'a [String],
    /// Whether it may still grow.
    open: bool,
    /// Whether it is on a branch that was left.
    abandoned: bool,
    /// Whether it is the episode given with `--around`.
    anchor: bool,
    citation: String,
}

impl<'a> TimelineEpisodeJson<'a> {
    fn new(happened: &'a TimelineEpisode) -> Self {
        let episode = &happened.episode;
        Self {
            id: &episode.id,
            number: episode.number,
            session: SessionNameJson::new(&happened.session),
            started_at: episode.started_at,
            ended_at: episode.ended_at,
            lines: episode.lines,
            prompt: happened.prompt.as_deref(),
            answer: happened.answer.as_deref(),
            tool_calls: episode.tool_calls,
            tool_errors: episode.tool_errors,
            edited: &happened.edited,
            open: episode.is_open,
            abandoned: episode.is_abandoned,
            anchor: happened.is_anchor,
            citation: happened.session.citation(episode.lines.0),
        }
    }
}
