//! Transactions: one writer of a space at a time, and readers that see one state.
//!
//! A writer first takes the commit counter of its space, so that commits of a space are in order and no follower can
//! miss one. It also notes the number under its own name: if the connection is lost during the commit, another
//! connection can find out whether it was stored.

use super::error::PostgresError;
use super::listen::CHANNEL;
use super::pool::PooledClient;
use super::session::{HeldClient, PostgresSession};
use super::statements::Arguments;
use crate::sql::SqlValue;

/// The counter that grows with every commit of a space.
pub(crate) const COMMIT_COUNTER: &str = "commit";
/// Names of writers that have not committed for this many commits are removed.
const KEPT_WRITER_COMMITS: i64 = 100_000;

const TAKE_NUMBER: &str = "INSERT INTO counter (space, name, value) VALUES (?1, ?2, 1)
    ON CONFLICT (space, name) DO UPDATE SET value = counter.value + 1 RETURNING value";
const NOTE_WRITER: &str = "INSERT INTO counter (space, name, value) VALUES (?1, ?2, ?3)
    ON CONFLICT (space, name) DO UPDATE SET value = excluded.value";
const DROP_WRITERS: &str = "DELETE FROM counter WHERE space = ?1 AND value < ?2 AND substr(name, 1, 7) = 'writer '";
const FIND_WRITER: &str = "SELECT value FROM counter WHERE space = ?1 AND name = ?2";

/// An open transaction. Rolled back when dropped without a commit.
#[derive(Debug)]
pub(crate) struct PostgresTransaction<'s> {
    session: &'s PostgresSession,
    /// The space and the commit number of a writer.
    commit: Option<(String, i64)>,
    is_open: bool,
}

impl PostgresSession {
    /// Starts a transaction that is the only writer of the space.
    pub(crate) fn begin_writing(&self, space: &str) -> Result<PostgresTransaction<'_>, PostgresError> {
        let patience = self.patience.get().as_millis().max(1);
        let begin = format!("BEGIN; SET LOCAL lock_timeout = {patience}");
        let mut taken = None;
        // Nothing is written before the number is taken, so this can be repeated on another connection.
        let number = self.retrying_held(&mut taken, |client| {
            client.client.batch_execute(&begin)?;
            let rows = client.query(TAKE_NUMBER, &Arguments::new(space, &[SqlValue::Text(COMMIT_COUNTER)]))?;
            let number: i64 = rows.first().ok_or(PostgresError::MissingRow)?.try_get(0)?;
            let writer = client.writer.clone();
            let values = [SqlValue::Text(&writer), SqlValue::Int(number)];
            client.execute(NOTE_WRITER, &Arguments::new(space, &values))?;
            Ok(number)
        })?;
        *self.held.borrow_mut() = taken.map(HeldClient);
        let transaction =
            PostgresTransaction { session: self, commit: Some((space.to_owned(), number)), is_open: true };
        self.check_timeline()?;
        Ok(transaction)
    }

    /// Makes the open transaction the only writer of another space, too.
    pub(crate) fn lock_space(&self, space: &str) -> Result<(), PostgresError> {
        let commit = [SqlValue::Text(COMMIT_COUNTER)];
        self.in_transaction(|client| client.query(TAKE_NUMBER, &Arguments::new(space, &commit)).map(drop))
    }

    /// Starts a write transaction beside the other writers of the space. If its commit fails, the caller has to find out
    /// whether it was stored.
    pub(crate) fn begin_unordered(&self) -> Result<PostgresTransaction<'_>, PostgresError> {
        let mut taken = None;
        self.retrying_held(&mut taken, |client| Ok(client.client.batch_execute("BEGIN")?))?;
        *self.held.borrow_mut() = taken.map(HeldClient);
        let transaction = PostgresTransaction { session: self, commit: None, is_open: true };
        self.check_timeline()?;
        Ok(transaction)
    }

    /// Starts a transaction that only reads and sees one state; `None` if there is a transaction already.
    pub(crate) fn begin_reading(&self) -> Result<Option<PostgresTransaction<'_>>, PostgresError> {
        if self.held.borrow().is_some() {
            return Ok(None);
        }
        let mut taken = None;
        self.retrying_held(&mut taken, |client| {
            Ok(client.client.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?)
        })?;
        *self.held.borrow_mut() = taken.map(HeldClient);
        Ok(Some(PostgresTransaction { session: self, commit: None, is_open: true }))
    }

    /// Like `retrying`, but keeps the connection if the work succeeds.
    fn retrying_held<T>(
        &self,
        taken: &mut Option<PooledClient>,
        mut work: impl FnMut(&mut PooledClient) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        let mut attempts = 0;
        loop {
            let mut client = self.server.checkout()?;
            attempts += 1;
            match work(&mut client) {
                Ok(done) => {
                    *taken = Some(client);
                    return Ok(done);
                }
                Err(error) if error.is_lost_connection() && attempts <= self.server.pool_status().limit => {
                    self.server.give_back(client, false);
                }
                Err(error) => {
                    let is_usable = client.client.batch_execute("ROLLBACK").is_ok();
                    self.server.give_back(client, is_usable);
                    return Err(error);
                }
            }
        }
    }

    /// Whether the transaction with this number of that writer was stored.
    fn was_committed(&self, space: &str, writer: &str, number: i64) -> Result<bool, PostgresError> {
        self.retrying(|client| {
            // Waits until the lost connection's transaction has ended, one way or the other.
            client.query(TAKE_NUMBER, &Arguments::new(space, &[SqlValue::Text(COMMIT_COUNTER)]))?;
            let found = client.query(FIND_WRITER, &Arguments::new(space, &[SqlValue::Text(writer)]))?;
            let found: Option<i64> = found.first().map(|row| row.try_get(0)).transpose()?;
            Ok(found == Some(number))
        })
    }
}

impl PostgresTransaction<'_> {
    /// Stores everything. If the connection is lost meanwhile, finds out on another one whether it was stored.
    pub(crate) fn commit(mut self) -> Result<(), PostgresError> {
        self.session.flush()?;
        self.is_open = false;
        let Some(HeldClient(mut client)) = self.session.held.borrow_mut().take() else { return Ok(()) };
        let writer = client.writer.clone();
        let committed = client.client.batch_execute("COMMIT").map_err(PostgresError::from);
        let Some((space, number)) = &self.commit else {
            self.session.server.give_back(client, committed.is_ok());
            return committed;
        };
        match committed {
            Ok(()) => {
                if number % KEPT_WRITER_COMMITS == 0 {
                    // If it fails, the next one removes them.
                    let old = [SqlValue::Int(number - KEPT_WRITER_COMMITS)];
                    let _ = client.execute(DROP_WRITERS, &Arguments::new(space, &old));
                }
                announce(&mut client, space, *number);
                self.session.server.give_back(client, true);
                Ok(())
            }
            Err(error) if error.is_lost_connection() => {
                self.session.server.give_back(client, false);
                match self.session.was_committed(space, &writer, *number) {
                    Ok(true) => Ok(()),
                    Ok(false) => Err(error),
                    Err(_) => Err(PostgresError::UnknownOutcome),
                }
            }
            Err(error) => {
                self.session.server.give_back(client, false);
                Err(error)
            }
        }
    }
}

/// Notifies other nodes. Apart from the commit: within it, all writers of the database would wait for each other, because
/// PostgreSQL orders notifications with a lock. If it fails, others notice the commit within a second.
fn announce(client: &mut PooledClient, space: &str, number: i64) {
    let payload = format!("{space} {number}");
    let _ = client.client.batch_execute(&format!("NOTIFY {CHANNEL}, '{}'", payload.replace('\'', "''")));
}

impl Drop for PostgresTransaction<'_> {
    fn drop(&mut self) {
        if !self.is_open {
            return;
        }
        self.session.deferred.take();
        if let Some(HeldClient(mut client)) = self.session.held.borrow_mut().take() {
            let is_usable = client.client.batch_execute("ROLLBACK").is_ok();
            self.session.server.give_back(client, is_usable);
        }
    }
}
