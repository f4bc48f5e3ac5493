//! The state that requests share: of the whole server, and of each space that is open.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use rethread_engine::{AuditEvent, Engine, SignedIn};
use rethread_model::Access;
use tokio::sync::{Semaphore, watch};

use super::admission::ConcurrencyLimits;
use super::audit::AuditLog;
use super::credentials::Credentials;
use super::live::{EventHub, PendingThreadSyncs, TurnQueue};
use super::member_limits::MemberUsage;
use super::metrics::Metrics;
use crate::printer::Printer;

/// How often the store is checked for changes.
pub(super) const CHANGE_POLL: Duration = Duration::from_millis(250);
/// Most open `WebSockets`.
pub(super) const MAX_WEBSOCKETS: usize = 256;

/// What all spaces of a server share.
#[derive(Debug)]
pub(crate) struct ServerContext {
    pub(crate) credentials: Credentials,
    /// Accepted `Host` names, without the port; those in `serve.hosts` as well.
    pub(crate) allowed_hosts: Vec<String>,
    /// Whether the server itself terminates TLS.
    pub(crate) is_tls: bool,
    /// Whether members sign in: the store is on a server and may have many spaces.
    pub(crate) is_shared: bool,
    /// Limits for slow calls and tool calls.
    pub(crate) limits: ConcurrencyLimits,
    /// How much each member requested.
    pub(crate) member_usage: MemberUsage,
    pub(crate) metrics: Metrics,
    /// One permit for each turn that runs.
    pub(crate) turn_permits: Arc<Semaphore>,
    /// One permit for each open WebSocket.
    pub(crate) socket_permits: Arc<Semaphore>,
    /// Becomes true when the server starts to shut down.
    pub(crate) shutdown: watch::Sender<bool>,
    /// Whether requests are logged to stderr.
    pub(crate) is_verbose: bool,
    pub(crate) printer: Printer,
}

/// The state that all requests of a space share.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) server: Arc<ServerContext>,
    pub(crate) events: EventHub,
    pub(crate) turns: TurnQueue,
    /// Threads that are being synced into memory.
    pub(crate) thread_syncs: PendingThreadSyncs,
    /// Events of the audit that are not stored yet.
    pub(crate) audit: AuditLog,
    pub(crate) engine: Engine,
}

impl ServerContext {
    pub(crate) fn new(
        engine: &Engine,
        printer: Printer,
        allowed_hosts: Vec<String>,
        is_tls: bool,
    ) -> Result<Self, crate::failure::Failure> {
        Ok(Self {
            credentials: Credentials::new(engine)?,
            allowed_hosts,
            is_tls,
            is_shared: engine.environment().store.is_some(),
            limits: ConcurrencyLimits::default(),
            member_usage: MemberUsage::default(),
            metrics: Metrics::default(),
            turn_permits: Arc::new(Semaphore::new(engine.settings().serve.turns as usize)),
            socket_permits: Arc::new(Semaphore::new(MAX_WEBSOCKETS)),
            shutdown: watch::Sender::new(false),
            is_verbose: printer.verbosity() > 0,
            printer,
        })
    }
}

impl ServerState {
    pub(crate) fn new(server: Arc<ServerContext>, engine: Engine) -> Self {
        Self {
            events: EventHub::default(),
            turns: TurnQueue::new(&engine.settings().serve, Arc::clone(&server.turn_permits)),
            thread_syncs: PendingThreadSyncs::default(),
            audit: AuditLog::default(),
            server,
            engine,
        }
    }

    /// Adds what a member did to the audit.
    pub(super) fn record(&self, signed_in: &SignedIn, access: Access, target: String, items: u64, status: StatusCode) {
        let (at, member) = (self.engine.now(), Some(signed_in.member.clone()));
        let event = AuditEvent { at, member, access, target, items, status: status.as_u16() };
        if !self.audit.add(event, &signed_in.token_id) {
            self.server.metrics.count_failed_audit();
        }
    }
}

/// Waits until the flag is true. A dropped sender counts as true.
pub(super) async fn wait_until_true(flag: &mut watch::Receiver<bool>) {
    let _ = flag.wait_for(|is_so| *is_so).await;
}
