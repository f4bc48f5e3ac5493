//! `/api/events`: server-sent events for live pages.

use std::convert::Infallible;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use futures_util::Stream;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::watch;

use super::event_hub::EventListener;
use crate::serve::open_connection::ConnectionOwner;
use crate::serve::route::{decode_query, parse_session_id, run_blocking};
use crate::serve::state::wait_until_true;
use crate::serve::{ApiError, RequestCaller, SharedState};

/// Interval of keep-alive comments on an idle connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Reconnect delay that browsers should use.
const RECONNECT_DELAY: Duration = Duration::from_secs(2);

/// How often an idle stream checks whether the token is still valid.
const TOKEN_CHECK: Duration = Duration::from_secs(30);

/// One open event stream.
struct EventStream {
    app: SharedState,
    listener: EventListener,
    done: watch::Receiver<bool>,
    owner: ConnectionOwner,
}

/// Which events to receive.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EventParams {
    /// Only events of this session, including its text deltas.
    #[serde(default)]
    pub(super) session: Option<String>,
}

/// Streams events until the server shuts down.
pub(super) async fn events(
    State(app): State<SharedState>,
    Extension(caller): Extension<RequestCaller>,
    axum::extract::RawQuery(query): axum::extract::RawQuery,
) -> Result<Sse<impl Stream<Item = Result<SseEvent, Infallible>>>, ApiError> {
    let filter: EventParams = decode_query(query.as_deref())?;
    let owner = ConnectionOwner::new(&app, caller)?;
    let listener = match filter.session {
        None => app.events.listen_to_all(),
        Some(id) => {
            let id = existing_session(&app, &id).await?;
            let listener = app.events.listen_to_none();
            listener.subscribe(id);
            listener
        }
    };
    let page = EventStream { owner, done: app.turns.done(), app, listener };
    let begin = SseEvent::default().comment("listening").retry(RECONNECT_DELAY);
    let rendered = futures_util::stream::unfold((page, Some(begin)), |(mut page, begin)| async move {
        let event = match begin {
            Some(begin) => begin,
            None => page.next().await?,
        };
        Some((Ok(event), (page, None)))
    });
    Ok(Sse::new(rendered).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// Parses a session id and checks that the session exists.
pub(super) async fn existing_session(app: &SharedState, text: &str) -> Result<rethread_model::SessionId, ApiError> {
    let id = parse_session_id(text)?;
    run_blocking(SharedState::clone(app), move |app| Ok(app.engine.conversations().get(id).map(|_| id)?)).await
}

impl EventStream {
    /// The next event. `None` when the server shuts down or the token is no longer valid.
    async fn next(&mut self) -> Option<SseEvent> {
        loop {
            let event = tokio::select! {
                biased;
                event = self.listener.next() => Some(event),
                () = wait_until_true(&mut self.done) => return None,
                () = tokio::time::sleep(TOKEN_CHECK) => None,
            };
            // Checked for every event, so that a busy stream also ends with the token.
            if !self.owner.is_valid(&self.app).await {
                return None;
            }
            if let Some(event) = event {
                return Some(SseEvent::default().event(event.kind).data(&*event.data));
            }
        }
    }
}
