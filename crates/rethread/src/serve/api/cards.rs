//! Cards, resume context and handoff notes.

use axum::http::{Method, StatusCode};
use rethread_model::SessionId;
use schemars::JsonSchema;
use serde::Deserialize;

use super::existing_reference;
use crate::commands::card::failure_of;
use crate::json::{CardJson, CardRefreshJson, HandoffJson, ResumeJson};
use crate::render::resume_command;
use crate::serve::params::{BoundedText, optional_string};
use crate::serve::route::{ApiResult, NoParams};
use crate::serve::{ApiResponse, Route, ServerState};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get_for_session::<NoParams, CardJson<'_>>(
            "/api/sessions/{id}/card",
            "Show the card of a session. Has name, description, summary and tags, written by a model or generated \
             without one.",
            card,
        ),
        Route::with_body_for_session::<CardBody, CardJson<'_>>(
            Method::POST,
            "/api/sessions/{id}/card",
            "Refresh the card with the configured model, if enough is new. `refresh` reports the result.",
            refresh,
        )
        .with_errors(&[
            StatusCode::NOT_FOUND,
            StatusCode::CONFLICT,
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::BAD_GATEWAY,
        ]),
        Route::get_for_session::<NoParams, ResumeJson<'_>>(
            "/api/sessions/{id}/resume",
            "Show the resume context of a session, and its agent's own command to continue it.",
            resume,
        ),
        Route::get_for_session::<NoParams, HandoffJson<'_>>(
            "/api/sessions/{id}/handoff",
            "Write a handoff note. Markdown with goal, progress, hurdles, touched files and next steps.",
            handoff,
        ),
    ]
}

fn card(app: &ServerState, id: SessionId, _: NoParams) -> ApiResult {
    ApiResponse::json(&CardJson::new(&app.engine.cards().get(&existing_reference(app, id)?)?, None))
}

/// How to refresh a card.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct CardBody {
    /// Use this model of the configured provider.
    model: Option<BoundedText<1, 200>>,
    /// Refresh even if little is new.
    #[serde(default)]
    force: bool,
    /// Only estimate the cost; send and write nothing.
    #[serde(default)]
    dry_run: bool,
}

fn refresh(app: &ServerState, id: SessionId, params: CardBody) -> ApiResult {
    let (reference, model) = (existing_reference(app, id)?, optional_string(params.model));
    if params.dry_run {
        return ApiResponse::json(&CardJson::from_plan(
            &app.engine.cards().plan_refresh(&reference, model.as_deref())?,
        ));
    }
    let _permit = app.server.limits.acquire_slow()?;
    let refreshed = app.engine.cards().refresh(&reference, model.as_deref(), params.force)?;
    let report = CardRefreshJson::new(&refreshed.outcome, refreshed.cost);
    match failure_of(refreshed.outcome) {
        Some(failure) => Err(failure.into()),
        None => ApiResponse::json(&CardJson::new(&refreshed.card, Some(report))),
    }
}

fn resume(app: &ServerState, id: SessionId, _: NoParams) -> ApiResult {
    let reference = existing_reference(app, id)?;
    let listed = app.engine.sessions().resolve(&reference)?;
    let text = app.engine.awareness().resume_text(&reference)?;
    ApiResponse::json(&ResumeJson::new(&listed, &text, resume_command(&listed.session).as_deref()))
}

fn handoff(app: &ServerState, id: SessionId, _: NoParams) -> ApiResult {
    ApiResponse::json(&HandoffJson::new(&app.engine.questions().handoff(&existing_reference(app, id)?)?))
}
