//! `thread send`: one turn, its answer shown as it comes.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;

use rethread_engine::{Engine, SendRequest, Tool, TurnEvent, TurnReport};
use rethread_model::thread::{Stop, ThreadId};
use serde::Deserialize;
use serde_json::Value;

use super::{Context, Exit, remember, stop_flag};
use crate::cli::thread::ThreadSend;
use crate::failure::{Failure, Kind};
use crate::{json, render};

/// A tool as the caller describes it.
#[derive(Deserialize)]
struct Described {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default, alias = "input_schema")]
    parameters: Value,
}

/// Says something, and shows what the model answers.
pub(super) fn run(context: &Context, request: &ThreadSend) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = SendRequest {
        text: text_of(request)?,
        tools: request.tools.as_deref().map(tools_in).transpose()?.unwrap_or_default(),
        memory: request.memory,
    };
    let reference = &request.thread.reference;
    if request.dry_run {
        return would_send(context, &engine, request, &wanted);
    }
    let stop = stop_flag()?;
    let mut unheard = None;
    let done = engine.thread_send(reference, &wanted, &|| stop.load(Ordering::Relaxed), &mut |event| {
        if let Err(failure) = tell(context, request, &event) {
            // Nobody listens any more: the turn is stopped, and what was said is kept.
            stop.store(true, Ordering::Relaxed);
            unheard = Some(failure);
        }
    });
    let report = done.map_err(|error| with_way_on(error.into()))?;
    if unheard.is_none() {
        finish(context, request, &report)?;
    }
    remember(context, &engine, report.id);
    start_naming(context, &engine, report.id);
    match (unheard, report.failed) {
        (Some(failure), _) => Err(failure),
        (None, Some(error)) => {
            let failure = Failure::from(rethread_engine::EngineError::from(error));
            Err(failure.hint("what it had said is in the thread; say something to go on from there"))
        }
        (None, None) => Ok(if report.messages.is_empty() { Exit::Nothing } else { Exit::Done }),
    }
}

/// A text that was not answered need not be said again.
fn with_way_on(failure: Failure) -> Failure {
    match failure.kind {
        Kind::Model => failure.hint("what was said is in the thread; send again without a text to try once more"),
        _ => failure,
    }
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

/// Shows what happens, to a program as one JSON object on each line.
fn tell(context: &Context, request: &ThreadSend, event: &TurnEvent<'_>) -> Result<(), Failure> {
    let printer = &context.printer;
    if request.json.json {
        return Ok(printer.json(&json::TurnLine::new(event))?);
    }
    match event {
        TurnEvent::Delta(text) => printer.raw(render::neutral(text).as_bytes())?,
        TurnEvent::Queued { ahead } => {
            printer.note_line(&format!("waiting behind {}", render::count(*ahead as u64, "turn")));
        }
        TurnEvent::ToolCalled { name, .. } => printer.note_line(&format!("uses {}", render::single(name))),
        TurnEvent::Compacted(report) => printer.note_line(&render::compaction_note(report, false)),
        TurnEvent::Begun { .. } | TurnEvent::Appended(_) => {}
    }
    Ok(())
}

fn finish(context: &Context, request: &ThreadSend, report: &TurnReport) -> Result<(), Failure> {
    if request.json.json {
        return Ok(context.printer.json(&json::TurnEnd::new(report))?);
    }
    if !report.messages.is_empty() {
        context.printer.raw(b"\n")?;
    }
    if report.stop == Stop::Aborted {
        context.printer.note_line("stopped; what was said is kept");
    }
    for call in &report.waiting_calls {
        let (name, id) = (render::single(&call.name), render::single(&call.id));
        context.printer.note_line(&format!("{name} waits for its result: call {id}"));
    }
    if !report.waiting_calls.is_empty() {
        context.printer.hint("append each with --role toolResult --tool-call-id ID, then send again without a text");
    }
    Ok(())
}

fn text_of(request: &ThreadSend) -> Result<Option<String>, Failure> {
    let text = match request.text.as_deref() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().lock().read_to_string(&mut text)?;
            Some(text.trim_end().to_owned())
        }
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
    let described: Vec<Described> = serde_json::from_str(&text).map_err(|error| bad(error.to_string()))?;
    let tool = |described: Described| Tool {
        name: described.name,
        description: described.description,
        parameters: if described.parameters.is_object() {
            described.parameters
        } else {
            serde_json::json!({"type": "object", "properties": {}})
        },
    };
    Ok(described.into_iter().map(tool).collect())
}

/// Has the model name the thread, in a process that nobody waits for.
fn start_naming(context: &Context, engine: &Engine, id: ThreadId) {
    if !engine.thread_wants_title(id).unwrap_or(false) {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let mut command = Command::new(program);
    command.arg("--quiet").arg("--home").arg(engine.folder());
    for (key, value) in &context.environment.flags {
        command.arg("-c").arg(format!("{key}={value}"));
    }
    command.args(["thread", "title", &id.to_string()]);
    // A group of its own, so that Ctrl-C in this terminal is not for it.
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn();
}
