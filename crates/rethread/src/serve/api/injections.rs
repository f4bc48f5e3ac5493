//! Injections: activity, prompt preview, references, and the injection history.

use axum::http::{Method, StatusCode};
use rethread_model::{Access, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::existing_reference;
use crate::json::{AwarenessJson, InjectionListJson, ResolvedReferencesJson};
use crate::serve::access::RouteAccess;
use crate::serve::params::{BoundedText, ProjectParam, ResultLimit, SessionRefParam, scope};
use crate::serve::route::{ApiResult, NoParams};
use crate::serve::{ApiResponse, Route, ServerState};

/// The prompt to assume if none is given.
const DEFAULT_PROMPT: &str = "go on";

pub(super) fn routes() -> Vec<Route> {
    const REFERENCE_ERRORS: &[StatusCode] = &[StatusCode::NOT_FOUND, StatusCode::CONFLICT];
    vec![
        Route::get_for_session::<NoParams, AwarenessJson<'_>>(
            "/api/sessions/{id}/activity",
            "Preview the activity of other sessions in the project since this session's watermark. Does not sync and \
             does not mark anything as read.",
            preview_activity,
        ),
        Route::with_body_for_session::<NoParams, AwarenessJson<'_>>(
            Method::POST,
            "/api/sessions/{id}/activity",
            "Sync, then return the activity of other sessions and mark it as read.",
            activity,
        ),
        Route::get::<TurnHistoryParams, TurnHistoryJson>(
            "/api/history/cross-session",
            "List what other sessions of the project did since this session's last turn began, turn by turn, newest \
             first, at most 50; the last hour for a session without turns. Does not sync, and gives every reader the \
             same answer.",
            turn_history,
        )
        .with_errors(REFERENCE_ERRORS),
        Route::get_for_session::<InjectionsParams, InjectionListJson<'_>>(
            "/api/sessions/{id}/injections",
            "List the injections of a session, newest first, with their reasons.",
            injections,
        ),
        Route::with_body::<InjectBody, AwarenessJson<'_>>(
            Method::POST,
            "/api/inject",
            "Preview exactly what the prompt hook would inject, and why. Syncs first; moves no watermark and records \
             nothing.",
            inject,
        )
        .for_callers(RouteAccess::Needs(Access::Read))
        .with_errors(REFERENCE_ERRORS),
        Route::get::<ResolveParams, ResolvedReferencesJson<'_>>(
            "/api/resolve",
            "Resolve @@references in a text, and show what would be injected for them.",
            |app, params| resolve(app, &params.text.0, params.project.as_ref()),
        ),
        Route::with_body::<ResolveBody, ResolvedReferencesJson<'_>>(
            Method::POST,
            "/api/resolve",
            "Resolve @@references in a longer text.",
            |app, params| resolve(app, &params.text.0, params.project.as_ref()),
        )
        .for_callers(RouteAccess::Needs(Access::Read)),
    ]
}

fn preview_activity(app: &ServerState, id: SessionId, _: NoParams) -> ApiResult {
    ApiResponse::json(&AwarenessJson::from_activity(
        app.engine.awareness().stored_activity(&existing_reference(app, id)?)?.as_ref(),
    ))
}

fn activity(app: &ServerState, id: SessionId, _: NoParams) -> ApiResult {
    ApiResponse::json(&AwarenessJson::from_activity(
        app.engine.awareness().activity(&existing_reference(app, id)?, false)?.as_ref(),
    ))
}

/// Who asks for the turns of other sessions.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TurnHistoryParams {
    /// Session reference: id, id prefix, alias or name.
    session: SessionRefParam,
}

/// The turns of other sessions.
#[derive(Serialize, JsonSchema)]
struct TurnHistoryJson {
    /// Text for the session's context; null if nothing happened.
    context: Option<String>,
}

fn turn_history(app: &ServerState, params: TurnHistoryParams) -> ApiResult {
    let TurnHistoryParams { session: BoundedText(session) } = params;
    ApiResponse::json(&TurnHistoryJson { context: app.engine.awareness().turn_history(&session)? })
}

/// How many injections to list.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InjectionsParams {
    /// Show at most this many.
    #[serde(default)]
    limit: ResultLimit<20, 1000>,
}

fn injections(app: &ServerState, id: SessionId, params: InjectionsParams) -> ApiResult {
    ApiResponse::json(&InjectionListJson::new(
        &app.engine.awareness().injections(&existing_reference(app, id)?, params.limit.get() as u64)?,
    ))
}

/// A prompt to preview.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct InjectBody {
    /// Session reference: id, its start or end, alias, name or words of it.
    session: SessionRefParam,
    /// Text of the prompt; defaults to "go on".
    prompt: Option<BoundedText<1, 100_000>>,
}

fn inject(app: &ServerState, params: InjectBody) -> ApiResult {
    let InjectBody { session: BoundedText(session), prompt } = params;
    let prompt = prompt.as_ref().map_or(DEFAULT_PROMPT, |BoundedText(prompt)| prompt);
    ApiResponse::json(&AwarenessJson::from_explanation(&app.engine.awareness().explain(&session, prompt)?))
}

/// A text that fits into a URL.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResolveParams {
    /// Text with @@references.
    text: BoundedText<1, 4_000>,
    /// Project the text is written in; its sessions are preferred.
    project: Option<ProjectParam>,
}

/// A longer text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ResolveBody {
    /// Text with @@references.
    text: BoundedText<1, 100_000>,
    /// Project the text is written in; its sessions are preferred.
    project: Option<ProjectParam>,
}

fn resolve(app: &ServerState, text: &str, project: Option<&ProjectParam>) -> ApiResult {
    ApiResponse::json(&ResolvedReferencesJson::new(&app.engine.questions().references_from(text, &scope(project))?))
}
