//! Runs one turn, from its place in the queue to its end.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use rethread_engine::{Clock, EngineError, PendingTurn, TurnEvent, TurnReport};
use rethread_model::thread::{ChatRole, PendingToolCall, StopReason, ThreadId, ThreadMessage};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::timeout;

use super::thread_sync;
use super::turn_queue::{TurnResponse, TurnRun, aborted_frame, run_end_frame};
use crate::failure::{Failure, FailureKind};
use crate::json::{self, FrameEventJson, RunEndJson, SCHEMA, message_record};
use crate::serve::state::wait_until_true;
use crate::serve::{ApiError, ServerState, SharedState};

/// How often a turn checks whether another process has finished the one before it.
const QUEUE_POLL: Duration = Duration::from_millis(50);

/// A finished turn.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct TurnResultJson {
    schema: u8,
    session_id: String,
    run_id: String,
    #[serde(flatten)]
    end: RunEndJson,
    /// The records it added to the log.
    messages: Vec<Value>,
}

/// An earlier turn with the same client id, as recorded in the log.
#[derive(Debug)]
pub(super) struct EarlierTurn {
    pub(super) run_id: String,
    stop: StopReason,
    waiting_calls: Vec<PendingToolCall>,
    messages: Vec<ThreadMessage>,
}

/// Runs a turn when it is next. Every waiting client learns how it ended, whatever happens.
pub(super) async fn run_turn(app: &SharedState, run: &Arc<TurnRun>, turn: PendingTurn) {
    let ended = match wait_for_slot(app, run, turn).await {
        Some((turn, slot)) => run_on_thread(app, run, turn, slot).await,
        None => end_before_start(app, run),
    };
    run.response.send_replace(Some(Arc::new(ended)));
}

/// Publishes that a turn was stopped before it started.
pub(super) fn end_before_start(app: &SharedState, run: &TurnRun) -> TurnResponse {
    app.events.publish_to_run(run.thread, &run.id, aborted_frame());
    TurnResponse::failed(Failure::from(EngineError::Stopped))
}

/// Ends a turn with an internal error.
pub(super) fn end_with_internal_error(app: &SharedState, run: &TurnRun) {
    run.response.send_replace(Some(Arc::new(publish_end(app, run, Err(internal_failure())))));
}

fn internal_failure() -> Failure {
    Failure::new(FailureKind::Internal, "internal error in rethread")
}

/// Waits for turns of other processes and for a free slot. `None` if the turn was stopped while waiting.
async fn wait_for_slot(
    app: &SharedState,
    run: &TurnRun,
    turn: PendingTurn,
) -> Option<(PendingTurn, OwnedSemaphorePermit)> {
    let mut stop = run.stop.subscribe();
    // The check is fast and must not wait for one of the blocking threads.
    while !tokio::task::block_in_place(|| turn.is_next()) {
        if timeout(QUEUE_POLL, wait_until_true(&mut stop)).await.is_ok() {
            return None;
        }
    }
    tokio::select! {
        biased;
        () = wait_until_true(&mut stop) => None,
        slot = Arc::clone(&app.turns.slots).acquire_owned() => Some((turn, slot.ok()?)),
    }
}

/// Runs the turn on its own OS thread: it blocks on a model for a long time.
async fn run_on_thread(
    app: &SharedState,
    run: &Arc<TurnRun>,
    turn: PendingTurn,
    slot: OwnedSemaphorePermit,
) -> TurnResponse {
    let (sender, receiver) = oneshot::channel();
    let (shared, own_run) = (Arc::clone(app), Arc::clone(run));
    let thread = std::thread::Builder::new().name("turn".to_owned());
    let spawned = thread.spawn(move || {
        let done = execute(&shared, &own_run, turn);
        drop(slot);
        let _ = sender.send(done);
    });
    let done = match spawned {
        Ok(_) => receiver.await.unwrap_or_else(|_| Err(internal_failure())),
        Err(error) => Err(Failure::from(error)),
    };
    if done.as_ref().is_ok_and(|report| report.stop == StopReason::End) {
        thread_sync::start_titling(app, run.thread);
    }
    let ended = publish_end(app, run, done);
    thread_sync::sync_thread(app, run.thread);
    ended
}

fn execute(app: &SharedState, run: &TurnRun, turn: PendingTurn) -> Result<TurnReport, Failure> {
    let is_stopped = || *run.stop.borrow();
    let done = app.engine.turns().run(turn, &is_stopped, &mut |event| {
        let frame = match event {
            TurnEvent::Started { .. } => FrameEventJson::RunStart { client_id: run.client_id.clone() },
            event => FrameEventJson::from_turn_event(&event),
        };
        app.events.publish_to_run(run.thread, &run.id, frame);
    });
    done.map_err(Failure::from_turn_error)
}

/// Publishes how a turn ended; `run_end` is always its last frame.
fn publish_end(app: &SharedState, run: &TurnRun, done: Result<TurnReport, Failure>) -> TurnResponse {
    run.is_ending.send_replace(true);
    let publish = |frame| app.events.publish_to_run(run.thread, &run.id, frame);
    match done {
        Ok(report) => {
            let failure = report.interruption.as_ref().map(Failure::from_interrupted_answer);
            if let Some(failure) = &failure {
                publish(FrameEventJson::from_failure(failure, run.client_id.clone()));
            }
            publish(FrameEventJson::run_end(&report));
            failure.map_or_else(|| TurnResponse::succeeded(&TurnResultJson::new(&report)), TurnResponse::failed)
        }
        // A stop was requested, so it is not reported as an error.
        Err(failure) if failure.kind == FailureKind::Stopped => {
            publish(aborted_frame());
            TurnResponse::failed(failure)
        }
        Err(failure) => {
            if let Some(earlier) = find_earlier(app, run, &failure) {
                earlier.replay_frames().for_each(publish);
                return TurnResponse::succeeded(&TurnResultJson::from_earlier(run.thread, &earlier));
            }
            publish(FrameEventJson::from_failure(&failure, run.client_id.clone()));
            publish(run_end_frame(StopReason::Error));
            TurnResponse::failed(failure)
        }
    }
}

/// The result of the same turn on another node, which ran while this one waited.
fn find_earlier(app: &ServerState, run: &TurnRun, failure: &Failure) -> Option<EarlierTurn> {
    let client_id = run.client_id.as_deref().filter(|_| failure.kind == FailureKind::ClientIdTaken)?;
    tokio::task::block_in_place(|| {
        let messages = app.engine.threads().messages_by_client_id(run.thread, client_id).ok()?;
        EarlierTurn::new(app, run.thread, messages).ok()
    })
}

impl TurnResultJson {
    fn new(report: &TurnReport) -> Self {
        Self {
            schema: SCHEMA,
            session_id: report.id.to_string(),
            run_id: report.run_id.clone(),
            end: RunEndJson::from_report(report),
            messages: report.messages.iter().map(message_record).collect(),
        }
    }

    /// The result of an earlier turn with the same client id.
    pub(super) fn from_earlier(thread: ThreadId, before: &EarlierTurn) -> Self {
        Self {
            schema: SCHEMA,
            session_id: thread.to_string(),
            run_id: before.run_id.clone(),
            end: before.end(),
            messages: before.messages.iter().map(message_record).collect(),
        }
    }
}

impl EarlierTurn {
    /// The turn that added these messages. One without an answer is an error, not a success.
    pub(super) fn new(app: &ServerState, thread: ThreadId, messages: Vec<ThreadMessage>) -> Result<Self, ApiError> {
        let Some(at) = messages.iter().rposition(|message| message.role == ChatRole::Assistant) else {
            return Err(unanswered_error());
        };
        let (answer, results) = (&messages[at], &messages[at + 1..]);
        let has_result = |call: &str| results.iter().any(|result| result.tool_call_id.as_deref() == Some(call));
        // If all results were present, the model was called again and did not answer.
        let is_last = results.is_empty() || answer.tool_calls().any(|(call, _)| !has_result(call));
        let stop = answer.stop_reason.filter(|_| is_last).unwrap_or(StopReason::Error);
        let mut waiting_calls = Vec::new();
        if stop == StopReason::ToolCalls {
            let known = app.engine.conversations().get(thread.session_id())?.thread;
            waiting_calls = known.map(|thread| thread.waiting_calls).unwrap_or_default();
            waiting_calls.retain(|waiting| answer.tool_calls().any(|(call, _)| call == waiting.id));
        }
        let run_id = answer.run_id.clone().unwrap_or_default();
        Ok(Self { run_id, stop, waiting_calls, messages })
    }

    fn end(&self) -> RunEndJson {
        RunEndJson::without_report(self.stop, self.waiting_calls.clone())
    }

    /// The frames that replay it for a client that sent it again.
    pub(super) fn replay_frames(&self) -> impl Iterator<Item = FrameEventJson> {
        let end = FrameEventJson::RunEnd { end: self.end() };
        self.messages.iter().map(FrameEventJson::from_message).chain(std::iter::once(end))
    }
}

/// An earlier turn with this client id has no answer.
fn unanswered_error() -> ApiError {
    let message = "this turn ran before and ended without an answer";
    let error = ApiError::new(StatusCode::BAD_GATEWAY, FailureKind::Model, message);
    error.hint("the message is in the thread: send again with a new client id and without text to get an answer")
}

impl TurnResponse {
    fn succeeded(turn: &TurnResultJson) -> Self {
        Self { status: StatusCode::OK, body: json::to_json_line(turn).unwrap_or_default() }
    }

    fn failed(failure: Failure) -> Self {
        let error = ApiError::from(failure);
        let failed = json::ErrorResponseJson::new(error.failure(), Clock::System.now());
        Self { status: error.status(), body: json::to_json_line(&failed).unwrap_or_default() }
    }
}
