//! Search and timeline.

use axum::http::{Method, StatusCode};
use rethread_engine::{HitKind, SearchReport, SearchRequest, TimelineRequest};
use rethread_model::{Agent, clip};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::json::{SearchResultJson, TimelineJson};
use crate::serve::access::RouteAccess;
use crate::serve::params::{
    BoundedList, BoundedText, ChoiceParam, ProjectParam, ResultLimit, SessionRefParam, TimeParam, optional_string,
    scope,
};
use crate::serve::route::ApiResult;
use crate::serve::{ApiError, ApiResponse, Route, ServerState};

/// Characters of a full text, a prompt or an answer that are returned.
const MAX_TEXT_CHARS: usize = 20_000;

pub(super) fn routes() -> Vec<Route> {
    const REFERENCE_ERRORS: &[StatusCode] = &[StatusCode::NOT_FOUND, StatusCode::CONFLICT];
    vec![
        Route::get::<SearchParams, SearchResultJson<'_>>(
            "/api/search",
            "Search sessions by words, most relevant first. Calls no model and writes nothing. Full texts are cut at \
             20,000 characters.",
            |app, params| search(app, params, true),
        )
        .with_errors(REFERENCE_ERRORS),
        Route::with_body::<SearchParams, SearchResultJson<'_>>(
            Method::POST,
            "/api/search",
            "Search sessions by words and, if an embedding model is configured, by meaning. Stays within the budget.",
            |app, params| search(app, params, false),
        )
        .for_callers(RouteAccess::Spends)
        .with_errors(REFERENCE_ERRORS),
        Route::get::<TimelineParams, TimelineJson<'_>>(
            "/api/timeline",
            "List episodes in order: the last ones, or those around one. Prompts and answers are cut at 20,000 \
             characters.",
            timeline,
        )
        .with_errors(REFERENCE_ERRORS),
    ]
}

/// What to search for: a query, a filter, or both.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchParams {
    /// Words, "phrases", -exclusions, filters such as `kind:answer`, times such as `last week`.
    #[serde(default)]
    query: BoundedText<0, 4_000>,
    /// Only entries of these kinds.
    #[serde(default)]
    kind: BoundedList<ChoiceParam<HitKind>, 16>,
    /// Only sessions of this agent.
    agent: Option<ChoiceParam<Agent>>,
    /// Only episodes that touched one of these files: a path, the end of one, or a name.
    #[serde(default)]
    file: BoundedList<BoundedText<1, 4_096>, 16>,
    /// Only episodes that used one of these tools.
    #[serde(default)]
    tool: BoundedList<BoundedText<1, 200>, 16>,
    /// Not before this time: 7d, yesterday, last week, 2026-03, 2026-03-14T12:00.
    since: Option<TimeParam>,
    /// Not after this time; a day or a week counts to its end.
    until: Option<TimeParam>,
    /// Only this session: id, its start or end, alias, name or words of it.
    session: Option<SessionRefParam>,
    /// Only this project: its root as sessions record it, or a directory below it.
    project: Option<ProjectParam>,
    /// Show at most this many hits.
    #[serde(default)]
    limit: ResultLimit<10, 100>,
    /// Return full texts instead of snippets.
    #[serde(default)]
    full: bool,
    /// Also return the prompt and the answer of the episode.
    #[serde(default)]
    exchange: bool,
}

fn search(app: &ServerState, params: SearchParams, read_only: bool) -> ApiResult {
    let has_filter = !(params.kind.0.is_empty() && params.file.0.is_empty() && params.tool.0.is_empty())
        || params.agent.is_some()
        || params.session.is_some()
        || params.since.is_some()
        || params.until.is_some();
    if params.query.0.trim().is_empty() && !has_filter {
        return Err(ApiError::bad_request("nothing to search for").hint("pass a query or a filter"));
    }
    let request = SearchRequest {
        text: params.query.0,
        scope: scope(params.project.as_ref()),
        session: optional_string(params.session),
        agent: params.agent.map(|ChoiceParam(agent)| agent),
        kinds: params.kind.0.into_iter().map(|ChoiceParam(kind)| kind).collect(),
        files: params.file.0.into_iter().map(|BoundedText(file)| file).collect(),
        tools: params.tool.0.into_iter().map(|BoundedText(tool)| tool).collect(),
        state: None,
        since: optional_string(params.since),
        until: optional_string(params.until),
        limit: params.limit.get(),
        full_text: params.full,
        include_exchanges: params.exchange,
        read_only,
    };
    let mut report = app.engine.search().run(&request)?;
    truncate_texts(&mut report);
    ApiResponse::json(&SearchResultJson::new(&request.text, &report, request.full_text, request.include_exchanges))
}

/// Cuts long texts, and drops match positions beyond the cut.
fn truncate_texts(report: &mut SearchReport) {
    for found in &mut report.hits {
        let snippet = &mut found.hit.snippet;
        truncate(Some(&mut snippet.text));
        let end = snippet.text.len();
        snippet.matches.retain(|range| range.end <= end);
        truncate(found.prompt.as_mut());
        truncate(found.answer.as_mut());
    }
}

fn truncate(text: Option<&mut String>) {
    if let Some(text) = text.filter(|text| text.len() > MAX_TEXT_CHARS) {
        *text = clip(text, MAX_TEXT_CHARS).into_owned();
    }
}

/// Which episodes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TimelineParams {
    /// Those around this one: a citation SESSION:LINE, or an episode id.
    around: Option<SessionRefParam>,
    /// Only episodes that touched this file: a path, the end of one, or a name.
    file: Option<BoundedText<1, 4_096>>,
    /// Only this session: id, its start or end, alias, name or words of it.
    session: Option<SessionRefParam>,
    /// Not before this time: 7d, yesterday, last week, 2026-03, 2026-03-14T12:00.
    since: Option<TimeParam>,
    /// Not after this time; a day or a week counts to its end.
    until: Option<TimeParam>,
    /// Only this project: its root as sessions record it, or a directory below it.
    project: Option<ProjectParam>,
    /// Show at most this many.
    #[serde(default)]
    limit: ResultLimit<20, 200>,
}

fn timeline(app: &ServerState, params: TimelineParams) -> ApiResult {
    let mut found = app.engine.sessions().timeline(&TimelineRequest {
        scope: scope(params.project.as_ref()),
        session: optional_string(params.session),
        around: optional_string(params.around),
        file: optional_string(params.file),
        since: optional_string(params.since),
        until: optional_string(params.until),
        limit: params.limit.get(),
        read_only: true,
    })?;
    for happened in &mut found.episodes {
        truncate(happened.prompt.as_mut());
        truncate(happened.answer.as_mut());
    }
    ApiResponse::json(&TimelineJson::new(&found))
}
