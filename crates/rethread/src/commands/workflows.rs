//! `workflows`: how work is done in a project.

use rethread_engine::{Scope, WorkflowRequest};

use super::{Context, Exit, explain_unknown, scope};
use crate::cli::facts::Workflows;
use crate::failure::Failure;
use crate::json::Worked;
use crate::render;

/// Shows commands, how they go, and sequences that come back.
pub(crate) fn run(context: &Context, request: &Workflows) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = WorkflowRequest { scope: scope(&engine, &request.place), as_of: request.then.as_of.clone() };
    let mut found = engine.workflows(&wanted)?;
    for workflow in &mut found {
        workflow.commands.truncate(usize::from(request.limit));
        workflow.patterns.truncate(usize::from(request.limit));
    }
    if request.json.json {
        context.printer.json(&Worked::new(&found))?;
    } else if !found.is_empty() {
        let mut page = context.printer.page();
        render::workflows(&mut page, &found, engine.now(), request.place.all_projects);
        context.printer.answer(&page)?;
    }
    if !found.is_empty() {
        return Ok(Exit::Done);
    }
    let elsewhere = || {
        let everywhere = WorkflowRequest { scope: Scope::AllProjects, ..wanted.clone() };
        Ok(!engine.workflows(&everywhere)?.is_empty())
    };
    explain_unknown(context, &engine, &wanted.scope, "No commands were seen here.", elsewhere)?;
    Ok(Exit::Nothing)
}
