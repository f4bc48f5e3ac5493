//! Questions about one session.

use axum::http::{Method, StatusCode};
use rethread_engine::{AskError, AskRequest};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::failure::Failure;
use crate::json::{AnswerJson, AskPlanJson};
use crate::serve::params::{BoundedText, SessionRefParam, optional_string};
use crate::serve::route::ApiResult;
use crate::serve::{ApiError, ApiResponse, Route, ServerState};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::with_body::<AskBody, AskResultJson<'_>>(
            Method::POST,
            "/api/ask",
            "Answer a question about a session, with citations. Uses the configured model within the budget, otherwise \
             quotes the best matching passages. Errors carry the stable codes INVALID_ARGS, CALL_LIMIT_EXCEEDED, \
             SESSION_NOT_FOUND, SESSION_AMBIGUOUS, SESSION_FILE_MISSING, SESSION_PARSE_FAILED, SESSION_EMPTY, \
             QUERY_MODEL_UNAVAILABLE, QUERY_TRANSPORT_FAILED, QUERY_INVALID_OUTPUT and UNKNOWN; `kind` is Rethread's \
             own error kind.",
            ask,
        )
        .with_errors(&[
            StatusCode::NOT_FOUND,
            StatusCode::CONFLICT,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
        ]),
    ]
}

/// A question about a session.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct AskBody {
    /// Session reference: id, its start or end, alias, name or words of it.
    session: SessionRefParam,
    /// Question in plain language.
    question: BoundedText<1, 4_000>,
    /// Use this model of the configured provider.
    model: Option<BoundedText<1, 200>>,
    /// Do not call a model; quote the best matching passages.
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
}

fn ask(app: &ServerState, params: AskBody) -> ApiResult {
    let request = AskRequest {
        reference: params.session.0,
        question: params.question.0,
        model: optional_string(params.model),
        skip_model: params.no_model,
        asker: None,
        turn: optional_string(params.turn),
        max_bytes: None,
        timeout: None,
    };
    if params.dry_run {
        let plan = app.engine.questions().plan(&request).map_err(ask_error)?;
        return ApiResponse::json(&AskPlanJson::new(&plan));
    }
    let _permit = app.limits.acquire_slow()?;
    let answered = app.engine.questions().ask(&request).map_err(ask_error)?;
    ApiResponse::json(&AnswerJson::new(&answered))
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
