//! Keeps reading as transcripts grow, at every change or at intervals. Nothing but the caller ends it.

mod eyes;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
use notify::{Event, EventKind};
use rethread_ingest::source;
use rethread_model::Agent;

use crate::{Engine, EngineError, SyncReport, SyncRequest, home};
use eyes::Eyes;

/// Changes that come together are read together.
const SETTLE: Duration = Duration::from_millis(100);
/// A file that never stops growing is read so often all the same.
const LONGEST_SETTLE: Duration = Duration::from_millis(500);
/// Changes the system did not report are found this late.
const LOOK_EVERYWHERE: Duration = Duration::from_mins(1);
/// The same where the system cannot report any.
const POLL: Duration = Duration::from_secs(2);
/// How long a stop, or a directory that was made, may go unnoticed.
const STOP_CHECK: Duration = Duration::from_millis(200);
/// How long to wait after a reading that failed; twice as long after each further one, up to the longest.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// When to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// At every change.
    Realtime,
    /// Every so often.
    Batch(Duration),
}

/// How to watch.
#[derive(Clone, Copy, Debug, Default)]
pub struct WatchRequest {
    /// When to read; the configured way if not given.
    pub mode: Option<WatchMode>,
    /// Look for changes every few seconds instead of letting the system report them.
    pub poll: bool,
}

/// What happens while watching.
#[derive(Clone, Copy, Debug)]
pub enum WatchNews<'a> {
    /// Something was read, or looked for.
    Read(&'a SyncReport),
    /// A reading failed, and will be tried again after this long.
    Failed(&'a EngineError, Duration),
    /// The system cannot report changes in a directory, so it is looked through every few seconds. Told once for each.
    Polling(&'a Path, &'a str),
}

/// Who hears what happens.
type Tell<'a> = &'a mut dyn FnMut(WatchNews<'_>);

impl Engine {
    /// Reads all transcripts, then what is new in them until `stop` is set. Whatever fails is told and tried again, unless
    /// it fails because of the settings. One process watches at a time.
    pub fn watch(&self, request: WatchRequest, stop: &AtomicBool, tell: Tell<'_>) -> Result<(), EngineError> {
        self.config.must_be_usable()?;
        let _lock = self.only_watcher()?;
        match request.mode.unwrap_or_else(|| self.configured_mode()) {
            WatchMode::Batch(interval) => self.read_at_intervals(interval, stop, tell),
            WatchMode::Realtime => self.read_at_changes(request.poll, stop, tell),
        }
        Ok(())
    }

    fn configured_mode(&self) -> WatchMode {
        let is_batch = self.config.get("intake.mode").is_ok_and(|setting| setting.value.to_string() == "batch");
        let minutes = self.config.number("intake.interval_minutes").max(1);
        if is_batch { WatchMode::Batch(Duration::from_secs(minutes * 60)) } else { WatchMode::Realtime }
    }

    /// The lock of whoever watches; it goes with the process that holds it.
    fn only_watcher(&self) -> Result<File, EngineError> {
        home::prepare(&self.folder)?;
        let lock = home::lock(&self.folder.join("watch.lock"))?;
        lock.ok_or_else(|| EngineError::AlreadyWatched(self.folder.clone()))
    }

    fn read_at_intervals(&self, interval: Duration, stop: &AtomicBool, tell: Tell<'_>) {
        let mut failures = 0;
        while !stop.load(Ordering::Relaxed) {
            let wait = self.read_now(&SyncRequest::default(), &mut failures, tell).map_or(interval, |again| {
                // Who reads seldom anyway need not wait longer because of a failure.
                again.min(interval)
            });
            rest(wait, stop);
        }
    }

    fn read_at_changes(&self, poll: bool, stop: &AtomicBool, tell: Tell<'_>) {
        let (sender, changes) = channel();
        let mut eyes = Eyes::new(sender, poll);
        let (mut failures, mut looked_everywhere) = (0, Instant::now());
        // Watching begins before the first reading, so that nothing written in between is missed.
        let mut wanted = Wanted::Everything;
        while !stop.load(Ordering::Relaxed) {
            if eyes.look_at(&self.roots(), tell) {
                wanted = Wanted::Everything;
            }
            if let Some(request) = wanted.request() {
                if wanted == Wanted::Everything {
                    looked_everywhere = Instant::now();
                }
                if let Some(wait) = self.read_now(&request, &mut failures, tell) {
                    rest(wait, stop);
                    wanted = Wanted::Everything;
                    continue;
                }
            }
            wanted = collect(&changes, &mut eyes);
            let most = if eyes.must_poll() { POLL } else { LOOK_EVERYWHERE };
            if looked_everywhere.elapsed() > most {
                wanted = Wanted::Everything;
            }
        }
    }

    /// Reads and tells; how long to wait before it is tried again, if it failed.
    fn read_now(&self, request: &SyncRequest, failures: &mut u32, tell: Tell<'_>) -> Option<Duration> {
        match self.sync(request, &mut |_| {}) {
            Ok(report) => {
                *failures = 0;
                tell(WatchNews::Read(&report));
                None
            }
            // A file that came and went between the change and the reading: everything is looked at again.
            Err(EngineError::NothingThere(_)) => Some(Duration::ZERO),
            Err(error) => {
                let wait = wait_after(*failures);
                *failures += 1;
                tell(WatchNews::Failed(&error, wait));
                Some(wait)
            }
        }
    }

    /// Where agents keep transcripts, or would.
    fn roots(&self) -> Vec<PathBuf> {
        let surroundings = self.surroundings();
        let roots = Agent::ALL.iter().flat_map(|agent| source::roots(*agent, &surroundings));
        roots.map(|root| root.path).collect()
    }
}

/// What to read next.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    Nothing,
    Paths(Vec<PathBuf>),
    Everything,
}

impl Wanted {
    fn request(&self) -> Option<SyncRequest> {
        match self {
            Wanted::Nothing => None,
            Wanted::Paths(paths) => Some(SyncRequest { paths: paths.clone(), ..SyncRequest::default() }),
            Wanted::Everything => Some(SyncRequest::default()),
        }
    }
}

fn wait_after(failures: u32) -> Duration {
    (FIRST_WAIT * 2_u32.saturating_pow(failures.min(10))).min(LONGEST_WAIT)
}

fn rest(span: Duration, stop: &AtomicBool) {
    let began = Instant::now();
    while began.elapsed() < span && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(STOP_CHECK.min(span.saturating_sub(began.elapsed())));
    }
}

/// The transcripts that changed, once changes have settled; nothing when nothing happens for a while.
fn collect(changes: &Receiver<notify::Result<Event>>, eyes: &mut Eyes) -> Wanted {
    let (mut changed, mut everything) = (BTreeSet::new(), false);
    let began = Instant::now();
    let mut first = None;
    loop {
        // Changes that ask for nothing do not put off the end.
        let wait = if first.is_some() { SETTLE } else { STOP_CHECK.saturating_sub(began.elapsed()) };
        if wait.is_zero() {
            break;
        }
        match changes.recv_timeout(wait) {
            Ok(Ok(event)) => {
                everything |= event.need_rescan();
                if event.kind.is_remove() || is_renaming(&event) {
                    event.paths.iter().for_each(|path| eyes.lose(path));
                }
                changed.extend(to_read(event));
            }
            Ok(Err(error)) => {
                eyes.give_up(&error);
                everything = true;
            }
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(wait);
                break;
            }
        }
        let is_wanted = everything || !changed.is_empty();
        if is_wanted && first.get_or_insert_with(Instant::now).elapsed() > LONGEST_SETTLE {
            break;
        }
    }
    changed.retain(|path: &PathBuf| path.exists());
    match (everything, changed.is_empty()) {
        (true, _) => Wanted::Everything,
        (false, true) => Wanted::Nothing,
        (false, false) => Wanted::Paths(changed.into_iter().collect()),
    }
}

/// What a change asks to be read: transcripts, and directories that were made, because what was written into them
/// before they were watched is reported by nobody.
fn to_read(event: Event) -> impl Iterator<Item = PathBuf> {
    let is_news = !event.kind.is_access() && !event.kind.is_remove();
    let is_made =
        event.kind.is_create() || matches!(event.kind, notify::EventKind::Modify(notify::event::ModifyKind::Name(_)));
    event.paths.into_iter().filter(move |path| {
        let is_transcript = path.extension().is_some_and(|extension| extension == "jsonl") && path.is_file();
        is_news && (is_transcript || (is_made && path.is_dir()))
    })
}

fn is_renaming(event: &Event) -> bool {
    matches!(event.kind, EventKind::Modify(ModifyKind::Name(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_that_never_cease_and_ask_for_nothing_do_not_put_off_the_end() {
        let (sender, changes) = channel();
        let mut eyes = Eyes::new(channel().0, true);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let change = EventKind::Modify(ModifyKind::Any);
                    let _ = sender.send(Ok(Event::new(change).add_path("/nowhere/notes.txt".into())));
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            assert_eq!(collect(&changes, &mut eyes), Wanted::Nothing);
            is_over.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn failures_are_waited_for_longer_and_longer_but_not_for_ever() {
        let waits: Vec<u64> = [0, 1, 2, 5, 6, 7, 1000].map(|failures| wait_after(failures).as_secs()).to_vec();
        assert_eq!(waits, [1, 2, 4, 32, 60, 60, 60]);
    }
}
