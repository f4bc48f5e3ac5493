//! Health, status, usage, doctor and sync.

use std::path::PathBuf;

use axum::http::{Method, StatusCode};
use rethread_engine::{SyncRequest, UsageGrouping, UsageRequest};
use rethread_model::{Access, Agent};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cli::values::since;
use crate::json::{DiagnosisJson, SCHEMA, StatusJson, SyncPlanJson, SyncReportJson, UsageReportJson};
use crate::serve::access::RouteAccess;
use crate::serve::params::{BoundedText, ChoiceParam, ProjectParam, TimeParam, optional_string, scope};
use crate::serve::route::{ApiResult, NoParams};
use crate::serve::{ApiError, ApiResponse, Route, ServerState, openapi};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get::<UsageParams, UsageReportJson<'_>>(
            "/api/usage",
            "Report the agents' tokens and cost, Rethread's own model spending, and the compression of transcripts.",
            usage,
        ),
        Route::with_body::<SyncBody, SyncResultJson<'_>>(
            Method::POST,
            "/api/sync",
            "Sync what is new in the agents' transcripts. Responds when the sync is complete.",
            sync,
        )
        .for_callers(RouteAccess::LocalOnly)
        .with_errors(&[StatusCode::CONFLICT, StatusCode::TOO_MANY_REQUESTS]),
        Route::get::<NoParams, StatusJson<'_>>("/api/status", "Show sizes, counts, budget and versions.", |app, _| {
            let mut status = app.engine.reports().status()?;
            if app.server.is_shared {
                // The folders of a node are nothing for members.
                status.folder = PathBuf::new();
            }
            ApiResponse::json(&StatusJson::new(&status))
        })
        .for_callers(RouteAccess::Needs(Access::Admin)),
        Route::get::<NoParams, DiagnosisJson<'_>>(
            "/api/doctor",
            "Check sources, hooks, store and index, and suggest fixes.",
            |app, _| ApiResponse::json(&DiagnosisJson::new(&app.engine.reports().doctor()?)),
        )
        .for_callers(RouteAccess::LocalOnly),
        Route::get::<NoParams, HealthJson>(
            "/api/health",
            "Check that the server responds. On a server of a team, also that it can use its store; without a token, `indexLag` is left out.",
            health,
        )
        .for_callers(RouteAccess::SignedIn),
        Route::get::<NoParams, openapi::OpenApiDocument>("/api/openapi.json", "Get this document.", |_, _| {
            ApiResponse::json(openapi::document())
        })
        .for_callers(RouteAccess::SignedIn),
    ]
}

/// Which usage to report.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UsageParams {
    /// Group by; defaults to day.
    by: Option<ChoiceParam<UsageGrouping>>,
    /// Only this agent.
    agent: Option<ChoiceParam<Agent>>,
    /// Not before this time: 7d, yesterday, last week, 2026-03, 2026-03-14T12:00.
    since: Option<TimeParam>,
    /// Not after this time; a day or a week counts to its end.
    until: Option<TimeParam>,
    /// Only this project: its root as sessions record it, or a directory below it.
    project: Option<ProjectParam>,
}

fn usage(app: &ServerState, params: UsageParams) -> ApiResult {
    let group_by = params.by.map_or_else(UsageGrouping::default, |ChoiceParam(group_by)| group_by);
    let report = app.engine.reports().usage(&UsageRequest {
        scope: scope(params.project.as_ref()),
        group_by,
        agent: params.agent.map(|ChoiceParam(agent)| agent),
        since: optional_string(params.since),
        until: optional_string(params.until),
    })?;
    ApiResponse::json(&UsageReportJson::new(&report, group_by))
}

/// What to sync.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SyncBody {
    /// Only transcripts of this agent.
    agent: Option<ChoiceParam<Agent>>,
    /// Only transcripts written since this time: 30d, 12h, 2026-02-20.
    since: Option<TimeParam>,
    /// Only list what would be read.
    #[serde(default)]
    dry_run: bool,
}

/// The sync report, or the plan of a dry run.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only used for its schema")]
enum SyncResultJson<'a> {
    Synced(SyncReportJson<'a>),
    Plan(SyncPlanJson),
}

fn sync(app: &ServerState, params: SyncBody) -> ApiResult {
    let bad = |why: String| ApiError::bad_request(format!("since: {why}"));
    let moment = params.since.map(|BoundedText(text)| since(&text).map_err(bad)).transpose()?;
    let request = SyncRequest {
        agent: params.agent.map(|ChoiceParam(agent)| agent),
        paths: Vec::new(),
        since: moment.map(|moment| moment.before(app.engine.now())),
    };
    if params.dry_run {
        let (runs, estimates) = app.engine.sync().plan_with_costs(&request)?;
        return ApiResponse::json(&SyncPlanJson::new(&runs, estimates.as_deref()));
    }
    let _permit = app.server.limits.acquire_slow()?;
    ApiResponse::json(&SyncReportJson::new(&app.engine.sync().run(&request, &mut |_| {})?))
}

/// The server responds, and can use its store.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct HealthJson {
    schema: u8,
    status: &'static str,
    version: &'static str,
    /// On a server of a team: entries that are stored and not in the search index yet. Searches read them from the store.
    index_lag: Option<u64>,
}

fn health(app: &ServerState, _: NoParams) -> ApiResult {
    let index_lag = app.server.is_shared.then(|| app.engine.server().index_lag()).transpose()?;
    ApiResponse::json(&HealthJson { schema: SCHEMA, status: "ok", version: env!("CARGO_PKG_VERSION"), index_lag })
}
