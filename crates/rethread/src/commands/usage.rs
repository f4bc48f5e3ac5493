//! `usage`: shows tokens and cost of the agents, our own model spending, and how much of the transcripts is stored.

use std::cmp::Reverse;
use std::path::Path;

use rethread_engine::{Engine, SessionScope, UsageReport, UsageRequest};

use super::{CommandContext, Exit, NEVER_SYNCED, scope};
use crate::cli::usage::{UsageArgs, UsageOrder};
use crate::failure::{Failure, FailureKind};
use crate::json;
use crate::render::{self, Separator};

/// The value of `--svg` that means stdout.
const STDOUT: &str = "-";

pub(crate) fn run(context: &CommandContext, args: &UsageArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let request = UsageRequest {
        scope: scope(context, &engine, &args.scope)?,
        group_by: args.by,
        agent: args.agent,
        since: args.time.since.clone(),
        until: args.time.until.clone(),
    };
    let mut report = engine.reports().usage(&request)?;
    match args.sort {
        Some(UsageOrder::Tokens) => report.groups.sort_by_key(|group| Reverse(group.totals.tokens.total())),
        Some(UsageOrder::Cost) => report.groups.sort_by_key(|group| Reverse(group.totals.cost())),
        None => {}
    }
    let is_empty = report.groups.is_empty();
    match &args.svg {
        _ if args.json.json => context.printer.json(&json::UsageReportJson::new(&report, request.group_by))?,
        _ if let Some(separator) = Separator::of(args.format) => {
            context.printer.raw(render::usage_rows(separator, &report, request.group_by).as_bytes())?;
        }
        Some(path) if path.as_os_str() == STDOUT => {
            if !is_empty {
                context.printer.raw(render::usage_chart(&report, request.group_by).as_bytes())?;
            }
        }
        file => {
            print(context, &report, &request)?;
            if let Some(path) = file.as_deref().filter(|_| !is_empty) {
                write_chart(context, path, &render::usage_chart(&report, request.group_by))?;
            }
        }
    }
    if is_empty {
        explain_empty(context, &engine, &request)?;
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

fn print(context: &CommandContext, report: &UsageReport, request: &UsageRequest) -> Result<(), Failure> {
    if report.groups.is_empty() && report.reductions.is_empty() && report.own.requests.is_empty() {
        return Ok(());
    }
    let mut page = context.printer.page();
    render::usage(&mut page, report, request.group_by);
    context.printer.answer(&page)?;
    Ok(())
}

fn write_chart(context: &CommandContext, path: &Path, chart: &str) -> Result<(), Failure> {
    std::fs::write(path, chart).map_err(|error| {
        Failure::new(FailureKind::Output, format!("cannot write the chart to {}: {error}", path.display()))
    })?;
    context.printer.note_line(&format!("Wrote the chart to {}.", path.display()));
    Ok(())
}

fn explain_empty(context: &CommandContext, engine: &Engine, request: &UsageRequest) -> Result<(), Failure> {
    match &request.scope {
        SessionScope::Project(path) => context.printer.note_line(&format!("No usage recorded in {path}.")),
        SessionScope::AllProjects => context.printer.note_line("No usage recorded."),
    }
    let everywhere = UsageRequest { scope: SessionScope::AllProjects, ..request.clone() };
    if request.scope != SessionScope::AllProjects && !engine.reports().usage(&everywhere)?.groups.is_empty() {
        context.printer.hint("there is usage in other projects: add --all-projects");
    } else if engine.reports().status()?.statistics.is_none() {
        context.printer.hint(NEVER_SYNCED);
    }
    Ok(())
}
