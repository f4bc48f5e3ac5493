//! What happens while it happens: events for pages, a socket for conversations, and turns that are run one at a time.

mod events;
mod hub;
mod memory;
mod messages;
mod run;
mod socket;
mod turns;

use axum::Router;
use axum::routing::get;

use crate::serve::{Route, Shared};

pub(crate) use hub::Events;
pub(crate) use memory::TakingIn;
pub(crate) use turns::Turns;

/// `/api/events` and `/ws`, which answer with more than one body.
pub(crate) fn routes() -> Router<Shared> {
    Router::new().route("/api/events", get(events::events)).route("/ws", get(socket::open))
}

/// The route that appends messages and runs turns.
pub(crate) fn rows() -> Vec<Route> {
    vec![messages::row()]
}
