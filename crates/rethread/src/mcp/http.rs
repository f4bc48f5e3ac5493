//! MCP over HTTP, stateless: no MCP sessions are kept, whatever the protocol revision.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{Request, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use axum::{Json, Router};
use rethread_model::Access;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::server::McpServer;
use super::tools;
use crate::serve::{ApiError, RequestCaller, SharedState, require_access};

/// The tool that a request called. Travels as an extension of the response, to the audit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CalledTool {
    pub(crate) name: &'static str,
    pub(crate) access: Access,
}

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
    let answer = move |State(app): State<SharedState>, parts: Parts, body: Bytes| async move {
        let called = match check_request(&body) {
            Ok(message) => called_tool(&app, &message),
            Err(error) => return *error,
        };
        let caller = parts.extensions.get::<RequestCaller>();
        let checked = match (called, caller) {
            (Some((_, needed)), Some(caller)) => require_access(caller, needed),
            (Some(_), None) => Err(ApiError::internal_error()),
            (None, _) => Ok(()),
        };
        let mut answer = match checked {
            Ok(()) => {
                let request = Request::from_parts(parts, Body::from(body));
                service.oneshot(request).await.unwrap_or_else(|never| match never {}).map(Body::new)
            }
            Err(error) => error.hint("`tools/list` lists the tools that this token may call").into_response(),
        };
        if let Some((tool, _)) = called {
            answer.extensions_mut().insert(tool);
        }
        answer
    };
    Router::new().route("/mcp", post(answer))
}

/// The tool that a request calls, and the accesses it needs; `None` for other requests and unknown tools.
fn called_tool(app: &SharedState, message: &Value) -> Option<(CalledTool, &'static [Access])> {
    let name = (message["method"] == "tools/call").then(|| message["params"]["name"].as_str()).flatten()?;
    let tool = tools::find(name)?;
    let needed = tool.needed_access_with(app.may_ask_a_model(), &message["params"]["arguments"]);
    let access = needed.last().copied().unwrap_or(Access::Admin);
    Some((CalledTool { name: tool.name(), access }, needed))
}

/// Parses a JSON-RPC request, or answers why it is none; the library would report a wrong content type.
fn check_request(body: &[u8]) -> Result<Value, Box<Response>> {
    let refused = |code: i32, message: &str| {
        let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": message}});
        Err(Box::new((StatusCode::BAD_REQUEST, Json(error)).into_response()))
    };
    match serde_json::from_slice::<Value>(body) {
        Ok(message @ Value::Object(_)) => Ok(message),
        Ok(_) => refused(-32600, "request must be one JSON object; batches are not supported"),
        Err(error) => refused(-32700, &format!("request body is not valid JSON: {error}")),
    }
}
