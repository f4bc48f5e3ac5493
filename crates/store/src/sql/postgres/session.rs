//! One store's way to the server: takes a connection for each statement, and keeps one for a transaction.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use postgres::Row;

use super::deferred::DeferredRows;
use super::error::PostgresError;
use super::pool::{PooledClient, Server};
use super::statements::Arguments;

/// Our tables by name: on Citus only those that are named are cleaned on all nodes.
const VACUUMED: &str = "SELECT string_agg(quote_ident(table_name), ', ') FROM information_schema.columns
    WHERE table_schema = current_schema() AND column_name = 'space'";

/// A store's way to the server.
#[derive(Debug)]
pub(crate) struct PostgresSession {
    pub(super) server: Arc<Server>,
    /// The connection of the open transaction.
    pub(super) held: RefCell<Option<HeldClient>>,
    /// How long to wait for other writers of the space.
    pub(super) patience: Cell<Duration>,
    /// The timeline that this store has read from; 0 before it has.
    timeline: Cell<i64>,
    /// Rows of the open transaction that were not sent yet.
    pub(super) deferred: RefCell<DeferredRows>,
}

/// The connection of an open transaction. Given back when the transaction ends.
pub(super) struct HeldClient(pub(super) PooledClient);

impl std::fmt::Debug for HeldClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("HeldClient").field(&self.0.writer).finish()
    }
}

impl PostgresSession {
    pub(crate) fn new(server: Arc<Server>, patience: Duration) -> Self {
        let timeline = Cell::new(server.timeline());
        let (held, deferred) = (RefCell::default(), RefCell::default());
        Self { server, held, patience: Cell::new(patience), timeline, deferred }
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    pub(crate) fn is_in_transaction(&self) -> bool {
        self.held.borrow().is_some()
    }

    pub(crate) fn set_patience(&self, patience: Duration) {
        self.patience.set(patience);
    }

    /// Refuses to write what was decided by reading from the server before a fail-over, which may have undone it.
    pub(super) fn check_timeline(&self) -> Result<(), PostgresError> {
        let (known, now) = (self.timeline.get(), self.server.timeline());
        self.timeline.set(if known == 0 { now } else { known });
        if known == 0 || known == now { Ok(()) } else { Err(PostgresError::FailedOver) }
    }

    /// Runs a statement and returns how many rows it changed.
    pub(crate) fn change(&self, sql: &str, arguments: &Arguments<'_>) -> Result<u64, PostgresError> {
        self.flush()?;
        if let Some(held) = self.held.borrow_mut().as_mut() {
            return held.0.execute(sql, arguments);
        }
        // Outside of a transaction a statement may have been stored although its answer was lost: it is not repeated.
        let mut client = self.server.checkout()?;
        let changed = client.execute(sql, arguments);
        let is_usable = !matches!(&changed, Err(error) if error.is_lost_connection());
        self.server.give_back(client, is_usable);
        changed
    }

    /// All rows of a query. Outside of a transaction it is repeated if the connection is lost.
    pub(crate) fn query(&self, sql: &str, arguments: &Arguments<'_>) -> Result<Vec<Row>, PostgresError> {
        self.flush()?;
        if let Some(held) = self.held.borrow_mut().as_mut() {
            return held.0.query(sql, arguments);
        }
        self.retrying(|client| client.query(sql, arguments))
    }

    /// Calls `each` with the rows of a query, so many at a time, until it returns false.
    pub(crate) fn stream<E: From<PostgresError>>(
        &self,
        sql: &str,
        arguments: &Arguments<'_>,
        rows_at_a_time: usize,
        mut each: impl FnMut(&Row) -> Result<bool, E>,
    ) -> Result<(), E> {
        let _transaction = self.begin_reading()?;
        let name = next_cursor_name();
        self.in_transaction(|client| client.execute(&format!("DECLARE {name} NO SCROLL CURSOR FOR {sql}"), arguments))?;
        let fetch = format!("FETCH {rows_at_a_time} FROM {name}");
        loop {
            let rows = self.in_transaction(|client| Ok(client.client.query(&fetch, &[])?))?;
            for row in &rows {
                if !each(row)? {
                    return Ok(self.close_cursor(&name)?);
                }
            }
            if rows.len() < rows_at_a_time {
                return Ok(self.close_cursor(&name)?);
            }
        }
    }

    fn close_cursor(&self, name: &str) -> Result<(), PostgresError> {
        self.in_transaction(|client| Ok(client.client.batch_execute(&format!("CLOSE {name}"))?))
    }

    /// Makes the space of deleted rows available again; their bytes are overwritten as it is used.
    pub(crate) fn vacuum(&self) -> Result<(), PostgresError> {
        self.retrying(|client| {
            let Some(tables) = client.client.query_one(VACUUMED, &[])?.try_get::<_, Option<String>>(0)? else {
                return Ok(());
            };
            Ok(client.client.batch_execute(&format!("VACUUM {tables}"))?)
        })
    }

    /// Runs something on the connection of the open transaction.
    pub(super) fn in_transaction<T>(
        &self,
        work: impl FnOnce(&mut PooledClient) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        self.flush()?;
        let mut held = self.held.borrow_mut();
        held.as_mut().map_or(Err(PostgresError::MissingRow), |held| work(&mut held.0))
    }

    /// Runs something that changes nothing, again if the connection is lost.
    pub(super) fn retrying<T>(
        &self,
        mut work: impl FnMut(&mut PooledClient) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        let mut attempts = 0;
        loop {
            let mut client = self.server.checkout()?;
            let done = work(&mut client);
            attempts += 1;
            match done {
                // All connections of the pool may be dead after a restart of the server, so one retry is not enough.
                Err(error) if error.is_lost_connection() => {
                    self.server.give_back(client, false);
                    if attempts > self.server.pool_status().limit {
                        return Err(error);
                    }
                }
                done => {
                    self.server.give_back(client, true);
                    return done;
                }
            }
        }
    }
}

/// A name that no other cursor of this thread has.
fn next_cursor_name() -> String {
    thread_local! {
        static COUNT: Cell<u64> = const { Cell::new(0) };
    }
    COUNT.set(COUNT.get() + 1);
    format!("rethread_cursor_{}", COUNT.get())
}
