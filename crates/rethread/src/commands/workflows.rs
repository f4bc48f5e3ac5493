//! `workflows`: shows frequent commands and recurring sequences of a project.

use rethread_engine::{SessionScope, WorkflowRequest};

use super::{CommandContext, Exit, explain_empty, scope};
use crate::cli::facts::WorkflowsArgs;
use crate::failure::Failure;
use crate::json::WorkflowListJson;
use crate::render;

pub(crate) fn run(context: &CommandContext, args: &WorkflowsArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let request = WorkflowRequest { scope: scope(context, &engine, &args.scope)?, as_of: args.as_of.when.clone() };
    let mut found = engine.facts().workflows(&request)?;
    for workflow in &mut found {
        workflow.commands.truncate(usize::from(args.limit));
        workflow.sequences.truncate(usize::from(args.limit));
        workflow.retries.truncate(usize::from(args.limit));
    }
    if args.json.json {
        context.printer.json(&WorkflowListJson::new(&found))?;
    } else if !found.is_empty() {
        let mut page = context.printer.page();
        render::workflows(&mut page, &found, engine.now(), request.scope == SessionScope::AllProjects);
        context.printer.answer(&page)?;
    }
    if !found.is_empty() {
        return Ok(Exit::Done);
    }
    let is_elsewhere = || {
        let everywhere = WorkflowRequest { scope: SessionScope::AllProjects, ..request.clone() };
        Ok(!engine.facts().workflows(&everywhere)?.is_empty())
    };
    explain_empty(context, &engine, &request.scope, "No commands found.", is_elsewhere)?;
    Ok(Exit::Nothing)
}
