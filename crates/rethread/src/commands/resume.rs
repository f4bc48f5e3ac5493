//! `resume`: shows where a session left off, and starts its agent or another one there.

use rethread_engine::{AgentCommand, Engine, ListedSession, SessionListRequest};
use rethread_model::Agent;

use super::{CommandContext, Exit, NEVER_SYNCED, scope};
use crate::cli::ScopeArgs;
use crate::cli::sessions::ResumeArgs;
use crate::failure::Failure;
use crate::render::{self, TextPage, Tone};
use crate::{json, launch};

/// Sessions that the picker looks through.
const MAX_PICKABLE: u64 = 1000;

pub(crate) fn run(context: &CommandContext, args: &ResumeArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let Some(listed) = find(context, &engine, args)? else { return Ok(Exit::Nothing) };
    let reference = listed.session.id.to_string();
    let command = match args.agent {
        Some(agent) => engine.sessions().hand_over(&reference, agent)?,
        None => AgentCommand::resume(&listed.session),
    };
    if args.json.json {
        let text = engine.awareness().resume_text(&reference)?;
        context.printer.json(&json::ResumeCommandJson::new(&listed, command.as_ref(), &text))?;
        return Ok(Exit::Done);
    }
    if args.print || args.exec {
        let command = command.ok_or_else(|| launch::not_resumable(&listed.session))?;
        if args.print {
            context.printer.raw(format!("{}\n", command.shell_line()).as_bytes())?;
            return Ok(Exit::Done);
        }
        let mut page = context.printer.side_page();
        context.printer.note(page.line(Tone::Dim, &render::command_summary(&command)));
        return Err(launch::exec(&context.environment, &command));
    }
    show(context, &engine, &listed, args.agent, command.as_ref())
}

/// Shows the context of a session, or the note for another agent, and offers to start it.
fn show(
    context: &CommandContext,
    engine: &Engine,
    listed: &ListedSession,
    handed_to: Option<Agent>,
    command: Option<&AgentCommand>,
) -> Result<Exit, Failure> {
    let reference = listed.session.id.to_string();
    let prompt = command.and_then(|command| command.words.last()).filter(|_| handed_to.is_some());
    let mut page = context.printer.page();
    match prompt {
        Some(prompt) => page.add(Tone::Plain, prompt).end_line(),
        None => page.block(Tone::Plain, &engine.awareness().resume_text(&reference)?, 0),
    };
    context.printer.answer(&page)?;
    let Some(command) = command else {
        launch::not_resumable(&listed.session).hints.iter().for_each(|hint| context.printer.hint(hint));
        return Ok(Exit::Done);
    };
    if !context.printer.can_ask() || !context.printer.is_read() {
        match handed_to {
            Some(agent) => context.printer.hint(&format!("rethread resume {reference} --in {agent} --exec")),
            None => context.printer.hint(&command.shell_line()),
        }
        return Ok(Exit::Done);
    }
    context.printer.note_line(&format!("\n{}", render::command_summary(command)));
    if listed.live.is_some() && handed_to.is_none() {
        context.printer.warn("this session is still running in another terminal");
    }
    if context.printer.confirm_yes("Start it?")? {
        Err(launch::exec(&context.environment, command))
    } else {
        Ok(Exit::Done)
    }
}

/// The session that is meant. Without a reference, the user picks one; without a user, it is the newest.
fn find(context: &CommandContext, engine: &Engine, args: &ResumeArgs) -> Result<Option<ListedSession>, Failure> {
    if let Some(reference) = &args.reference {
        // A thread without messages is not among the sessions.
        let thread = || engine.threads().id(reference).ok().map(|id| launch::is_thread(&id.to_string()));
        let found = engine.sessions().resolve(reference);
        return found.map(Some).map_err(|error| thread().unwrap_or_else(|| error.into()));
    }
    let scope = scope(context, engine, &ScopeArgs { project: None, all_projects: false })?;
    let asks = context.printer.can_ask() && !args.json.json;
    let limit = Some(if asks { MAX_PICKABLE } else { 1 });
    let mut found =
        engine.sessions().list(&SessionListRequest { scope: scope.clone(), limit, ..Default::default() })?;
    if found.is_empty() {
        context.printer.note_line(&super::no_sessions(&scope));
        if !engine.has_store() {
            context.printer.hint(NEVER_SYNCED);
        }
        return Ok(None);
    }
    if asks && found.len() > 1 {
        return pick(context, engine, &found);
    }
    Ok(Some(found.swap_remove(0)))
}

/// Asks for one of the sessions, by number or by a part of its name, until one is clear. `None` if the user gives up.
fn pick(context: &CommandContext, engine: &Engine, all: &[ListedSession]) -> Result<Option<ListedSession>, Failure> {
    let mut offered: Vec<&ListedSession> = all.iter().take(render::PICKER_ROWS).collect();
    loop {
        let mut page: TextPage = context.printer.side_page();
        render::numbered_sessions(&mut page, &offered, engine.now());
        context.printer.error(&page);
        let question = "Session: number, part of a name, or Enter for 1";
        let Some(answer) = context.printer.ask_line(question, "(q to quit):")?.filter(|answer| answer != "q") else {
            return Ok(None);
        };
        let number = if answer.is_empty() { Some(1) } else { answer.parse::<usize>().ok() };
        if let Some(picked) = number.and_then(|number| offered.get(number.wrapping_sub(1))) {
            return Ok(Some((*picked).clone()));
        }
        let named: Vec<&ListedSession> = all.iter().filter(|listed| render::is_named_like(listed, &answer)).collect();
        match named.as_slice() {
            [] => context.printer.note_line(&format!("No session matches {answer:?}.")),
            [only] => return Ok(Some((*only).clone())),
            several => offered = several.iter().copied().take(render::PICKER_ROWS).collect(),
        }
    }
}
