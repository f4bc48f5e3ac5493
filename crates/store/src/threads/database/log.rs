//! Appends to the log of a thread in a database. An acknowledged record is committed, and stored once.
//!
//! An append moves the head of the thread from the value that this process knows. If another process was faster, the
//! head is read again. If the connection is lost, it is unknown whether the commit took effect: a new connection asks.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use rethread_model::Timestamp;
use rethread_model::thread::{ThreadId, ThreadMetadata, ThreadRecord};

use super::append::{PlannedAppend, UnconfirmedAppend};
use super::connections::{Connections, may_succeed_later};
use super::lease::TurnLease;
use super::rows::{self, LogHead};
use crate::StoreError;
use crate::sql::Sql;
use crate::threads::append_queue::{AppendQueue, AppendResult, AppendTicket};
use crate::threads::{ThreadError, new_record};

/// Pauses before a failed append is tried again.
const RETRY_PAUSES: [Duration; 3] = [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(800)];

/// The log of one thread, open for appending. It can be shared between threads of a process.
#[derive(Debug)]
pub(in crate::threads) struct DatabaseLog {
    id: ThreadId,
    connections: Arc<Connections>,
    /// Length of the log in bytes when it was opened. The caller knows what was stored before.
    opened_at: u64,
    queue: AppendQueue,
    pub(super) writer: Mutex<LogState>,
    /// The turn that appends belong to, while it runs.
    lease: Mutex<Weak<TurnLease>>,
}

/// What is known of the log, and the right to write within this process.
#[derive(Debug)]
pub(super) struct LogState {
    head: Option<LogHead>,
    unconfirmed: Vec<UnconfirmedAppend>,
    /// What a commit reports once it has taken effect; tests let it fail.
    pub(super) acknowledge: fn() -> Result<(), StoreError>,
    pub(super) retry_pauses: &'static [Duration],
}

impl DatabaseLog {
    pub(super) fn new(id: ThreadId, connections: Arc<Connections>, opened_at: u64) -> Self {
        let state =
            LogState { head: None, unconfirmed: Vec::new(), acknowledge: || Ok(()), retry_pauses: &RETRY_PAUSES };
        let (queue, writer, lease) = (AppendQueue::default(), Mutex::new(state), Mutex::default());
        Self { id, connections, opened_at, queue, writer, lease }
    }

    pub(in crate::threads) fn id(&self) -> ThreadId {
        self.id
    }

    /// Numbers the record and stores it. When this returns `Ok`, the record is committed.
    pub(in crate::threads) fn append(&self, record: ThreadRecord) -> AppendResult {
        self.queue.append(record, &self.writer, |state, batch| self.write_batch(state, batch))
    }

    pub(in crate::threads) fn metadata(&self) -> Result<ThreadMetadata, ThreadError> {
        self.connections.write(|sql| rows::head(sql, self.id).map(|head| head.metadata))
    }

    pub(in crate::threads) fn require_lease(&self, lease: &Arc<TurnLease>) {
        *self.lease.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(lease);
    }

    pub(in crate::threads) fn update_settings(
        &self,
        now: Timestamp,
        change: impl FnOnce(&mut ThreadMetadata),
    ) -> Result<ThreadMetadata, ThreadError> {
        self.connections.transaction(|sql| {
            // The change can be applied only once, so that nothing may interfere.
            rows::lock(sql, self.id)?;
            let head = rows::head(sql, self.id)?;
            let Some(settings) = new_record::changed_settings(&head.metadata, now, change) else {
                return Ok(head.metadata);
            };
            let mut plan = PlannedAppend::new(&head, &[(0, settings)]);
            if let Some((_, Err(error))) = plan.results.pop() {
                return Err(error);
            }
            plan.store(sql)?;
            Ok(plan.after.metadata)
        })
    }

    fn write_batch(
        &self,
        state: &mut LogState,
        batch: Vec<(AppendTicket, ThreadRecord)>,
    ) -> Vec<(AppendTicket, AppendResult)> {
        let (mut results, mut new) = (Vec::with_capacity(batch.len()), Vec::with_capacity(batch.len()));
        for (ticket, record) in batch {
            match self.confirm(state, &record) {
                Ok(Some(stored)) => results.push((ticket, Ok(stored))),
                Ok(None) => new.push((ticket, record)),
                Err(error) => results.push((ticket, Err(error))),
            }
        }
        match self.write_new(state, &new) {
            Ok(written) => results.extend(written),
            Err(error) => results.extend(new.into_iter().map(|(ticket, _)| (ticket, Err(error.repeated())))),
        }
        results
    }

    /// The record as it was stored by an earlier call whose outcome was unknown; `None` if it is not stored.
    fn confirm(&self, state: &mut LogState, record: &ThreadRecord) -> Result<Option<ThreadRecord>, ThreadError> {
        let Some(at) = state.unconfirmed.iter().position(|earlier| earlier.record == *record) else {
            return Ok(None);
        };
        let earlier = &state.unconfirmed[at];
        let is_stored = self.settled(|sql| earlier.is_stored(sql, self.id))?;
        let earlier = state.unconfirmed.swap_remove(at);
        Ok(is_stored.then_some(earlier.stored))
    }

    fn write_new(
        &self,
        state: &mut LogState,
        batch: &[(AppendTicket, ThreadRecord)],
    ) -> Result<Vec<(AppendTicket, AppendResult)>, ThreadError> {
        let mut pauses = state.retry_pauses.iter();
        loop {
            let plan = self.plan(state, batch)?;
            if plan.is_empty() {
                return Ok(plan.results);
            }
            let mut stored = self.store(state, &plan);
            while let Err(error) = &stored {
                state.head = None;
                match pauses.next() {
                    _ if !may_succeed_later(error) => return stored.map(|_| Vec::new()),
                    Some(pause) => std::thread::sleep(*pause),
                    None => {
                        state.unconfirmed.extend(plan.into_unconfirmed(batch));
                        return stored.map(|_| Vec::new());
                    }
                }
                stored = self.settled(|sql| plan.is_stored(sql));
            }
            if stored? {
                state.head = Some(plan.after);
                return Ok(plan.results);
            }
            state.head = None;
        }
    }

    /// Reads the log once no commit of an earlier connection is under way: the server may still run one whose connection
    /// was lost, and it holds the lock of the thread until it ends.
    fn settled<T>(&self, read: impl FnOnce(&Sql) -> Result<T, ThreadError>) -> Result<T, ThreadError> {
        self.connections.transaction(|sql| {
            rows::lock(sql, self.id)?;
            read(sql)
        })
    }

    /// Numbers the records. A record is refused only by the current state of the thread.
    fn plan(&self, state: &mut LogState, batch: &[(AppendTicket, ThreadRecord)]) -> Result<PlannedAppend, ThreadError> {
        if let Some(head) = &state.head {
            let plan = PlannedAppend::new(head, batch);
            if !plan.has_refused() {
                return Ok(plan);
            }
        }
        let head = self.connections.write(|sql| rows::head(sql, self.id))?;
        Ok(PlannedAppend::new(state.head.insert(head), batch))
    }

    /// False if another process has appended since the head was read.
    fn store(&self, state: &LogState, plan: &PlannedAppend) -> Result<bool, ThreadError> {
        let lease = self.lease.lock().unwrap_or_else(PoisonError::into_inner).upgrade();
        let is_stored = self.connections.transaction(|sql| {
            let is_stored = plan.store(sql)?;
            if is_stored {
                plan.check_client_ids(sql, self.opened_at)?;
            }
            // The head is locked now, and a turn is taken over only under the same lock.
            match &lease {
                Some(lease) if is_stored && !lease.is_held(sql)? => Err(ThreadError::TurnLost { id: self.id }),
                _ => Ok(is_stored),
            }
        })?;
        (state.acknowledge)()?;
        Ok(is_stored)
    }
}
