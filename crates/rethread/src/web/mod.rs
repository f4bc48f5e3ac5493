//! The page: what people see of the memory in a browser. Made on the server, escaped by construction, no build step.

use axum::Router;

use crate::serve::Shared;

/// All pages, and what they look like.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
}
