//! MCP by HTTP: each request stands for itself, whatever the revision, so there is nothing to keep and nothing to hang.

use std::sync::Arc;

use axum::Router;
use axum::routing::{MethodFilter, MethodRouter};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

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
    Router::new().route("/mcp", MethodRouter::new().on_service(MethodFilter::POST, service))
}
