//! The queue of a thread: accepted turns run one at a time, in the order in which they were accepted.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rethread_model::thread::{ChatRole, ContentBlock, StopReason, ThreadId, ThreadMessage, ThreadRecord};
use rethread_store::{PartialAnswer, ThreadLog, ThreadTurn, TurnTicket};

use super::{SendRequest, TurnEvent};
use crate::EngineError;
use crate::threads::TurnService;

/// How often a turn that waits asks a store on a server, at most.
const SERVER_POLL: Duration = Duration::from_millis(250);

/// A turn that was accepted and has a place in its thread's queue, which all processes share. Dropping it gives up the
/// place.
#[derive(Debug)]
pub struct PendingTurn {
    id: ThreadId,
    run_id: String,
    ahead: usize,
    pub(super) request: SendRequest,
    pub(super) ticket: TurnTicket,
    /// With a store on a server: when it was last asked whether a turn is ahead, if one was.
    asked_at: Option<Mutex<Option<Instant>>>,
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

    /// Whether no turn is ahead any more. May be called often: with a store on a server, it is not asked each time.
    pub fn is_next(&self) -> bool {
        let Some(asked_at) = &self.asked_at else { return self.ticket.is_next() };
        let mut asked_at = asked_at.lock().unwrap_or_else(PoisonError::into_inner);
        if asked_at.is_some_and(|at| at.elapsed() < SERVER_POLL) {
            return false;
        }
        let is_next = self.ticket.is_next();
        *asked_at = (!is_next).then(Instant::now);
        is_next
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
        let asked_at = self.engine.environment.store.is_some().then(Mutex::default);
        Ok(PendingTurn { id, run_id, ahead: ticket.turns_ahead(), request, ticket, asked_at })
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
