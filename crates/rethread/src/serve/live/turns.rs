//! Turns that the server runs: one at a time in a thread, in the order they were accepted, fair between threads.
//!
//! The order is decided where a turn is accepted, behind a door that only one passes at a time for each thread: there
//! it gets its id, its place among the turns of all processes, and its place in the queue here. A turn that waits is
//! an entry in that queue and nothing else; a thread of the system is used by turns that run.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::StatusCode;
use rethread_engine::{Config, EngineError, SendRequest, ThreadError, WaitingTurn};
use rethread_model::thread::{ChatRole, Message, Stop, ThreadId};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use super::run::{self, Before};
use crate::failure::Kind;
use crate::json::Told;
use crate::serve::route::blocking;
use crate::serve::{App, Refusal, Shared};

/// Doors; threads that share one wait for each other for a moment.
const DOORS: usize = 64;
/// The most turns at a time, whatever the settings say: each has a thread of the system.
const MOST_TURNS: u64 = 256;

/// All turns of the server.
#[derive(Debug)]
pub(crate) struct Turns {
    state: Mutex<State>,
    doors: Vec<tokio::sync::Mutex<()>>,
    /// Who gets one of these runs. They are given in the order they are asked for.
    pub(super) slots: Arc<Semaphore>,
    /// Turns at a time, and turns that may wait.
    most: (usize, usize),
    /// What has to be finished before the server may end.
    busy: watch::Sender<usize>,
    /// Becomes true when all of it is.
    done: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct State {
    lines: BTreeMap<ThreadId, Line>,
    accepted: usize,
    is_closed: bool,
    is_stopped: bool,
}

/// The turns of one thread. There is one as long as there is a turn in it.
#[derive(Debug, Default)]
struct Line {
    running: Option<Arc<Run>>,
    waiting: VecDeque<(Arc<Run>, WaitingTurn, Place)>,
}

/// One turn, for all who have to do with it.
#[derive(Debug)]
pub(super) struct Run {
    /// The thread.
    pub(super) thread: ThreadId,
    /// Its id.
    pub(super) id: String,
    /// What the client calls it.
    pub(super) client_id: Option<String>,
    text: Option<String>,
    /// Becomes true when somebody stops it.
    pub(super) stop: watch::Sender<bool>,
    /// Becomes true before its end is told: from then on it cannot be stopped.
    pub(super) is_over: watch::Sender<bool>,
    /// How it ended, once it did.
    pub(super) ended: watch::Sender<Option<Arc<Ended>>>,
}

/// How a turn ended, for whoever waits for it: a status and a body.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) status: StatusCode,
    pub(super) body: String,
}

/// What became of a message that was to be run.
#[derive(Debug)]
pub(super) enum Accepted {
    /// It will be run, behind so many others.
    Run(Arc<Run>, usize),
    /// The client sent it before, and it was run: what became of it.
    Before(Before),
}

/// What became of a turn that was to be stopped.
enum TakenOut {
    /// It runs, and will stop.
    Running,
    /// It waited, and will never run.
    Waiting(Arc<Run>, Box<WaitingTurn>, Place),
}

/// A share of what may be accepted. Dropped, it is given back.
#[derive(Debug)]
pub(super) struct Place(Busy);

/// Something that has to be finished before the server may end. Dropped, it is.
#[derive(Debug)]
pub(super) struct Busy(Shared);

impl Turns {
    /// As the settings want it.
    pub(crate) fn new(config: &Config) -> Self {
        let turns = config.number("serve.turns").clamp(1, MOST_TURNS) as usize;
        let queue = config.number("serve.queue").min(u64::from(u32::MAX)) as usize;
        Self {
            state: Mutex::default(),
            doors: (0..DOORS).map(|_| tokio::sync::Mutex::default()).collect(),
            slots: Arc::new(Semaphore::new(turns)),
            most: (turns, queue),
            busy: watch::Sender::new(0),
            done: watch::Sender::new(false),
        }
    }

    /// From now on nothing more is accepted.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Waits until everything that was accepted is finished.
    pub(crate) async fn finished(&self) {
        let _ = self.busy.subscribe().wait_for(|busy| *busy == 0).await;
    }

    /// Stops everything that was accepted. What was said is kept.
    pub(crate) fn stop_all(&self) {
        let mut state = self.lock();
        state.is_stopped = true;
        for run in state.lines.values().flat_map(Line::runs) {
            run.stop.send_replace(true);
        }
    }

    /// Tells all who listen that there is nothing more to hear.
    pub(crate) fn tell_done(&self) {
        self.done.send_replace(true);
    }

    /// Becomes true when there is nothing more to hear.
    pub(crate) fn done(&self) -> watch::Receiver<bool> {
        self.done.subscribe()
    }

    /// How many turns of a thread wait.
    pub(super) fn waiting(&self, thread: ThreadId) -> usize {
        self.lock().lines.get(&thread).map_or(0, |line| line.waiting.len())
    }

    /// Passes the door of a thread: whoever is behind it is the only one there.
    pub(super) async fn door(&self, thread: ThreadId) -> tokio::sync::MutexGuard<'_, ()> {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(thread);
        self.doors[hash as usize % DOORS].lock().await
    }

    /// Takes a turn out of the queue, or stops it if it runs; without an id the one that runs, or else the next one.
    fn take_out(&self, thread: ThreadId, run_id: Option<&str>) -> Option<TakenOut> {
        let mut state = self.lock();
        let line = state.lines.get_mut(&thread)?;
        let is_it = |run: &Run| run_id.is_none_or(|id| id == run.id);
        if let Some(run) = line.running.as_ref().filter(|run| is_it(run) && !*run.is_over.borrow()) {
            run.stop.send_replace(true);
            return Some(TakenOut::Running);
        }
        let at = line.waiting.iter().position(|(run, ..)| is_it(run))?;
        let (run, turn, place) = line.waiting.remove(at)?;
        Some(TakenOut::Waiting(run, Box::new(turn), place))
    }

    /// A turn under that name that has not ended, and how many of this server are before it.
    pub(super) fn sent(&self, thread: ThreadId, client_id: &str) -> Option<(Arc<Run>, usize)> {
        let state = self.lock();
        let mut runs = state.lines.get(&thread)?.runs().enumerate();
        let (ahead, run) = runs.find(|(_, run)| run.client_id.as_deref() == Some(client_id))?;
        Some((Arc::clone(run), ahead))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    /// All turns in it, the next to end first.
    fn runs(&self) -> impl Iterator<Item = &Arc<Run>> {
        self.running.iter().chain(self.waiting.iter().map(|(run, ..)| run))
    }
}

/// Stops a turn, or without an id the one that runs or else the next one; whether there was one.
pub(super) fn cancel(app: &Shared, thread: ThreadId, run_id: Option<&str>) -> bool {
    match app.turns.take_out(thread, run_id) {
        None => false,
        Some(TakenOut::Running) => true,
        Some(TakenOut::Waiting(run, turn, place)) => {
            // Its place is a file.
            tokio::task::block_in_place(|| drop(turn));
            run.ended.send_replace(Some(Arc::new(run::end_before_it_began(app, &run))));
            drop(place);
            true
        }
    }
}

/// Accepts a message that is to be run. It is carried through even if whoever asked for it has left.
pub(super) async fn accept(app: &Shared, thread: ThreadId, request: SendRequest) -> Result<Accepted, Refusal> {
    let app = Arc::clone(app);
    let accepted = tokio::spawn(async move { accept_in_order(&app, thread, request).await });
    accepted.await.unwrap_or_else(|_| Err(Refusal::bug()))
}

async fn accept_in_order(app: &Shared, thread: ThreadId, request: SendRequest) -> Result<Accepted, Refusal> {
    let _door = app.turns.door(thread).await;
    let (text, client_id) = (request.text.clone(), request.client_id.clone());
    if let Some((run, ahead)) = client_id.as_deref().and_then(|client_id| app.turns.sent(thread, client_id)) {
        return if run.text == text { Ok(Accepted::Run(run, ahead)) } else { Err(used_otherwise()) };
    }
    let place = Place::take(app)?;
    let turn = blocking(Arc::clone(app), move |app| take_turn(app, thread, request)).await?;
    let turn = match turn {
        Ok(turn) => turn,
        Err(before) => return Ok(Accepted::Before(before)),
    };
    let (id, ahead) = (turn.run_id().to_owned(), turn.ahead());
    let (stop, is_over, ended) = (watch::Sender::new(false), watch::Sender::new(false), watch::Sender::new(None));
    let run = Arc::new(Run { thread, id, client_id, text, stop, is_over, ended });
    if ahead > 0 {
        app.events.tell_run(thread, &run.id, Told::queued(ahead));
    }
    enqueue(app, Arc::clone(&run), turn, place);
    Ok(Accepted::Run(run, ahead))
}

/// The turn with its place among those of all processes, or what became of it before.
fn take_turn(app: &App, thread: ThreadId, request: SendRequest) -> Result<Result<WaitingTurn, Before>, Refusal> {
    if let Some(client_id) = &request.client_id {
        let before = app.engine.thread_sent_before(thread, client_id).map_err(|error| not_found(app, thread, error))?;
        if !before.is_empty() {
            let is_same = is_turn_of(request.text.as_deref(), &before);
            return if is_same { Before::new(app, thread, before).map(Err) } else { Err(used_otherwise()) };
        }
    }
    let turn = app.engine.thread_accept(&thread.to_string(), request);
    turn.map(Ok).map_err(|error| not_found(app, thread, error))
}

/// Whether messages are those of a turn that began with this text, or without one.
fn is_turn_of(text: Option<&str>, messages: &[Message]) -> bool {
    messages.first().is_some_and(|first| {
        let began_with = (first.role == ChatRole::User).then(|| first.text());
        first.run_id.is_some() && began_with.as_deref() == text
    })
}

/// Puts a turn behind those that wait, and has somebody see to it.
fn enqueue(app: &Shared, run: Arc<Run>, turn: WaitingTurn, place: Place) {
    let thread = run.thread;
    let mut state = app.turns.lock();
    if state.is_stopped {
        run.stop.send_replace(true);
    }
    let is_new = !state.lines.contains_key(&thread);
    state.lines.entry(thread).or_default().waiting.push_back((run, turn, place));
    drop(state);
    if is_new {
        see_to(app, thread, run_all(Arc::clone(app), thread));
    }
}

async fn run_all(app: Shared, thread: ThreadId) {
    while let Some((run, turn, place)) = next(&app, thread) {
        run::to_its_end(&app, &run, turn).await;
        drop(place);
    }
}

/// Has somebody see to a line. If that panics nothing is left that would wait for ever, and the thread goes on.
fn see_to(app: &Shared, thread: ThreadId, work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    let (app, work) = (Arc::clone(app), tokio::spawn(work));
    tokio::spawn(async move {
        if work.await.is_ok() {
            return;
        }
        // Apart from the lock, which whoever leaves the line takes.
        let line = app.turns.lock().lines.remove(&thread).unwrap_or_default();
        for run in line.runs().filter(|run| run.ended.borrow().is_none()) {
            run::end_by_mistake(&app, run);
        }
        tokio::task::block_in_place(|| drop(line));
    })
}

/// The next turn of a thread, which is running from now on. Without one the thread has no line any more.
fn next(app: &Shared, thread: ThreadId) -> Option<(Arc<Run>, WaitingTurn, Place)> {
    let mut state = app.turns.lock();
    let line = state.lines.get_mut(&thread)?;
    let Some(next) = line.waiting.pop_front() else {
        state.lines.remove(&thread);
        return None;
    };
    line.running = Some(Arc::clone(&next.0));
    Some(next)
}

/// Says why a thread cannot be spoken in, where it is no thread but a session of an agent.
pub(super) fn not_found(app: &App, thread: ThreadId, error: EngineError) -> Refusal {
    let is_missing = matches!(error, EngineError::Thread(ThreadError::Missing { .. } | ThreadError::Deleted { .. }));
    let told = if is_missing { app.engine.only_thread(thread.session()).err() } else { None };
    told.unwrap_or(error).into()
}

/// A name that a client gave to two different messages.
pub(super) fn used_otherwise() -> Refusal {
    let message = "another message was sent under this client id";
    Refusal::new(StatusCode::CONFLICT, Kind::BadRequest, message).hint("give each message an id of its own")
}

impl Place {
    fn take(app: &Shared) -> Result<Self, Refusal> {
        let mut state = app.turns.lock();
        if state.is_closed {
            return Err(Refusal::ending());
        }
        let (turns, queue) = app.turns.most;
        if state.accepted >= turns.saturating_add(queue) {
            let message = format!("as many turns as may wait in this server are waiting already: {queue}");
            let refusal = Refusal::new(StatusCode::TOO_MANY_REQUESTS, Kind::QueueFull, message);
            return Err(refusal.hint("try again in a moment, or raise serve.queue"));
        }
        state.accepted += 1;
        drop(state);
        Ok(Self(Busy::with(app)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.0.turns.lock().accepted -= 1;
    }
}

impl Busy {
    /// The server does not end before this is dropped, within its grace.
    pub(super) fn with(app: &Shared) -> Self {
        app.turns.busy.send_modify(|busy| *busy += 1);
        Self(Arc::clone(app))
    }

    /// The same, unless nothing more is begun.
    pub(super) fn unless_ending(app: &Shared) -> Result<Self, Refusal> {
        if app.turns.lock().is_closed { Err(Refusal::ending()) } else { Ok(Self::with(app)) }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.turns.busy.send_modify(|busy| *busy -= 1);
    }
}

/// What the last frame of a run says that never began.
pub(super) fn stopped() -> Told {
    ended_early(Stop::Aborted)
}

/// What the last frame of a run says that has no report.
pub(super) fn ended_early(stop_reason: Stop) -> Told {
    Told::RunEnd { stop_reason, usage: None, cost_usd: None, waiting_calls: Vec::new(), cut_short: false }
}

#[cfg(test)]
mod tests {
    use rethread_engine::{Engine, Environment};
    use rethread_model::Timestamp;

    use super::*;
    use crate::printer::Printer;
    use crate::serve::keys::Keys;

    fn app(folder: &std::path::Path) -> Shared {
        let engine = Engine::open(Environment::for_home(folder));
        let engine = engine.unwrap_or_else(|_| unreachable!("a new home has no settings"));
        Arc::new(App {
            keys: Keys::new(&engine).unwrap_or_else(|_| unreachable!("a new home takes a token")),
            hosts: Vec::new(),
            is_secure: false,
            events: crate::serve::live::Events::default(),
            turns: Turns::new(engine.config()),
            taking_in: crate::serve::live::TakingIn::default(),
            room: crate::serve::room::Room::default(),
            sockets: Arc::new(Semaphore::new(1)),
            ending: watch::Sender::new(false),
            is_talkative: false,
            told: Printer::default(),
            engine,
        })
    }

    #[test]
    fn a_line_whose_worker_panics_ends_those_in_it_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (app, thread) = (app(folder.path()), ThreadId::draw(Timestamp::from_millis(1)));
        let (stop, ended) = (watch::Sender::new(false), watch::Sender::new(None));
        let is_over = watch::Sender::new(false);
        let (id, client_id) = ("r".to_owned(), Some("q".to_owned()));
        let run = Arc::new(Run { thread, id, client_id, text: None, stop, is_over, ended });
        let line = Line { running: Some(Arc::clone(&run)), waiting: VecDeque::new() };
        app.turns.lock().lines.insert(thread, line);
        let place = Place::take(&app).unwrap();
        let mut page = app.events.listen_to_all();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        runtime.block_on(async {
            let work = async move {
                let _place = place;
                panic!("a mistake");
            };
            see_to(&app, thread, work).await.unwrap();
            app.turns.finished().await;
        });
        let status = run.ended.borrow().as_ref().map(|ended| ended.status);
        assert_eq!(status, Some(StatusCode::INTERNAL_SERVER_ERROR));
        let told: Vec<_> = std::iter::from_fn(|| page.waiting()).map(|event| event.kind).collect();
        assert_eq!(told, ["error", "run_end"]);
        assert!(app.turns.sent(thread, "q").is_none() && app.turns.lock().lines.is_empty());
        assert_eq!(app.turns.lock().accepted, 0);
    }
}
