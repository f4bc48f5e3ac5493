//! `decisions`: shows decisions, preferences and prohibitions, and the rules in files for agents.

use rethread_engine::{DecisionRequest, SessionScope};

use super::{CommandContext, Exit, explain_empty, scope};
use crate::cli::facts::DecisionsArgs;
use crate::failure::Failure;
use crate::json::DecisionListJson;
use crate::render;

pub(crate) fn run(context: &CommandContext, args: &DecisionsArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let request = DecisionRequest {
        query: args.query.join(" "),
        scope: scope(context, &engine, &args.scope)?,
        include_inactive: args.all,
        as_of: args.as_of.when.clone(),
    };
    let found = engine.facts().decisions(&request)?;
    let rules = engine.facts().file_rules(&request)?;
    if args.json.json {
        context.printer.json(&DecisionListJson::new(&found, &rules))?;
    } else if !found.is_empty() || !rules.is_empty() {
        let mut page = context.printer.page();
        render::decisions(&mut page, &found, &context.zone, request.scope == SessionScope::AllProjects);
        render::file_rules(&mut page, &rules, !found.is_empty());
        context.printer.answer(&page)?;
    }
    if !found.is_empty() || !rules.is_empty() {
        return Ok(Exit::Done);
    }
    if !request.include_inactive
        && !engine.facts().decisions(&DecisionRequest { include_inactive: true, ..request.clone() })?.is_empty()
    {
        context.printer.note_line("No active decisions.");
        context.printer.hint("use --all to include rejected and replaced ones");
        return Ok(Exit::Nothing);
    }
    let is_elsewhere = || {
        let everywhere = DecisionRequest { scope: SessionScope::AllProjects, ..request.clone() };
        Ok(!engine.facts().decisions(&everywhere)?.is_empty())
    };
    explain_empty(context, &engine, &request.scope, "No decisions found.", is_elsewhere)?;
    Ok(Exit::Nothing)
}
