//! MCP over HTTP, stateless: no MCP sessions are kept, whatever the protocol revision.

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

use super::server::McpServer;
use crate::serve::SharedState;

/// The `/mcp` endpoint.
pub(crate) fn routes(app: &SharedState) -> Router<SharedState> {
    let memory = McpServer::for_server(Arc::clone(app));
    // The guard checks host and origin, and also knows about the Unix socket.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let make = move || Ok(memory.clone());
    let service = StreamableHttpService::new(make, Arc::new(NeverSessionManager::default()), config);
    // GET and DELETE are for MCP sessions, which are not offered.
    let answer = move |State(_): State<SharedState>, parts: Parts, body: Bytes| async move {
        if let Some(error) = check_request(&body) {
            return error;
        }
        let request = Request::from_parts(parts, Body::from(body));
        service.oneshot(request).await.unwrap_or_else(|never| match never {}).map(Body::new)
    };
    Router::new().route("/mcp", post(answer))
}

/// The error for a body that is not a JSON-RPC request; the library would report a wrong content type.
fn check_request(body: &[u8]) -> Option<Response> {
    let refused = |code: i32, message: &str| {
        let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
        Some((StatusCode::BAD_REQUEST, Json(error)).into_response())
    };
    match serde_json::from_slice::<Value>(body) {
        Ok(Value::Object(_)) => None,
        Ok(_) => refused(-32600, "request must be one JSON object; batches are not supported"),
        Err(error) => refused(-32700, &format!("request body is not valid JSON: {error}")),
    }
}
