//! `remember`: saves a note for later sessions, marked as written by an agent.

use rethread_engine::{NewNote, SessionScope};

use super::{ToolContext, scope_name};
use crate::failure::Failure;
use crate::mcp::arguments::McpArguments;

/// Saves a note about the project.
pub(super) fn remember(context: &ToolContext<'_>, arguments: &McpArguments) -> Result<String, Failure> {
    let noted = context.engine.threads().remember(&NewNote {
        text: arguments.text("text").to_owned(),
        author: context.client.map(str::to_owned),
        session: arguments.optional_text("session").map(str::to_owned),
        scope: context.scope.clone(),
    })?;
    let about =
        noted.project.map_or_else(|| "no project".to_owned(), |project| scope_name(&SessionScope::Project(project)));
    let when = if noted.is_new { "Saved" } else { "Already saved" };
    Ok(format!("{when} as {}, about {about}.", noted.citation))
}
