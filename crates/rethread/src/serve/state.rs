//! The state that all requests share: engine, credentials, event hub, turn queue and limits.

use std::sync::Arc;
use std::time::Duration;

use rethread_engine::Engine;
use tokio::sync::{Semaphore, watch};

use super::admission::ConcurrencyLimits;
use super::credentials::Credentials;
use super::live::{EventHub, PendingThreadSyncs, TurnQueue};
use crate::printer::Printer;

/// How often the store is checked for changes.
pub(super) const CHANGE_POLL: Duration = Duration::from_millis(250);
/// Most open `WebSockets`.
pub(super) const MAX_WEBSOCKETS: usize = 256;

/// The state that all requests share.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) engine: Engine,
    pub(crate) credentials: Credentials,
    /// Accepted `Host` names, without the port; those in `serve.hosts` as well.
    pub(crate) allowed_hosts: Vec<String>,
    /// Whether the server itself terminates TLS.
    pub(crate) is_tls: bool,
    pub(crate) events: EventHub,
    pub(crate) turns: TurnQueue,
    /// Threads that are being synced into memory.
    pub(crate) thread_syncs: PendingThreadSyncs,
    /// Limits for slow calls and tool calls.
    pub(crate) limits: ConcurrencyLimits,
    /// One permit for each open WebSocket.
    pub(crate) socket_permits: Arc<Semaphore>,
    /// Becomes true when the server starts to shut down.
    pub(crate) shutdown: watch::Sender<bool>,
    /// Whether requests are logged to stderr.
    pub(crate) is_verbose: bool,
    pub(crate) printer: Printer,
}

/// Waits until the flag is true. A dropped sender counts as true.
pub(super) async fn wait_until_true(flag: &mut watch::Receiver<bool>) {
    let _ = flag.wait_for(|is_so| *is_so).await;
}
