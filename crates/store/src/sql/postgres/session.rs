//! One store's way to the server: takes a connection for each statement, and keeps one for a transaction.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use postgres::Row;

use super::deferred::DeferredRows;
use super::error::PostgresError;
use super::pool::{PooledClient, Server};
use super::statements::Arguments;

/// A store's way to the server.
#[derive(Debug)]
pub(crate) struct Session {
    pub(super) server: Arc<Server>,
    /// The connection of the open transaction.
    pub(super) held: RefCell<Option<HeldClient>>,
    /// How long to wait for other writers of the space.
    pub(super) patience: Cell<Duration>,
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

impl Session {
    pub(crate) fn new(server: Arc<Server>, patience: Duration) -> Self {
        Self { server, held: RefCell::default(), patience: Cell::new(patience), deferred: RefCell::default() }
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    pub(crate) fn set_patience(&self, patience: Duration) {
        self.patience.set(patience);
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
        let name = self.next_cursor_name();
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

    fn next_cursor_name(&self) -> String {
        thread_local! {
            static COUNT: Cell<u64> = const { Cell::new(0) };
        }
        COUNT.set(COUNT.get() + 1);
        format!("rethread_cursor_{}", COUNT.get())
    }

    /// Makes the space of deleted rows available again; their bytes are overwritten as it is used.
    pub(crate) fn vacuum(&self) -> Result<(), PostgresError> {
        self.retrying(|client| Ok(client.client.batch_execute("VACUUM")?))
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
