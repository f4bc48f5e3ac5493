//! `files`: shows the history of a file.

use rethread_engine::{EngineError, FileRequest, SessionScope};

use super::{CommandContext, Exit, explain_empty, scope};
use crate::cli::facts::FilesArgs;
use crate::failure::Failure;
use crate::json::FileHistoryJson;
use crate::render::{self, count};

pub(crate) fn run(context: &CommandContext, args: &FilesArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let request = FileRequest {
        path: args.path.clone(),
        scope: scope(context, &engine, &args.scope)?,
        since: args.time.since.clone(),
        until: args.time.until.clone(),
        limit: usize::from(args.limit),
    };
    let found = engine.facts().file_history(&request)?;
    let is_found = !found.touches.is_empty() || !found.fixes.is_empty() || !found.decisions.is_empty();
    if args.json.json {
        context.printer.json(&FileHistoryJson::new(&found))?;
    } else if is_found {
        let mut page = context.printer.page();
        render::file_history(&mut page, &found, &context.zone, request.scope == SessionScope::AllProjects);
        context.printer.answer(&page)?;
        let more = found.total.saturating_sub(found.touches.len() as u64);
        if more > 0 {
            context.printer.hint(&format!("{} more: --limit {}", count(more, "episode"), found.total));
        }
    }
    if is_found {
        return Ok(Exit::Done);
    }
    let is_elsewhere =
        || match engine.facts().file_history(&FileRequest { scope: SessionScope::AllProjects, ..request.clone() }) {
            Ok(everywhere) => Ok(!everywhere.touches.is_empty()),
            Err(EngineError::AmbiguousFile { .. }) => Ok(true),
            Err(error) => Err(error.into()),
        };
    let message = if found.names.is_empty() {
        "Nothing found about that file."
    } else {
        "Nothing found about that file in this period."
    };
    explain_empty(context, &engine, &request.scope, message, is_elsewhere)?;
    Ok(Exit::Nothing)
}
