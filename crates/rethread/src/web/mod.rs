//! The page: what people see of the memory in a browser. Made on the server, escaped by construction, no build step.
//!
//! Each page is one row: what its query may say, one reading of the engine, and the markup made of it. Everything a
//! transcript said goes through [`parts::Line`], [`parts::Text`] or [`markdown`], which leave nothing in it that a
//! browser or a reader could be misled by.

mod assets;
mod board;
mod chart;
mod gate;
mod graph;
mod health;
mod links;
mod markdown;
mod memory;
mod parts;
mod search;
mod session;
mod shell;
mod usage;

use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{MethodRouter, get};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::serve::route::{blocking, in_query, session_id};
use crate::serve::{App, Refusal, Shared};

pub(crate) use gate::{as_page, let_in, used_up};
use shell::Page;

/// All pages, and what they look like.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
        .route("/", page(board::page))
        .route("/sessions/{id}", get(session))
        .route("/search", page(search::page))
        .route("/memory", page(memory::overview))
        .route("/memory/errors", page(memory::errors))
        .route("/memory/decisions", page(memory::decisions))
        .route("/memory/workflows", page(memory::workflows))
        .route("/memory/graph", page(graph::page))
        .route("/usage", page(usage::page))
        .route("/health", page(health::page))
        .merge(assets::routes())
}

/// What a page asks of nobody.
#[derive(Debug, Default, Deserialize)]
struct Nothing {}

/// A page that is made of its query.
fn page<Q: DeserializeOwned + Send + 'static>(make: fn(&App, &Q) -> Result<Page, Refusal>) -> MethodRouter<Shared> {
    get(async move |State(app): State<Shared>, RawQuery(query): RawQuery| -> Result<Response, Refusal> {
        let asked: Q = in_query(query.as_deref())?;
        blocking(app, move |app| Ok(shown(app, make(app, &asked)?))).await
    })
}

async fn session(
    State(app): State<Shared>,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let (id, asked) = (session_id(&id)?, in_query(query.as_deref())?);
    blocking(app, move |app| Ok(shown(app, session::page(app, id, &asked)?))).await
}

fn shown(app: &App, page: Page) -> Response {
    Html(page.into_string(app.engine.now())).into_response()
}
