//! Waiting for the turn in a thread: who was accepted has a place, and places are given in the order they were asked for.

use rethread_model::thread::{Block, ChatRole, Message, Record, Stop, ThreadId};
use rethread_store::{Spoken, ThreadLog, Ticket, Turn};

use super::{SendRequest, TurnEvent};
use crate::{Engine, EngineError};

/// A turn that was accepted and has its place in the queue of its thread, between those of all processes. Dropped, the
/// place is given up.
#[derive(Debug)]
pub struct WaitingTurn {
    id: ThreadId,
    run_id: String,
    ahead: usize,
    pub(super) request: SendRequest,
    pub(super) ticket: Ticket,
}

impl WaitingTurn {
    /// The thread.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// The id that the turn has from now on. Those accepted later in this process have larger ones.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// What the client calls it.
    pub fn client_id(&self) -> Option<&str> {
        self.request.client_id.as_deref()
    }

    /// How many were before it when it was accepted.
    pub fn ahead(&self) -> usize {
        self.ahead
    }

    /// Whether nobody is before it any more.
    pub fn is_next(&self) -> bool {
        self.ticket.is_next()
    }
}

impl Engine {
    /// Accepts a turn: refuses what could not be run, and takes a place in the queue. Nothing is written yet.
    pub fn thread_accept(&self, reference: &str, request: SendRequest) -> Result<WaitingTurn, EngineError> {
        let id = self.thread_id(reference)?;
        let metadata = self.threads().metadata(id)?;
        let model = self.model_of_thread(&metadata)?;
        self.must_be_able(id, &model, &self.books()?, &metadata, &request)?;
        let ticket = self.take_place(id)?;
        let run_id = ThreadId::draw(self.now()).to_string();
        Ok(WaitingTurn { id, run_id, ahead: ticket.ahead(), request, ticket })
    }

    /// Waits for the turn in a thread, and writes down what killed processes had heard in it.
    pub(super) fn own_turn(
        &self,
        log: &ThreadLog,
        is_stopped: &dyn Fn() -> bool,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<Option<Turn>, EngineError> {
        let ticket = self.take_place(log.id())?;
        let ahead = ticket.ahead();
        if ahead > 0 {
            events(TurnEvent::Queued { ahead });
        }
        self.take_turn(log, ticket, is_stopped)
    }

    /// Waits until a place is the first one, and writes down what killed processes had heard before it.
    pub(super) fn take_turn(
        &self,
        log: &ThreadLog,
        ticket: Ticket,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Turn>, EngineError> {
        let Some(mut turn) = ticket.wait(is_stopped)? else { return Ok(None) };
        if !turn.left_behind.is_empty() {
            let records = self.threads().read(log.id())?.records;
            for spoken in turn.left_behind.iter().filter(|spoken| !is_written(&records, spoken)) {
                let mut message = Message::new(ChatRole::Assistant, vec![Block::text(&*spoken.text)], self.now());
                message.run_id = Some(spoken.run_id.clone());
                message.model = Some(spoken.model.clone());
                message.stop_reason = Some(Stop::Aborted);
                log.append(Record::Message(message))?;
            }
        }
        turn.settle_left_behind();
        Ok(Some(turn))
    }

    fn take_place(&self, id: ThreadId) -> Result<Ticket, EngineError> {
        Ok(self.threads().queue(id, self.config.number("threads.queue_limit") as usize)?)
    }
}

/// Whether an answer that a process had heard when it was killed is in the log already.
fn is_written(records: &[Record], spoken: &Spoken) -> bool {
    records.iter().filter_map(Record::message).any(|message| {
        message.seq > spoken.after_seq
            && message.role == ChatRole::Assistant
            && message.run_id.as_deref() == Some(spoken.run_id.as_str())
    })
}
