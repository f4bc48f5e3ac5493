//! `files`: who did what to a file, when, and what for.

use rethread_engine::{EngineError, FileRequest, Scope};

use super::{Context, Exit, explain_unknown, scope};
use crate::cli::facts::Files;
use crate::failure::Failure;
use crate::json::FileStory;
use crate::render::{self, count};

/// Shows the story of a file.
pub(crate) fn run(context: &Context, request: &Files) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = FileRequest {
        path: request.path.clone(),
        scope: scope(&engine, &request.place),
        since: request.time.since.clone(),
        until: request.time.until.clone(),
        limit: usize::from(request.limit),
    };
    let found = engine.file_history(&wanted)?;
    let is_known = !found.touches.is_empty() || !found.fixes.is_empty() || !found.decisions.is_empty();
    if request.json.json {
        context.printer.json(&FileStory::new(&found))?;
    } else if is_known {
        let mut page = context.printer.page();
        render::file_history(&mut page, &found, &context.zone, request.place.all_projects);
        context.printer.answer(&page)?;
        let more = found.total.saturating_sub(found.touches.len() as u64);
        if more > 0 {
            context.printer.hint(&format!("{} more: --limit {}", count(more, "exchange"), found.total));
        }
    }
    if is_known {
        return Ok(Exit::Done);
    }
    let elsewhere = || match engine.file_history(&FileRequest { scope: Scope::AllProjects, ..wanted.clone() }) {
        Ok(everywhere) => Ok(!everywhere.touches.is_empty()),
        Err(EngineError::AmbiguousFile { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    };
    let said =
        if found.names.is_empty() { "Nothing is known about that file." } else { "Nothing was done to it then." };
    explain_unknown(context, &engine, &wanted.scope, said, elsewhere)?;
    Ok(Exit::Nothing)
}
