//! `/api/events`: what happens, as server-sent events, so that a page can go live.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::response::sse::{Event as Sent, KeepAlive, Sse};
use futures_util::Stream;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;

use super::hub::Listener;
use crate::serve::app::becomes_so;
use crate::serve::route::{blocking, in_query, session_id};
use crate::serve::{Refusal, Shared};

/// How often a connection on which nothing happens is shown to be alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How soon a page that was cut off should come back.
const COME_BACK: Duration = Duration::from_secs(2);

/// Which events.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Filter {
    /// Only those of this session, and every word that is said in it.
    #[serde(default)]
    pub(super) session: Option<String>,
}

/// Tells what happens until the server ends.
pub(super) async fn events(
    State(app): State<Shared>,
    axum::extract::RawQuery(query): axum::extract::RawQuery,
) -> Result<Sse<impl Stream<Item = Result<Sent, Infallible>>>, Refusal> {
    let filter: Filter = in_query(query.as_deref())?;
    let listener = match filter.session {
        None => app.events.listen_to_all(),
        Some(id) => {
            let id = known_session(&app, &id).await?;
            let listener = app.events.listen_to_none();
            listener.add(id);
            listener
        }
    };
    let state = (listener, app.turns.done(), true);
    let told = futures_util::stream::unfold(state, |(mut listener, mut done, is_first)| async move {
        if is_first {
            return Some((Ok(Sent::default().comment("listening").retry(COME_BACK)), (listener, done, false)));
        }
        let event = next(&mut listener, &mut done).await?;
        Some((Ok(event), (listener, done, false)))
    });
    Ok(Sse::new(told).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// The id of a session that there is.
pub(super) async fn known_session(app: &Shared, text: &str) -> Result<rethread_model::SessionId, Refusal> {
    let id = session_id(text)?;
    blocking(Shared::clone(app), move |app| {
        if app.engine.knows_session(id)? {
            return Ok(id);
        }
        Err(rethread_engine::EngineError::UnknownReference(id.to_string()).into())
    })
    .await
}

/// The next event; nothing when the server ends and all is told.
async fn next(listener: &mut Listener, done: &mut watch::Receiver<bool>) -> Option<Sent> {
    let event = tokio::select! {
        biased;
        event = listener.next() => Some(event),
        () = becomes_so(done) => None,
    };
    let event = event?;
    Some(Sent::default().event(event.kind).data(&*event.data))
}
