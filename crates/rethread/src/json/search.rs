//! What was found, as programs get it.

use std::collections::BTreeMap;
use std::ops::Range;

use rethread_engine::{Hit, Recalled, SearchReport};
use rethread_model::{Session, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::shape::Moment;

/// A ranked list of hits.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SearchResult")]
pub(crate) struct Recall<'a> {
    schema: u8,
    query: &'a str,
    degraded: Option<&'a str>,
    matched: u64,
    searched: u64,
    seconds: f64,
    hits: Vec<Found<'a>>,
}

impl<'a> Recall<'a> {
    /// What was found for a query; with whole texts and exchanges where they were asked for.
    pub(crate) fn new(query: &'a str, report: &'a SearchReport, full: bool, exchange: bool) -> Self {
        let hits = report.hits.iter().enumerate().map(|(at, found)| Found::new(at + 1, found, full, exchange));
        Self {
            schema: SCHEMA,
            query,
            degraded: report.degraded.as_deref(),
            matched: report.matched,
            searched: report.searched,
            seconds: rounded(report.seconds),
            hits: hits.collect(),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Hit")]
struct Found<'a> {
    rank: usize,
    score: f64,
    kind: &'static str,
    session: Named<'a>,
    episode: Option<Exchange<'a>>,
    entry: Matching<'a>,
    snippet: &'a str,
    matches: Vec<(usize, usize)>,
    citation: String,
    why: BTreeMap<&'static str, f64>,
    #[serde(flatten)]
    exchange: Option<Spoken<'a>>,
}

/// The session of a hit or an exchange.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SessionName")]
#[serde(rename_all = "camelCase")]
pub(super) struct Named<'a> {
    id: String,
    external_id: &'a str,
    agent: &'static str,
    name: Option<&'a str>,
    project: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HitEpisode")]
#[serde(rename_all = "camelCase")]
struct Exchange<'a> {
    id: &'a str,
    #[schemars(with = "Option<Moment>")]
    started_at: Option<Timestamp>,
    lines: (u64, u64),
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HitEntry")]
#[serde(rename_all = "camelCase")]
struct Matching<'a> {
    native_id: &'a str,
    role: &'static str,
    kind: &'static str,
    line: u64,
    #[schemars(with = "Option<Moment>")]
    at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "HitExchange")]
struct Spoken<'a> {
    prompt: Option<&'a str>,
    answer: Option<&'a str>,
}

impl<'a> Found<'a> {
    fn new(rank: usize, found: &'a Recalled, full: bool, exchange: bool) -> Self {
        let Hit { session, episode, entry, kind, score, why, snippet, .. } = &found.hit;
        Self {
            rank,
            score: rounded(f64::from(*score)),
            kind: "episode",
            session: Named::new(session),
            episode: episode.as_ref().map(|episode| Exchange {
                id: &episode.id,
                started_at: episode.started_at,
                lines: episode.lines,
            }),
            entry: Matching {
                native_id: &entry.native_id,
                role: entry.speech.role().as_str(),
                kind: kind.as_str(),
                line: entry.place.line,
                at: entry.at,
                text: full.then_some(&snippet.text),
            },
            snippet: &snippet.text,
            matches: in_characters(&snippet.text, &snippet.matches),
            citation: session.citation(entry.place.line),
            why: why.iter().map(|why| (why.part, rounded(f64::from(why.points)))).collect(),
            exchange: exchange.then_some(Spoken { prompt: found.prompt.as_deref(), answer: found.answer.as_deref() }),
        }
    }
}

impl<'a> Named<'a> {
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

/// Ranges of bytes as ranges of characters, because most languages cannot count bytes of a text.
fn in_characters(text: &str, ranges: &[Range<usize>]) -> Vec<(usize, usize)> {
    let (mut bytes, mut characters) = (0, 0);
    let mut count_to = |at: usize| {
        characters += text.get(bytes..at).map_or(0, |passed| passed.chars().count());
        bytes = at;
        characters
    };
    ranges.iter().map(|range| (count_to(range.start), count_to(range.end))).collect()
}

/// Four decimals tell apart what can be told apart.
fn rounded(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters() {
        let text = "日本 parser 語 x";
        assert_eq!(in_characters(text, &[7..13, 18..19]), [(3, 9), (12, 13)]);
        assert_eq!(in_characters("", &[]), []);
    }
}
