//! `sessions`: lists sessions, newest first.

use rethread_engine::{Engine, SessionListRequest, SessionScope};

use super::{CommandContext, Exit, NEVER_SYNCED, no_sessions, scope};
use crate::cli::sessions::SessionsArgs;
use crate::failure::Failure;
use crate::json;
use crate::render::{self, count, number};

/// Sessions shown on a terminal by default.
const LIMIT_ON_SCREEN: usize = 50;

pub(crate) fn run(context: &CommandContext, args: &SessionsArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    // A screen holds only so many. Programs get all of them.
    let is_for_screen = context.printer.is_read() && !args.json.json && !args.for_ref;
    let request = SessionListRequest {
        scope: scope(context, &engine, &args.scope)?,
        agent: args.agent,
        state: args.state,
        include_empty: args.include_empty,
        include_children: args.children,
        limit: args.limit,
    };
    let mut found = engine.sessions().list(&request)?;
    let all = found.len();
    if is_for_screen && args.limit.is_none() {
        found.truncate(LIMIT_ON_SCREEN);
    }
    if args.json.json {
        context.printer.json(&json::SessionListJson::new(&found))?;
    } else if !found.is_empty() {
        let mut page = context.printer.page();
        if args.for_ref {
            render::picker_lines(&mut page, &found, engine.now());
        } else {
            render::sessions(&mut page, &found, engine.now(), request.scope == SessionScope::AllProjects);
        }
        context.printer.answer(&page)?;
    }
    if found.len() < all {
        let hint = format!("{} more: rethread sessions --limit {all}", number((all - found.len()) as u64));
        context.printer.hint(&hint);
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
    let elsewhere = engine.sessions().list(&everywhere)?.len() as u64;
    if elsewhere > 0 && request.limit != Some(0) {
        let hint = format!("{} in other projects: rethread sessions --all-projects", count(elsewhere, "session"));
        context.printer.hint(&hint);
    } else if engine.reports().status()?.statistics.is_none() {
        context.printer.hint(NEVER_SYNCED);
    }
    Ok(())
}
