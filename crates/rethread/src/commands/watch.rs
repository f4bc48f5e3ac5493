//! `watch`: syncs until it is stopped, and prints one line for each sync that found something.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rethread_engine::{EngineError, SyncReport, WatchEvent, WatchMode, WatchRequest};

use super::{CommandContext, Exit, sync};
use crate::cli::sync::WatchArgs;
use crate::failure::Failure;
use crate::render;

/// How long to wait for a locked store. A failed sync is retried anyway, and Ctrl-C must not wait longer.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// Exit code of a process ended by a signal: this plus the number of the signal.
const BY_SIGNAL: i32 = 128;

pub(crate) fn run(context: &CommandContext, args: &WatchArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?.with_store_timeout(LOCK_TIMEOUT);
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signal_hook::consts::TERM_SIGNALS {
        // A second signal ends the process without waiting for the running sync.
        signal_hook::flag::register_conditional_shutdown(*signal, BY_SIGNAL + *signal, Arc::clone(&stop))?;
        signal_hook::flag::register(*signal, Arc::clone(&stop))?;
    }
    context.printer.note_line("watching; press Ctrl-C to stop");
    let mut broken = None;
    let request = WatchRequest { mode: args.every.map(WatchMode::Batch), poll: args.poll };
    engine.sync().watch(request, &stop, &mut |event| match event {
        WatchEvent::Synced(report) => {
            if let Err(failure) = print_report(context, report) {
                broken = Some(failure);
                stop.store(true, Ordering::Relaxed);
            }
        }
        WatchEvent::Failed(error, wait) => context.printer.warn(&retry_message(error, wait)),
        WatchEvent::InvalidSettings(reason) => context.printer.warn(&invalid_settings(reason)),
        WatchEvent::Polling(folder, reason) => {
            let folder = folder.display();
            context.printer.warn(&format!("polling {folder} every few seconds: {reason}"));
        }
    })?;
    if let Some(failure) = broken {
        return Err(failure);
    }
    context.printer.note_line("stopped");
    Ok(Exit::Done)
}

/// Says that changed settings are not applied.
pub(crate) fn invalid_settings(reason: &str) -> String {
    format!("{reason}; the last valid settings still apply")
}

fn retry_message(error: &EngineError, wait: Duration) -> String {
    let cause = std::error::Error::source(error).map_or_else(String::new, |cause| format!(": {cause}"));
    format!("{error}{cause}; retrying in {} seconds", wait.as_secs())
}

fn print_report(context: &CommandContext, report: &SyncReport) -> Result<(), Failure> {
    let changed = report.agents.iter().filter(|agent| agent.files_changed > 0 || !agent.warnings.is_empty());
    let report = SyncReport { agents: changed.cloned().collect(), ..report.clone() };
    let mut page = context.printer.page();
    render::sync_report(&mut page, &report);
    context.printer.answer(&page)?;
    let mut side = context.printer.side_page();
    render::warnings(&mut side, &report.agents, context.printer.verbosity() > 0);
    context.printer.note(&side);
    sync::print_index_problem(context, &report.index.outcome);
    sync::print_embeddings(context, &report);
    Ok(())
}
