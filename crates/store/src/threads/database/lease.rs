//! The lease of a turn: a row that names its owner and expires by the clock of the database, unless it is renewed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::time::Duration;

use rethread_model::thread::ThreadId;

use super::connections::Connections;
use crate::sql::{Sql, values};
use crate::threads::ThreadError;

static TAKEOVERS: AtomicU64 = AtomicU64::new(0);

/// How many turns of other owners this process has taken over, because their leases had expired.
pub fn lease_takeovers() -> u64 {
    TAKEOVERS.load(Ordering::Relaxed)
}

/// A place in the turn queue of a thread, as long as no other turn takes it over.
#[derive(Debug)]
pub(in crate::threads) struct TurnLease {
    pub(super) connections: Arc<Connections>,
    pub(super) thread: ThreadId,
    pub(super) number: u64,
    pub(super) owner: String,
    pub(super) length: Duration,
    is_lost: AtomicBool,
}

impl TurnLease {
    pub(super) fn new(
        connections: Arc<Connections>,
        thread: ThreadId,
        number: u64,
        owner: String,
        length: Duration,
    ) -> Self {
        Self { connections, thread, number, owner, length, is_lost: AtomicBool::new(false) }
    }

    pub(in crate::threads) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Whether the place still has this owner. An expired lease is held until another turn takes it over.
    pub(super) fn is_held(&self, sql: &Sql) -> Result<bool, ThreadError> {
        let select = "SELECT 1 FROM thread_turn WHERE space = ?1 AND thread = ?2 AND number = ?3 AND owner = ?4";
        let is_held = sql.exists(select, values![self.thread.to_string(), self.number, self.owner])?;
        Ok(self.note(is_held))
    }

    /// Moves the end of the lease. False if the place was taken over, or is gone.
    pub(super) fn renew(&self) -> Result<bool, ThreadError> {
        let renewed = self.connections.write(|sql| {
            let update = format!(
                "UPDATE thread_turn SET expires_at = {} + ?5
                 WHERE space = ?1 AND thread = ?2 AND number = ?3 AND owner = ?4",
                sql.dialect().now_millis(),
            );
            Ok(sql.change(&update, values![self.thread.to_string(), self.number, self.owner, millis(self.length)])?)
        })?;
        Ok(self.note(renewed > 0))
    }

    /// Stores what arrived of an answer.
    pub(super) fn save_answer(&self, answer: &[u8]) -> Result<(), ThreadError> {
        let update = "UPDATE thread_turn SET answer = ?5
             WHERE space = ?1 AND thread = ?2 AND number = ?3 AND owner = ?4";
        let saved = self
            .connections
            .write(|sql| Ok(sql.change(update, values![self.thread.to_string(), self.number, self.owner, answer])?))?;
        if self.note(saved > 0) { Ok(()) } else { Err(ThreadError::TurnLost { id: self.thread }) }
    }

    /// Takes over all turns ahead, whose leases have expired.
    pub(super) fn take_over_ahead(&self, sql: &Sql) -> Result<(), ThreadError> {
        let update = "UPDATE thread_turn SET owner = ?4
             WHERE space = ?1 AND thread = ?2 AND number < ?3 AND owner <> ?4";
        let taken = sql.change(update, values![self.thread.to_string(), self.number, self.owner])?;
        TAKEOVERS.fetch_add(taken, Ordering::Relaxed);
        Ok(())
    }

    /// Removes the turns that were taken over.
    pub(super) fn remove_taken_over(&self) -> Result<(), ThreadError> {
        let delete = "DELETE FROM thread_turn WHERE space = ?1 AND thread = ?2 AND number < ?3 AND owner = ?4";
        let run = |sql: &Sql| sql.run(delete, values![self.thread.to_string(), self.number, self.owner]);
        self.connections.write(|sql| Ok(run(sql)?))
    }

    /// Leaves the queue.
    pub(super) fn leave(&self) -> Result<(), ThreadError> {
        let delete = "DELETE FROM thread_turn WHERE space = ?1 AND thread = ?2 AND number = ?3 AND owner = ?4";
        let run = |sql: &Sql| sql.run(delete, values![self.thread.to_string(), self.number, self.owner]);
        self.connections.write(|sql| Ok(run(sql)?))
    }

    fn note(&self, is_held: bool) -> bool {
        if !is_held {
            self.is_lost.store(true, Ordering::Relaxed);
        }
        is_held
    }
}

/// Renews a lease from a thread of its own until the returned value is dropped. A lease of no length is never renewed.
pub(super) fn keep_renewed(lease: &Arc<TurnLease>) -> Result<Option<Sender<()>>, ThreadError> {
    if lease.length.is_zero() {
        return Ok(None);
    }
    let (stop, stopped) = mpsc::channel::<()>();
    let (lease, pause) = (Arc::downgrade(lease), lease.length / 3);
    let renew = move || {
        while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) && is_worth_keeping(&lease) {}
    };
    let spawned = std::thread::Builder::new().name("turn-lease".to_owned()).spawn(renew);
    spawned.map_err(ThreadError::disk("the lease of a turn".as_ref(), "renewed"))?;
    Ok(Some(stop))
}

/// Renews a lease once. A failed attempt is repeated: the lease is held until another turn takes it over.
fn is_worth_keeping(lease: &Weak<TurnLease>) -> bool {
    lease.upgrade().is_some_and(|lease| lease.renew().unwrap_or(true))
}

pub(super) fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX >> 2)
}
