//! MCP: the memory as a few tools that models call, over standard input or HTTP.

use axum::Router;

use crate::serve::Shared;

/// `/mcp`, for clients that come by HTTP.
pub(crate) fn routes(_app: &Shared) -> Router<Shared> {
    Router::new()
}
