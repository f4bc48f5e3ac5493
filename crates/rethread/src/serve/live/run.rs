//! One turn from its place in the queue to its end, however it ends.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use rethread_engine::{Clock, EngineError, TurnEvent, TurnReport, WaitingTurn};
use rethread_model::Tokens;
use rethread_model::thread::{ChatRole, Message, Stop, ThreadId, WaitingCall};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::timeout;

use super::memory;
use super::turns::{Ended, Run, ended_early, stopped};
use crate::failure::{Failure, Kind};
use crate::json::{self, SCHEMA, Told, dollars, record_of};
use crate::serve::app::becomes_so;
use crate::serve::{App, Refusal, Shared};

/// How often a turn looks whether another process has finished the one before it.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// A whole turn.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WholeTurn {
    schema: u8,
    session_id: String,
    run_id: String,
    /// Why it ended: `end`, `toolCalls`, `length`, `refusal`, `aborted`, `error` or `other`.
    #[schemars(with = "String")]
    stop_reason: Stop,
    /// Tokens as the provider counted them.
    #[schemars(with = "Option<Value>")]
    usage: Option<Tokens>,
    /// What it cost, if prices are known.
    cost_usd: Option<f64>,
    /// Calls that wait for results of the caller.
    #[schemars(with = "Vec<Value>")]
    waiting_calls: Vec<WaitingCall>,
    /// Whether the model wanted to go on, and had used tools as often as it may in one turn.
    cut_short: bool,
    /// What it added to the log, as it stands there.
    messages: Vec<Value>,
}

/// A turn that was run before, as far as the log has it.
#[derive(Debug)]
pub(super) struct Before {
    /// Its id.
    pub(super) run_id: String,
    stop: Stop,
    waiting_calls: Vec<WaitingCall>,
    messages: Vec<Message>,
}

/// Runs a turn when its time has come. Whatever happens, all who wait for it learn how it ended.
pub(super) async fn to_its_end(app: &Shared, run: &Arc<Run>, turn: WaitingTurn) {
    let ended = match its_time(app, run, turn).await {
        Some((turn, slot)) => on_its_thread(app, run, turn, slot).await,
        None => end_before_it_began(app, run),
    };
    run.ended.send_replace(Some(Arc::new(ended)));
}

/// Tells that a turn was stopped before it began.
pub(super) fn end_before_it_began(app: &Shared, run: &Run) -> Ended {
    app.events.tell_run(run.thread, &run.id, stopped());
    Ended::failed(Failure::from(EngineError::Stopped))
}

/// Tells that a turn will have no other end than a mistake of ours.
pub(super) fn end_by_mistake(app: &Shared, run: &Run) {
    run.ended.send_replace(Some(Arc::new(tell_end(app, run, Err(mistake())))));
}

fn mistake() -> Failure {
    Failure::new(Kind::Bug, "a mistake in rethread itself")
}

/// Waits for turns of other processes and for a thread to run on. Nothing if it was stopped meanwhile.
async fn its_time(app: &Shared, run: &Run, turn: WaitingTurn) -> Option<(WaitingTurn, OwnedSemaphorePermit)> {
    let mut stop = run.stop.subscribe();
    // A look takes moments, and must not wait until one of the threads for calls is free.
    while !tokio::task::block_in_place(|| turn.is_next()) {
        if timeout(LOOK_AGAIN, becomes_so(&mut stop)).await.is_ok() {
            return None;
        }
    }
    tokio::select! {
        biased;
        () = becomes_so(&mut stop) => None,
        slot = Arc::clone(&app.turns.slots).acquire_owned() => Some((turn, slot.ok()?)),
    }
}

/// Runs it on a thread of its own: it waits for a model, and nobody else should wait with it.
async fn on_its_thread(app: &Shared, run: &Arc<Run>, turn: WaitingTurn, slot: OwnedSemaphorePermit) -> Ended {
    let (teller, told) = oneshot::channel();
    let (shared, spoken) = (Arc::clone(app), Arc::clone(run));
    let thread = std::thread::Builder::new().name("turn".to_owned());
    let spawned = thread.spawn(move || {
        let done = speak(&shared, &spoken, turn);
        drop(slot);
        let _ = teller.send(done);
    });
    let done = match spawned {
        Ok(_) => told.await.unwrap_or_else(|_| Err(mistake())),
        Err(error) => Err(Failure::from(error)),
    };
    if done.as_ref().is_ok_and(|report| report.stop == Stop::End) {
        memory::have_named(app, run.thread);
    }
    let ended = tell_end(app, run, done);
    memory::remember(app, run.thread);
    ended
}

fn speak(app: &Shared, run: &Run, turn: WaitingTurn) -> Result<TurnReport, Failure> {
    let is_stopped = || *run.stop.borrow();
    let done = app.engine.thread_run(turn, &is_stopped, &mut |event| {
        let told = match event {
            TurnEvent::Begun { .. } => Told::RunStart { client_id: run.client_id.clone() },
            event => Told::of(&event),
        };
        app.events.tell_run(run.thread, &run.id, told);
    });
    done.map_err(Failure::of_turn)
}

/// Tells all who listen how a turn ended; the last frame of it is always its end.
fn tell_end(app: &Shared, run: &Run, done: Result<TurnReport, Failure>) -> Ended {
    run.is_over.send_replace(true);
    let tell = |told| app.events.tell_run(run.thread, &run.id, told);
    match done {
        Ok(report) => {
            let failure = report.failed.as_ref().map(Failure::of_broken_answer);
            if let Some(failure) = &failure {
                tell(Told::failed(failure, run.client_id.clone()));
            }
            tell(Told::end_of(&report));
            failure.map_or_else(|| Ended::well(&WholeTurn::new(&report)), Ended::failed)
        }
        // Whoever stopped it knows why.
        Err(failure) if failure.kind == Kind::Stopped => {
            tell(stopped());
            Ended::failed(failure)
        }
        Err(failure) => {
            tell(Told::failed(&failure, run.client_id.clone()));
            tell(ended_early(Stop::Error));
            Ended::failed(failure)
        }
    }
}

impl WholeTurn {
    fn new(report: &TurnReport) -> Self {
        Self {
            schema: SCHEMA,
            session_id: report.id.to_string(),
            run_id: report.run_id.clone(),
            stop_reason: report.stop,
            usage: report.usage,
            cost_usd: report.cost.map(dollars),
            waiting_calls: report.waiting_calls.clone(),
            cut_short: report.is_cut_short,
            messages: report.messages.iter().map(record_of).collect(),
        }
    }

    /// A turn that was run before.
    pub(super) fn before(thread: ThreadId, before: &Before) -> Self {
        Self {
            schema: SCHEMA,
            session_id: thread.to_string(),
            run_id: before.run_id.clone(),
            stop_reason: before.stop,
            usage: None,
            cost_usd: None,
            waiting_calls: before.waiting_calls.clone(),
            cut_short: false,
            messages: before.messages.iter().map(record_of).collect(),
        }
    }
}

impl Before {
    /// What became of a turn that added these messages. One that nobody answered is refused: it is no success.
    pub(super) fn new(app: &App, thread: ThreadId, messages: Vec<Message>) -> Result<Self, Refusal> {
        let Some(at) = messages.iter().rposition(|message| message.role == ChatRole::Assistant) else {
            return Err(unanswered());
        };
        let (answer, results) = (&messages[at], &messages[at + 1..]);
        let has_result = |call: &str| results.iter().any(|result| result.tool_call_id.as_deref() == Some(call));
        // Where all results were there the model was asked again, and did not answer.
        let is_last = results.is_empty() || answer.calls().any(|(call, _)| !has_result(call));
        let stop = answer.stop_reason.filter(|_| is_last).unwrap_or(Stop::Error);
        let mut waiting_calls = Vec::new();
        if stop == Stop::ToolCalls {
            let known = app.engine.conversation(thread.session())?.thread;
            waiting_calls = known.map(|thread| thread.waiting_calls).unwrap_or_default();
            waiting_calls.retain(|waiting| answer.calls().any(|(call, _)| call == waiting.id));
        }
        let run_id = answer.run_id.clone().unwrap_or_default();
        Ok(Self { run_id, stop, waiting_calls, messages })
    }

    /// What is told of it to whoever sent it again.
    pub(super) fn told(&self) -> impl Iterator<Item = Told> {
        let end = Told::RunEnd {
            stop_reason: self.stop,
            usage: None,
            cost_usd: None,
            waiting_calls: self.waiting_calls.clone(),
            cut_short: false,
        };
        self.messages.iter().map(Told::appended).chain(std::iter::once(end))
    }
}

/// A turn that was run before without an answer.
fn unanswered() -> Refusal {
    let message = "this turn was run before, and ended without an answer";
    let refusal = Refusal::new(StatusCode::BAD_GATEWAY, Kind::Model, message);
    refusal
        .hint("what was said is in the thread; send again without a text, under a new client id, to have it answered")
}

impl Ended {
    fn well(turn: &WholeTurn) -> Self {
        Self { status: StatusCode::OK, body: json::text(turn).unwrap_or_default() }
    }

    fn failed(failure: Failure) -> Self {
        let refusal = Refusal::from(failure);
        let failed = json::Failed::new(refusal.failure(), Clock::System.now());
        Self { status: refusal.status(), body: json::text(&failed).unwrap_or_default() }
    }
}
