//! `sessions`: lists sessions, newest first.

use rethread_engine::{Engine, SessionListRequest, SessionScope};

use super::{CommandContext, Exit, NEVER_SYNCED, no_sessions, scope};
use crate::cli::sessions::SessionsArgs;
use crate::failure::Failure;
use crate::json;
use crate::render::{self, count};

pub(crate) fn run(context: &CommandContext, args: &SessionsArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let request = SessionListRequest {
        scope: scope(&engine, &args.scope),
        agent: args.agent,
        state: args.state,
        include_empty: args.include_empty,
        include_children: args.children,
        limit: args.limit,
    };
    let found = engine.sessions(&request)?;
    if args.json.json {
        context.printer.json(&json::SessionListJson::new(&found))?;
    } else if !found.is_empty() {
        let mut page = context.printer.page();
        if args.for_ref {
            render::picker_lines(&mut page, &found, engine.now());
        } else {
            render::sessions(&mut page, &found, engine.now(), args.scope.all_projects);
        }
        context.printer.answer(&page)?;
    }
    if found.is_empty() {
        explain_empty(context, &engine, &request)?;
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

fn explain_empty(context: &CommandContext, engine: &Engine, request: &SessionListRequest) -> Result<(), Failure> {
    context.printer.note_line(&no_sessions(&request.scope));
    let everywhere = SessionListRequest { scope: SessionScope::AllProjects, limit: None, ..request.clone() };
    let elsewhere = engine.sessions(&everywhere)?.len() as u64;
    if elsewhere > 0 && request.limit != Some(0) {
        let hint = format!("{} in other projects: rethread sessions --all-projects", count(elsewhere, "session"));
        context.printer.hint(&hint);
    } else if engine.status()?.statistics.is_none() {
        context.printer.hint(NEVER_SYNCED);
    }
    Ok(())
}
