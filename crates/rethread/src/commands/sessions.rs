//! `sessions`: what was worked on, newest first.

use rethread_engine::{Engine, ListRequest, Scope};

use super::{Context, Exit, scope};
use crate::cli::Sessions;
use crate::failure::Failure;
use crate::json;
use crate::render::{self, count};

/// Lists sessions of a project, or of all.
pub(crate) fn run(context: &Context, request: &Sessions) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = ListRequest {
        scope: scope(&engine, &request.place),
        agent: request.agent,
        state: request.state,
        include_empty: request.include_empty,
        include_children: request.children,
        limit: request.limit,
    };
    let found = engine.sessions(&wanted)?;
    if request.json.json {
        context.printer.json(&json::Sessions::new(&found))?;
    } else if !found.is_empty() {
        let mut page = context.printer.page();
        if request.for_ref {
            render::for_pickers(&mut page, &found, engine.now());
        } else {
            render::sessions(&mut page, &found, engine.now(), request.place.all_projects);
        }
        context.printer.answer(&page)?;
    }
    if found.is_empty() {
        explain(context, &engine, &wanted)?;
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

/// Says where sessions could be when there are none here.
fn explain(context: &Context, engine: &Engine, wanted: &ListRequest) -> Result<(), Failure> {
    context.printer.note_line("No sessions found.");
    let everywhere = ListRequest { scope: Scope::AllProjects, limit: None, ..wanted.clone() };
    let elsewhere = engine.sessions(&everywhere)?.len() as u64;
    if elsewhere > 0 && wanted.limit != Some(0) {
        let hint = format!("{} in other projects: rethread sessions --all-projects", count(elsewhere, "session"));
        context.printer.hint(&hint);
    } else if engine.status()?.statistics.is_none() {
        context.printer.hint("nothing was read yet: rethread init");
    }
    Ok(())
}
