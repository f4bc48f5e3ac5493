//! A server and its open connections. A store holds one only during a statement or a transaction.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use postgres::{Client, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{InvalidStoreUrl, Protection, ServerAddress};
use super::error::PostgresError;
use super::outage::{Outage, RECONNECT_FOR};
use super::{statements, tls};

/// How long a caller waits for a connection that others use.
const POOL_TIMEOUT: Duration = Duration::from_secs(30);
/// How often a caller that waits for one tries again to open another one.
const POOL_POLL: Duration = Duration::from_millis(500);
/// An idle connection is closed after this long.
const MAX_IDLE: Duration = Duration::from_mins(5);
/// Set on every connection: no needless messages, and a client that
/// hangs in a transaction does not block a space for long.
const SESSION_SETTINGS: &str = "SET client_min_messages = warning; \
    SET idle_in_transaction_session_timeout = '120s'; SET lock_timeout = '60s'; SET jit = off";
const READ_WAL_NAME: &str = "SELECT pg_walfile_name(pg_current_wal_lsn())";

/// A PostgreSQL server with the database that holds the store.
pub(crate) struct Server {
    address: ServerAddress,
    tls: Option<MakeRustlsConnect>,
    max_connections: usize,
    pool: Mutex<Pool>,
    returned: Condvar,
    outage: Outage,
    was_reachable: AtomicBool,
    reconnects: AtomicU64,
    /// The timeline of the server of the last connection; 0 if it is not known.
    timeline: AtomicU32,
    next_writer: AtomicU64,
    /// The version of the schema and when it was read.
    pub(super) schema: Mutex<Option<(i64, Instant)>>,
    pub(super) changes: super::listen::KnownChanges,
}

#[derive(Default)]
struct Pool {
    idle: Vec<PooledClient>,
    /// Connections that exist, idle or in use.
    open: usize,
}

/// Numbers of the pool, for metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStatus {
    /// Connections that exist.
    pub open: usize,
    /// Of these, not in use now.
    pub idle: usize,
    /// Most that may exist.
    pub limit: usize,
    /// Connections that were opened after the first one, because more were needed or some were lost.
    pub reconnects: u64,
}

/// A connection with its prepared statements.
pub(crate) struct PooledClient {
    pub(super) client: Client,
    pub(super) statements: HashMap<statements::StatementKey, Statement>,
    /// Identifies who committed what; see `transaction.rs`.
    pub(super) writer: String,
    used_at: Instant,
}

impl Server {
    pub(crate) fn new(address: ServerAddress, max_connections: usize) -> Result<Self, InvalidStoreUrl> {
        let tls = match &address.protection {
            Protection::None => None,
            Protection::VerifiedTls(roots) => Some(tls::connector(roots.as_deref())?),
        };
        Ok(Self {
            address,
            tls,
            max_connections: max_connections.max(2),
            pool: Mutex::default(),
            returned: Condvar::new(),
            outage: Outage::default(),
            was_reachable: AtomicBool::new(false),
            reconnects: AtomicU64::new(0),
            timeline: AtomicU32::new(0),
            next_writer: AtomicU64::new(1),
            schema: Mutex::default(),
            changes: super::listen::KnownChanges::default(),
        })
    }

    /// The address without its password.
    pub(crate) fn shown(&self) -> &str {
        &self.address.shown
    }

    /// A number that grows when a standby is promoted.
    pub(crate) fn timeline(&self) -> i64 {
        i64::from(self.timeline.load(Ordering::Relaxed))
    }

    pub(crate) fn pool_status(&self) -> PoolStatus {
        let pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        PoolStatus {
            open: pool.open,
            idle: pool.idle.len(),
            limit: self.max_connections,
            reconnects: self.reconnects.load(Ordering::Relaxed),
        }
    }

    /// A connection for the caller alone. Waits while all are in use, and for a server that restarts.
    pub(super) fn checkout(&self) -> Result<PooledClient, PostgresError> {
        let start = Instant::now();
        loop {
            if let Some(client) = self.take_idle(start + POOL_TIMEOUT)? {
                return Ok(client);
            }
            match self.connect_with_retries() {
                Ok(client) => return Ok(client),
                Err(error) if error.is_server_full() && self.was_reachable() && start.elapsed() < RECONNECT_FOR => {
                    self.wait_for_free();
                }
                Err(error) => {
                    self.forget_one();
                    return Err(error);
                }
            }
        }
    }

    /// An idle connection; `None` if the caller may open one, which is counted already.
    fn take_idle(&self, deadline: Instant) -> Result<Option<PooledClient>, PostgresError> {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            while let Some(client) = pool.idle.pop() {
                if !client.client.is_closed() && client.used_at.elapsed() < MAX_IDLE {
                    return Ok(Some(client));
                }
                pool.open -= 1;
            }
            if pool.open < self.max_connections {
                pool.open += 1;
                return Ok(None);
            }
            let wait = deadline.saturating_duration_since(Instant::now()).min(POOL_POLL);
            if wait.is_zero() {
                return Err(PostgresError::PoolExhausted(self.max_connections));
            }
            pool = self.returned.wait_timeout(pool, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// After the server refused another connection: waits a moment for one of ours. Wakes no other caller, which would
    /// be refused too.
    fn wait_for_free(&self) {
        let mut pool = self.pool.lock().unwrap_or_else(PoisonError::into_inner);
        pool.open -= 1;
        if pool.idle.is_empty() {
            drop(self.returned.wait_timeout(pool, POOL_POLL));
        }
    }

    /// Takes a connection back. One that is broken is closed.
    pub(super) fn give_back(&self, mut client: PooledClient, is_usable: bool) {
        if !is_usable || client.client.is_closed() {
            self.forget_one();
            return;
        }
        client.used_at = Instant::now();
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).idle.push(client);
        self.returned.notify_one();
    }

    fn forget_one(&self) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).open -= 1;
        self.returned.notify_one();
    }

    fn was_reachable(&self) -> bool {
        self.was_reachable.load(Ordering::Relaxed)
    }

    fn connect_with_retries(&self) -> Result<PooledClient, PostgresError> {
        if self.was_reachable() { self.outage.bridge(|| self.connect()) } else { self.connect() }
    }

    /// Opens a connection beside the pool, for a listener.
    pub(super) fn connect(&self) -> Result<PooledClient, PostgresError> {
        let mut client = match &self.tls {
            Some(tls) => self.address.config.connect(tls.clone())?,
            None => self.address.config.connect(NoTls)?,
        };
        client.batch_execute(SESSION_SETTINGS)?;
        self.outage.end();
        self.timeline.store(read_timeline(&mut client), Ordering::Relaxed);
        if self.was_reachable.swap(true, Ordering::Relaxed) {
            self.reconnects.fetch_add(1, Ordering::Relaxed);
        }
        let count = self.next_writer.fetch_add(1, Ordering::Relaxed);
        let writer = format!("writer {}-{count}", process_key());
        Ok(PooledClient { client, statements: HashMap::new(), writer, used_at: Instant::now() })
    }
}

/// The timeline is the beginning of the names of WAL files. Services that are not quite PostgreSQL do not have them.
fn read_timeline(client: &mut Client) -> u32 {
    let name = client.query_one(READ_WAL_NAME, &[]).and_then(|row| row.try_get::<_, String>(0));
    name.ok().and_then(|name| u32::from_str_radix(name.get(..8)?, 16).ok()).unwrap_or(0)
}

/// Differs between processes on all machines.
fn process_key() -> &'static str {
    static KEY: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    KEY.get_or_init(|| {
        use std::hash::{BuildHasher, Hasher};
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        // The standard library seeds its hashes with random numbers of the operating system.
        let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
        format!("{random:016x}{:08x}{:x}", now.subsec_nanos(), std::process::id())
    })
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("address", &self.address.shown).finish_non_exhaustive()
    }
}
