//! MCP by HTTP: each request stands for itself, whatever the revision, so there is nothing to keep and nothing to hang.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::memory::Memory;
use crate::serve::Shared;

/// `/mcp`, for clients that come by HTTP.
pub(crate) fn routes(app: &Shared) -> Router<Shared> {
    let memory = Memory::served(Arc::clone(app));
    // Host and origin are the guard's business, which also knows who comes through the socket.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let make = move || Ok(memory.clone());
    let service = StreamableHttpService::new(make, Arc::new(NeverSessionManager::default()), config);
    // Sessions and their streams, which GET and DELETE were for, are not offered.
    let answer = move |State(_): State<Shared>, parts: Parts, body: Bytes| async move {
        if let Some(refusal) = no_request(&body) {
            return refusal;
        }
        let request = Request::from_parts(parts, Body::from(body));
        service.oneshot(request).await.unwrap_or_else(|never| match never {}).map(Body::new)
    };
    Router::new().route("/mcp", post(answer))
}

/// Says what is wrong with a body that is no request at all; the protocol itself would call it a wrong content type.
fn no_request(body: &[u8]) -> Option<Response> {
    let refused = |code: i32, message: &str| {
        let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
        Some((StatusCode::BAD_REQUEST, Json(error)).into_response())
    };
    match serde_json::from_slice::<Value>(body) {
        Ok(Value::Object(_)) => None,
        Ok(_) => refused(-32600, "a request is one JSON object; batches are not taken"),
        Err(error) => refused(-32700, &format!("the body is no JSON: {error}")),
    }
}
