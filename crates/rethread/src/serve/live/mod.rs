//! Live endpoints: server-sent events, the WebSocket, and turns that run one at a time per thread.

mod event_hub;
mod events;
mod messages;
mod run;
mod socket;
mod thread_sync;
mod turn_queue;

use axum::Router;
use axum::routing::get;

use crate::serve::{Route, SharedState};

pub(crate) use event_hub::EventHub;
pub(crate) use thread_sync::PendingThreadSyncs;
pub(crate) use turn_queue::TurnQueue;

/// `/api/events` and `/ws`, which stream instead of returning one body.
pub(crate) fn routes() -> Router<SharedState> {
    Router::new().route("/api/events", get(events::events)).route("/ws", get(socket::open))
}

/// The route that appends messages and runs turns.
pub(crate) fn api_routes() -> Vec<Route> {
    vec![messages::route()]
}
