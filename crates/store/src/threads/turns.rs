//! Places in the turn queue of a thread, wherever the queue is stored.

use std::sync::Arc;

use rethread_model::thread::ThreadId;

use super::ThreadError;
use super::database::{DatabaseTicket, DatabaseTurn, TurnLease};
use super::files::{FileTicket, FileTurn};
use super::partial_answer::{self, PartialAnswer};

/// A place in the turn queue of a thread. Dropping it leaves the queue.
#[derive(Debug)]
pub struct TurnTicket {
    backend: TicketBackend,
}

#[derive(Debug)]
enum TicketBackend {
    File(FileTicket),
    Database(DatabaseTicket),
}

/// The current turn of a thread. No other turn starts until it is dropped.
#[derive(Debug)]
pub struct ThreadTurn {
    backend: TurnBackend,
    id: ThreadId,
    /// Partial answers of killed processes that are not in the log yet.
    pub partial_answers: Vec<PartialAnswer>,
}

#[derive(Debug)]
enum TurnBackend {
    File(FileTurn),
    Database(DatabaseTurn),
}

impl TurnTicket {
    pub(super) fn in_file(ticket: FileTicket) -> Self {
        Self { backend: TicketBackend::File(ticket) }
    }

    pub(super) fn in_database(ticket: DatabaseTicket) -> Self {
        Self { backend: TicketBackend::Database(ticket) }
    }

    /// Waits for the turn. `None` if `is_stopped` returned true first.
    pub fn wait(self, is_stopped: &dyn Fn() -> bool) -> Result<Option<ThreadTurn>, ThreadError> {
        let (id, started) = match self.backend {
            TicketBackend::File(ticket) => {
                (ticket.id(), ticket.wait(is_stopped)?.map(|(turn, answers)| (TurnBackend::File(turn), answers)))
            }
            TicketBackend::Database(ticket) => {
                (ticket.id(), ticket.wait(is_stopped)?.map(|(turn, answers)| (TurnBackend::Database(turn), answers)))
            }
        };
        Ok(started.map(|(backend, partial_answers)| ThreadTurn { backend, id, partial_answers }))
    }

    /// How many active turns are ahead of it.
    pub fn turns_ahead(&self) -> usize {
        match &self.backend {
            TicketBackend::File(ticket) => ticket.turns_ahead(),
            TicketBackend::Database(ticket) => ticket.turns_ahead(),
        }
    }

    /// Whether no active turn is ahead, so that waiting takes no time.
    pub fn is_next(&self) -> bool {
        self.turns_ahead() == 0
    }
}

impl ThreadTurn {
    /// Removes the partial answers once they are in the log.
    pub fn remove_partial_answers(&mut self) {
        match &mut self.backend {
            TurnBackend::File(turn) => turn.remove_partial_answers(),
            TurnBackend::Database(turn) => turn.remove_partial_answers(),
        }
        self.partial_answers.clear();
    }

    /// Starts a new answer. Its text follows in parts.
    pub fn begin_answer(&mut self, run_id: &str, model: &str, after_seq: u64) -> Result<(), ThreadError> {
        let header = partial_answer::header(self.id, run_id, model, after_seq)?;
        match &mut self.backend {
            TurnBackend::File(turn) => turn.begin_answer(&header),
            TurnBackend::Database(turn) => turn.begin_answer(header),
        }
    }

    /// Stores the next part of the answer's text. A database gets short parts together.
    pub fn append_answer_text(&mut self, text: &str) -> Result<(), ThreadError> {
        match &mut self.backend {
            TurnBackend::File(turn) => turn.append_answer_text(text),
            TurnBackend::Database(turn) => turn.append_answer_text(text),
        }
    }

    /// Drops the stored text, because the answer is in the log.
    pub fn end_answer(&mut self) -> Result<(), ThreadError> {
        match &mut self.backend {
            TurnBackend::File(turn) => turn.end_answer(),
            TurnBackend::Database(turn) => turn.end_answer(),
        }
    }

    /// Whether another process took the turn over, because this one did not renew its lease in time.
    pub fn is_lost(&self) -> bool {
        self.lease().is_some_and(|lease| lease.is_lost())
    }

    pub(super) fn lease(&self) -> Option<&Arc<TurnLease>> {
        match &self.backend {
            TurnBackend::File(_) => None,
            TurnBackend::Database(turn) => Some(turn.lease()),
        }
    }
}
