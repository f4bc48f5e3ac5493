//! `session_activity`: what other sessions did. Moves the watermarks of a calling session that is known, and no others.

use rethread_engine::{AskingSession, SessionScope};

use super::{ToolContext, scope_name};
use crate::failure::Failure;
use crate::mcp::arguments::McpArguments;
use crate::render::{self, Tone};

/// The activity that is new to the given or the calling session, or that of the last hour.
pub(super) fn activity(context: &ToolContext<'_>, arguments: &McpArguments) -> Result<String, Failure> {
    let mut page = ToolContext::page();
    if let Some(session) = arguments.optional_text("session") {
        // Resolve first: an unknown reference must not create a store.
        let id = context.engine.sessions().resolve(session)?.session.id.to_string();
        let found = context.engine.awareness().activity(&id, true)?;
        let text = found.map_or_else(|| "No new activity for that session.".to_owned(), |found| found.text);
        page.line(Tone::Plain, &text);
        return Ok(page.as_str().to_owned());
    }
    if let Some(asker) = context.asker()? {
        return activity_for(context, asker);
    }
    let live = context.engine.awareness().live_activity(context.scope)?;
    let Some(activity) = live.activity else {
        let nothing = || format!("No session activity in {} in the last hour.", scope_name(context.scope));
        return Ok(context.not_synced_message().map_or_else(nothing, str::to_owned));
    };
    page.line(Tone::Plain, &activity.text).end_line();
    page.line(Tone::Plain, "Sessions active in the last hour (one may be your own):");
    render::sessions(&mut page, &live.sessions, context.engine.now(), *context.scope == SessionScope::AllProjects);
    Ok(page.as_str().to_owned())
}

/// What is new to the calling session, and the others that were active in the last hour.
fn activity_for(context: &ToolContext<'_>, asker: &AskingSession) -> Result<String, Failure> {
    if let Some(why) = context.not_synced_message() {
        return Ok(why.to_owned());
    }
    let found = context.engine.awareness().activity_for(asker)?;
    let mut page = ToolContext::page();
    let nothing = "No new activity of other sessions since you last looked.";
    page.line(Tone::Plain, found.as_ref().map_or(nothing, |found| &found.text));
    let mut sessions = context.engine.awareness().live_activity(context.scope)?.sessions;
    sessions.retain(|listed| !asker.is_session(&listed.session));
    if !sessions.is_empty() {
        page.end_line().line(Tone::Plain, "Other sessions active in the last hour:");
        render::sessions(&mut page, &sessions, context.engine.now(), *context.scope == SessionScope::AllProjects);
    }
    Ok(page.as_str().to_owned())
}
