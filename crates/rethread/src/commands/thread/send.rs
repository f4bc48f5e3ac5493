//! `thread send`: one turn, its answer shown as it comes.

use std::path::Path;
use std::sync::atomic::Ordering;

use rethread_engine::{Engine, EngineError, SendRequest, Tool, TurnEvent, TurnReport};
use rethread_model::thread::{ChatRole, Stop, ThreadId};

use super::{Context, Exit, remember, standard_text, stop_flag};
use crate::cli::thread::ThreadSend;
use crate::failure::{Failure, Kind};
use crate::{json, render};

/// Says something, and shows what the model answers.
pub(super) fn run(context: &Context, request: &ThreadSend) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = SendRequest {
        text: text_of(request)?,
        tools: request.tools.as_deref().map(tools_in).transpose()?.unwrap_or_default(),
        memory: request.memory,
        client_id: None,
    };
    if request.dry_run {
        return would_send(context, &engine, request, &wanted);
    }
    let id = engine.thread_id(&request.thread.reference)?;
    let stop = stop_flag()?;
    let (mut unheard, mut run) = (None, String::new());
    let done = engine.thread_send(&id.to_string(), &wanted, &|| stop.load(Ordering::Relaxed), &mut |event| {
        if let TurnEvent::Begun { run_id } = event {
            run_id.clone_into(&mut run);
        }
        let told = if request.json.json {
            context.printer.json(&line(id, &run, &event)).map_err(Failure::from)
        } else {
            tell(context, &event)
        };
        if let Err(failure) = told {
            // Nobody listens any more: the turn is stopped, and what was said is kept.
            stop.store(true, Ordering::Relaxed);
            unheard = Some(failure);
        }
    });
    let told = match (&done, unheard) {
        (_, Some(failure)) => Err(failure),
        (Ok(report), None) => finish(context, request, report),
        (Err(_), None) => Ok(Exit::Done),
    };
    // Also of a turn that failed: the text is in the thread. A thread that is gone needs no memory.
    if !matches!(done, Err(EngineError::Stopped | EngineError::Thread(_) | EngineError::Model(_))) {
        remember(context, &engine, id);
    }
    let report = done.map_err(Failure::of_turn)?;
    if report.stop == Stop::End {
        // A thread without a title is named after its first words.
        let _ = engine.thread_start_title(id);
    }
    report.failed.map_or(told, |error| Err(Failure::of_broken_answer(&error)))
}

fn would_send(context: &Context, engine: &Engine, request: &ThreadSend, wanted: &SendRequest) -> Result<Exit, Failure> {
    let plan = engine.thread_send_dry_run(&request.thread.reference, wanted)?;
    if request.json.json {
        context.printer.json(&json::WouldSend::new(&plan))?;
    } else {
        let mut page = context.printer.page();
        render::would_send(&mut page, &plan);
        context.printer.answer(&page)?;
    }
    Ok(Exit::Done)
}

/// What happens as one line of JSON. Who waits for the turn has no run yet.
fn line(id: ThreadId, run: &str, event: &TurnEvent<'_>) -> json::Frame {
    let told = json::Told::of(event);
    if run.is_empty() { json::Frame::of_session(id.session(), told) } else { json::Frame::of_run(id, run, told) }
}

/// Shows what happens.
fn tell(context: &Context, event: &TurnEvent<'_>) -> Result<(), Failure> {
    let printer = &context.printer;
    match event {
        TurnEvent::Delta(text) => printer.raw(render::neutral(text).as_bytes())?,
        TurnEvent::Queued { ahead } => printer.note_line(&render::waiting_behind(*ahead)),
        TurnEvent::ToolCalled { name, .. } => printer.note_line(&format!("uses {}", render::single(name))),
        TurnEvent::Compacted(report) => printer.note_line(&render::compaction_note(report, false)),
        TurnEvent::Begun { .. } | TurnEvent::Appended(_) => {}
    }
    Ok(())
}

/// Says how the turn ended, where the answer does not.
fn finish(context: &Context, request: &ThreadSend, report: &TurnReport) -> Result<Exit, Failure> {
    let printer = &context.printer;
    let is_answered = report.messages.iter().any(|message| message.role == ChatRole::Assistant);
    if request.json.json {
        printer.json(&json::Frame::of_run(report.id, &report.run_id, json::Told::end_of(report)))?;
    } else if is_answered {
        printer.raw(b"\n")?;
    }
    for call in &report.waiting_calls {
        let (name, id) = (render::single(&call.name), render::single(&call.id));
        printer.note_line(&format!("{name} waits for its result: call {id}"));
    }
    if !report.waiting_calls.is_empty() {
        printer.hint("append each with --role toolResult --tool-call-id ID, then send again without a text");
    }
    if report.stop == Stop::Aborted {
        printer.note_line("stopped; what was said is kept");
        return Ok(Exit::Stopped);
    }
    if report.is_cut_short {
        printer.note_line("the model only used tools, as often as it may in one turn");
        printer.hint("send again without a text to let it go on");
    } else if !is_answered {
        printer.note_line("the model said nothing");
    }
    Ok(if is_answered && !report.is_cut_short { Exit::Done } else { Exit::Nothing })
}

fn text_of(request: &ThreadSend) -> Result<Option<String>, Failure> {
    let text = match request.text.as_deref() {
        Some("-") => Some(standard_text()?.trim_end().to_owned()),
        other => other.map(str::to_owned),
    };
    match text {
        Some(text) if text.trim().is_empty() => Err(Failure::new(Kind::BadContent, "there is nothing to say")),
        text => Ok(text),
    }
}

fn tools_in(path: &Path) -> Result<Vec<Tool>, Failure> {
    let bad = |reason: String| {
        let hint = "it must hold a JSON array of {\"name\", \"description\", \"parameters\"}";
        Failure::new(Kind::BadContent, format!("{}: {reason}", path.display())).hint(hint)
    };
    let text = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    let offered: Vec<json::OfferedTool> = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    Ok(offered.into_iter().map(json::OfferedTool::into_tool).collect())
}
