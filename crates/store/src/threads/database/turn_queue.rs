//! One turn at a time per thread, first come first served, across nodes.
//!
//! Each waiting turn is a numbered row with a lease. The turn starts when no row with a lower number has a lease that
//! is still running; rows whose leases have expired belong to dead processes and are taken over. While a model answers,
//! the text is also stored in the row, so that the next turn can record what a dead process had received.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use rethread_model::thread::ThreadId;

use super::lease::{TurnLease, keep_renewed, millis};
use super::{DatabaseThreads, rows};
use crate::sql::{Sql, values};
use crate::threads::ThreadError;
use crate::threads::partial_answer::{self, PartialAnswer};

/// How often a waiting turn checks whether it can start.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How often the text of an answer is stored while it arrives.
const SAVE_INTERVAL: Duration = Duration::from_millis(250);

/// A place in the turn queue of a thread. Dropping it leaves the queue.
#[derive(Debug)]
pub(in crate::threads) struct DatabaseTicket {
    lease: Arc<TurnLease>,
    /// Ends the renewal of the lease when dropped.
    _renewal: Option<Sender<()>>,
}

/// The current turn of a thread. No other turn starts until it is dropped, or its lease expires.
#[derive(Debug)]
pub(in crate::threads) struct DatabaseTurn {
    ticket: DatabaseTicket,
    /// The header and text of the current answer.
    answer: Vec<u8>,
    saved_at: Option<Instant>,
}

/// A turn in the queue.
struct QueuedTurn {
    is_active: bool,
    answer: Option<PartialAnswer>,
}

impl DatabaseThreads {
    /// Enters the queue of a thread, in which at most `limit` turns wait behind the current one.
    pub(in crate::threads) fn enter_turn_queue(
        &self,
        id: ThreadId,
        limit: usize,
    ) -> Result<DatabaseTicket, ThreadError> {
        let owner = rows::random_id();
        let number = self.connections.transaction(|sql| {
            rows::lock(sql, id)?;
            if active_turns(sql, id, u64::MAX >> 1)? > limit {
                return Err(ThreadError::QueueFull { id, limit });
            }
            let last = "SELECT COALESCE(max(number), 0) FROM thread_turn WHERE space = ?1 AND thread = ?2";
            let number = sql.count(last, values![id.to_string()])? + 1;
            let insert = format!(
                "INSERT INTO thread_turn (space, thread, number, owner, expires_at, answer)
                 VALUES (?1, ?2, ?3, ?4, {} + ?5, ?6)",
                sql.dialect().now_millis(),
            );
            sql.run(&insert, values![id.to_string(), number, owner, millis(self.turn_lease), Vec::new()])?;
            Ok(number)
        })?;
        let lease = Arc::new(TurnLease::new(Arc::clone(&self.connections), id, number, owner, self.turn_lease));
        let renewal = keep_renewed(&lease)?;
        Ok(DatabaseTicket { lease, _renewal: renewal })
    }

    /// Whether a dead process left a partial answer and no turn is queued that would record it.
    pub(in crate::threads) fn has_partial_answer(&self, id: ThreadId) -> bool {
        let queued = self.connections.read(|sql| queued_turns(sql, id, u64::MAX >> 1));
        let queued = queued.ok().flatten().unwrap_or_default();
        queued.iter().all(|turn| !turn.is_active) && queued.iter().any(|turn| turn.answer.is_some())
    }
}

impl DatabaseTicket {
    pub(in crate::threads) fn id(&self) -> ThreadId {
        self.lease.thread
    }

    /// Waits for the turn. Returns it with the partial answers of dead processes; `None` if `is_stopped` returned true
    /// first.
    pub(in crate::threads) fn wait(
        self,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<(DatabaseTurn, Vec<PartialAnswer>)>, ThreadError> {
        loop {
            // Starting locks the thread, so it is tried only when it is likely to succeed.
            if self.count_ahead()? == 0
                && let Some(answers) = self.try_start()?
            {
                return Ok(Some((DatabaseTurn { ticket: self, answer: Vec::new(), saved_at: None }, answers)));
            }
            if is_stopped() {
                return Ok(None);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// How many active turns are ahead of it.
    pub(in crate::threads) fn turns_ahead(&self) -> usize {
        self.count_ahead().unwrap_or(0)
    }

    fn count_ahead(&self) -> Result<usize, ThreadError> {
        let TurnLease { connections, thread, number, .. } = &*self.lease;
        Ok(connections.read(|sql| active_turns(sql, *thread, *number))?.unwrap_or(0))
    }

    /// Takes over the turns of dead processes ahead and returns their partial answers; `None` if an active turn is
    /// ahead.
    fn try_start(&self) -> Result<Option<Vec<PartialAnswer>>, ThreadError> {
        let TurnLease { connections, thread, number, .. } = &*self.lease;
        connections.transaction(|sql| {
            rows::lock(sql, *thread)?;
            if !self.lease.is_held(sql)? {
                return Err(ThreadError::TurnLost { id: *thread });
            }
            let ahead = queued_turns(sql, *thread, *number)?;
            if ahead.iter().any(|turn| turn.is_active) {
                return Ok(None);
            }
            self.lease.take_over_ahead(sql)?;
            Ok(Some(ahead.into_iter().filter_map(|turn| turn.answer).collect()))
        })
    }
}

impl Drop for DatabaseTicket {
    fn drop(&mut self) {
        // A row that cannot be removed expires.
        let _ = self.lease.leave();
    }
}

impl DatabaseTurn {
    pub(in crate::threads) fn lease(&self) -> &Arc<TurnLease> {
        &self.ticket.lease
    }

    /// Removes the partial answers once they are in the log.
    pub(in crate::threads) fn remove_partial_answers(&mut self) {
        // If this fails, the next turn finds them in the log.
        let _ = self.lease().remove_taken_over();
    }

    /// Starts a new answer. Its text follows in parts.
    pub(in crate::threads) fn begin_answer(&mut self, header: Vec<u8>) -> Result<(), ThreadError> {
        self.answer = header;
        self.saved_at = None;
        self.lease().save_answer(&self.answer)
    }

    /// Adds the next part of the answer's text, and stores all of it from time to time.
    pub(in crate::threads) fn append_answer_text(&mut self, text: &str) -> Result<(), ThreadError> {
        self.answer.extend_from_slice(text.as_bytes());
        if self.saved_at.is_some_and(|at| at.elapsed() < SAVE_INTERVAL) {
            return Ok(());
        }
        self.saved_at = Some(Instant::now());
        self.lease().save_answer(&self.answer)
    }

    /// Drops the stored text, because the answer is in the log.
    pub(in crate::threads) fn end_answer(&mut self) -> Result<(), ThreadError> {
        self.answer.clear();
        self.lease().save_answer(&[])
    }
}

/// The turns before a number, in their order.
fn queued_turns(sql: &Sql, id: ThreadId, before: u64) -> Result<Vec<QueuedTurn>, ThreadError> {
    let select = format!(
        "SELECT CASE WHEN expires_at > {} THEN 1 ELSE 0 END AS is_active, answer FROM thread_turn
         WHERE space = ?1 AND thread = ?2 AND number < ?3 ORDER BY number",
        sql.dialect().now_millis(),
    );
    Ok(sql.all(&select, values![id.to_string(), before], |row| {
        Ok(QueuedTurn { is_active: row.flag("is_active")?, answer: partial_answer::parse(row.bytes("answer")?) })
    })?)
}

/// How many turns before a number have a lease that is still running.
fn active_turns(sql: &Sql, id: ThreadId, before: u64) -> Result<usize, ThreadError> {
    let select = format!(
        "SELECT count(*) FROM thread_turn WHERE space = ?1 AND thread = ?2 AND number < ?3 AND expires_at > {}",
        sql.dialect().now_millis(),
    );
    Ok(sql.count(&select, values![id.to_string(), before])? as usize)
}
