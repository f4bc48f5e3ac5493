//! `session …`: sets name, alias, task, notes, pin and tags of a session, pauses it or ends it.

use rethread_engine::Engine;

use super::{CommandContext, Exit, card, short_id};
use crate::cli::session::{
    SessionAliasArgs, SessionCommand, SessionNameArgs, SessionRefArgs, SessionTagArgs, SessionTextArgs,
};
use crate::failure::Failure;
use crate::render;

pub(crate) fn run(context: &CommandContext, command: &SessionCommand) -> Result<Exit, Failure> {
    match command {
        SessionCommand::Name(args) => name(context, args),
        SessionCommand::Alias(args) => alias(context, args),
        SessionCommand::Task(args) => task(context, args),
        SessionCommand::Note(args) => note(context, args),
        SessionCommand::Pin(args) => set_pinned(context, args, true),
        SessionCommand::Unpin(args) => set_pinned(context, args, false),
        SessionCommand::Tag(args) => tag(context, args),
        SessionCommand::Pause(args) => pause(context, args),
        SessionCommand::End(args) => end(context, args),
        SessionCommand::Card(args) => card::run(context, args),
    }
}

fn name(context: &CommandContext, args: &SessionNameArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let session = described(&engine, &args.session);
    engine.lifecycle().set_name(&args.session.reference, &args.name)?;
    Ok(confirm(
        context,
        &match args.name.trim() {
            "" => format!("{session} has its original name again."),
            name => format!("{session} is now named {name:?}."),
        },
    ))
}

fn alias(context: &CommandContext, args: &SessionAliasArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let session = described(&engine, &args.session);
    engine.lifecycle().set_alias(&args.session.reference, &args.alias)?;
    Ok(confirm(context, &format!("{session} now has the alias {:?}.", args.alias)))
}

fn task(context: &CommandContext, args: &SessionTextArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let session = described(&engine, &args.session);
    engine.lifecycle().set_task(&args.session.reference, &args.text)?;
    Ok(confirm(context, &format!("Set the task of {session}.")))
}

fn note(context: &CommandContext, args: &SessionTextArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let session = described(&engine, &args.session);
    engine.lifecycle().add_note(&args.session.reference, &args.text)?;
    Ok(confirm(context, &format!("Added the note to {session}; its next prompt gets it.")))
}

fn set_pinned(context: &CommandContext, args: &SessionRefArgs, pinned: bool) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let session = described(&engine, args);
    let is_changed = engine.lifecycle().set_pinned(&args.reference, pinned)?;
    Ok(confirm(
        context,
        &match (pinned, is_changed) {
            (true, true) => format!("Pinned {session}."),
            (true, false) => format!("{session} is pinned already."),
            (false, true) => format!("{session} is no longer pinned."),
            (false, false) => format!("{session} is not pinned."),
        },
    ))
}

fn tag(context: &CommandContext, args: &SessionTagArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let session = described(&engine, &args.session);
    let (add, remove): (&[String], &[String]) = if args.remove { (&[], &args.tags) } else { (&args.tags, &[]) };
    let changed = engine.lifecycle().change_tags(&args.session.reference, add, remove)?;
    let quoted = |tags: &[String]| tags.iter().map(|tag| format!("{tag:?}")).collect::<Vec<_>>().join(", ");
    Ok(confirm(
        context,
        &match (quoted(&changed.added), quoted(&changed.removed)) {
            (added, _) if !added.is_empty() => format!("Added {added} to {session}."),
            (_, removed) if !removed.is_empty() => format!("Removed {removed} from {session}."),
            _ if args.remove => format!("{session} has no such tag."),
            _ => format!("{session} has these tags already."),
        },
    ))
}

fn pause(context: &CommandContext, args: &SessionRefArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let session = described(&engine, args);
    if engine.lifecycle().pause(&args.reference)? {
        return Ok(confirm(context, &format!("Paused {session}; it resumes with its next prompt.")));
    }
    Ok(already_ended(context))
}

fn end(context: &CommandContext, args: &SessionRefArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let session = described(&engine, args);
    let Some(ended) = engine.lifecycle().end(&args.reference)? else { return Ok(already_ended(context)) };
    Ok(confirm(
        context,
        &match ended.archive_path {
            Some(path) => format!("Ended {session}; archived in {}.", path.display()),
            None => format!("Ended {session}."),
        },
    ))
}

/// A session as it is called before the change: its short id and name. The change itself reports an unknown one.
fn described(engine: &Engine, args: &SessionRefArgs) -> String {
    match engine.sessions().resolve(&args.reference) {
        Ok(listed) => format!("{} ({})", short_id(&listed), render::session_label(&listed.session)),
        Err(_) => args.reference.clone(),
    }
}

fn confirm(context: &CommandContext, message: &str) -> Exit {
    context.printer.note_line(message);
    Exit::Done
}

fn already_ended(context: &CommandContext) -> Exit {
    context.printer.note_line("The session has already ended. Its next prompt starts a new period.");
    Exit::Nothing
}
