//! Finding what was said and done: by words, by meaning, in order.

use axum::http::{Method, StatusCode};
use rethread_engine::{Kind, SearchReport, SearchRequest, TimelineRequest};
use rethread_model::{Agent, clip};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::json::{Happenings, Recall};
use crate::serve::route::Outcome;
use crate::serve::values::{Limit, List, OneOf, Project, Reference, Text, When, said, scope};
use crate::serve::{Answer, App, Refusal, Route};

/// Characters of a whole text, a prompt or an answer that are told.
const LONGEST_TEXT: usize = 20_000;

pub(super) fn routes() -> Vec<Route> {
    const REFERENCES: &[StatusCode] = &[StatusCode::NOT_FOUND, StatusCode::CONFLICT];
    vec![
        Route::get::<Wanted, Recall<'_>>(
            "/api/search",
            "Finds what was said and done, best first, by its words. No model is asked and nothing is written. Whole texts \
             are cut at 20,000 characters.",
            |app, asked| search(app, asked, true),
        )
        .refusing(REFERENCES),
        Route::tell::<Wanted, Recall<'_>>(
            Method::POST,
            "/api/search",
            "The same; where an embedding model is configured, also by meaning, within the budget.",
            |app, asked| search(app, asked, false),
        )
        .refusing(REFERENCES),
        Route::get::<Line, Happenings<'_>>(
            "/api/timeline",
            "Exchanges of all sessions in the order they happened: the last ones, or those around one. Prompts and answers \
             are cut at 20,000 characters.",
            timeline,
        )
        .refusing(REFERENCES),
    ]
}

/// What to look for. Something must be named: words or a filter.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "SearchRequest")]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// As typed: words, "phrases", -exclusions, filters such as `kind:answer`, times such as `last week`.
    #[serde(default)]
    query: Text<0, 4_000>,
    /// Only entries of these kinds.
    #[serde(default)]
    kind: List<OneOf<Kind>, 16>,
    /// Only what this agent recorded.
    agent: Option<OneOf<Agent>>,
    /// Only exchanges that touched one of these files: a path, the end of one, or a name.
    #[serde(default)]
    file: List<Text<1, 4_096>, 16>,
    /// Only exchanges that used one of these tools.
    #[serde(default)]
    tool: List<Text<1, 200>, 16>,
    /// Not before: 7d, yesterday, last week, 2026-03, 2026-03-14T12:00.
    since: Option<When>,
    /// Not after; a day or a week counts to its end.
    until: Option<When>,
    /// Only in this session: an id, the beginning of one, an alias, a name.
    session: Option<Reference>,
    /// Only in this project: its root as sessions have it, or a directory below it.
    project: Option<Project>,
    /// At most so many hits.
    #[serde(default)]
    limit: Limit<10, 100>,
    /// Whole texts, not only the piece that fits.
    #[serde(default)]
    full: bool,
    /// Also what was asked and what was answered.
    #[serde(default)]
    exchange: bool,
}

fn search(app: &App, asked: Wanted, only_reads: bool) -> Outcome {
    let has_filter = !(asked.kind.0.is_empty() && asked.file.0.is_empty() && asked.tool.0.is_empty())
        || asked.agent.is_some()
        || asked.session.is_some()
        || asked.since.is_some()
        || asked.until.is_some();
    if asked.query.0.trim().is_empty() && !has_filter {
        return Err(Refusal::bad("nothing to search for").hint("give a query or a filter"));
    }
    let request = SearchRequest {
        text: asked.query.0,
        scope: scope(asked.project.as_ref()),
        session: said(asked.session),
        agent: asked.agent.map(|OneOf(agent)| agent),
        kinds: asked.kind.0.into_iter().map(|OneOf(kind)| kind).collect(),
        files: asked.file.0.into_iter().map(|Text(file)| file).collect(),
        tools: asked.tool.0.into_iter().map(|Text(tool)| tool).collect(),
        since: said(asked.since),
        until: said(asked.until),
        limit: asked.limit.get(),
        full: asked.full,
        exchanges: asked.exchange,
        only_reads,
    };
    let mut report = app.engine.search(&request)?;
    shorten(&mut report);
    Answer::json(&Recall::new(&request.text, &report, request.full, request.exchanges))
}

/// Cuts texts that nobody reads in a list.
fn shorten(report: &mut SearchReport) {
    for found in &mut report.hits {
        let snippet = &mut found.hit.snippet;
        cut(Some(&mut snippet.text));
        let end = snippet.text.len();
        snippet.matches.retain(|range| range.end <= end);
        cut(found.prompt.as_mut());
        cut(found.answer.as_mut());
    }
}

fn cut(text: Option<&mut String>) {
    if let Some(text) = text.filter(|text| text.len() > LONGEST_TEXT) {
        *text = clip(text, LONGEST_TEXT).into_owned();
    }
}

/// Which exchanges.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Those before and after this one: a citation SESSION:LINE, or the id of an episode.
    around: Option<Reference>,
    /// Only those that touched this file: a path, the end of one, or a name.
    file: Option<Text<1, 4_096>>,
    /// Only in this session: an id, the beginning of one, an alias, a name.
    session: Option<Reference>,
    /// Not before: 7d, yesterday, last week, 2026-03, 2026-03-14T12:00.
    since: Option<When>,
    /// Not after; a day or a week counts to its end.
    until: Option<When>,
    /// Only in this project: its root as sessions have it, or a directory below it.
    project: Option<Project>,
    /// At most so many.
    #[serde(default)]
    limit: Limit<20, 200>,
}

fn timeline(app: &App, asked: Line) -> Outcome {
    let mut found = app.engine.timeline(&TimelineRequest {
        scope: scope(asked.project.as_ref()),
        session: said(asked.session),
        around: said(asked.around),
        file: said(asked.file),
        since: said(asked.since),
        until: said(asked.until),
        limit: asked.limit.get(),
        only_reads: true,
    })?;
    for happened in &mut found.episodes {
        cut(happened.prompt.as_mut());
        cut(happened.answer.as_mut());
    }
    Answer::json(&Happenings::new(&found))
}
