//! `remember`: a note that later sessions find. An agent's words, and marked as such.

use rethread_engine::{NewNote, Scope};

use super::{Desk, place};
use crate::failure::Failure;
use crate::mcp::arguments::Arguments;

/// Keeps a note about the project.
pub(super) fn remember(desk: &Desk<'_>, arguments: &Arguments) -> Result<String, Failure> {
    let noted = desk.engine.remember(&NewNote {
        text: arguments.text("text").to_owned(),
        by: desk.client.map(str::to_owned),
        session: arguments.optional_text("session").map(str::to_owned),
        scope: desk.scope.clone(),
    })?;
    let about = noted.project.map_or_else(|| "no project".to_owned(), |project| place(&Scope::Project(project)));
    let when = if noted.is_new { "Noted" } else { "It was noted before" };
    Ok(format!("{when} as {}, about {about}.", noted.citation))
}
