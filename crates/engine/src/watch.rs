//! Keeps reading as transcripts grow, at every change or at intervals.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{Event, RecursiveMode, Watcher};
use rethread_ingest::source;
use rethread_model::Agent;

use crate::{Engine, EngineError, SyncReport, SyncRequest};

/// Changes that come together are read together.
const SETTLE: Duration = Duration::from_millis(150);
/// Directories made after watching began, and changes the system did not report, are found this late.
const LOOK_EVERYWHERE: Duration = Duration::from_mins(1);
/// How long a stop may go unnoticed.
const STOP_CHECK: Duration = Duration::from_millis(200);

/// When to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchMode {
    /// At every change.
    Realtime,
    /// Every so often.
    Batch(Duration),
}

/// How to watch.
#[derive(Clone, Copy, Debug)]
pub struct WatchRequest {
    /// When to read; the configured way if not given.
    pub mode: Option<WatchMode>,
}

impl Engine {
    /// Reads all transcripts, then what is new in them until `stop` is set. Each reading is reported.
    pub fn watch(
        &self,
        request: WatchRequest,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&SyncReport),
    ) -> Result<(), EngineError> {
        match request.mode.unwrap_or_else(|| self.configured_mode()) {
            WatchMode::Batch(interval) => self.read_at_intervals(interval, stop, report),
            WatchMode::Realtime => self.read_at_changes(stop, report),
        }
    }

    fn configured_mode(&self) -> WatchMode {
        let is_batch = self.config.get("intake.mode").is_ok_and(|setting| setting.value.to_string() == "batch");
        let minutes = self.config.number("intake.interval_minutes").max(1);
        if is_batch { WatchMode::Batch(Duration::from_secs(minutes * 60)) } else { WatchMode::Realtime }
    }

    fn read_at_intervals(
        &self,
        interval: Duration,
        stop: &AtomicBool,
        report: &mut dyn FnMut(&SyncReport),
    ) -> Result<(), EngineError> {
        while !stop.load(Ordering::Relaxed) {
            report(&self.sync(&SyncRequest::default(), &mut |_| {})?);
            let began = Instant::now();
            while began.elapsed() < interval && !stop.load(Ordering::Relaxed) {
                std::thread::sleep(STOP_CHECK.min(interval));
            }
        }
        Ok(())
    }

    fn read_at_changes(&self, stop: &AtomicBool, report: &mut dyn FnMut(&SyncReport)) -> Result<(), EngineError> {
        let (sender, changes) = channel();
        let mut watcher = notify::recommended_watcher(move |event| {
            let _ = sender.send(event);
        })
        .map_err(EngineError::Watch)?;
        // Watching begins before the first reading, so that nothing written in between is missed.
        for folder in self.watched_folders() {
            watcher.watch(&folder, RecursiveMode::Recursive).map_err(EngineError::Watch)?;
        }
        report(&self.sync(&SyncRequest::default(), &mut |_| {})?);
        let mut looked_everywhere = Instant::now();
        while !stop.load(Ordering::Relaxed) {
            let changed = collect(&changes);
            if looked_everywhere.elapsed() > LOOK_EVERYWHERE {
                looked_everywhere = Instant::now();
                report(&self.sync(&SyncRequest::default(), &mut |_| {})?);
            } else if !changed.is_empty() {
                let request = SyncRequest { paths: changed, ..SyncRequest::default() };
                report(&self.sync(&request, &mut |_| {})?);
            }
        }
        Ok(())
    }

    fn watched_folders(&self) -> Vec<PathBuf> {
        let surroundings = self.surroundings();
        let roots = Agent::ALL.iter().flat_map(|agent| source::roots(*agent, &surroundings));
        roots.map(|root| root.path).filter(|path| path.is_dir()).collect()
    }
}

/// The transcripts that changed, once changes have settled; none when nothing happens for a while.
fn collect(changes: &Receiver<notify::Result<Event>>) -> Vec<PathBuf> {
    let mut changed = BTreeSet::new();
    let mut wait = STOP_CHECK;
    let began = Instant::now();
    loop {
        match changes.recv_timeout(wait) {
            Ok(Ok(event)) if !event.kind.is_access() && !event.kind.is_remove() => {
                let is_transcript = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
                changed.extend(event.paths.into_iter().filter(|path| is_transcript(path) && path.is_file()));
                wait = SETTLE;
            }
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => return changed.into_iter().collect(),
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(STOP_CHECK);
                return changed.into_iter().collect();
            }
        }
        // A file that never stops growing is read now and then all the same.
        if began.elapsed() > STOP_CHECK + 4 * SETTLE {
            return changed.into_iter().collect();
        }
    }
}
