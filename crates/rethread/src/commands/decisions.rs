//! `decisions`: what was decided, and what the user always or never wants.

use rethread_engine::{DecisionRequest, Scope};

use super::{Context, Exit, explain_unknown, scope};
use crate::cli::facts::Decisions;
use crate::failure::Failure;
use crate::json::Decided;
use crate::render;

/// Shows decisions that hold, or all.
pub(crate) fn run(context: &Context, request: &Decisions) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = DecisionRequest {
        query: request.query.join(" "),
        scope: scope(&engine, &request.place),
        all: request.all,
        as_of: request.then.as_of.clone(),
    };
    let found = engine.decisions(&wanted)?;
    if request.json.json {
        context.printer.json(&Decided::new(&found))?;
    } else if !found.is_empty() {
        let mut page = context.printer.page();
        render::decisions(&mut page, &found, &context.zone, request.place.all_projects);
        context.printer.answer(&page)?;
    }
    if !found.is_empty() {
        return Ok(Exit::Done);
    }
    if !wanted.all && !engine.decisions(&DecisionRequest { all: true, ..wanted.clone() })?.is_empty() {
        context.printer.note_line("No decision holds.");
        context.printer.hint("some were rejected or replaced: add --all");
        return Ok(Exit::Nothing);
    }
    let elsewhere = || {
        let everywhere = DecisionRequest { scope: Scope::AllProjects, ..wanted.clone() };
        Ok(!engine.decisions(&everywhere)?.is_empty())
    };
    explain_unknown(context, &engine, &wanted.scope, "No decisions found.", elsewhere)?;
    Ok(Exit::Nothing)
}
