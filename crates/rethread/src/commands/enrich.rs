//! `enrich`: lets the configured model add facts to ended sessions.

use rethread_engine::{Engine, EngineError, EnrichOutcome, EnrichReport, EnrichStop};

use super::{CommandContext, Exit};
use crate::cli::enrich::EnrichArgs;
use crate::failure::{Failure, FailureKind};
use crate::{json, render};

pub(crate) fn run(context: &CommandContext, args: &EnrichArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    if args.failed {
        return list_failed(context, &engine, args);
    }
    if args.clear_failed {
        return clear_failed(context, &engine, args);
    }
    if args.dry_run {
        return dry_run(context, &engine, args);
    }
    let mut report = engine.enrichment().run(args.reference.as_deref())?;
    if let Some(stop) = report.stop_reason.take() {
        match stop {
            EnrichStop::Disabled(reason) => return Err(turned_off(&reason)),
            EnrichStop::NoModel(error) => return Err(EngineError::from(error).into()),
            other => report.stop_reason = Some(other),
        }
    }
    print_report(context, &engine, args, &report)
}

fn turned_off(reason: &str) -> Failure {
    let failure = Failure::new(FailureKind::InvalidConfig, format!("cannot extract facts with a model: {reason}"));
    if reason.starts_with("facts.model") {
        return failure
            .hint("turn it on with `rethread config set facts.model true`; it also needs a model and a budget");
    }
    failure
}

fn print_report(
    context: &CommandContext,
    engine: &Engine,
    args: &EnrichArgs,
    report: &EnrichReport,
) -> Result<Exit, Failure> {
    let printer = &context.printer;
    if args.json.json {
        printer.json(&json::EnrichmentReportJson::new(report))?;
    } else if !report.sessions.is_empty() {
        let mut page = printer.page();
        render::enrichment_report(&mut page, report, engine.now());
        printer.answer(&page)?;
    }
    match &report.stop_reason {
        Some(EnrichStop::Busy) => printer.note_line("Another process is already extracting facts."),
        Some(EnrichStop::Paused { until }) => {
            printer.note_line(&format!("The model failed several times in a row; the next try is at {until}."));
        }
        _ if report.sessions.is_empty() => printer.note_line("No sessions are queued."),
        _ => {}
    }
    let has_failed = report.sessions.iter().any(|session| session.outcome != EnrichOutcome::Done);
    Ok(match (has_failed, report.sessions.is_empty()) {
        (true, _) => Exit::Reported(FailureKind::Model.exit_code()),
        (false, true) => Exit::Nothing,
        (false, false) => Exit::Done,
    })
}

fn dry_run(context: &CommandContext, engine: &Engine, args: &EnrichArgs) -> Result<Exit, Failure> {
    let plan = engine.enrichment().plan(args.reference.as_deref())?;
    if args.json.json {
        context.printer.json(&json::EnrichmentPlanJson::new(&plan))?;
        return Ok(Exit::Done);
    }
    let mut page = context.printer.page();
    render::enrichment_plan(&mut page, &plan, engine.now());
    context.printer.answer(&page)?;
    Ok(Exit::Done)
}

fn list_failed(context: &CommandContext, engine: &Engine, args: &EnrichArgs) -> Result<Exit, Failure> {
    let failures = engine.enrichment().failures()?;
    if args.json.json {
        context.printer.json(&json::EnrichmentFailureListJson::new(&failures))?;
    } else if failures.is_empty() {
        context.printer.note_line("No session failed permanently.");
    } else {
        let mut page = context.printer.page();
        render::enrichment_failures(&mut page, &failures, engine.now());
        context.printer.answer(&page)?;
        context.printer.hint("`rethread enrich --clear-failed` queues them again");
    }
    Ok(if failures.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn clear_failed(context: &CommandContext, engine: &Engine, args: &EnrichArgs) -> Result<Exit, Failure> {
    let cleared = engine.enrichment().clear_failures()?;
    if args.json.json {
        context.printer.json(&json::ClearedFailuresJson::new(cleared))?;
    } else {
        context.printer.note_line(&format!("Queued {} again.", render::count(cleared, "session")));
    }
    Ok(Exit::Done)
}
