//! `thread send`: runs one turn and prints the answer as it arrives.

use std::path::Path;
use std::sync::atomic::Ordering;

use rethread_engine::{Engine, EngineError, SendRequest, ToolDefinition, TurnEvent, TurnReport};
use rethread_model::thread::{ChatRole, StopReason, ThreadId};

use super::{CommandContext, Exit, read_stdin, remember, stop_flag};
use crate::cli::thread::ThreadSendArgs;
use crate::failure::{Failure, FailureKind};
use crate::{json, render};

pub(super) fn run(context: &CommandContext, args: &ThreadSendArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let request = SendRequest {
        text: message_text(args)?,
        tools: args.tools.as_deref().map(read_tools).transpose()?.unwrap_or_default(),
        can_search_memory: args.memory,
        client_id: None,
    };
    if args.dry_run {
        return dry_run(context, &engine, args, &request);
    }
    let id = engine.threads().id(&args.thread.reference)?;
    let stop = stop_flag()?;
    let (mut print_error, mut run) = (None, String::new());
    let done = engine.turns().send(&id.to_string(), &request, &|| stop.load(Ordering::Relaxed), &mut |event| {
        if let TurnEvent::Started { run_id } = event {
            run_id.clone_into(&mut run);
        }
        let printed = if args.json.json {
            context.printer.json(&frame(id, &run, &event)).map_err(Failure::from)
        } else {
            print_event(context, &event)
        };
        if let Err(failure) = printed {
            // The reader is gone: stop the turn. What has arrived so far is stored.
            stop.store(true, Ordering::Relaxed);
            print_error = Some(failure);
        }
    });
    let printed = match (&done, print_error) {
        (_, Some(failure)) => Err(failure),
        (Ok(report), None) => print_end(context, args, report),
        (Err(_), None) => Ok(Exit::Done),
    };
    // Also after a failed turn, because the text is in the thread. Not if the thread is gone.
    if !matches!(done, Err(EngineError::Stopped | EngineError::Thread(_) | EngineError::Model(_))) {
        remember(context, &engine, id);
    }
    let report = done.map_err(Failure::from_turn_error)?;
    if report.stop == StopReason::End {
        // Best effort: without a title the thread is named after its first words.
        let _ = engine.turns().start_title(id);
    }
    report.interruption.map_or(printed, |error| Err(Failure::from_interrupted_answer(&error)))
}

fn dry_run(
    context: &CommandContext,
    engine: &Engine,
    args: &ThreadSendArgs,
    request: &SendRequest,
) -> Result<Exit, Failure> {
    let plan = engine.turns().plan(&args.thread.reference, request)?;
    if args.json.json {
        context.printer.json(&json::SendPlanJson::new(&plan))?;
    } else {
        let mut page = context.printer.page();
        render::send_plan(&mut page, &plan);
        context.printer.answer(&page)?;
    }
    Ok(Exit::Done)
}

/// An event as one JSON line. A queued turn has no run ID yet.
fn frame(id: ThreadId, run: &str, event: &TurnEvent<'_>) -> json::FrameJson {
    let event = json::FrameEventJson::from_turn_event(event);
    if run.is_empty() {
        json::FrameJson::for_session(id.session_id(), event)
    } else {
        json::FrameJson::for_run(id, run, event)
    }
}

fn print_event(context: &CommandContext, event: &TurnEvent<'_>) -> Result<(), Failure> {
    let printer = &context.printer;
    match event {
        TurnEvent::Delta(text) => printer.raw(render::sanitize(text).as_bytes())?,
        TurnEvent::Queued { ahead } => printer.note_line(&render::queue_position(*ahead)),
        TurnEvent::ToolCalled { name, .. } => printer.note_line(&format!("calling {}", render::sanitize_line(name))),
        TurnEvent::Compacted(report) => printer.note_line(&render::compaction_note(report, false)),
        TurnEvent::Started { .. } | TurnEvent::Appended(_) => {}
    }
    Ok(())
}

/// Prints how the turn ended, if the answer does not show it.
fn print_end(context: &CommandContext, args: &ThreadSendArgs, report: &TurnReport) -> Result<Exit, Failure> {
    let printer = &context.printer;
    let is_answered = report.messages.iter().any(|message| message.role == ChatRole::Assistant);
    if args.json.json {
        printer.json(&json::FrameJson::for_run(report.id, &report.run_id, json::FrameEventJson::run_end(report)))?;
    } else if is_answered {
        printer.raw(b"\n")?;
    }
    for call in &report.pending_calls {
        let (name, id) = (render::sanitize_line(&call.name), render::sanitize_line(&call.id));
        printer.note_line(&format!("{name} needs its result: call {id}"));
    }
    if !report.pending_calls.is_empty() {
        printer.hint("append each with --role toolResult --tool-call-id ID, then send again without TEXT");
    }
    if report.stop == StopReason::Aborted {
        printer.note_line("stopped; the answer so far is stored");
        return Ok(Exit::Stopped);
    }
    if report.is_cut_short {
        printer.note_line("the model reached the tool call limit of one turn without an answer");
        printer.hint("send again without TEXT to let it continue");
    } else if !is_answered {
        printer.note_line("the model returned no answer");
    }
    Ok(if is_answered && !report.is_cut_short { Exit::Done } else { Exit::Nothing })
}

fn message_text(args: &ThreadSendArgs) -> Result<Option<String>, Failure> {
    let text = match args.text.as_deref() {
        Some("-") => Some(read_stdin()?.trim_end().to_owned()),
        other => other.map(str::to_owned),
    };
    match text {
        Some(text) if text.trim().is_empty() => Err(Failure::new(FailureKind::InvalidContent, "the message is empty")),
        text => Ok(text),
    }
}

fn read_tools(path: &Path) -> Result<Vec<ToolDefinition>, Failure> {
    let bad = |reason: String| {
        let hint = "it must be a JSON array of {\"name\", \"description\", \"parameters\"}";
        Failure::new(FailureKind::InvalidContent, format!("{}: {reason}", path.display())).hint(hint)
    };
    let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    let offered: Vec<json::CallerToolJson> = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    Ok(offered.into_iter().map(json::CallerToolJson::into_tool).collect())
}
