//! What happens while it happens: events for pages, a socket for conversations, and turns that are run one at a time.

use axum::Router;

use crate::serve::Shared;

/// `/api/events`, `/ws`, and the routes that run turns.
pub(crate) fn routes() -> Router<Shared> {
    Router::new()
}
