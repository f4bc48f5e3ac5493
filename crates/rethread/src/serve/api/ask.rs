//! Questions about a session or a project.

use axum::http::{Method, StatusCode};
use rethread_engine::{AskError, AskRequest, SessionScope};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::failure::Failure;
use crate::json::{AnswerJson, AskPlanJson, ProjectAnswerJson, ProjectAskPlanJson};
use crate::serve::access::RouteAccess;
use crate::serve::params::{BoundedText, ProjectParam, SessionRefParam, optional_string, scope};
use crate::serve::route::ApiResult;
use crate::serve::{ApiError, ApiResponse, Route, ServerState};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::with_body::<AskBody, AskResultJson<'_>>(
            Method::POST,
            "/api/ask",
            "Answer a question about a session or, without `session`, about a project or all of them; with citations. \
             Uses the configured model within the budget, otherwise answers from facts and the best matching passages. \
             Errors carry the stable codes INVALID_ARGS, CALL_LIMIT_EXCEEDED, \
             SESSION_NOT_FOUND, SESSION_AMBIGUOUS, SESSION_FILE_MISSING, SESSION_PARSE_FAILED, SESSION_EMPTY, \
             QUERY_MODEL_UNAVAILABLE, QUERY_TRANSPORT_FAILED, QUERY_INVALID_OUTPUT and UNKNOWN; `kind` is Rethread's \
             own error kind.",
            ask,
        )
        .for_callers(RouteAccess::Spends)
        .with_errors(&[
            StatusCode::NOT_FOUND,
            StatusCode::CONFLICT,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
        ]),
    ]
}

/// A question about a session or a project.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AskBody {
    /// Session reference: id, its start or end, alias, name or words of it. Without it, all sessions are asked.
    session: Option<SessionRefParam>,
    /// Without `session`, only this project: its root as sessions record it, or a directory below it.
    project: Option<ProjectParam>,
    /// Question in plain language.
    question: BoundedText<1, 4_000>,
    /// Use this model of the configured provider.
    model: Option<BoundedText<1, 200>>,
    /// Do not call a model; answer from facts and the best matching passages.
    #[serde(default)]
    no_model: bool,
    /// Only estimate the cost; send nothing.
    #[serde(default)]
    dry_run: bool,
    /// Id of the agent's turn; the number of model calls per turn is limited.
    turn: Option<BoundedText<1, 200>>,
}

/// The answer, or the estimate of a dry run.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only used for its schema")]
enum AskResultJson<'a> {
    Answer(AnswerJson<'a>),
    Plan(AskPlanJson<'a>),
    ProjectAnswer(ProjectAnswerJson<'a>),
    ProjectPlan(ProjectAskPlanJson<'a>),
}

fn ask(app: &ServerState, params: AskBody) -> ApiResult {
    let is_of_project = params.session.is_none();
    let request = AskRequest {
        reference: params.session.map(|session| session.0).unwrap_or_default(),
        question: params.question.0,
        model: optional_string(params.model),
        skip_model: params.no_model,
        asker: None,
        turn: optional_string(params.turn),
        max_bytes: None,
        timeout: None,
        is_read_only: false,
    };
    if is_of_project {
        return ask_project(app, &request, &scope(params.project.as_ref()), params.dry_run);
    }
    if params.dry_run {
        let plan = app.engine.questions().plan(&request).map_err(ask_error)?;
        return ApiResponse::json(&AskPlanJson::new(&plan));
    }
    let _permit = app.server.limits.acquire_slow()?;
    let answered = app.engine.questions().ask(&request).map_err(ask_error)?;
    ApiResponse::json(&AnswerJson::new(&answered))
}

fn ask_project(app: &ServerState, request: &AskRequest, scope: &SessionScope, is_dry_run: bool) -> ApiResult {
    let questions = app.engine.questions();
    if is_dry_run {
        return ApiResponse::json(&ProjectAskPlanJson::new(
            &questions.plan_project(request, scope).map_err(ask_error)?,
        ));
    }
    let _permit = app.server.limits.acquire_slow()?;
    ApiResponse::json(&ProjectAnswerJson::new(&questions.ask_project(request, scope).map_err(ask_error)?))
}

/// Replaces the CLI hint with one for API clients.
fn ask_error(error: AskError) -> ApiError {
    let is_of_a_model = error.code().starts_with("QUERY_");
    let mut failure = Failure::from(error);
    if is_of_a_model {
        failure.hints.pop();
        failure.hints.push("set noModel to get quoted passages at no cost".to_owned());
    }
    failure.into()
}
