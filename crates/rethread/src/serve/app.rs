//! What all requests share: the engine, who may come in, and what happens.

use std::time::Duration;

use rethread_engine::Engine;
use serde::Serialize;
use tokio::sync::{broadcast, watch};

use super::keys::Keys;
use crate::printer::Printer;

/// How often is looked whether something was stored.
pub(super) const PULSE: Duration = Duration::from_millis(250);
/// Events a slow listener may be behind before it misses some.
const BACKLOG: usize = 1024;

/// What all requests share.
#[derive(Debug)]
pub(crate) struct App {
    /// Does the work.
    pub(crate) engine: Engine,
    /// Who may come in.
    pub(crate) keys: Keys,
    /// Names under which this server may be called.
    pub(crate) hosts: Vec<String>,
    /// Whether it is called by https.
    pub(crate) is_secure: bool,
    /// What happens.
    pub(crate) events: Events,
    /// Becomes true when the server is to end.
    pub(crate) ending: watch::Sender<bool>,
    /// Whether requests are told on stderr.
    pub(crate) is_talkative: bool,
    /// Where they are told.
    pub(crate) told: Printer,
}

/// What happens in the server, for all who listen.
#[derive(Debug)]
pub(crate) struct Events(broadcast::Sender<Event>);

/// One thing that happened.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    /// Its name.
    pub(crate) name: &'static str,
    /// It as one line of JSON.
    pub(crate) data: String,
}

impl Default for Events {
    fn default() -> Self {
        Self(broadcast::channel(BACKLOG).0)
    }
}

impl Events {
    /// Everything that happens from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<Event> {
        self.0.subscribe()
    }

    /// Something was stored: whoever shows anything should look again.
    pub(crate) fn tell_changed(&self) {
        #[derive(Serialize)]
        struct Changed {
            #[serde(rename = "type")]
            kind: &'static str,
        }
        self.tell("changed", &Changed { kind: "changed" });
    }

    /// Tells all who listen. Nobody need listen.
    pub(crate) fn tell(&self, name: &'static str, what: &impl Serialize) {
        if let Ok(data) = crate::json::text(what) {
            let _ = self.0.send(Event { name, data });
        }
    }
}
