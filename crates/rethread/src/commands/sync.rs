//! `sync` and `rebuild`: read transcripts and print a report.

use rethread_engine::{Engine, IndexOutcome, IndexProblem, SyncReport, SyncRequest};

use super::{CommandContext, Exit, NEVER_SYNCED, print_index};
use crate::cli::sync::{RebuildArgs, SyncArgs};
use crate::failure::Failure;
use crate::json::{SyncPlanJson, SyncReportJson};
use crate::render::{self, count};

pub(crate) fn run(context: &CommandContext, args: SyncArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let request =
        SyncRequest { agent: args.agent, paths: args.paths, since: args.since.map(|since| since.before(engine.now())) };
    if args.dry_run {
        return dry_run(context, &engine, &request, args.json.json);
    }
    let bar = context.printer.bar();
    let report = engine.sync().run(&request, &mut |progress| bar.show(progress))?;
    drop(bar);
    if args.json.json {
        context.printer.json(&SyncReportJson::new(&report))?;
        print_index_problem(context, &report.index.outcome);
    } else {
        print_report(context, &report)?;
    }
    Ok(Exit::Done)
}

pub(crate) fn rebuild(context: &CommandContext, args: RebuildArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    if args.index_only {
        return rebuild_index(context, &engine);
    }
    let bar = context.printer.bar();
    let report = engine.maintenance().rebuild(&mut |progress| bar.show(progress))?;
    drop(bar);
    print_report(context, &report.sync)?;
    if report.rebuilt_from_store > 0 {
        let sessions = count(report.rebuilt_from_store, "session");
        context.printer.note_line(&format!("kept {sessions} whose transcripts are gone"));
    }
    Ok(Exit::Done)
}

fn rebuild_index(context: &CommandContext, engine: &Engine) -> Result<Exit, Failure> {
    let report = engine.maintenance().rebuild_index()?;
    let mut page = context.printer.page();
    render::index_report(&mut page, &report);
    context.printer.answer(&page)?;
    if page.as_str().is_empty() {
        context.printer.note_line("Nothing to index.");
        context.printer.hint(NEVER_SYNCED);
    }
    Ok(Exit::Done)
}

/// Prints counts per agent to stdout, and warnings and index state to stderr.
pub(crate) fn print_report(context: &CommandContext, report: &SyncReport) -> Result<(), Failure> {
    let mut page = context.printer.page();
    render::sync_report(&mut page, report);
    context.printer.answer(&page)?;
    let mut side = context.printer.side_page();
    render::warnings(&mut side, &report.agents, context.printer.verbosity() > 0);
    if !print_index_problem(context, &report.index.outcome) {
        render::index_report(&mut side, &report.index);
    }
    context.printer.note(&side);
    for old in &report.carried_over {
        context.printer.warn(&render::carried_over(old));
    }
    if report.kept_entries > 0 {
        let noun = if report.kept_entries == 1 { "entry" } else { "entries" };
        context.printer.note_line(&format!("kept {} {noun} that no transcript has any more", report.kept_entries));
    }
    print_embeddings(context, report);
    if report.agents.iter().all(|agent| agent.files == 0) {
        no_transcripts(context);
    }
    Ok(())
}

/// Prints the result of embedding, if an embedding model is configured.
pub(crate) fn print_embeddings(context: &CommandContext, report: &SyncReport) {
    let Some(report) = &report.embeddings else { return };
    if report.embedded > 0 {
        context.printer.note_line(&render::embedding_report(report));
    }
    if let Some(reason) = &report.error {
        context.printer.warn(&render::embedding_failure(reason));
    }
}

/// Prints a problem of the index and returns whether there was one. A missing index is not a problem.
pub(crate) fn print_index_problem(context: &CommandContext, index: &IndexOutcome) -> bool {
    let is_problem = match index {
        IndexOutcome::UpToDate | IndexOutcome::Busy => false,
        IndexOutcome::Updated { rebuild_reason, .. } => {
            rebuild_reason.is_some_and(|reason| reason != IndexProblem::Missing)
        }
        IndexOutcome::Failed(_) => true,
    };
    if is_problem {
        print_index(context, index);
    }
    is_problem
}

fn dry_run(context: &CommandContext, engine: &Engine, request: &SyncRequest, json: bool) -> Result<Exit, Failure> {
    let (runs, estimates) = engine.sync().plan_with_costs(request)?;
    if json {
        context.printer.json(&SyncPlanJson::new(&runs, estimates.as_deref()))?;
        return Ok(Exit::Done);
    }
    let mut page = context.printer.page();
    render::sync_plan(&mut page, &runs, context.printer.verbosity() > 0);
    render::enrichment_estimates(&mut page, &estimates.unwrap_or_default());
    context.printer.answer(&page)?;
    if runs.iter().all(|run| run.files == 0) {
        no_transcripts(context);
    }
    Ok(Exit::Done)
}

fn no_transcripts(context: &CommandContext) {
    context.printer.note_line("No transcripts found.");
    context.printer.hint("`rethread doctor` shows where Rethread looks for them");
}
