//! Groups appends of one process: calls that arrive during a write wait, and the next writer writes all their records.

use std::sync::{Condvar, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use rethread_model::thread::ThreadRecord;

use super::ThreadError;

/// The record as it was appended.
pub(super) type AppendResult = Result<ThreadRecord, ThreadError>;

/// Identifies a call of [`AppendQueue::append`].
pub(super) type AppendTicket = u64;

#[derive(Debug, Default)]
pub(super) struct AppendQueue {
    waiting: Mutex<WaitingAppends>,
    written: Condvar,
}

/// Records that wait for the next writer, and results that wait to be collected.
#[derive(Debug, Default)]
struct WaitingAppends {
    last_ticket: AppendTicket,
    records: Vec<(AppendTicket, ThreadRecord)>,
    results: Vec<(AppendTicket, AppendResult)>,
}

impl AppendQueue {
    /// Appends a record with whatever else waits. `write` gets the writer and a batch, and returns a result for each
    /// record of it.
    pub(super) fn append<W>(
        &self,
        record: ThreadRecord,
        writer: &Mutex<W>,
        write: impl Fn(&mut W, Vec<(AppendTicket, ThreadRecord)>) -> Vec<(AppendTicket, AppendResult)>,
    ) -> AppendResult {
        let ticket = self.enter(record);
        loop {
            // The call that gets the writer writes all waiting records; the others collect their results.
            match writer.try_lock() {
                Ok(mut writer) => self.write_waiting(&mut *writer, &write),
                Err(TryLockError::Poisoned(writer)) => self.write_waiting(&mut *writer.into_inner(), &write),
                Err(TryLockError::WouldBlock) => {}
            }
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(at) = waiting.results.iter().position(|(owner, _)| *owner == ticket) {
                return waiting.results.swap_remove(at).1;
            }
            // The timeout covers a writer that finished between the two locks.
            let pause = Duration::from_millis(1);
            drop(self.written.wait_timeout(waiting, pause).unwrap_or_else(PoisonError::into_inner));
        }
    }

    fn enter(&self, record: ThreadRecord) -> AppendTicket {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.last_ticket += 1;
        let ticket = waiting.last_ticket;
        waiting.records.push((ticket, record));
        ticket
    }

    fn write_waiting<W>(
        &self,
        writer: &mut W,
        write: &impl Fn(&mut W, Vec<(AppendTicket, ThreadRecord)>) -> Vec<(AppendTicket, AppendResult)>,
    ) {
        let batch = std::mem::take(&mut self.waiting.lock().unwrap_or_else(PoisonError::into_inner).records);
        if batch.is_empty() {
            return;
        }
        let results = write(writer, batch);
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).results.extend(results);
        self.written.notify_all();
    }
}
