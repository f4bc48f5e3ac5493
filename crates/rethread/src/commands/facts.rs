//! `facts`: shows or draws what is known about an entity.

use rethread_engine::{Engine, FactsReport, FactsRequest, SessionScope};

use super::{CommandContext, Exit, explain_empty, scope};
use crate::cli::facts::FactsArgs;
use crate::failure::Failure;
use crate::json::FactsReportJson;
use crate::render::{self, TextPage};

pub(crate) fn run(context: &CommandContext, args: &FactsArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let request = FactsRequest {
        entity: (!args.entity.is_empty()).then(|| args.entity.join(" ")),
        kind: args.kind,
        scope: scope(context, &engine, &args.scope)?,
        as_of: args.as_of.when.clone(),
        limit: usize::from(args.limit),
    };
    let found = engine.facts().about(&request)?;
    if args.json.json {
        context.printer.json(&FactsReportJson::new(&found))?;
    } else if !found.is_empty() && !print(context, &engine, (args, &request), &found)? {
        return Ok(Exit::Nothing);
    }
    if !found.is_empty() {
        return Ok(Exit::Done);
    }
    let is_elsewhere = || {
        let everywhere = FactsRequest { scope: SessionScope::AllProjects, ..request.clone() };
        Ok(!engine.facts().about(&everywhere)?.is_empty())
    };
    let message = if request.entity.is_some() { "No facts found about that." } else { "No facts found." };
    explain_empty(context, &engine, &request.scope, message, is_elsewhere)?;
    Ok(Exit::Nothing)
}

/// Prints text or a drawing. False if nothing was drawn because the name is ambiguous.
fn print(
    context: &CommandContext,
    engine: &Engine,
    (args, request): (&FactsArgs, &FactsRequest),
    found: &FactsReport,
) -> Result<bool, Failure> {
    let with_project = request.scope == SessionScope::AllProjects;
    let mut page: TextPage = context.printer.page();
    match found {
        FactsReport::About { graph, .. } if args.dot => context.printer.raw(render::dot(graph).as_bytes())?,
        FactsReport::About { graph, .. } if args.svg => context.printer.raw(render::svg(graph).as_bytes())?,
        FactsReport::About { subject: entity, facts, graph, others } => {
            render::entity_facts(&mut page, (entity, facts, graph), &context.zone, with_project);
            context.printer.answer(&page)?;
            for other in others {
                let kind = other.kind.as_str();
                context.printer.hint(&format!("there is also a {kind} with this name: --kind {kind}"));
            }
        }
        FactsReport::Entities(entities) => {
            if args.dot || args.svg {
                context.printer.note_line("Several entities match; only one can be drawn:");
            }
            render::entity_table(&mut page, entities, engine.now());
            if args.dot || args.svg {
                context.printer.note(&page);
                return Ok(false);
            }
            context.printer.answer(&page)?;
            if !args.entity.is_empty() {
                context.printer.hint("several entities match: give the full name of one, or --kind");
            }
        }
    }
    Ok(true)
}
