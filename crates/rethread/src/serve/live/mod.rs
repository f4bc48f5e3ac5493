//! What happens while it happens: events for pages, a socket for conversations, and turns that are run one at a time.

use std::convert::Infallible;

use axum::Router;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::get;
use futures_util::Stream;

use crate::serve::Shared;

/// `/api/events`, `/ws`, and the routes that run turns.
pub(crate) fn routes() -> Router<Shared> {
    Router::new().route("/api/events", get(events))
}

async fn events(State(app): State<Shared>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let listener = (app.events.listen(), app.ending.subscribe());
    let events = futures_util::stream::unfold(listener, |(mut heard, mut ending)| async move {
        let event = tokio::select! {
            event = heard.recv() => event.ok(),
            _ = ending.wait_for(|is_ending| *is_ending) => None,
        }?;
        Some((Ok(Event::default().event(event.name).data(event.data)), (heard, ending)))
    });
    Sse::new(events).keep_alive(KeepAlive::default())
}
