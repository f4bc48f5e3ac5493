//! The web UI. Rendered on the server, escaped by construction, no build step.
//!
//! Each page is one function: query parameters, engine calls, markup. All transcript text goes through
//! [`components::OneLine`], [`components::MultiLine`] or [`markdown()`], which escape it and neutralize control
//! characters.

mod assets;
mod board;
mod chart;
mod components;
mod edit;
mod graph;
mod health;
mod layout;
mod links;
mod markdown;
mod memory;
mod palette;
mod search;
mod session;
mod status_pages;
mod usage;
mod viewer;

use axum::extract::{Path, RawQuery, State};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use axum::{Extension, Router};
use rethread_model::SessionId;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::serve::route::{decode_query, parse_session_id, run_blocking};
use crate::serve::{ApiError, RequestCaller, ServerState, SharedState};

pub(crate) use assets::routes as static_routes;
use layout::WebPage;
pub(crate) use markdown::markdown;
use viewer::Viewer;

pub(crate) use session::file_diff;
pub(crate) use status_pages::{error_as_page, link_expired_page, member_sign_in_page, signed_in_page};

/// All pages and static files.
pub(crate) fn routes() -> Router<SharedState> {
    Router::new()
        .route("/", page(board::page))
        .route("/sessions/{id}", session_route(session::page))
        .route("/sessions/{id}/preview", session_route(session::preview))
        .route("/sessions/{id}/entries/{seq}", get(original))
        .route("/search", page(search::page))
        .route("/palette", page(palette::page))
        .route("/memory", page(memory::overview))
        .route("/memory/ask", page(memory::ask))
        .route("/memory/errors", page(memory::errors))
        .route("/memory/decisions", page(memory::decisions))
        .route("/memory/workflows", page(memory::workflows))
        .route("/memory/graph", page(graph::page))
        .route("/usage", page(usage::page))
        .route("/usage/export.csv", get(usage::export))
        .route("/health", page(health::page))
}

/// No query parameters.
#[derive(Debug, Default, Deserialize)]
struct NoPageParams {}

/// A page that depends only on its query.
fn page<Q: DeserializeOwned + Send + 'static>(
    make: fn(&Viewer<'_>, &Q) -> Result<WebPage, ApiError>,
) -> MethodRouter<SharedState> {
    get(
        async move |State(app): State<SharedState>,
                    caller: Extension<RequestCaller>,
                    RawQuery(query): RawQuery|
                    -> Result<Response, ApiError> {
            let params: Q = decode_query(query.as_deref())?;
            run_blocking(app, move |app| Ok(page_response(app, &caller, make(&Viewer::new(app, &caller), &params)?)))
                .await
        },
    )
}

/// A page about one session.
fn session_route<Q: DeserializeOwned + Send + 'static>(
    make: fn(&Viewer<'_>, SessionId, &Q) -> Result<WebPage, ApiError>,
) -> MethodRouter<SharedState> {
    get(
        async move |State(app): State<SharedState>,
                    caller: Extension<RequestCaller>,
                    Path(id): Path<String>,
                    RawQuery(query): RawQuery|
                    -> Result<Response, ApiError> {
            let (id, params): (_, Q) = (parse_session_id(&id)?, decode_query(query.as_deref())?);
            run_blocking(app, move |app| {
                Ok(page_response(app, &caller, make(&Viewer::new(app, &caller), id, &params)?))
            })
            .await
        },
    )
}

async fn original(
    State(app): State<SharedState>,
    caller: Extension<RequestCaller>,
    Path((id, seq)): Path<(String, String)>,
) -> Result<Response, ApiError> {
    let id = parse_session_id(&id)?;
    let seq = seq.parse().map_err(|_| ApiError::bad_request(format!("invalid entry number {seq:?}")))?;
    run_blocking(app, move |app| Ok(page_response(app, &caller, session::original_page(app, id, seq)?))).await
}

fn page_response(app: &ServerState, caller: &RequestCaller, page: WebPage) -> Response {
    let member = caller.signed_in().map(|signed_in| (signed_in.member.as_str(), signed_in.space.space().as_str()));
    Html(page.into_string(app.engine.now(), member)).into_response()
}
