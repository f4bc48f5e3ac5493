//! `enrich`: a model adds facts to sessions that ended.

use rethread_engine::{Engine, EngineError, EnrichOutcome, EnrichReport, EnrichStop};

use super::{Context, Exit};
use crate::cli::enrich::Enrich;
use crate::failure::{Failure, Kind};
use crate::{json, render};

/// Has the model add facts, or shows what waits, what that may cost, and what failed.
pub(crate) fn run(context: &Context, request: &Enrich) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    if request.failed {
        return failed(context, &engine, request);
    }
    if request.clear_failed {
        return clear(context, &engine, request);
    }
    if request.dry_run {
        return would_enrich(context, &engine, request);
    }
    let mut report = engine.enrich(request.reference.as_deref())?;
    if let Some(stop) = report.stopped.take() {
        match stop {
            EnrichStop::Off(why) => return Err(off(&why)),
            EnrichStop::NoModel(error) => return Err(EngineError::from(error).into()),
            other => report.stopped = Some(other),
        }
    }
    tell(context, &engine, request, &report)
}

fn off(why: &str) -> Failure {
    let failure = Failure::new(Kind::BadConfig, format!("no model adds facts: {why}"));
    let failure = failure.hint("rules draw facts all the same");
    if why.starts_with("facts.model") {
        return failure.hint("`rethread config set facts.model true` lets the configured model add to them");
    }
    failure
}

fn tell(context: &Context, engine: &Engine, request: &Enrich, report: &EnrichReport) -> Result<Exit, Failure> {
    let printer = &context.printer;
    if request.json.json {
        printer.json(&json::Enriched::new(report))?;
    } else if !report.sessions.is_empty() {
        let mut page = printer.page();
        render::enriched(&mut page, report, engine.now());
        printer.answer(&page)?;
    }
    match &report.stopped {
        Some(EnrichStop::Busy) => printer.note_line("Another process is at it."),
        Some(EnrichStop::Held { until }) => {
            printer.note_line(&format!("The model failed too often in a row; it is not asked before {until}."));
        }
        _ if report.sessions.is_empty() => printer.note_line("No session waits for the model."),
        _ => {}
    }
    let has_failed = report.sessions.iter().any(|told| told.outcome != EnrichOutcome::Done);
    Ok(match (has_failed, report.sessions.is_empty()) {
        (true, _) => Exit::Told(Kind::Model.exit_code()),
        (false, true) => Exit::Nothing,
        (false, false) => Exit::Done,
    })
}

fn would_enrich(context: &Context, engine: &Engine, request: &Enrich) -> Result<Exit, Failure> {
    let plan = engine.enrich_dry_run(request.reference.as_deref())?;
    if request.json.json {
        context.printer.json(&json::WouldEnrich::new(&plan))?;
        return Ok(Exit::Done);
    }
    let mut page = context.printer.page();
    render::would_enrich(&mut page, &plan, engine.now());
    context.printer.answer(&page)?;
    Ok(Exit::Done)
}

fn failed(context: &Context, engine: &Engine, request: &Enrich) -> Result<Exit, Failure> {
    let failures = engine.enrich_failures()?;
    if request.json.json {
        context.printer.json(&json::NotEnriched::new(&failures))?;
    } else if failures.is_empty() {
        context.printer.note_line("No session failed for good.");
    } else {
        let mut page = context.printer.page();
        render::not_enriched(&mut page, &failures, engine.now());
        context.printer.answer(&page)?;
        context.printer.hint("`rethread enrich --clear-failed` lets them wait again");
    }
    Ok(if failures.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn clear(context: &Context, engine: &Engine, request: &Enrich) -> Result<Exit, Failure> {
    let cleared = engine.clear_enrich_failures()?;
    if request.json.json {
        context.printer.json(&json::Cleared::new(cleared))?;
    } else {
        context.printer.note_line(&format!("Waiting again: {}.", render::count(cleared, "session")));
    }
    Ok(Exit::Done)
}
