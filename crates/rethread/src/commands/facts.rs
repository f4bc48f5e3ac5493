//! `facts`: what is known of a thing, and what surrounds it.

use rethread_engine::{Engine, FactsReport, FactsRequest, Scope};

use super::{Context, Exit, explain_unknown, scope};
use crate::cli::facts::Facts;
use crate::failure::Failure;
use crate::json::Known;
use crate::render::{self, Page};

/// Shows a thing, or the things most is known of.
pub(crate) fn run(context: &Context, request: &Facts) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = FactsRequest {
        entity: (!request.entity.is_empty()).then(|| request.entity.join(" ")),
        kind: request.kind,
        scope: scope(&engine, &request.place),
        as_of: request.then.as_of.clone(),
        limit: usize::from(request.limit),
    };
    let found = engine.facts_about(&wanted)?;
    if request.json.json {
        context.printer.json(&Known::new(&found))?;
    } else if !found.is_empty() && !tell(context, &engine, request, &found)? {
        return Ok(Exit::Nothing);
    }
    if !found.is_empty() {
        return Ok(Exit::Done);
    }
    let elsewhere = || {
        let everywhere = FactsRequest { scope: Scope::AllProjects, ..wanted.clone() };
        Ok(!engine.facts_about(&everywhere)?.is_empty())
    };
    let said = if wanted.entity.is_some() { "Nothing is known about that." } else { "Nothing is known here." };
    explain_unknown(context, &engine, &wanted.scope, said, elsewhere)?;
    Ok(Exit::Nothing)
}

/// Shows or draws what was found; false where nothing could be drawn, because several things are called so.
fn tell(context: &Context, engine: &Engine, request: &Facts, found: &FactsReport) -> Result<bool, Failure> {
    let mut page: Page = context.printer.page();
    match found {
        FactsReport::About { graph, .. } if request.dot => context.printer.raw(render::dot(graph).as_bytes())?,
        FactsReport::About { graph, .. } if request.svg => context.printer.raw(render::svg(graph).as_bytes())?,
        FactsReport::About { thing, facts, graph, others } => {
            render::about(&mut page, (thing, facts, graph), &context.zone, request.place.all_projects);
            context.printer.answer(&page)?;
            for other in others {
                let kind = other.kind.as_str();
                context.printer.hint(&format!("a {kind} is called so too: --kind {kind}"));
            }
        }
        FactsReport::Things(things) => {
            if request.dot || request.svg {
                context.printer.note_line("Several things are called so; only one can be drawn:");
            }
            render::things(&mut page, things, engine.now());
            if request.dot || request.svg {
                context.printer.note(&page);
                return Ok(false);
            }
            context.printer.answer(&page)?;
            if !request.entity.is_empty() {
                context.printer.hint("several things are called so: give the whole name of one, or --kind");
            }
        }
    }
    Ok(true)
}
