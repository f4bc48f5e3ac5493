//! Extracted knowledge: facts and their graph, fixes, decisions, workflows, file history.

use axum::http::{Method, StatusCode};
use rethread_engine::{DecisionRequest, FactsRequest, FileRequest, FixRequest, WorkflowRequest};
use rethread_model::{Access, EntityKind};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::json::{DecisionListJson, FactsReportJson, FileHistoryJson, FixReportJson, WorkflowListJson};
use crate::serve::access::RouteAccess;
use crate::serve::params::{BoundedText, ChoiceParam, ProjectParam, ResultLimit, TimeParam, optional_string, scope};
use crate::serve::route::ApiResult;
use crate::serve::{ApiError, ApiResponse, Route, ServerState};

/// Most projects in one response.
const MAX_PROJECTS: usize = 100;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get::<FactsParams, FactsReportJson<'_>>(
            "/api/facts",
            "Show everything known about an entity and the graph around it, or list the entities with the most facts.",
            facts,
        ),
        Route::get::<FixParams, FixReportJson<'_>>(
            "/api/fix",
            "Find what fixed an error before, with success counts and failed attempts.",
            |app, params| fix(app, params.error.0, params.project.as_ref()),
        ),
        Route::with_body::<FixBody, FixReportJson<'_>>(
            Method::POST,
            "/api/fix",
            "Find fixes for an error in a longer output.",
            |app, params| fix(app, params.error.0, params.project.as_ref()),
        )
        .for_callers(RouteAccess::Needs(Access::Read)),
        Route::get::<DecisionsParams, DecisionListJson<'_>>(
            "/api/decisions",
            "List decisions, preferences and prohibitions, newest first.",
            decisions,
        ),
        Route::get::<WorkflowsParams, WorkflowListJson<'_>>(
            "/api/workflows",
            "List commands with success rates, recurring sequences, and what follows a failure, for each project. At most 100 projects.",
            workflows,
        ),
        Route::get::<FileHistoryParams, FileHistoryJson<'_>>(
            "/api/files",
            "Show the history of a file. Follows renames and shows which session changed it, when and why.",
            files,
        )
        .with_errors(&[StatusCode::CONFLICT]),
    ]
}

/// Which entity.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct FactsParams {
    /// Name of the entity, or an unambiguous part of it; without it the entities with the most facts are listed.
    entity: Option<BoundedText<1, 2_000>>,
    /// Only entities of this kind.
    kind: Option<ChoiceParam<EntityKind>>,
    /// As known at this time: 7d, yesterday, 2026-03, 2026-03-14T12:00.
    as_of: Option<TimeParam>,
    /// Only this project: its root as sessions record it, or a directory below it.
    project: Option<ProjectParam>,
    /// Show at most this many facts, or entities of each kind.
    #[serde(default)]
    limit: ResultLimit<10, 500>,
}

fn facts(app: &ServerState, params: FactsParams) -> ApiResult {
    let found = app.engine.facts().about(&FactsRequest {
        entity: optional_string(params.entity),
        kind: params.kind.map(|ChoiceParam(kind)| kind),
        scope: scope(params.project.as_ref()),
        as_of: optional_string(params.as_of),
        limit: params.limit.get(),
    })?;
    ApiResponse::json(&FactsReportJson::new(&found))
}

/// An error of a few lines.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FixParams {
    /// The error as printed, one or a few lines.
    error: BoundedText<1, 4_000>,
    /// Only this project: its root as sessions record it, or a directory below it.
    project: Option<ProjectParam>,
}

/// An output that contains an error.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FixBody {
    /// The error as printed, with surrounding output.
    error: BoundedText<1, 1_000_000>,
    /// Only this project: its root as sessions record it, or a directory below it.
    project: Option<ProjectParam>,
}

fn fix(app: &ServerState, text: String, project: Option<&ProjectParam>) -> ApiResult {
    if text.trim().is_empty() {
        return Err(ApiError::bad_request("error is empty"));
    }
    let request = FixRequest { text, scope: scope(project) };
    let report = app.engine.facts().fix(&request)?;
    let related = if report.is_empty() { app.engine.facts().sessions_with_error(&request)? } else { Vec::new() };
    ApiResponse::json(&FixReportJson::new(&report, &related))
}

/// Which decisions to list.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DecisionsParams {
    /// Only those that contain all these words.
    #[serde(default)]
    query: BoundedText<0, 1_000>,
    /// Also superseded ones.
    #[serde(default)]
    all: bool,
    /// As decided at this time: 7d, yesterday, 2026-03, 2026-03-14T12:00.
    as_of: Option<TimeParam>,
    /// Only this project: its root as sessions record it, or a directory below it.
    project: Option<ProjectParam>,
    /// Show at most this many.
    #[serde(default)]
    limit: ResultLimit<50, 500>,
}

fn decisions(app: &ServerState, params: DecisionsParams) -> ApiResult {
    let request = DecisionRequest {
        query: params.query.0,
        scope: scope(params.project.as_ref()),
        include_inactive: params.all,
        as_of: optional_string(params.as_of),
    };
    let mut found = app.engine.facts().decisions(&request)?;
    let mut rules = app.engine.facts().file_rules(&request)?;
    found.truncate(params.limit.get());
    rules.truncate(params.limit.get());
    ApiResponse::json(&DecisionListJson::new(&found, &rules))
}

/// Which workflows to list.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WorkflowsParams {
    /// As known at this time: 7d, yesterday, 2026-03, 2026-03-14T12:00.
    as_of: Option<TimeParam>,
    /// Only this project: its root as sessions record it, or a directory below it.
    project: Option<ProjectParam>,
    /// Show at most this many commands and sequences of each project.
    #[serde(default)]
    limit: ResultLimit<10, 100>,
}

fn workflows(app: &ServerState, params: WorkflowsParams) -> ApiResult {
    let request = WorkflowRequest { scope: scope(params.project.as_ref()), as_of: optional_string(params.as_of) };
    let mut found = app.engine.facts().workflows(&request)?;
    found.truncate(MAX_PROJECTS);
    for workflow in &mut found {
        workflow.commands.truncate(params.limit.get());
        workflow.sequences.truncate(params.limit.get());
        workflow.retries.truncate(params.limit.get());
    }
    ApiResponse::json(&WorkflowListJson::new(&found))
}

/// Which file's history to show.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FileHistoryParams {
    /// Path of the file: relative to its project, absolute, or the end of it. Compared as text, never opened.
    path: BoundedText<1, 4_096>,
    /// Not before this time: 7d, yesterday, last week, 2026-03, 2026-03-14T12:00.
    since: Option<TimeParam>,
    /// Not after this time; a day or a week counts to its end.
    until: Option<TimeParam>,
    /// Only this project: its root as sessions record it, or a directory below it.
    project: Option<ProjectParam>,
    /// Show at most this many episodes.
    #[serde(default)]
    limit: ResultLimit<20, 500>,
}

fn files(app: &ServerState, params: FileHistoryParams) -> ApiResult {
    let found = app.engine.facts().file_history(&FileRequest {
        path: params.path.0,
        scope: scope(params.project.as_ref()),
        since: optional_string(params.since),
        until: optional_string(params.until),
        limit: params.limit.get(),
    })?;
    ApiResponse::json(&FileHistoryJson::new(&found))
}
