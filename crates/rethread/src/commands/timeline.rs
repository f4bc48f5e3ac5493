//! `timeline`: exchanges in the order they happened.

use rethread_engine::{Engine, Scope, TimelineRequest};

use super::{Context, Exit, scope, tell_index};
use crate::cli::Timeline;
use crate::failure::Failure;
use crate::json::Happenings;
use crate::render;

/// How many exchanges may begin at the same moment as the one that is looked for.
const AT_ONCE: usize = 8;

/// Shows the last exchanges, or those around one.
pub(crate) fn run(context: &Context, request: &Timeline) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = TimelineRequest {
        scope: place(&engine, request)?,
        session: request.session.clone(),
        around: request.around.clone(),
        file: request.file.clone(),
        since: request.time.since.clone(),
        until: request.time.until.clone(),
        limit: usize::from(request.limit),
        only_reads: false,
    };
    let found = engine.timeline(&wanted)?;
    tell_index(context, &found.index);
    if request.json.json {
        context.printer.json(&Happenings::new(&found))?;
    } else if !found.episodes.is_empty() {
        let mut page = context.printer.page();
        render::timeline(&mut page, &found, &context.zone, request.place.all_projects);
        context.printer.answer(&page)?;
    }
    if found.episodes.is_empty() {
        explain(context, &engine, &wanted)?;
        return Ok(Exit::Nothing);
    }
    Ok(Exit::Done)
}

/// Where to look. Whoever names a session or an exchange means its project, not that of the current directory.
fn place(engine: &Engine, request: &Timeline) -> Result<Scope, Failure> {
    let is_said = request.place.all_projects || request.place.project.is_some();
    if is_said || (request.session.is_none() && request.around.is_none()) {
        return Ok(scope(engine, &request.place));
    }
    if request.session.is_some() {
        return Ok(Scope::AllProjects);
    }
    let at_anchor = TimelineRequest { around: request.around.clone(), limit: AT_ONCE, ..TimelineRequest::default() };
    let anchor = engine.timeline(&at_anchor)?.episodes.into_iter().find(|happened| happened.is_anchor);
    Ok(anchor.and_then(|happened| happened.session.project).map_or(Scope::AllProjects, Scope::Project))
}

/// Says where exchanges could be when there are none here.
fn explain(context: &Context, engine: &Engine, wanted: &TimelineRequest) -> Result<(), Failure> {
    context.printer.note_line("Nothing happened here.");
    let everywhere = TimelineRequest { scope: Scope::AllProjects, limit: 1, ..wanted.clone() };
    if wanted.scope != Scope::AllProjects && !engine.timeline(&everywhere)?.episodes.is_empty() {
        context.printer.hint("something happened in other projects: add --all-projects");
    } else if engine.status()?.statistics.is_none() {
        context.printer.hint("nothing was read yet: rethread init");
    }
    Ok(())
}
