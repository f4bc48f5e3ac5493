//! `remember`: saves a note for later sessions, marked as written by an agent.

use rethread_engine::{NewNote, SessionScope};

use super::{ToolContext, scope_name};
use crate::failure::Failure;
use crate::mcp::arguments::McpArguments;

/// Saves a note about the project.
pub(super) fn remember(context: &ToolContext<'_>, arguments: &McpArguments) -> Result<String, Failure> {
    let session = match arguments.optional_text("session") {
        Some(session) => Some(session.to_owned()),
        None => calling_session(context)?,
    };
    let noted = context.engine.threads().remember(&NewNote {
        text: arguments.text("text").to_owned(),
        author: context.client.map(str::to_owned),
        session,
        scope: context.scope.clone(),
    })?;
    let about =
        noted.project.map_or_else(|| "no project".to_owned(), |project| scope_name(&SessionScope::Project(project)));
    let when = if noted.is_new { "Saved" } else { "Already saved" };
    Ok(format!("{when} as {}, about {about}.", noted.citation))
}

/// The id of the calling session, if its client names it and it was seen before.
fn calling_session(context: &ToolContext<'_>) -> Result<Option<String>, Failure> {
    let Some(asker) = context.asker()? else { return Ok(None) };
    Ok(context.engine.awareness().session_of(asker)?.map(|session| session.id.to_string()))
}
