//! `watch`: keeps reading until it is told to stop, one line for each reading that brought something.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rethread_engine::{EngineError, SyncReport, WatchMode, WatchNews, WatchRequest};

use super::{Context, Exit, sync};
use crate::cli::Watch;
use crate::failure::Failure;
use crate::render;

/// What fails is tried again anyway, and nobody who wants to end it waits longer for a database in use.
const PATIENCE: Duration = Duration::from_secs(2);
/// What a shell adds to the number of the signal that ended a process.
const BY_SIGNAL: i32 = 128;

/// Reads at every change, or at intervals, until Ctrl-C.
pub(crate) fn run(context: &Context, request: &Watch) -> Result<Exit, Failure> {
    let engine = context.engine()?.waiting_at_most(PATIENCE);
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signal_hook::consts::TERM_SIGNALS {
        // Whoever asks twice does not want to wait for the end of a reading.
        signal_hook::flag::register_conditional_shutdown(*signal, BY_SIGNAL + *signal, Arc::clone(&stop))?;
        signal_hook::flag::register(*signal, Arc::clone(&stop))?;
    }
    context.printer.note_line("watching; Ctrl-C ends it");
    let mut broken = None;
    let request = WatchRequest { mode: request.every.map(WatchMode::Batch), poll: request.poll };
    engine.watch(request, &stop, &mut |news| match news {
        WatchNews::Read(report) => {
            if let Err(failure) = tell(context, report) {
                broken = Some(failure);
                stop.store(true, Ordering::Relaxed);
            }
        }
        WatchNews::Failed(error, wait) => context.printer.warn(&failed(error, wait)),
        WatchNews::Polling(folder, why) => {
            let folder = folder.display();
            context.printer.warn(&format!("{folder} is looked through every few seconds: {why}"));
        }
    })?;
    if let Some(failure) = broken {
        return Err(failure);
    }
    context.printer.note_line("stopped");
    Ok(Exit::Done)
}

/// What went wrong, and when it is tried again.
fn failed(error: &EngineError, wait: Duration) -> String {
    let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    format!("{error}{cause}; tried again in {} s", wait.as_secs())
}

fn tell(context: &Context, report: &SyncReport) -> Result<(), Failure> {
    let changed = report.agents.iter().filter(|agent| agent.files_changed > 0 || !agent.warnings.is_empty());
    let report = SyncReport { agents: changed.cloned().collect(), ..report.clone() };
    let mut page = context.printer.page();
    render::synced(&mut page, &report);
    context.printer.answer(&page)?;
    let mut side = context.printer.side_page();
    render::warnings(&mut side, &report.agents, context.printer.verbosity() > 0);
    context.printer.note(&side);
    sync::index_trouble(context, &report.index.outcome);
    sync::tell_embeddings(context, &report);
    Ok(())
}
