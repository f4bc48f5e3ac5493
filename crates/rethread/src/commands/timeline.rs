//! `timeline`: prints episodes in time order.

use rethread_engine::{Engine, SessionScope, TimelineRequest};

use super::{CommandContext, Exit, NEVER_SYNCED, print_index, scope};
use crate::cli::search::TimelineArgs;
use crate::failure::Failure;
use crate::json::TimelineJson;
use crate::render;

/// Episodes that may start at the same time as the one given by `--around`.
const MAX_SIMULTANEOUS: usize = 8;

pub(crate) fn run(context: &CommandContext, args: &TimelineArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let request = TimelineRequest {
        scope: timeline_scope(context, &engine, args)?,
        session: args.session.clone(),
        around: args.around.clone(),
        file: args.file.clone(),
        since: args.time.since.clone(),
        until: args.time.until.clone(),
        limit: usize::from(args.limit),
        read_only: false,
    };
    let found = engine.sessions().timeline(&request)?;
    print_index(context, &found.index);
    if args.json.json {
        context.printer.json(&TimelineJson::new(&found))?;
    } else if !found.episodes.is_empty() {
        let mut page = context.printer.page();
        render::timeline(&mut page, &found, &context.zone, request.scope == SessionScope::AllProjects);
        context.printer.answer(&page)?;
    }
    if found.episodes.is_empty() {
        explain_empty(context, &engine, &request)?;
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

/// A session or episode given by the user selects its own project, not that of the current directory.
fn timeline_scope(context: &CommandContext, engine: &Engine, args: &TimelineArgs) -> Result<SessionScope, Failure> {
    let is_explicit = args.scope.all_projects || args.scope.project.is_some();
    if is_explicit || (args.session.is_none() && args.around.is_none()) {
        return scope(context, engine, &args.scope);
    }
    if args.session.is_some() {
        return Ok(SessionScope::AllProjects);
    }
    let at_anchor =
        TimelineRequest { around: args.around.clone(), limit: MAX_SIMULTANEOUS, ..TimelineRequest::default() };
    let anchor = engine.sessions().timeline(&at_anchor)?.episodes.into_iter().find(|row| row.is_anchor);
    Ok(anchor.and_then(|row| row.session.project).map_or(SessionScope::AllProjects, SessionScope::Project))
}

fn explain_empty(context: &CommandContext, engine: &Engine, request: &TimelineRequest) -> Result<(), Failure> {
    context.printer.note_line("No episodes found.");
    let everywhere = TimelineRequest { scope: SessionScope::AllProjects, limit: 1, ..request.clone() };
    if request.scope != SessionScope::AllProjects && !engine.sessions().timeline(&everywhere)?.episodes.is_empty() {
        context.printer.hint("there are episodes in other projects: add --all-projects");
    } else if engine.reports().status()?.statistics.is_none() {
        context.printer.hint(NEVER_SYNCED);
    }
    Ok(())
}
