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

/// How often is looked whether a page to which nothing is told may still listen.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// A page that listens.
struct Page {
    app: Shared,
    listener: Listener,
    done: watch::Receiver<bool>,
    seal: Option<[u8; 32]>,
}

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
    let page = Page { seal: app.keys.seal(&app.engine), done: app.turns.done(), app, listener };
    let begin = Sent::default().comment("listening").retry(COME_BACK);
    let told = futures_util::stream::unfold((page, Some(begin)), |(mut page, begin)| async move {
        let event = match begin {
            Some(begin) => begin,
            None => page.next().await?,
        };
        Some((Ok(event), (page, None)))
    });
    Ok(Sse::new(told).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// The id of a session that there is.
pub(super) async fn known_session(app: &Shared, text: &str) -> Result<rethread_model::SessionId, Refusal> {
    let id = session_id(text)?;
    blocking(Shared::clone(app), move |app| Ok(app.engine.conversation(id).map(|_| id)?)).await
}

impl Page {
    /// The next event; nothing when all is told and the server ends, or the page is let in no more.
    async fn next(&mut self) -> Option<Sent> {
        loop {
            let event = tokio::select! {
                biased;
                event = self.listener.next() => Some(event),
                () = becomes_so(&mut self.done) => return None,
                () = tokio::time::sleep(LOOK_AGAIN) => None,
            };
            // Also where much happens: whoever was locked out hears none of it.
            if self.app.keys.seal(&self.app.engine) != self.seal {
                return None;
            }
            if let Some(event) = event {
                return Some(Sent::default().event(event.kind).data(&*event.data));
            }
        }
    }
}
