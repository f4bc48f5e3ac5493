//! `thread`: conversations that Rethread itself stores.

mod append;
mod send;
mod transfer;

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rethread_engine::{CompactReport, CompactRequest, Engine, NewThread, TurnEvent};
use rethread_model::thread::ThreadId;

use super::{CommandContext, Exit};
use crate::cli::JsonArgs;
use crate::cli::thread::{
    ThreadCommand, ThreadCompactArgs, ThreadContextArgs, ThreadDeleteArgs, ThreadNewArgs, ThreadRefArgs,
};
use crate::failure::{Failure, FailureKind};
use crate::{json, render};

/// Bytes; more than a record can hold. Longer records are rejected when they are appended.
const MAX_INPUT: u64 = 16 << 20;

pub(crate) fn run(context: &CommandContext, command: &ThreadCommand) -> Result<Exit, Failure> {
    match command {
        ThreadCommand::New(args) => create(context, args),
        ThreadCommand::Append(args) => append::run(context, args),
        ThreadCommand::Context(args) => show_context(context, args),
        ThreadCommand::Compact(args) => compact(context, args),
        ThreadCommand::Send(args) => send::run(context, args),
        ThreadCommand::List(json) => list(context, *json),
        ThreadCommand::Export(args) => transfer::export(context, args),
        ThreadCommand::Import(args) => transfer::import(context, args),
        ThreadCommand::Delete(args) => delete(context, args),
        ThreadCommand::Title(args) => title(context, args),
    }
}

fn create(context: &CommandContext, args: &ThreadNewArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let created = engine.threads().create(&NewThread {
        name: args.name.clone(),
        model: args.model.clone(),
        system_prompt: args.system.clone(),
        cron_job: args.cron.clone(),
    })?;
    if args.json.json {
        context.printer.json(&json::CreatedThreadJson::new(&created))?;
    } else {
        context.printer.raw(format!("{}\n", created.id).as_bytes())?;
    }
    Ok(Exit::Done)
}

fn show_context(context: &CommandContext, args: &ThreadContextArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let found = engine.threads().context(&args.thread.reference)?;
    for problem in &found.problems {
        context.printer.warn(&format!("skipped line {} of the log: {}", problem.line, problem.reason));
    }
    if args.json.json {
        context.printer.json(&json::ThreadContextJson::new(&found))?;
    } else {
        let mut page = context.printer.page();
        render::thread_context(&mut page, &found);
        context.printer.answer(&page)?;
    }
    Ok(if found.messages.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn compact(context: &CommandContext, args: &ThreadCompactArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let request = CompactRequest { focus: args.focus.clone() };
    let reference = &args.thread.reference;
    let done = if args.dry_run {
        engine.turns().plan_compaction(reference, &request)?
    } else {
        let stop = stop_flag()?;
        engine.turns().compact(reference, &request, &|| stop.load(Ordering::Relaxed), &mut |event| {
            if let TurnEvent::Queued { ahead } = event {
                context.printer.note_line(&render::queue_position(ahead));
            }
        })?
    };
    let Some(report) = done else {
        if args.json.json {
            context.printer.json(&json::CompactReportJson::nothing_to_compact())?;
        }
        context.printer.note_line("Nothing to compact: all messages are recent.");
        return Ok(Exit::Nothing);
    };
    print_compacted(context, &report, args)?;
    if !args.dry_run {
        remember(context, &engine, report.id);
    }
    Ok(Exit::Done)
}

fn print_compacted(context: &CommandContext, report: &CompactReport, args: &ThreadCompactArgs) -> Result<(), Failure> {
    if args.json.json {
        context.printer.json(&json::CompactReportJson::new(report))?;
    } else {
        let mut page = context.printer.page();
        render::compaction_summary(&mut page, report);
        context.printer.answer(&page)?;
    }
    context.printer.note_line(&render::compaction_note(report, args.dry_run));
    Ok(())
}

fn list(context: &CommandContext, json: JsonArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let found = engine.threads().list()?;
    for problem in &found.problems {
        context.printer.warn(&problem.to_string());
    }
    if json.json {
        context.printer.json(&json::ThreadListJson::new(&found.threads))?;
    } else if !found.threads.is_empty() {
        let mut page = context.printer.page();
        render::threads(&mut page, &found.threads, engine.now());
        context.printer.answer(&page)?;
    }
    if found.threads.is_empty() {
        context.printer.note_line("No threads found.");
        context.printer.hint("create one with `rethread thread new`");
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

fn delete(context: &CommandContext, args: &ThreadDeleteArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let reference = &args.thread.reference;
    if !args.yes && !args.json.json && context.printer.can_ask() {
        let id = engine.threads().id(reference)?;
        let name = engine.threads().list()?.threads.into_iter().find(|thread| thread.id == id).and_then(|it| it.name);
        let question = format!("Delete the thread {:?} for good?", name.unwrap_or_else(|| id.to_string()));
        if !context.printer.confirm(&question)? {
            context.printer.note_line("Nothing was deleted.");
            return Ok(Exit::Done);
        }
    }
    let id = engine.threads().delete(reference)?;
    if args.json.json {
        context.printer.json(&json::DeletedThreadJson::new(id))?;
    }
    context.printer.note_line(&format!("deleted {id}"));
    Ok(Exit::Done)
}

fn title(context: &CommandContext, args: &ThreadRefArgs) -> Result<Exit, Failure> {
    let Ok(id) = args.reference.parse::<ThreadId>() else { return Ok(Exit::Nothing) };
    let title = context.quiet_engine()?.turns().title(id)?;
    Ok(if title.is_some() { Exit::Done } else { Exit::Nothing })
}

/// Syncs the thread into memory. The log already has the message, so an error is only a warning.
fn remember(context: &CommandContext, engine: &Engine, id: ThreadId) {
    if let Err(error) = engine.threads().sync(id) {
        context.printer.warn(&format!("stored in the thread, but not searchable yet: {error}"));
        context.printer.hint("the next `rethread sync` adds it");
    }
}

/// Reads all of stdin as text, up to the size of a record.
fn read_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_INPUT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(Failure::new(FailureKind::TooLarge, "stdin is larger than a record can hold").hint("split it"));
    }
    String::from_utf8(bytes)
        .map_err(|error| Failure::new(FailureKind::InvalidContent, format!("stdin is not valid UTF-8: {error}")))
}

/// A flag set by Ctrl-C. A second Ctrl-C ends the process at once.
fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    // SIGHUP is sent when the terminal is closed.
    for signal in signal_hook::consts::TERM_SIGNALS.iter().chain([&signal_hook::consts::SIGHUP]) {
        signal_hook::flag::register_conditional_shutdown(*signal, 130, Arc::clone(&stop))?;
        signal_hook::flag::register(*signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
