//! JSON of search results.

use std::collections::BTreeMap;
use std::ops::Range;

use rethread_engine::{HitWithExchange, SearchHit, SearchReport, SimilarWork};
use rethread_model::{Session, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::schema::TimestampJson;

/// Hits, most relevant first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SearchResultJson<'a> {
    schema: u8,
    query: &'a str,
    /// What was not searched; null if everything was.
    degraded: Option<&'a str>,
    /// How a time in the query was read, such as the day of "the release"; null if that is obvious.
    notice: Option<&'a str>,
    /// Entries that match, including those not listed.
    matched: u64,
    /// Entries that were searched.
    searched: u64,
    seconds: f64,
    hits: Vec<HitJson<'a>>,
}

impl<'a> SearchResultJson<'a> {
    /// `full` adds the whole entry text to each hit, `exchange` the prompt and the answer around it.
    pub(crate) fn new(query: &'a str, report: &'a SearchReport, full: bool, exchange: bool) -> Self {
        let hits = report.hits.iter().enumerate().map(|(at, found)| HitJson::new(at + 1, found, full, exchange));
        Self {
            schema: SCHEMA,
            query,
            degraded: report.degraded.as_deref(),
            notice: report.notice.as_deref(),
            matched: report.matched,
            searched: report.searched,
            seconds: round_to_four_decimals(report.seconds),
            hits: hits.collect(),
        }
    }
}

/// One hit.
#[derive(Serialize, JsonSchema)]
struct HitJson<'a> {
    rank: usize,
    score: f64,
    kind: &'static str,
    session: SessionNameJson<'a>,
    /// Sessions that are nearly the same and not listed themselves: copies and forks.
    #[serde(rename = "alsoIn", skip_serializing_if = "Vec::is_empty")]
    also_in: Vec<SessionNameJson<'a>>,
    episode: Option<HitEpisodeJson<'a>>,
    entry: HitEntryJson<'a>,
    snippet: &'a str,
    /// Ranges of matching words in `snippet`, in characters.
    matches: Vec<(usize, usize)>,
    citation: String,
    /// The score by signal.
    why: BTreeMap<&'static str, f64>,
    #[serde(flatten)]
    exchange: Option<HitExchangeJson<'a>>,
}

/// A session by its ids and name.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionNameJson<'a> {
    id: String,
    external_id: &'a str,
    agent: &'static str,
    name: Option<&'a str>,
    project: Option<&'a str>,
}

/// Sessions with similar work, most similar first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SimilarSessionsJson<'a> {
    schema: u8,
    similar: Vec<SimilarSessionJson<'a>>,
}

/// A session with similar work.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SimilarSessionJson<'a> {
    session: SessionNameJson<'a>,
    #[schemars(with = "Option<TimestampJson>")]
    last_activity_at: Option<Timestamp>,
    /// Its score as a share of what the session scores for its own words, 0 to 1.
    share: f64,
    /// Files that both sessions changed, relative to their projects.
    shared_files: &'a [String],
}

impl<'a> SimilarSessionsJson<'a> {
    pub(crate) fn new(similar: &'a [SimilarWork]) -> Self {
        let similar = similar.iter().map(|one| SimilarSessionJson {
            session: SessionNameJson::new(&one.session),
            last_activity_at: one.session.last_activity_at,
            share: round_to_four_decimals(f64::from(one.share)),
            shared_files: &one.shared_files,
        });
        Self { schema: SCHEMA, similar: similar.collect() }
    }
}

/// The episode of a hit; `lines` are its first and last line in the transcript.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HitEpisodeJson<'a> {
    id: &'a str,
    #[schemars(with = "Option<TimestampJson>")]
    started_at: Option<Timestamp>,
    lines: (u64, u64),
}

/// The entry that matches best.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HitEntryJson<'a> {
    native_id: &'a str,
    role: &'static str,
    kind: &'static str,
    line: u64,
    #[schemars(with = "Option<TimestampJson>")]
    at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

/// The prompt and the answer of the episode.
#[derive(Serialize, JsonSchema)]
struct HitExchangeJson<'a> {
    prompt: Option<&'a str>,
    answer: Option<&'a str>,
}

impl<'a> HitJson<'a> {
    fn new(rank: usize, found: &'a HitWithExchange, full: bool, exchange: bool) -> Self {
        let SearchHit { session, episode, entry, kind, score, also_in, why, snippet, .. } = &found.hit;
        Self {
            rank,
            score: round_to_four_decimals(f64::from(*score)),
            kind: "episode",
            session: SessionNameJson::new(session),
            also_in: also_in.iter().map(SessionNameJson::new).collect(),
            episode: episode.as_ref().map(|episode| HitEpisodeJson {
                id: &episode.id,
                started_at: episode.started_at,
                lines: episode.lines,
            }),
            entry: HitEntryJson {
                native_id: &entry.native_id,
                role: entry.kind.role().as_str(),
                kind: kind.as_str(),
                line: entry.location.line,
                at: entry.at,
                text: full.then_some(&snippet.text),
            },
            snippet: &snippet.text,
            matches: to_character_ranges(&snippet.text, &snippet.matches),
            citation: session.citation(entry.location.line),
            why: why.iter().map(|why| (why.feature, round_to_four_decimals(f64::from(why.points)))).collect(),
            exchange: exchange
                .then_some(HitExchangeJson { prompt: found.prompt.as_deref(), answer: found.answer.as_deref() }),
        }
    }
}

impl<'a> SessionNameJson<'a> {
    pub(super) fn new(session: &'a Session) -> Self {
        Self {
            id: session.id.to_string(),
            external_id: &session.external_id,
            agent: session.agent.as_str(),
            name: session.name.as_deref(),
            project: session.project.as_deref(),
        }
    }
}

/// Converts byte ranges to character ranges, because most languages index strings by character.
fn to_character_ranges(text: &str, ranges: &[Range<usize>]) -> Vec<(usize, usize)> {
    let (mut bytes, mut characters) = (0, 0);
    let mut count_to = |at: usize| {
        characters += text.get(bytes..at).map_or(0, |passed| passed.chars().count());
        bytes = at;
        characters
    };
    ranges.iter().map(|range| (count_to(range.start), count_to(range.end))).collect()
}

/// Rounds to four decimals.
fn round_to_four_decimals(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn match_ranges_count_characters() {
        let text = "日本 parser 語 x";
        assert_eq!(to_character_ranges(text, &[7..13, 18..19]), [(3, 9), (12, 13)]);
        assert_eq!(to_character_ranges("", &[]), []);
    }
}
