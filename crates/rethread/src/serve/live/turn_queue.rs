//! The queue of turns: one at a time per thread, in the order they were accepted, fair between threads.
//!
//! The order is fixed when a turn is accepted, under a lock per thread: there it gets its id, its place among the turns
//! of all processes, and its place in this server's queue. A waiting turn is only an entry in the queue; only running
//! turns use an OS thread.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use rethread_engine::{EngineError, PendingTurn, SendRequest, ServeSettings, ThreadError};
use rethread_model::thread::{ChatRole, StopReason, ThreadId, ThreadMessage};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use super::run::{self, EarlierTurn};
use crate::failure::FailureKind;
use crate::json::{FrameEventJson, RunEndJson};
use crate::serve::route::run_blocking;
use crate::serve::{ApiError, ServerState, SharedState};

/// Number of lock shards; threads that share one wait for each other briefly.
const LOCK_SHARDS: usize = 64;

/// All queued and running turns of the server.
#[derive(Debug)]
pub(crate) struct TurnQueue {
    state: Mutex<TurnQueueState>,
    thread_locks: Vec<tokio::sync::Mutex<()>>,
    /// One permit per running turn, granted in order of request.
    pub(super) slots: Arc<Semaphore>,
    /// How many turns run at the same time.
    turns: usize,
    /// Number of tasks that must finish before shutdown.
    busy: watch::Sender<usize>,
    /// Becomes true when all of them have.
    done: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct TurnQueueState {
    queues: BTreeMap<ThreadId, ThreadQueue>,
    accepted: usize,
    is_closed: bool,
    is_stopped: bool,
}

/// The turns of one thread. Exists only while it has one.
#[derive(Debug, Default)]
struct ThreadQueue {
    running: Option<Arc<TurnRun>>,
    waiting: VecDeque<(Arc<TurnRun>, PendingTurn, TurnPermit)>,
}

/// One turn, shared by its runner and the clients that wait for it.
#[derive(Debug)]
pub(super) struct TurnRun {
    pub(super) thread: ThreadId,
    pub(super) id: String,
    /// Idempotency key of the client.
    pub(super) client_id: Option<String>,
    text: Option<String>,
    /// Becomes true when the turn is canceled.
    pub(super) stop: watch::Sender<bool>,
    /// Becomes true before its end is published: from then on it cannot be canceled.
    pub(super) is_ending: watch::Sender<bool>,
    /// Set when the turn has ended.
    pub(super) response: watch::Sender<Option<Arc<TurnResponse>>>,
}

/// How a turn ended, as an HTTP response.
#[derive(Debug)]
pub(super) struct TurnResponse {
    pub(super) status: StatusCode,
    pub(super) body: String,
}

/// Result of accepting a message.
#[derive(Debug)]
pub(super) enum AcceptedTurn {
    /// The turn, and how many are ahead of it.
    New(Arc<TurnRun>, usize),
    /// The client sent it before and it has run.
    Earlier(EarlierTurn),
}

/// Result of canceling a turn.
enum CanceledTurn {
    /// It was running and will stop.
    Running,
    /// It was waiting and was removed.
    Waiting(Arc<TurnRun>, Box<PendingTurn>, TurnPermit),
}

/// Counts against the limit of accepted turns until dropped.
#[derive(Debug)]
pub(super) struct TurnPermit(BusyGuard);

/// Delays shutdown until dropped.
#[derive(Debug)]
pub(super) struct BusyGuard(SharedState);

impl TurnQueue {
    /// A queue that runs as many turns at the same time as `serve.turns` allows.
    /// All spaces of a server share the permits.
    pub(crate) fn new(settings: &ServeSettings, slots: Arc<Semaphore>) -> Self {
        let turns = settings.turns as usize;
        Self {
            state: Mutex::default(),
            thread_locks: (0..LOCK_SHARDS).map(|_| tokio::sync::Mutex::default()).collect(),
            slots,
            turns,
            busy: watch::Sender::new(0),
            done: watch::Sender::new(false),
        }
    }

    /// Stops accepting turns.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Whether no work is accepted that is not finished.
    pub(crate) fn is_idle(&self) -> bool {
        *self.busy.borrow() == 0
    }

    /// Waits until all accepted work is finished.
    pub(crate) async fn wait_until_idle(&self) {
        let _ = self.busy.subscribe().wait_for(|busy| *busy == 0).await;
    }

    /// Cancels all turns. Partial answers are stored.
    pub(crate) fn stop_all(&self) {
        let mut state = self.lock();
        state.is_stopped = true;
        for run in state.queues.values().flat_map(ThreadQueue::runs) {
            run.stop.send_replace(true);
        }
    }

    /// Signals that no more events will follow.
    pub(crate) fn signal_done(&self) {
        self.done.send_replace(true);
    }

    /// Becomes true when no more events will follow.
    pub(crate) fn done(&self) -> watch::Receiver<bool> {
        self.done.subscribe()
    }

    /// Number of waiting turns of a thread.
    pub(super) fn waiting_count(&self, thread: ThreadId) -> usize {
        self.lock().queues.get(&thread).map_or(0, |line| line.waiting.len())
    }

    /// Locks a thread for accepting and appending.
    pub(super) async fn lock_thread(&self, thread: ThreadId) -> tokio::sync::MutexGuard<'_, ()> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(thread);
        self.thread_locks[hash as usize % LOCK_SHARDS].lock().await
    }

    /// Removes a waiting turn or stops a running one; without an id, the running one or else the next.
    fn remove_or_stop(&self, thread: ThreadId, run_id: Option<&str>) -> Option<CanceledTurn> {
        let mut state = self.lock();
        let line = state.queues.get_mut(&thread)?;
        let is_match = |run: &TurnRun| run_id.is_none_or(|id| id == run.id);
        if let Some(run) = line.running.as_ref().filter(|run| is_match(run) && !*run.is_ending.borrow()) {
            run.stop.send_replace(true);
            return Some(CanceledTurn::Running);
        }
        let at = line.waiting.iter().position(|(run, ..)| is_match(run))?;
        let (run, turn, permit) = line.waiting.remove(at)?;
        Some(CanceledTurn::Waiting(run, Box::new(turn), permit))
    }

    /// The unfinished turn with that client id, and how many turns of this server are ahead of it.
    pub(super) fn find_by_client_id(&self, thread: ThreadId, client_id: &str) -> Option<(Arc<TurnRun>, usize)> {
        let state = self.lock();
        let mut runs = state.queues.get(&thread)?.runs().enumerate();
        let (ahead, run) = runs.find(|(_, run)| run.client_id.as_deref() == Some(client_id))?;
        Some((Arc::clone(run), ahead))
    }

    fn lock(&self) -> MutexGuard<'_, TurnQueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ThreadQueue {
    /// All turns, the running one first.
    fn runs(&self) -> impl Iterator<Item = &Arc<TurnRun>> {
        self.running.iter().chain(self.waiting.iter().map(|(run, ..)| run))
    }
}

/// Cancels a turn; without an id, the running one or else the next. False if there is none.
pub(super) fn cancel(app: &SharedState, thread: ThreadId, run_id: Option<&str>) -> bool {
    match app.turns.remove_or_stop(thread, run_id) {
        None => false,
        Some(CanceledTurn::Running) => true,
        Some(CanceledTurn::Waiting(run, turn, permit)) => {
            // Dropping a waiting turn removes a file.
            tokio::task::block_in_place(|| drop(turn));
            run.response.send_replace(Some(Arc::new(run::end_before_start(app, &run))));
            drop(permit);
            true
        }
    }
}

/// Accepts a message as a turn. Completes even if the client disconnects.
pub(super) async fn accept(
    app: &SharedState,
    thread: ThreadId,
    request: SendRequest,
) -> Result<AcceptedTurn, ApiError> {
    let app = Arc::clone(app);
    let accepted = tokio::spawn(async move { accept_in_order(&app, thread, request).await });
    accepted.await.unwrap_or_else(|_| Err(ApiError::internal_error()))
}

async fn accept_in_order(app: &SharedState, thread: ThreadId, request: SendRequest) -> Result<AcceptedTurn, ApiError> {
    let _lock = app.turns.lock_thread(thread).await;
    let (text, client_id) = (request.text.clone(), request.client_id.clone());
    if let Some((run, ahead)) =
        client_id.as_deref().and_then(|client_id| app.turns.find_by_client_id(thread, client_id))
    {
        return if run.text == text { Ok(AcceptedTurn::New(run, ahead)) } else { Err(client_id_conflict()) };
    }
    let permit = TurnPermit::acquire(app)?;
    let turn = run_blocking(Arc::clone(app), move |app| take_place(app, thread, request)).await?;
    let turn = match turn {
        Ok(turn) => turn,
        Err(before) => return Ok(AcceptedTurn::Earlier(before)),
    };
    let (id, ahead) = (turn.run_id().to_owned(), turn.ahead());
    let (stop, is_over, ended) = (watch::Sender::new(false), watch::Sender::new(false), watch::Sender::new(None));
    let run = Arc::new(TurnRun { thread, id, client_id, text, stop, is_ending: is_over, response: ended });
    if ahead > 0 {
        app.events.publish_to_run(thread, &run.id, FrameEventJson::queued_behind(ahead));
    }
    enqueue(app, Arc::clone(&run), turn, permit);
    Ok(AcceptedTurn::New(run, ahead))
}

/// Takes a place in the queue of all processes; `Err` in the inner result if the turn has run before.
fn take_place(
    app: &ServerState,
    thread: ThreadId,
    request: SendRequest,
) -> Result<Result<PendingTurn, EarlierTurn>, ApiError> {
    if let Some(client_id) = &request.client_id {
        let before = app
            .engine
            .threads()
            .messages_by_client_id(thread, client_id)
            .map_err(|error| thread_error(app, thread, error))?;
        if !before.is_empty() {
            let is_same = is_turn_of(request.text.as_deref(), &before);
            return if is_same { EarlierTurn::new(app, thread, before).map(Err) } else { Err(client_id_conflict()) };
        }
    }
    let turn = app.engine.turns().accept(&thread.to_string(), request);
    turn.map(Ok).map_err(|error| thread_error(app, thread, error))
}

/// Whether these are the messages of a turn that started with this text.
fn is_turn_of(text: Option<&str>, messages: &[ThreadMessage]) -> bool {
    messages.first().is_some_and(|first| {
        let began_with = (first.role == ChatRole::User).then(|| first.text());
        first.run_id.is_some() && began_with.as_deref() == text
    })
}

/// Appends a turn to its thread's queue and starts a runner if there is none.
fn enqueue(app: &SharedState, run: Arc<TurnRun>, turn: PendingTurn, permit: TurnPermit) {
    let thread = run.thread;
    let mut state = app.turns.lock();
    if state.is_stopped {
        run.stop.send_replace(true);
    }
    let is_new = !state.queues.contains_key(&thread);
    state.queues.entry(thread).or_default().waiting.push_back((run, turn, permit));
    drop(state);
    if is_new {
        supervise(app, thread, run_queue(Arc::clone(app), thread));
    }
}

async fn run_queue(app: SharedState, thread: ThreadId) {
    while let Some((run, turn, permit)) = start_next(&app, thread) {
        run::run_turn(&app, &run, turn).await;
        drop(permit);
    }
}

/// Runs a queue to its end. On panic, all its turns end with an error and the thread stays usable.
fn supervise(app: &SharedState, thread: ThreadId, work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    let (app, work) = (Arc::clone(app), tokio::spawn(work));
    tokio::spawn(async move {
        if work.await.is_ok() {
            return;
        }
        // Dropped outside the lock, because dropping a permit takes it.
        let line = app.turns.lock().queues.remove(&thread).unwrap_or_default();
        for run in line.runs().filter(|run| run.response.borrow().is_none()) {
            run::end_with_internal_error(&app, run);
        }
        tokio::task::block_in_place(|| drop(line));
    })
}

/// The next turn of a thread, marked as running. Removes the queue if it is empty.
fn start_next(app: &SharedState, thread: ThreadId) -> Option<(Arc<TurnRun>, PendingTurn, TurnPermit)> {
    let mut state = app.turns.lock();
    let line = state.queues.get_mut(&thread)?;
    let Some(next) = line.waiting.pop_front() else {
        state.queues.remove(&thread);
        return None;
    };
    line.running = Some(Arc::clone(&next.0));
    Some(next)
}

/// A clearer error if the id is an agent session instead of a thread.
pub(super) fn thread_error(app: &ServerState, thread: ThreadId, error: EngineError) -> ApiError {
    let is_missing = matches!(error, EngineError::Thread(ThreadError::Missing { .. } | ThreadError::Deleted { .. }));
    let cause = if is_missing { app.engine.conversations().require_thread(thread.session_id()).err() } else { None };
    cause.unwrap_or(error).into()
}

/// A client id was used for two different messages.
pub(super) fn client_id_conflict() -> ApiError {
    let message = "this client id was already used for another message";
    ApiError::new(StatusCode::CONFLICT, FailureKind::BadRequest, message).hint("use a new client id for each message")
}

impl TurnPermit {
    fn acquire(app: &SharedState) -> Result<Self, ApiError> {
        let mut state = app.turns.lock();
        if state.is_closed {
            return Err(ApiError::shutting_down());
        }
        let queue = app.engine.settings().serve.queue as usize;
        if state.accepted >= app.turns.turns + queue {
            let message = format!("the queue is full: {queue} turns are waiting");
            let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, FailureKind::QueueFull, message);
            return Err(error.hint("try again later, or raise serve.queue"));
        }
        state.accepted += 1;
        drop(state);
        Ok(Self(BusyGuard::new(app)))
    }
}

impl Drop for TurnPermit {
    fn drop(&mut self) {
        self.0.0.turns.lock().accepted -= 1;
    }
}

impl BusyGuard {
    /// Delays shutdown, within the grace period.
    pub(super) fn new(app: &SharedState) -> Self {
        app.turns.busy.send_modify(|busy| *busy += 1);
        Self(Arc::clone(app))
    }

    /// The same, or an error if the server is shutting down.
    pub(super) fn unless_closed(app: &SharedState) -> Result<Self, ApiError> {
        if app.turns.lock().is_closed { Err(ApiError::shutting_down()) } else { Ok(Self::new(app)) }
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.turns.busy.send_modify(|busy| *busy -= 1);
    }
}

/// The last frame of a run that never started.
pub(super) fn aborted_frame() -> FrameEventJson {
    run_end_frame(StopReason::Aborted)
}

/// The last frame of a run without a report.
pub(super) fn run_end_frame(stop_reason: StopReason) -> FrameEventJson {
    FrameEventJson::RunEnd { end: RunEndJson::without_report(stop_reason, Vec::new()) }
}

#[cfg(test)]
mod tests {
    use rethread_engine::{Engine, Environment};
    use rethread_model::Timestamp;

    use super::*;
    use crate::printer::Printer;
    use crate::serve::ServerContext;

    fn app(folder: &std::path::Path) -> SharedState {
        let engine = Engine::open(Environment::for_home(folder));
        let engine = engine.unwrap_or_else(|_| unreachable!("a new home has no settings"));
        let context = ServerContext::new(&engine, Printer::default(), Vec::new(), false);
        let context = context.unwrap_or_else(|_| unreachable!("a new home takes a token"));
        Arc::new(ServerState::new(Arc::new(context), engine))
    }

    #[test]
    fn a_panicking_runner_ends_its_turns_and_cleans_up() {
        let folder = tempfile::tempdir().unwrap();
        let (app, thread) = (app(folder.path()), ThreadId::generate(Timestamp::from_millis(1)));
        let (stop, ended) = (watch::Sender::new(false), watch::Sender::new(None));
        let is_over = watch::Sender::new(false);
        let (id, client_id) = ("r".to_owned(), Some("q".to_owned()));
        let run = Arc::new(TurnRun { thread, id, client_id, text: None, stop, is_ending: is_over, response: ended });
        let line = ThreadQueue { running: Some(Arc::clone(&run)), waiting: VecDeque::new() };
        app.turns.lock().queues.insert(thread, line);
        let permit = TurnPermit::acquire(&app).unwrap();
        let mut page = app.events.listen_to_all();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.block_on(async {
            let work = async move {
                let _permit = permit;
                panic!("bug");
            };
            supervise(&app, thread, work).await.unwrap();
            app.turns.wait_until_idle().await;
        });
        let status = run.response.borrow().as_ref().map(|ended| ended.status);
        assert_eq!(status, Some(StatusCode::INTERNAL_SERVER_ERROR));
        let kinds: Vec<_> = std::iter::from_fn(|| page.try_next()).map(|event| event.kind).collect();
        assert_eq!(kinds, ["error", "run_end"]);
        assert!(app.turns.find_by_client_id(thread, "q").is_none() && app.turns.lock().queues.is_empty());
        assert_eq!(app.turns.lock().accepted, 0);
    }
}
