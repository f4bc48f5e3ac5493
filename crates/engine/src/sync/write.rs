//! Runs a sync plan: workers read ahead, one writer stores in the order of the plan.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rethread_ingest::{Redactor, TranscriptFilter};
use rethread_model::Warning;
use rethread_store::Store;

use super::plan::{SyncPlan, TranscriptJob, is_torn};
use super::read::{TranscriptChunk, read_transcript};
use super::session_writer::{SessionWriter, SyncProgress};
use super::{ReadProgress, SyncTotals};
use crate::naming::rename;
use crate::{Engine, EngineError};

/// How many files the workers may be ahead of the writer. Limits memory.
const FILES_AHEAD: usize = 24;
/// Chunks of one file that may wait for the writer.
const CHUNKS_WAITING: usize = 2;
/// A transaction is committed after this time, so that other processes do not wait long.
const MAX_TRANSACTION_TIME: Duration = Duration::from_millis(80);
/// Pause after such a transaction. SQLite's lock has no queue: without the pause a waiting process rarely gets it.
const YIELD_TIME: Duration = Duration::from_millis(2);

/// How long a transaction waits for the next chunk before it is committed.
const MAX_IDLE_TIME: Duration = Duration::from_millis(20);

/// Sent by a worker: a chunk, or why the file could not be read.
type ChunkResult = Result<TranscriptChunk, std::io::Error>;

/// Reads and stores all jobs of a plan. Returns true if another pass is needed, because a file was rewritten or another
/// process was faster.
pub(crate) fn run_plan(
    engine: &Engine,
    store: &mut Store,
    plan: &SyncPlan,
    tally: &mut SyncTotals,
    progress: &mut dyn FnMut(ReadProgress),
) -> Result<bool, EngineError> {
    let extracts_facts = engine.settings().facts.enabled;
    let filter = engine.settings().filter.transcript_filter();
    let redactor = Redactor::shared();
    let workers = thread::available_parallelism().map_or(2, usize::from).min(plan.jobs.len()).max(1);
    let gate = ReadAheadGate::default();
    let next = AtomicUsize::new(0);
    let (senders, receivers): (Vec<_>, Vec<_>) =
        plan.jobs.iter().map(|_| sync_channel::<ChunkResult>(CHUNKS_WAITING)).unzip();
    let senders: Vec<Mutex<Option<SyncSender<ChunkResult>>>> =
        senders.into_iter().map(|sender| Mutex::new(Some(sender))).collect();
    let (jobs, senders) = (&plan.jobs, &senders);
    thread::scope(|scope| {
        let _released = ReleaseOnDrop(&gate);
        for _ in 0..workers {
            scope.spawn(|| read_jobs(jobs, senders, &next, &gate, &filter, redactor));
        }
        let mut sync_progress = SyncProgress::new(tally, engine.now(), extracts_facts);
        let written = write_all(store, ChunkFeed::new(jobs, receivers, &gate), &mut sync_progress, progress);
        written.map(|()| sync_progress.needs_another_pass)
    })
}

/// Stores everything the workers send. Holds no lock while it waits for them.
fn write_all(
    store: &mut Store,
    mut feed: ChunkFeed<'_>,
    sync_progress: &mut SyncProgress<'_>,
    progress: &mut dyn FnMut(ReadProgress),
) -> Result<(), EngineError> {
    let mut done = feed.initial_progress();
    let mut writer: Option<SessionWriter<'_>> = None;
    let mut next = feed.next(FeedWait::Long);
    while next.is_some() {
        let mut batch = store.begin_unflushed()?;
        let began = Instant::now();
        if let Some(writer) = writer.as_mut() {
            writer.check_unchanged(&batch, sync_progress)?;
        }
        while let Some(step) = next.take() {
            match step {
                WriterStep::Begin(job) => writer = Some(SessionWriter::new(job)),
                WriterStep::Chunk(chunk) => {
                    done.bytes += chunk.bytes;
                    if let Some(writer) = writer.as_mut() {
                        writer.write_chunk(&mut batch, chunk, sync_progress)?;
                    }
                }
                WriterStep::Failed(job, error) if is_torn(&error, job.stamp, sync_progress.now) => {}
                WriterStep::Failed(job, error) => {
                    let message = format!("cannot be read ({error}); skipped");
                    let warning = Warning { file: job.path.display().to_string(), line: None, message };
                    sync_progress.totals.agent_report(job.agent).warnings.push(warning);
                }
                WriterStep::End => done.files += 1,
            }
            progress(done);
            if began.elapsed() < MAX_TRANSACTION_TIME {
                next = feed.next(FeedWait::Short);
            }
        }
        batch.commit()?;
        if began.elapsed() >= MAX_TRANSACTION_TIME {
            thread::sleep(YIELD_TIME);
        }
        next = feed.next(FeedWait::Long);
    }
    deliver_titles(store)
}

/// Gives sessions the titles that other files hold for them, whichever was read first.
pub(super) fn deliver_titles(store: &mut Store) -> Result<(), EngineError> {
    if !store.has_undelivered_titles()? {
        return Ok(());
    }
    let mut batch = store.begin()?;
    for (leaf, number, title) in batch.undelivered_titles()? {
        rename(&mut batch, number, |_, assembler| {
            assembler.set_title_from_other_file(&title);
            Ok(())
        })?;
        batch.mark_title_delivered(leaf)?;
    }
    Ok(batch.commit()?)
}

/// The next thing for the writer to do.
enum WriterStep<'a> {
    Begin(&'a TranscriptJob),
    Chunk(TranscriptChunk),
    Failed(&'a TranscriptJob, std::io::Error),
    End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FeedWait {
    /// Until the next step is available.
    Long,
    /// Only as long as a transaction may be idle.
    Short,
}

/// The chunks of all workers, in the order of the plan.
struct ChunkFeed<'a> {
    jobs: &'a [TranscriptJob],
    receivers: std::vec::IntoIter<Receiver<ChunkResult>>,
    current: Option<Receiver<ChunkResult>>,
    started: usize,
    gate: &'a ReadAheadGate,
}

impl<'a> ChunkFeed<'a> {
    fn new(jobs: &'a [TranscriptJob], receivers: Vec<Receiver<ChunkResult>>, gate: &'a ReadAheadGate) -> Self {
        Self { jobs, receivers: receivers.into_iter(), current: None, started: 0, gate }
    }

    fn initial_progress(&self) -> ReadProgress {
        let of_bytes = self.jobs.iter().map(TranscriptJob::bytes_to_read).sum();
        ReadProgress { bytes: 0, total_bytes: of_bytes, files: 0, total_files: self.jobs.len() as u64 }
    }

    /// The next step. `None` at the end, or if nothing came during a short wait.
    fn next(&mut self, wait: FeedWait) -> Option<WriterStep<'a>> {
        let Some(receiver) = &self.current else {
            self.current = Some(self.receivers.next()?);
            self.started += 1;
            return Some(WriterStep::Begin(&self.jobs[self.started - 1]));
        };
        let received = match wait {
            FeedWait::Long => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            FeedWait::Short => receiver.recv_timeout(MAX_IDLE_TIME),
        };
        match received {
            Ok(Ok(chunk)) => Some(WriterStep::Chunk(chunk)),
            Ok(Err(error)) => Some(WriterStep::Failed(&self.jobs[self.started - 1], error)),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                self.current = None;
                self.gate.advance_to(self.started);
                Some(WriterStep::End)
            }
        }
    }
}

/// One worker: takes files in order and reads them.
fn read_jobs(
    jobs: &[TranscriptJob],
    senders: &[Mutex<Option<SyncSender<ChunkResult>>>],
    next: &AtomicUsize,
    gate: &ReadAheadGate,
    filter: &TranscriptFilter,
    redactor: &Redactor,
) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let Some(job) = jobs.get(number) else { return };
        if !gate.wait_for(number) {
            return;
        }
        let sender = senders[number].lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(sender) = sender else { continue };
        let reading = || read_transcript(job, filter, redactor, &mut |chunk| sender.send(Ok(chunk)).is_ok());
        // A panic caused by one file must not stop the others from being read.
        let outcome = catch_unwind(AssertUnwindSafe(reading));
        let outcome = outcome.unwrap_or_else(|_| Err(std::io::Error::other("internal error")));
        if let Err(error) = outcome {
            let _ = sender.send(Err(error));
        }
    }
}

/// Keeps workers from running too far ahead of the writer.
#[derive(Default)]
struct ReadAheadGate {
    written: Mutex<usize>,
    advanced: Condvar,
}

impl ReadAheadGate {
    /// Waits until the writer comes near a file. False if it has stopped.
    fn wait_for(&self, number: usize) -> bool {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        while number >= written.saturating_add(FILES_AHEAD) {
            written = self.advanced.wait(written).unwrap_or_else(PoisonError::into_inner);
        }
        *written != usize::MAX
    }

    fn advance_to(&self, number: usize) {
        *self.written.lock().unwrap_or_else(PoisonError::into_inner) = number;
        self.advanced.notify_all();
    }
}

/// Releases all workers when the writer stops. It may panic, and a scope waits for its threads before it passes that on:
/// a worker that nothing wakes would keep the process forever.
struct ReleaseOnDrop<'a>(&'a ReadAheadGate);

impl Drop for ReleaseOnDrop<'_> {
    fn drop(&mut self) {
        self.0.advance_to(usize::MAX);
    }
}
