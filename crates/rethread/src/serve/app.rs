//! What all requests share: the engine, who may come in, and what happens.

use std::sync::Arc;
use std::time::Duration;

use rethread_engine::Engine;
use tokio::sync::{Semaphore, watch};

use super::keys::Keys;
use super::live::{Events, TakingIn, Turns};
use super::room::Room;
use crate::printer::Printer;

/// How often is looked whether something was stored.
pub(super) const PULSE: Duration = Duration::from_millis(250);
/// Sockets at a time.
pub(super) const MOST_SOCKETS: usize = 256;

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
    /// The turns it runs.
    pub(crate) turns: Turns,
    /// What is being taken into memory.
    pub(crate) taking_in: TakingIn,
    /// Room for what takes long.
    pub(crate) room: Room,
    /// Room for sockets.
    pub(crate) sockets: Arc<Semaphore>,
    /// Becomes true when the server is to end.
    pub(crate) ending: watch::Sender<bool>,
    /// Whether requests are told on stderr.
    pub(crate) is_talkative: bool,
    /// Where they are told.
    pub(crate) told: Printer,
}

/// Waits until something has become so. If nobody is left who could say it, it has.
pub(super) async fn becomes_so(flag: &mut watch::Receiver<bool>) {
    let _ = flag.wait_for(|is_so| *is_so).await;
}
