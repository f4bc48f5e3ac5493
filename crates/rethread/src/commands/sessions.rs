//! `sessions`: lists sessions, newest first.

use std::cmp::Reverse;

use rethread_engine::{Engine, ListedSession, SessionListRequest, SessionScope};
use rethread_model::Session;

use super::{CommandContext, Exit, NEVER_SYNCED, no_sessions, scope};
use crate::cli::sessions::{SessionOrder, SessionsArgs};
use crate::failure::Failure;
use crate::json;
use crate::render::{self, Separator, count, number};

/// Sessions shown on a terminal by default.
const LIMIT_ON_SCREEN: usize = 50;

pub(crate) fn run(context: &CommandContext, args: &SessionsArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    // A screen holds only so many. Programs get all of them.
    let separator = Separator::of(args.format);
    let is_for_screen = context.printer.is_read() && !args.json.json && !args.for_ref && separator.is_none();
    let is_by_time = args.sort == SessionOrder::Recent;
    let request = SessionListRequest {
        scope: scope(context, &engine, &args.scope)?,
        agent: args.agent,
        state: args.state,
        include_empty: args.include_empty,
        include_children: args.children,
        since: args.since.clone(),
        only_pinned: args.pinned,
        tags: args.tags.clone(),
        // Another order needs all of them first.
        limit: args.limit.filter(|_| is_by_time),
    };
    let mut found = engine.sessions().list(&request)?;
    sort(&mut found, args.sort);
    found.truncate(args.limit.map_or(usize::MAX, |limit| limit as usize));
    let all = found.len();
    if is_for_screen && args.limit.is_none() {
        found.truncate(LIMIT_ON_SCREEN);
    }
    if args.json.json {
        context.printer.json(&json::SessionListJson::new(&found))?;
    } else if let Some(separator) = separator {
        context.printer.raw(render::session_rows(separator, &found).as_bytes())?;
    } else if !found.is_empty() {
        let mut page = context.printer.page();
        if args.for_ref {
            render::picker_lines(&mut page, &found, engine.now());
        } else {
            let with_project = request.scope == SessionScope::AllProjects;
            render::sorted_sessions(&mut page, &found, engine.now(), (args.sort, with_project));
        }
        context.printer.answer(&page)?;
    }
    if found.len() < all {
        let hint = format!("{} more, add --limit {all}", number((all - found.len()) as u64));
        context.printer.hint(&hint);
    }
    if found.is_empty() && args.limit == Some(0) {
        return Ok(Exit::Nothing);
    }
    if found.is_empty() {
        explain_empty(context, &engine, &request)?;
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

fn sort(sessions: &mut [ListedSession], order: SessionOrder) {
    let most = |key: fn(&Session) -> u64| move |listed: &ListedSession| Reverse(key(&listed.session));
    match order {
        SessionOrder::Recent => {}
        SessionOrder::Name => {
            sessions.sort_by_cached_key(|listed| render::session_label(&listed.session).to_lowercase());
        }
        SessionOrder::Prompts => sessions.sort_by_key(most(|session| session.counts.prompts)),
        SessionOrder::Errors => sessions.sort_by_key(most(|session| session.counts.tool_errors)),
        SessionOrder::Tokens => sessions.sort_by_key(most(|session| session.tokens.total())),
        SessionOrder::Duration => sessions.sort_by_key(most(|session| render::duration_millis(session) as u64)),
        SessionOrder::Cost => {
            let cost = |listed: &ListedSession| listed.session.cost_usd.unwrap_or(0.0);
            sessions.sort_by(|one, other| cost(other).total_cmp(&cost(one)));
        }
    }
}

fn explain_empty(context: &CommandContext, engine: &Engine, request: &SessionListRequest) -> Result<(), Failure> {
    context.printer.note_line(&no_sessions(&request.scope));
    let everywhere = SessionListRequest { scope: SessionScope::AllProjects, limit: None, ..request.clone() };
    let elsewhere = engine.sessions().list(&everywhere)?.len() as u64;
    if elsewhere > 0 {
        let hint = format!("{} in other projects: rethread sessions --all-projects", count(elsewhere, "session"));
        context.printer.hint(&hint);
    } else if engine.reports().status()?.statistics.is_none() {
        context.printer.hint(NEVER_SYNCED);
    }
    Ok(())
}
