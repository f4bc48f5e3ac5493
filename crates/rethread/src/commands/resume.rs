//! `resume`: shows where a session left off and how to continue it.

use rethread_engine::SessionListRequest;

use super::{CommandContext, Exit, NEVER_SYNCED};
use crate::cli::sessions::ResumeArgs;
use crate::failure::Failure;
use crate::render::{self, Tone};

pub(crate) fn run(context: &CommandContext, args: &ResumeArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let project = engine.sessions().current_project();
    let found = if let Some(reference) = &args.reference {
        Some(engine.sessions().resolve(reference)?)
    } else {
        let newest = SessionListRequest { scope: project.clone(), limit: Some(1), ..SessionListRequest::default() };
        engine.sessions().list(&newest)?.pop()
    };
    let Some(listed) = found else {
        context.printer.note_line(&super::no_sessions(&project));
        if engine.has_store() {
            context.printer.hint("`rethread sessions --all-projects` lists the sessions of other projects");
        } else {
            context.printer.hint(NEVER_SYNCED);
        }
        return Ok(Exit::Nothing);
    };
    let text = engine.awareness().resume_text(&listed.session.id.to_string())?;
    let mut page = context.printer.page();
    page.block(Tone::Plain, &text, 0);
    context.printer.answer(&page)?;
    if let Some(command) = render::resume_command(&listed.session) {
        context.printer.hint(&command);
    }
    Ok(Exit::Done)
}
