//! Carries out a plan: workers read ahead, one writer stores in the plan's order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rethread_ingest::{Filter, Redactor, Story};
use rethread_model::Warning;
use rethread_store::{Batch, Store};

use super::plan::{Job, Plan};
use super::read::{Chunk, read};
use super::tell::{Ledger, Telling};
use super::{Progress, Tally};
use crate::{Engine, EngineError};

/// Files the workers may be ahead of the writer; bounds memory.
const FILES_AHEAD: usize = 24;
/// Chunks of one file that may wait for the writer.
const CHUNKS_WAITING: usize = 2;
/// A transaction is committed after this long, so that other processes need not wait.
const LONGEST_TRANSACTION: Duration = Duration::from_millis(400);

/// How long a transaction waits for the next chunk before it is committed.
const LONGEST_IDLE: Duration = Duration::from_millis(20);

/// What a worker sends: a chunk, or why the file could not be read.
type Read = Result<Chunk, std::io::Error>;

/// Reads and stores all jobs of a plan. True when another pass is needed: a file was rewritten or another process
/// was faster.
pub(crate) fn carry_out(
    engine: &Engine,
    store: &mut Store,
    plan: &Plan,
    tally: &mut Tally,
    progress: &mut dyn FnMut(Progress),
) -> Result<bool, EngineError> {
    let learned_at = engine.config.flag("facts.enabled").then(|| engine.now());
    let filter = engine.config.filter();
    let redactor = Redactor::shared();
    let workers = thread::available_parallelism().map_or(2, usize::from).min(plan.jobs.len()).max(1);
    let gate = Gate::default();
    let next = AtomicUsize::new(0);
    let (senders, receivers): (Vec<_>, Vec<_>) = plan.jobs.iter().map(|_| sync_channel::<Read>(CHUNKS_WAITING)).unzip();
    let senders: Vec<Mutex<Option<SyncSender<Read>>>> =
        senders.into_iter().map(|sender| Mutex::new(Some(sender))).collect();
    let (jobs, senders) = (&plan.jobs, &senders);
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| work(jobs, senders, &next, &gate, &filter, redactor));
        }
        let mut ledger = Ledger::new(tally, learned_at);
        let written = write_all(store, Feed::new(jobs, receivers, &gate), &mut ledger, progress);
        gate.open();
        written.map(|()| ledger.again)
    })
}

/// Stores everything the workers send. Nothing is locked while it waits for them.
fn write_all(
    store: &mut Store,
    mut feed: Feed<'_>,
    ledger: &mut Ledger<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), EngineError> {
    let mut done = feed.amount();
    let mut telling: Option<Telling<'_>> = None;
    let mut next = feed.next(Wait::Long);
    while next.is_some() {
        let mut batch = store.begin()?;
        let began = Instant::now();
        if let Some(telling) = telling.as_mut() {
            telling.check(&batch, ledger)?;
        }
        while let Some(step) = next.take() {
            match step {
                Step::Begin(job) => telling = Some(Telling::new(job)),
                Step::Chunk(chunk) => {
                    done.bytes += chunk.bytes;
                    if let Some(telling) = telling.as_mut() {
                        telling.take(&mut batch, chunk, ledger)?;
                    }
                }
                Step::Failed(job, error) => {
                    let message = format!("cannot be read ({error}); skipped");
                    let warning = Warning { file: job.path.display().to_string(), line: None, message };
                    ledger.tally.of(job.agent).warnings.push(warning);
                }
                Step::End => done.files += 1,
            }
            progress(done);
            if began.elapsed() < LONGEST_TRANSACTION {
                next = feed.next(Wait::Short);
            }
        }
        batch.commit()?;
        next = feed.next(Wait::Long);
    }
    if ledger.has_titles {
        let mut batch = store.begin()?;
        deliver_titles(&mut batch)?;
        batch.commit()?;
    }
    Ok(())
}

/// Names found in one file for a session in another.
fn deliver_titles(batch: &mut Batch<'_>) -> Result<(), EngineError> {
    for (number, title) in batch.titles_to_deliver()? {
        let Some((session, Some(memory))) = batch.stored_session(number)? else { continue };
        let Ok(mut story) = Story::resume(session.agent, &session.external_id, &memory) else { continue };
        story.named_elsewhere(&title);
        let name = story.name().map(str::to_owned);
        let memory = story.save().map_err(EngineError::Memory)?;
        batch.rename_session(number, name.as_deref(), &memory)?;
    }
    Ok(())
}

/// What the writer does next.
enum Step<'a> {
    Begin(&'a Job),
    Chunk(Chunk),
    Failed(&'a Job, std::io::Error),
    End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// Until something comes.
    Long,
    /// Only as long as a transaction may idle.
    Short,
}

/// What the workers send, in the order of the plan.
struct Feed<'a> {
    jobs: &'a [Job],
    receivers: std::vec::IntoIter<Receiver<Read>>,
    current: Option<Receiver<Read>>,
    begun: usize,
    gate: &'a Gate,
}

impl<'a> Feed<'a> {
    fn new(jobs: &'a [Job], receivers: Vec<Receiver<Read>>, gate: &'a Gate) -> Self {
        Self { jobs, receivers: receivers.into_iter(), current: None, begun: 0, gate }
    }

    fn amount(&self) -> Progress {
        let of_bytes = self.jobs.iter().map(Job::bytes_to_read).sum();
        Progress { bytes: 0, of_bytes, files: 0, of_files: self.jobs.len() as u64 }
    }

    /// The next step; nothing at the end, or when a short wait was in vain.
    fn next(&mut self, wait: Wait) -> Option<Step<'a>> {
        let Some(receiver) = &self.current else {
            self.current = Some(self.receivers.next()?);
            self.begun += 1;
            return Some(Step::Begin(&self.jobs[self.begun - 1]));
        };
        let received = match wait {
            Wait::Long => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Wait::Short => receiver.recv_timeout(LONGEST_IDLE),
        };
        match received {
            Ok(Ok(chunk)) => Some(Step::Chunk(chunk)),
            Ok(Err(error)) => Some(Step::Failed(&self.jobs[self.begun - 1], error)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.current = None;
                self.gate.advance_to(self.begun);
                Some(Step::End)
            }
        }
    }
}

/// One worker: takes files in order and reads them.
fn work(
    jobs: &[Job],
    senders: &[Mutex<Option<SyncSender<Read>>>],
    next: &AtomicUsize,
    gate: &Gate,
    filter: &Filter,
    redactor: &Redactor,
) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = jobs.get(number) else { return };
        gate.wait_for(number);
        let sender = senders[number].lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(sender) = sender else { continue };
        let reading = || read(job, filter, redactor, &mut |chunk| sender.send(Ok(chunk)).is_ok());
        // One file that trips over a mistake of ours must not keep all the others from being read.
        let outcome = catch_unwind(AssertUnwindSafe(reading));
        let outcome = outcome.unwrap_or_else(|_| Err(std::io::Error::other("a mistake in rethread itself")));
        if let Err(error) = outcome {
            let _ = sender.send(Err(error));
        }
    }
}

/// Keeps workers from running too far ahead of the writer.
#[derive(Default)]
struct Gate {
    written: Mutex<usize>,
    moved: Condvar,
}

impl Gate {
    fn wait_for(&self, number: usize) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        while number >= written.saturating_add(FILES_AHEAD) {
            written = self.moved.wait(written).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn advance_to(&self, number: usize) {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = number;
        self.moved.notify_all();
    }

    /// Lets everybody pass, after the writer has stopped.
    fn open(&self) {
        self.advance_to(usize::MAX);
    }
}
