//! Syncs continuously as transcripts grow, on every change or at intervals. Only the caller ends it.

mod fs_watcher;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::event::ModifyKind;
use notify::{Event, EventKind, RecursiveMode};
use rethread_ingest::source;

use crate::config::{ConfigReload, IntakeMode};
use crate::{EngineError, SyncReport, SyncRequest, SyncService, home};
use fs_watcher::FsWatcher;

/// Changes within this time are read together.
const SETTLE_TIME: Duration = Duration::from_millis(100);
/// A file that never stops growing is still read this often.
const MAX_SETTLE_TIME: Duration = Duration::from_millis(500);
/// Interval of full scans, which find changes that were not reported.
const FULL_SCAN_INTERVAL: Duration = Duration::from_mins(1);
/// The same for directories that cannot be watched.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How long a stop request or a new directory may go unnoticed.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(200);
/// Wait after a failed sync. Doubles with each further failure, up to the maximum.
const FIRST_RETRY_WAIT: Duration = Duration::from_secs(1);
const MAX_RETRY_WAIT: Duration = Duration::from_mins(1);

/// When to sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// On every change.
    Realtime,
    /// At this interval.
    Batch(Duration),
}

/// How to watch.
#[derive(Clone, Copy, Debug, Default)]
pub struct WatchRequest {
    /// When to sync. `None` uses the configuration.
    pub mode: Option<WatchMode>,
    /// Poll for changes every few seconds instead of using notifications.
    pub poll: bool,
}

/// Reported while watching.
#[derive(Clone, Copy, Debug)]
pub enum WatchEvent<'a> {
    /// A sync finished. It may have found nothing new.
    Synced(&'a SyncReport),
    /// A sync failed and will be retried after this time.
    Failed(&'a EngineError, Duration),
    /// A directory cannot be watched for this reason, so it is polled. Reported once per directory.
    Polling(&'a Path, &'a str),
    /// The settings were changed and are invalid for this reason; the last valid ones still apply.
    InvalidSettings(&'a str),
}

type WatchCallback<'a> = &'a mut dyn FnMut(WatchEvent<'_>);

impl SyncService<'_> {
    /// Syncs all transcripts, then new content until `stop` is set. Failed syncs are reported and retried, except for
    /// invalid settings. Only one process can watch at a time.
    pub fn watch(
        self,
        request: WatchRequest,
        stop: &AtomicBool,
        on_event: WatchCallback<'_>,
    ) -> Result<(), EngineError> {
        self.engine.config.ensure_usable()?;
        let _lock = self.lock_watcher()?;
        match request.mode.unwrap_or_else(|| self.configured_mode()) {
            WatchMode::Batch(interval) => self.sync_at_intervals(interval, stop, on_event),
            WatchMode::Realtime => self.sync_on_changes(request.poll, stop, on_event),
        }
        Ok(())
    }

    fn configured_mode(self) -> WatchMode {
        let intake = &self.engine.settings().intake;
        match intake.mode {
            IntakeMode::Batch => WatchMode::Batch(Duration::from_secs(intake.interval_minutes * 60)),
            IntakeMode::Realtime => WatchMode::Realtime,
        }
    }

    /// Takes the watch lock, which is released when the process ends.
    fn lock_watcher(self) -> Result<File, EngineError> {
        self.engine.ensure_home()?;
        let lock = home::try_lock_file(&self.engine.folder.join("watch.lock"))?;
        lock.ok_or_else(|| EngineError::WatchAlreadyRunning(self.engine.folder.clone()))
    }

    fn sync_at_intervals(self, interval: Duration, stop: &AtomicBool, on_event: WatchCallback<'_>) {
        let mut failures = 0;
        while !stop.load(Ordering::Relaxed) {
            let wait = self.sync_once(&SyncRequest::default(), &mut failures, on_event).map_or(interval, |again| {
                // With long intervals a failure need not delay the next sync further.
                again.min(interval)
            });
            sleep_unless_stopped(wait, stop);
        }
    }

    fn sync_on_changes(self, poll: bool, stop: &AtomicBool, on_event: WatchCallback<'_>) {
        let (sender, changes) = channel();
        let mut fs_watcher = FsWatcher::new(sender, poll);
        let (mut failures, mut looked_everywhere) = (0, Instant::now());
        // Watching starts before the first sync, so that nothing written in between is missed.
        let mut next_read = NextRead::Everything;
        let mut work_dirs = self.work_dirs();
        while !stop.load(Ordering::Relaxed) {
            if fs_watcher.watch_new_folders(&self.watched_folders(&work_dirs), on_event) {
                next_read = NextRead::Everything;
            }
            if let Some(request) = next_read.sync_request() {
                if next_read == NextRead::Everything {
                    looked_everywhere = Instant::now();
                }
                if let Some(wait) = self.sync_once(&request, &mut failures, on_event) {
                    sleep_unless_stopped(wait, stop);
                    next_read = NextRead::Everything;
                    continue;
                }
                work_dirs = self.work_dirs();
            }
            next_read = collect_changes(&changes, &mut fs_watcher);
            let interval = if fs_watcher.must_poll() { POLL_INTERVAL } else { FULL_SCAN_INTERVAL };
            if looked_everywhere.elapsed() > interval {
                next_read = NextRead::Everything;
            }
        }
    }

    /// Syncs and reports the result. Returns how long to wait before a retry, if it failed.
    fn sync_once(self, request: &SyncRequest, failures: &mut u32, on_event: WatchCallback<'_>) -> Option<Duration> {
        if let ConfigReload::Rejected(reason) = self.engine.reload_config() {
            on_event(WatchEvent::InvalidSettings(&reason));
        }
        match self.run(request, &mut |_| {}) {
            Ok(report) => {
                *failures = 0;
                on_event(WatchEvent::Synced(&report));
                None
            }
            // A file was deleted between the notification and the sync: scan everything again.
            Err(EngineError::PathNotFound(_)) => Some(Duration::ZERO),
            Err(error) => {
                let wait = retry_wait(*failures);
                *failures += 1;
                on_event(WatchEvent::Failed(&error, wait));
                Some(wait)
            }
        }
    }

    /// The directories in which known sessions worked.
    fn work_dirs(self) -> Vec<PathBuf> {
        let store = self.engine.reader().ok().flatten();
        store.and_then(|store| store.work_dirs().ok()).unwrap_or_default()
    }

    /// Where agents store transcripts, whether or not the directories exist. A file, such as a database, is watched
    /// through its directory.
    fn watched_folders(self, work_dirs: &[PathBuf]) -> BTreeMap<PathBuf, RecursiveMode> {
        let source_config = self.engine.source_config_with(work_dirs);
        let mut folders = BTreeMap::new();
        for root in self.agents_to_read(None).into_iter().flat_map(|agent| source::roots(agent, &source_config)) {
            if !root.path.is_file() {
                folders.insert(root.path, RecursiveMode::Recursive);
            } else if let Some(folder) = root.path.parent() {
                folders.entry(folder.to_owned()).or_insert(RecursiveMode::NonRecursive);
            }
        }
        folders
    }
}

#[derive(Debug, PartialEq, Eq)]
enum NextRead {
    Nothing,
    Paths(Vec<PathBuf>),
    Everything,
}

impl NextRead {
    fn sync_request(&self) -> Option<SyncRequest> {
        match self {
            NextRead::Nothing => None,
            NextRead::Paths(paths) => Some(SyncRequest { paths: paths.clone(), ..SyncRequest::default() }),
            NextRead::Everything => Some(SyncRequest::default()),
        }
    }
}

fn retry_wait(failures: u32) -> Duration {
    (FIRST_RETRY_WAIT * 2_u32.saturating_pow(failures.min(10))).min(MAX_RETRY_WAIT)
}

fn sleep_unless_stopped(span: Duration, stop: &AtomicBool) {
    let began = Instant::now();
    while began.elapsed() < span && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(STOP_CHECK_INTERVAL.min(span.saturating_sub(began.elapsed())));
    }
}

/// The transcripts that changed, once changes have settled. Returns after a short time if nothing happens.
fn collect_changes(changes: &Receiver<notify::Result<Event>>, fs_watcher: &mut FsWatcher) -> NextRead {
    let (mut changed, mut everything) = (BTreeSet::new(), false);
    let began = Instant::now();
    let mut first = None;
    loop {
        // Irrelevant changes must not extend the wait.
        let wait = if first.is_some() { SETTLE_TIME } else { STOP_CHECK_INTERVAL.saturating_sub(began.elapsed()) };
        if wait.is_zero() {
            break;
        }
        match changes.recv_timeout(wait) {
            Ok(Ok(event)) => {
                everything |= event.need_rescan();
                if event.kind.is_remove() || is_rename(&event) {
                    event.paths.iter().for_each(|path| fs_watcher.drop_watch(path));
                }
                changed.extend(paths_to_read(event));
            }
            Ok(Err(error)) => {
                fs_watcher.stop_notifications(&error);
                everything = true;
            }
            Err(RecvTimeoutError::Timeout) => break,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(wait);
                break;
            }
        }
        let has_work = everything || !changed.is_empty();
        if has_work && first.get_or_insert_with(Instant::now).elapsed() > MAX_SETTLE_TIME {
            break;
        }
    }
    changed.retain(|path: &PathBuf| path.exists());
    match (everything, changed.is_empty()) {
        (true, _) => NextRead::Everything,
        (false, true) => NextRead::Nothing,
        (false, false) => NextRead::Paths(changed.into_iter().collect()),
    }
}

/// The paths to read after a change: transcripts, and new directories, because files written to them before they were
/// watched are not reported.
fn paths_to_read(event: Event) -> impl Iterator<Item = PathBuf> {
    let is_news = !event.kind.is_access() && !event.kind.is_remove();
    let is_made =
        event.kind.is_create() || matches!(event.kind, notify::EventKind::Modify(notify::event::ModifyKind::Name(_)));
    event.paths.into_iter().filter(move |_| is_news).filter_map(move |path| {
        let transcript = source::changed_transcript(&path).filter(|path| path.is_file());
        transcript.or((is_made && path.is_dir()).then_some(path))
    })
}

fn is_rename(event: &Event) -> bool {
    matches!(event.kind, EventKind::Modify(ModifyKind::Name(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_irrelevant_changes_do_not_extend_the_wait() {
        let (sender, changes) = channel();
        let mut fs_watcher = FsWatcher::new(channel().0, true);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let change = EventKind::Modify(ModifyKind::Any);
                    let _ = sender.send(Ok(Event::new(change).add_path("/nowhere/notes.txt".into())));
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            assert_eq!(collect_changes(&changes, &mut fs_watcher), NextRead::Nothing);
            is_over.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn the_wait_doubles_after_each_failure_up_to_a_limit() {
        let waits: Vec<u64> = [0, 1, 2, 5, 6, 7, 1000].map(|failures| retry_wait(failures).as_secs()).to_vec();
        assert_eq!(waits, [1, 2, 4, 32, 60, 60, 60]);
    }
}
