//! Threads that load lists and previews, so that no key ever waits. Each takes the newest request and drops older ones.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use jiff::tz::TimeZone;
use rethread_engine::{Engine, EngineError, SyncRequest};

use super::exports::Exports;
use super::load::{LoadContext, find_in_session, load_choices, load_list, load_preview};
use super::request::{FindRequest, ListRequest, PreviewRequest, WorkerAnswer};
use super::state::TuiTab;

/// Time between two looks for new transcript lines.
const SYNC_INTERVAL: Duration = Duration::from_mins(1);
/// Time between two looks for changes that any process made to the store.
const WATCH_INTERVAL: Duration = Duration::from_secs(2);
/// The first look waits for the first lists, which it would slow down.
const FIRST_SYNC: Duration = Duration::from_millis(500);

/// Holds at most one request: a newer one replaces it.
#[derive(Debug)]
struct Newest<T> {
    request: Mutex<Option<T>>,
    arrived: Condvar,
}

impl<T> Newest<T> {
    fn new() -> Arc<Self> {
        Arc::new(Self { request: Mutex::new(None), arrived: Condvar::new() })
    }

    fn put(&self, request: T) {
        *self.lock() = Some(request);
        self.arrived.notify_one();
    }

    /// Waits for a request.
    fn take(&self) -> T {
        let mut waiting = self.lock();
        loop {
            if let Some(request) = waiting.take() {
                return request;
            }
            waiting = self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<T>> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The workers and what they answered.
#[derive(Debug)]
pub(super) struct Workers {
    lists: Arc<Newest<ListRequest>>,
    /// Live activity reads transcripts first, which may take longer than a search.
    live: Arc<Newest<ListRequest>>,
    previews: Arc<Newest<PreviewRequest>>,
    /// Transcripts are read on a thread of their own: a conversation never waits for one.
    originals: Arc<Newest<PreviewRequest>>,
    finds: Arc<Newest<FindRequest>>,
    pub(super) answers: Receiver<WorkerAnswer>,
    pub(super) exports: Exports,
}

impl Workers {
    /// Starts the workers. They end with the process.
    pub(super) fn start(engine: &Arc<Engine>, syncing: Engine, zone: &TimeZone) -> std::io::Result<Self> {
        let (sender, answers) = channel();
        let workers = Self {
            lists: Newest::new(),
            live: Newest::new(),
            previews: Newest::new(),
            originals: Newest::new(),
            finds: Newest::new(),
            answers,
            exports: Exports::new(engine, zone, &sender),
        };
        for requests in [&workers.lists, &workers.live] {
            serve(requests, (engine, zone, &sender), |context, request: &ListRequest| {
                let loaded = load_list(context, request).map(WorkerAnswer::List);
                loaded.unwrap_or_else(|error| failed(request.number, &error))
            })?;
        }
        for requests in [&workers.previews, &workers.originals] {
            serve(requests, (engine, zone, &sender), |context, request: &PreviewRequest| {
                let loaded = load_preview(context, request).map(WorkerAnswer::Preview);
                loaded.unwrap_or_else(|error| failed(request.number, &error))
            })?;
        }
        serve(&workers.finds, (engine, zone, &sender), |context, request: &FindRequest| {
            let found = find_in_session(context, request).map(WorkerAnswer::Found);
            found.unwrap_or_else(|error| failed(request.number, &error))
        })?;
        let (choosing, watching) = (Arc::clone(engine), Arc::clone(engine));
        spawn(sender.clone(), move |sender| send_choices(&choosing, sender))?;
        spawn(sender.clone(), move |sender| watch_store(&watching, sender))?;
        spawn(sender, move |sender| sync_regularly(&syncing, sender))?;
        Ok(workers)
    }

    pub(super) fn load_list(&self, request: ListRequest) {
        let requests = if request.tab == TuiTab::Live { &self.live } else { &self.lists };
        requests.put(request);
    }

    pub(super) fn load_preview(&self, request: PreviewRequest) {
        let requests = if request.has_originals { &self.originals } else { &self.previews };
        requests.put(request);
    }

    pub(super) fn find_in_session(&self, request: FindRequest) {
        self.finds.put(request);
    }
}

fn failed(number: u64, error: &EngineError) -> WorkerAnswer {
    WorkerAnswer::Failed { number, message: error.to_string() }
}

/// Starts a thread that answers the requests put into `requests`.
fn serve<T: Send + 'static>(
    requests: &Arc<Newest<T>>,
    (engine, zone, sender): (&Arc<Engine>, &TimeZone, &Sender<WorkerAnswer>),
    answer: impl Fn(LoadContext<'_>, &T) -> WorkerAnswer + Send + 'static,
) -> std::io::Result<()> {
    let (requests, engine, zone) = (Arc::clone(requests), Arc::clone(engine), zone.clone());
    spawn(sender.clone(), move |sender| {
        loop {
            let request = requests.take();
            if sender.send(answer(LoadContext { engine: &engine, zone: &zone }, &request)).is_err() {
                return;
            }
        }
    })?;
    Ok(())
}

/// Starts a thread. A panic in it is reported, so that the interface does not wait forever.
pub(super) fn spawn(
    sender: Sender<WorkerAnswer>,
    work: impl FnOnce(&Sender<WorkerAnswer>) + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    let guarded = move || {
        if catch_unwind(AssertUnwindSafe(|| work(&sender))).is_err() {
            let _ = sender.send(WorkerAnswer::Crashed);
        }
    };
    std::thread::Builder::new().spawn(guarded)
}

fn send_choices(engine: &Engine, sender: &Sender<WorkerAnswer>) {
    // Without them, the filter menu offers less.
    if let Ok(choices) = load_choices(engine) {
        let _ = sender.send(WorkerAnswer::Choices(choices));
    }
}

/// Reports changes by this process and others: hooks, `watch`, a server.
fn watch_store(engine: &Engine, sender: &Sender<WorkerAnswer>) {
    let mut watcher = engine.server().change_watcher();
    // The first poll always reports a change.
    watcher.poll();
    loop {
        std::thread::sleep(WATCH_INTERVAL);
        if watcher.poll().is_some() && sender.send(WorkerAnswer::StoreChanged).is_err() {
            return;
        }
    }
}

/// Reads new transcript lines now and then. It may be killed at any point: the next sync reads what was not stored.
fn sync_regularly(engine: &Engine, sender: &Sender<WorkerAnswer>) {
    std::thread::sleep(FIRST_SYNC);
    loop {
        match engine.sync().run(&SyncRequest::default(), &mut |_| {}) {
            // With an error of the store, another process holds it and writes the same entries.
            Ok(_) | Err(EngineError::Store(_)) => {}
            // What was deleted must not come back.
            Err(EngineError::MemoryDeleted(_)) => {
                let _ = sender.send(WorkerAnswer::MemoryDeleted);
                return;
            }
            Err(error) => engine.journal().error("tui", &error),
        }
        std::thread::sleep(SYNC_INTERVAL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_newest_request_is_taken() {
        let requests = Newest::new();
        requests.put(1);
        requests.put(2);
        assert_eq!(requests.take(), 2);
        assert!(requests.lock().is_none());
    }
}
