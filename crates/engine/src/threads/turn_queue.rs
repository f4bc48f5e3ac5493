//! The queue of a thread: accepted turns run one at a time, in the order in which they were accepted.

use rethread_model::thread::{ChatRole, ContentBlock, StopReason, ThreadId, ThreadMessage, ThreadRecord};
use rethread_store::{PartialAnswer, ThreadLog, ThreadTurn, TurnTicket};

use super::{SendRequest, TurnEvent};
use crate::EngineError;
use crate::threads::TurnService;

/// A turn that was accepted and has a place in its thread's queue, which all processes share. Dropping it gives up the
/// place.
#[derive(Debug)]
pub struct PendingTurn {
    id: ThreadId,
    run_id: String,
    ahead: usize,
    pub(super) request: SendRequest,
    pub(super) ticket: TurnTicket,
}

impl PendingTurn {
    /// The thread of the turn.
    pub fn id(&self) -> ThreadId {
        self.id
    }

    /// The id of the turn. Turns accepted later in this process have larger ids.
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    /// The client's id of the turn, if it gave one.
    pub fn client_id(&self) -> Option<&str> {
        self.request.client_id.as_deref()
    }

    /// Number of turns ahead when it was accepted.
    pub fn ahead(&self) -> usize {
        self.ahead
    }

    /// Whether no turn is ahead any more.
    pub fn is_next(&self) -> bool {
        self.ticket.is_next()
    }
}

impl TurnService<'_> {
    /// Accepts a turn: rejects one that could not run, and takes a place in the queue. Writes nothing yet.
    pub fn accept(self, reference: &str, request: SendRequest) -> Result<PendingTurn, EngineError> {
        let id = self.engine.threads().id(reference)?;
        let metadata = self.engine.thread_store().metadata(id)?;
        let model = self.model(&metadata)?;
        self.check_can_run(id, &model, &self.engine.models().meter()?, &metadata, &request)?;
        let ticket = self.enqueue(id)?;
        let run_id = ThreadId::generate(self.engine.now()).to_string();
        Ok(PendingTurn { id, run_id, ahead: ticket.turns_ahead(), request, ticket })
    }

    /// Queues for the thread and waits. Then appends the unfinished answers of killed processes. `None` if stopped.
    pub(super) fn wait_for_turn(
        self,
        log: &ThreadLog,
        is_stopped: &dyn Fn() -> bool,
        events: &mut dyn FnMut(TurnEvent<'_>),
    ) -> Result<Option<ThreadTurn>, EngineError> {
        let ticket = self.enqueue(log.id())?;
        let ahead = ticket.turns_ahead();
        if ahead > 0 {
            events(TurnEvent::Queued { ahead });
        }
        self.start_turn(log, ticket, is_stopped)
    }

    /// Waits until the ticket is first. Then appends the unfinished answers of killed processes. `None` if stopped.
    pub(super) fn start_turn(
        self,
        log: &ThreadLog,
        ticket: TurnTicket,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<ThreadTurn>, EngineError> {
        let Some(mut turn) = ticket.wait(is_stopped)? else { return Ok(None) };
        log.require_turn(&turn);
        if !turn.partial_answers.is_empty() {
            let records = self.engine.thread_store().read(log.id())?.records;
            for spoken in turn.partial_answers.iter().filter(|spoken| !is_in_log(&records, spoken)) {
                let mut message =
                    ThreadMessage::new(ChatRole::Assistant, vec![ContentBlock::text(&*spoken.text)], self.engine.now());
                message.run_id = Some(spoken.run_id.clone());
                message.model = Some(spoken.model.clone());
                message.stop_reason = Some(StopReason::Aborted);
                log.append(ThreadRecord::Message(message))?;
            }
        }
        turn.remove_partial_answers();
        Ok(Some(turn))
    }

    fn enqueue(self, id: ThreadId) -> Result<TurnTicket, EngineError> {
        Ok(self.engine.thread_store().enter_turn_queue(id, self.engine.settings().threads.queue_limit as usize)?)
    }
}

/// Whether a killed process's unfinished answer is in the log already.
fn is_in_log(records: &[ThreadRecord], spoken: &PartialAnswer) -> bool {
    records.iter().filter_map(ThreadRecord::message).any(|message| {
        message.seq > spoken.after_seq
            && message.role == ChatRole::Assistant
            && message.run_id.as_deref() == Some(spoken.run_id.as_str())
    })
}
