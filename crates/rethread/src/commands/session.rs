//! `session …`: sets name, alias, task and notes of a session, pauses it or ends it.

use super::{CommandContext, Exit, card};
use crate::cli::session::{SessionCommand, SessionRefArgs};
use crate::failure::Failure;

pub(crate) fn run(context: &CommandContext, command: &SessionCommand) -> Result<Exit, Failure> {
    match command {
        SessionCommand::Name(args) => context.engine()?.set_name(&args.session.reference, &args.name)?,
        SessionCommand::Alias(args) => context.engine()?.set_alias(&args.session.reference, &args.alias)?,
        SessionCommand::Task(args) => context.engine()?.set_task(&args.session.reference, &args.text)?,
        SessionCommand::Note(args) => context.engine()?.add_note(&args.session.reference, &args.text)?,
        SessionCommand::Pause(args) => return pause(context, args),
        SessionCommand::End(args) => return end(context, args),
        SessionCommand::Card(args) => return card::run(context, args),
    }
    Ok(Exit::Done)
}

fn pause(context: &CommandContext, args: &SessionRefArgs) -> Result<Exit, Failure> {
    if context.engine()?.pause_session(&args.reference)? {
        return Ok(Exit::Done);
    }
    Ok(already_ended(context))
}

fn end(context: &CommandContext, args: &SessionRefArgs) -> Result<Exit, Failure> {
    let Some(ended) = context.engine()?.end_session(&args.reference)? else { return Ok(already_ended(context)) };
    if let Some(path) = ended.archive_path {
        context.printer.note_line(&format!("archived in {}", path.display()));
    }
    Ok(Exit::Done)
}

fn already_ended(context: &CommandContext) -> Exit {
    context.printer.note_line("The session has already ended. Its next prompt starts a new period.");
    Exit::Nothing
}
