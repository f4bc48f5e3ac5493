//! `thread`: conversations kept by us.

mod append;
mod send;

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rethread_engine::{CompactReport, CompactRequest, Engine, NewThread, TurnEvent};
use rethread_model::thread::ThreadId;

use super::{Context, Exit};
use crate::cli::Json;
use crate::cli::thread::{Thread, ThreadCompact, ThreadContext, ThreadDelete, ThreadNamed, ThreadNew};
use crate::failure::{Failure, Kind};
use crate::{json, render};

/// More than any record may hold; what is longer is refused when it is appended.
const LONGEST_INPUT: u64 = 16 << 20;

/// Does what is asked of threads.
pub(crate) fn run(context: &Context, request: &Thread) -> Result<Exit, Failure> {
    match request {
        Thread::New(request) => make(context, request),
        Thread::Append(request) => append::run(context, request),
        Thread::Context(request) => show(context, request),
        Thread::Compact(request) => compact(context, request),
        Thread::Send(request) => send::run(context, request),
        Thread::List(json) => list(context, *json),
        Thread::Delete(request) => delete(context, request),
        Thread::Title(request) => title(context, request),
    }
}

fn make(context: &Context, request: &ThreadNew) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let made = engine.thread_new(&NewThread {
        name: request.name.clone(),
        model: request.model.clone(),
        system: request.system.clone(),
        cron_job: request.cron.clone(),
    })?;
    if request.json.json {
        context.printer.json(&json::MadeThread::new(&made))?;
    } else {
        context.printer.raw(format!("{}\n", made.id).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn show(context: &Context, request: &ThreadContext) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let found = engine.thread_context(&request.thread.reference)?;
    for problem in &found.problems {
        context.printer.warn(&format!("line {} of the log was passed over: {}", problem.line, problem.reason));
    }
    if request.json.json {
        context.printer.json(&json::Context::new(&found))?;
    } else {
        let mut page = context.printer.page();
        render::thread_context(&mut page, &found);
        context.printer.answer(&page)?;
    }
    Ok(if found.messages.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn compact(context: &Context, request: &ThreadCompact) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = CompactRequest { focus: request.focus.clone() };
    let reference = &request.thread.reference;
    let done = if request.dry_run {
        engine.thread_compact_dry_run(reference, &wanted)?
    } else {
        let stop = stop_flag()?;
        engine.thread_compact(reference, &wanted, &|| stop.load(Ordering::Relaxed), &mut |event| {
            if let TurnEvent::Queued { ahead } = event {
                context.printer.note_line(&render::waiting_behind(ahead));
            }
        })?
    };
    let Some(report) = done else {
        if request.json.json {
            context.printer.json(&json::Compacted::nothing())?;
        }
        context.printer.note_line("There is nothing to compact: all of it is recent.");
        return Ok(Exit::Nothing);
    };
    tell_compacted(context, &report, request)?;
    if !request.dry_run {
        remember(context, &engine, report.id);
    }
    Ok(Exit::Done)
}

fn tell_compacted(context: &Context, report: &CompactReport, request: &ThreadCompact) -> Result<(), Failure> {
    if request.json.json {
        context.printer.json(&json::Compacted::new(report))?;
    } else {
        let mut page = context.printer.page();
        render::compacted(&mut page, report);
        context.printer.answer(&page)?;
    }
    context.printer.note_line(&render::compaction_note(report, request.dry_run));
    Ok(())
}

fn list(context: &Context, json: Json) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let found = engine.thread_list()?;
    for problem in &found.problems {
        context.printer.warn(&problem.to_string());
    }
    if json.json {
        context.printer.json(&json::ThreadList::new(&found.threads))?;
    } else if !found.threads.is_empty() {
        let mut page = context.printer.page();
        render::threads(&mut page, &found.threads, engine.now());
        context.printer.answer(&page)?;
    }
    if found.threads.is_empty() {
        context.printer.note_line("There are no threads.");
        context.printer.hint("make one: rethread thread new");
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

fn delete(context: &Context, request: &ThreadDelete) -> Result<Exit, Failure> {
    let id = context.engine()?.thread_delete(&request.thread.reference)?;
    if request.json.json {
        context.printer.json(&json::DeletedThread::new(id))?;
    }
    context.printer.note_line(&format!("deleted {id}"));
    Ok(Exit::Done)
}

fn title(context: &Context, request: &ThreadNamed) -> Result<Exit, Failure> {
    let Ok(id) = request.reference.parse::<ThreadId>() else { return Ok(Exit::Nothing) };
    let named = context.quiet_engine()?.thread_title(id)?;
    Ok(if named.is_some() { Exit::Done } else { Exit::Nothing })
}

/// Takes what was said into memory. The log has it whatever happens here, so a failure is only told.
fn remember(context: &Context, engine: &Engine, id: ThreadId) {
    if let Err(error) = engine.thread_remember(id) {
        context.printer.warn(&format!("it is in the thread, but not in memory yet: {error}"));
        context.printer.hint("the next `rethread sync` reads it");
    }
}

/// All of standard input, if it is a text that could be a record.
fn standard_text() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(LONGEST_INPUT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST_INPUT {
        return Err(Failure::new(Kind::TooLarge, "standard input holds more than a record may").hint("split it"));
    }
    String::from_utf8(bytes)
        .map_err(|error| Failure::new(Kind::BadContent, format!("standard input is no text: {error}")))
}

/// Set by Ctrl-C; whoever presses it twice does not want to wait.
fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    // A terminal that is closed says so by the last one.
    for signal in signal_hook::consts::TERM_SIGNALS.iter().chain([&signal_hook::consts::SIGHUP]) {
        signal_hook::flag::register_conditional_shutdown(*signal, 130, Arc::clone(&stop))?;
        signal_hook::flag::register(*signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
