//! `usage`: what the agents' tokens cost, what we spent, and how much of the transcripts is kept.

use std::path::Path;

use rethread_engine::{Engine, Scope, UsageReport, UsageRequest};

use super::{Context, Exit, scope};
use crate::cli::usage::Usage;
use crate::failure::{Failure, Kind};
use crate::json;
use crate::render;

/// The file that stands for standard output.
const STDOUT: &str = "-";

/// Sums up by day, agent, model or project.
pub(crate) fn run(context: &Context, request: &Usage) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = UsageRequest {
        scope: scope(&engine, &request.place),
        by: request.by,
        agent: request.agent,
        since: request.time.since.clone(),
        until: request.time.until.clone(),
    };
    let report = engine.usage(&wanted)?;
    let is_nothing = report.groups.is_empty();
    match &request.svg {
        _ if request.json.json => context.printer.json(&json::Usage::new(&report, wanted.by))?,
        Some(path) if path.as_os_str() == STDOUT => {
            if !is_nothing {
                context.printer.raw(render::usage_chart(&report, wanted.by).as_bytes())?;
            }
        }
        file => {
            tell(context, &report, &wanted)?;
            if let Some(path) = file.as_deref().filter(|_| !is_nothing) {
                write(context, path, &render::usage_chart(&report, wanted.by))?;
            }
        }
    }
    if is_nothing {
        explain(context, &engine, &wanted)?;
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

fn tell(context: &Context, report: &UsageReport, wanted: &UsageRequest) -> Result<(), Failure> {
    if report.groups.is_empty() && report.kept.is_empty() && report.own.requests.is_empty() {
        return Ok(());
    }
    let mut page = context.printer.page();
    render::usage(&mut page, report, wanted.by);
    context.printer.answer(&page)?;
    Ok(())
}

fn write(context: &Context, path: &Path, chart: &str) -> Result<(), Failure> {
    std::fs::write(path, chart).map_err(|error| {
        Failure::new(Kind::Output, format!("the chart cannot be written to {}: {error}", path.display()))
    })?;
    context.printer.note_line(&format!("The chart is in {}.", path.display()));
    Ok(())
}

/// Says where usage could be when there is none here.
fn explain(context: &Context, engine: &Engine, wanted: &UsageRequest) -> Result<(), Failure> {
    match &wanted.scope {
        Scope::Project(path) => context.printer.note_line(&format!("No usage recorded in {path}.")),
        Scope::AllProjects => context.printer.note_line("No usage recorded."),
    }
    let everywhere = UsageRequest { scope: Scope::AllProjects, ..wanted.clone() };
    if wanted.scope != Scope::AllProjects && !engine.usage(&everywhere)?.groups.is_empty() {
        context.printer.hint("there is usage in other projects: add --all-projects");
    } else if engine.status()?.statistics.is_none() {
        context.printer.hint("nothing was read yet: rethread init");
    }
    Ok(())
}
