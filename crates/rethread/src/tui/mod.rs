//! The terminal interface: search as you type, read the conversation around a hit, resume.
//!
//! `state` is what is shown, `update` changes it by events, `view` draws it. Both are pure. `worker` loads what they
//! ask for on other threads, and only this file, `screen`, `clipboard`, `editor` and `launch` touch the terminal.

mod clipboard;
mod editor;
mod effect;
mod event_loop;
mod exports;
mod filters;
mod hangup;
mod launch;
mod layout;
mod load;
mod menu;
mod query_line;
mod request;
mod row;
mod screen;
mod state;
#[cfg(test)]
mod test_state;
mod update;
mod view;
mod worker;

use std::io::IsTerminal;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rethread_engine::{Engine, SessionScope};

use crate::cli::ScopeArgs;
use crate::cli::tui::TuiArgs;
use crate::commands::{CommandContext, Exit, NEVER_SYNCED};
use crate::failure::{Failure, FailureKind};
use effect::TuiExit;
use event_loop::EventLoop;
use filters::ProjectChoice;
use query_line::QueryLine;
use screen::Screen;
use state::{TuiOptions, TuiState, TuiTab};
use worker::Workers;

/// How long a sync waits for another process that writes.
const STORE_LOCK_TIMEOUT: Duration = Duration::from_secs(2);
/// 128 + SIGTERM, as shells report it.
const TERMINATED: u8 = 143;

/// Starts the interface if there is a terminal and something to show. `None` if not.
pub(crate) fn run_if_synced(context: &CommandContext) -> Option<Result<Exit, Failure>> {
    let is_possible = context.printer.is_read() && context.printer.can_ask() && !is_dumb(context);
    // Warnings are printed once, by what runs.
    let engine = Engine::open(context.environment.clone()).ok().filter(|_| is_possible)?;
    let has_any = engine.has_store() && engine.sessions().has_any(&SessionScope::AllProjects).unwrap_or(false);
    has_any.then(|| run(context, &TuiArgs::default()))
}

/// Whether the terminal cannot place text.
fn is_dumb(context: &CommandContext) -> bool {
    variable(&context.environment.variables, "TERM").is_none_or(|term| term == "dumb")
}

/// The value of an environment variable. Empty counts as unset.
fn variable<'v>(variables: &'v [(String, String)], name: &str) -> Option<&'v str> {
    variables.iter().find(|(other, value)| other == name && !value.is_empty()).map(|(_, value)| value.as_str())
}

/// Runs the interface until the user leaves it.
pub(crate) fn run(context: &CommandContext, args: &TuiArgs) -> Result<Exit, Failure> {
    let engine = Arc::new(context.engine()?);
    if !engine.has_store() {
        context.printer.hint(NEVER_SYNCED);
        return Ok(Exit::Nothing);
    }
    let stdout = own_terminal(args)?;
    if is_dumb(context) {
        return Err(Failure::new(FailureKind::Usage, "this terminal cannot show `rethread tui`")
            .hint("set TERM to the kind of your terminal, such as xterm-256color"));
    }
    let left = show(context, args, &engine);
    if let Some(stdout) = stdout {
        rustix::stdio::dup2_stdout(stdout).map_err(std::io::Error::from)?;
    }
    match left? {
        TuiExit::Quit => Ok(Exit::Done),
        TuiExit::Interrupted => Ok(Exit::Stopped),
        TuiExit::Terminated => Ok(Exit::Reported(TERMINATED)),
        TuiExit::Print(text) => {
            context.printer.raw(format!("{text}\n").as_bytes())?;
            Ok(Exit::Done)
        }
        TuiExit::Resume(session) => Err(launch::start_agent(context, &session)),
        TuiExit::HandOver(session, agent) => Err(launch::hand_over(context, &engine, &session, agent)),
    }
}

/// With `--print`, a shell reads stdout. The interface is drawn on the terminal then, and the returned stdout has to be
/// restored.
fn own_terminal(args: &TuiArgs) -> Result<Option<OwnedFd>, Failure> {
    let no_terminal = || {
        Failure::new(FailureKind::Usage, "`rethread tui` needs a terminal")
            .hint("use `rethread search` or `rethread sessions` in scripts")
    };
    if std::io::stdout().is_terminal() {
        return if std::io::stdin().is_terminal() { Ok(None) } else { Err(no_terminal()) };
    }
    let terminal = std::fs::OpenOptions::new().read(true).write(true).open("/dev/tty");
    let terminal = terminal.ok().filter(|_| args.print.is_some()).ok_or_else(no_terminal)?;
    let stdout = rustix::io::fcntl_dupfd_cloexec(std::io::stdout(), 3).map_err(std::io::Error::from)?;
    rustix::stdio::dup2_stdout(terminal).map_err(std::io::Error::from)?;
    Ok(Some(stdout))
}

/// Takes the terminal, and shows something before anything is loaded.
fn show(context: &CommandContext, args: &TuiArgs, engine: &Arc<Engine>) -> Result<TuiExit, Failure> {
    let has_color = context.printer.has_color(true);
    crossterm::style::force_color_output(has_color);
    let is_terminated = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&is_terminated))?;
    }
    screen::restore_on_panic();
    let rows = args.inline.then(|| screen::inline_rows(args.height)).transpose()?;
    hangup::end_with_terminal()?;
    let mut screen = Screen::enter(rows)?;
    let mut state = TuiState {
        query: QueryLine::new(&args.query.join(" ")),
        options: TuiOptions { print: args.print, has_color },
        size: screen.size(),
        ..TuiState::default()
    };
    screen.draw(&mut state)?;
    choose_projects(&mut state, engine, &args.scope)?;
    let syncing = Engine::open(context.environment.clone())?.with_store_timeout(STORE_LOCK_TIMEOUT);
    let workers = Workers::start(engine, syncing, &context.zone)?;
    EventLoop { context, screen, state, workers, is_terminated }.run()
}

/// Starts with the project of the current directory, or with all if it has no sessions.
fn choose_projects(state: &mut TuiState, engine: &Engine, args: &ScopeArgs) -> Result<(), Failure> {
    let sessions = engine.sessions();
    let current = sessions.current_project();
    let has_sessions = sessions.has_any(&current)?;
    if let SessionScope::Project(path) = current {
        state.filters.current_project = path;
    }
    state.filters.project = match args.project.as_deref().map(|path| sessions.project_at(path)) {
        Some(SessionScope::Project(path)) => ProjectChoice::Named(path),
        _ if args.all_projects || !has_sessions => ProjectChoice::All,
        _ => ProjectChoice::Current,
    };
    Ok(())
}
