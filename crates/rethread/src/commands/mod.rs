//! One file per verb: takes the parsed arguments, calls the engine, prints the result.

mod admin;
mod ask;
pub(crate) mod card;
mod config;
mod config_edit;
mod debug;
mod decisions;
mod doctor;
mod enrich;
mod export;
mod facts;
mod files;
mod fix;
mod forget;
mod hook;
mod import;
mod init;
mod install;
mod install_all;
mod manual;
mod open;
mod overview;
mod purge;
mod resume;
mod search;
mod session;
mod sessions;
mod shell;
mod show;
mod status;
mod store;
mod sync;
mod thread;
mod timeline;
mod token;
mod usage;
pub(crate) mod watch;
mod workflows;

use jiff::tz::TimeZone;
use rethread_engine::{Engine, Environment, IndexOutcome, ListedSession, SessionScope};

use crate::cli::{Command, ScopeArgs};
use crate::demo;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::{self, CellAlign, TextPage, Tone};
use crate::tui;

/// Printed where a result is missing because nothing was ever synced.
pub(crate) const NEVER_SYNCED: &str = "nothing synced yet, run `rethread init`";
/// Printed where a result is missing because syncs found nothing.
const NOTHING_STORED: &str = "nothing synced yet, run `rethread sync`";

/// What every command gets: the process environment, the printer and the user's time zone.
#[derive(Clone, Debug)]
pub(crate) struct CommandContext {
    pub(crate) environment: Environment,
    pub(crate) printer: Printer,
    pub(crate) zone: TimeZone,
}

/// The result of a command that did not return an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Done,
    /// Nothing was found, or a check reported a problem.
    Nothing,
    /// Interrupted by the user.
    Stopped,
    /// The command already printed its error beside its result. Holds the exit code.
    Reported(u8),
}

impl Exit {
    /// The exit code of the process.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Nothing => 1,
            // 128 + SIGINT, as shells report it.
            Exit::Stopped => 130,
            Exit::Reported(code) => code,
        }
    }
}

impl CommandContext {
    /// Opens the engine and prints warnings about its directory and about ignored settings.
    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        let engine = self.quiet_engine()?;
        for warning in engine.home_warnings()? {
            self.printer.warn(&warning);
        }
        let mut page = self.printer.side_page();
        for problem in engine.config().problems() {
            page.add(Tone::Warning, "warning: ").line(Tone::Plain, &problem.to_string());
        }
        self.printer.note(&page);
        Ok(engine)
    }

    /// The value of an environment variable. Empty counts as unset.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let found = self.environment.variables.iter().find(|(variable, _)| variable == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Opens the engine, for commands that report problems of the configuration themselves.
    fn quiet_engine(&self) -> Result<Engine, Failure> {
        let engine = Engine::open(self.environment.clone())?;
        if self.printer.verbosity() > 1 {
            self.printer.note_line(&format!("home {}", engine.folder().display()));
            self.printer.note_line(&format!("config {}", engine.config().path().display()));
        }
        Ok(engine)
    }
}

/// The projects that the flags select. Without a flag it is the current one, or all if it has no sessions: then the
/// user is not in a project, or in a new one, and would otherwise find nothing.
pub(crate) fn scope(context: &CommandContext, engine: &Engine, args: &ScopeArgs) -> Result<SessionScope, Failure> {
    match &args.project {
        _ if args.all_projects => return Ok(SessionScope::AllProjects),
        Some(path) => return Ok(engine.sessions().project_at(path)),
        None => {}
    }
    let current = engine.sessions().current_project();
    let SessionScope::Project(path) = &current else { return Ok(current) };
    if engine.sessions().has_any(&current)? || !engine.sessions().has_any(&SessionScope::AllProjects)? {
        return Ok(current);
    }
    context.printer.note_line(&format!("No sessions in this project ({path}): showing all projects."));
    Ok(SessionScope::AllProjects)
}

/// The message for an empty list of sessions.
fn no_sessions(scope: &SessionScope) -> String {
    match scope {
        SessionScope::Project(path) => format!("No sessions in this project ({path})."),
        SessionScope::AllProjects => "No sessions found.".to_owned(),
    }
}

/// The end of a session's id, which is unique and short enough to type.
fn short_id(listed: &ListedSession) -> String {
    rethread_model::short_id(&listed.session.id.to_string()).to_owned()
}

/// Prints commands to try next, one per line with its purpose.
fn print_suggestions(page: &mut TextPage, suggestions: &[(String, &str)]) {
    let width = suggestions.iter().map(|(command, _)| command.chars().count()).max().unwrap_or(0);
    page.line(Tone::Strong, "Try");
    for (command, purpose) in suggestions {
        page.add(Tone::Plain, "  ").cell(Tone::Success, command, width + 2, CellAlign::Left).line(Tone::Dim, purpose);
    }
}

/// Prints that nothing was found, and where there may be something.
fn explain_empty(
    context: &CommandContext,
    engine: &Engine,
    scope: &SessionScope,
    message: &str,
    is_elsewhere: impl FnOnce() -> Result<bool, Failure>,
) -> Result<(), Failure> {
    context.printer.note_line(message);
    if *scope != SessionScope::AllProjects && is_elsewhere()? {
        context.printer.hint("there are results in other projects: add --all-projects");
        return Ok(());
    }
    hint_if_unsynced(context, engine)
}

/// Prints a hint if the store is empty.
fn hint_if_unsynced(context: &CommandContext, engine: &Engine) -> Result<(), Failure> {
    match engine.reports().status()?.statistics {
        None => context.printer.hint(NEVER_SYNCED),
        Some(all) if all.entries == 0 => context.printer.hint(NOTHING_STORED),
        Some(_) => {}
    }
    Ok(())
}

/// Prints what happened to the search index, if it had to be rebuilt or failed.
fn print_index(context: &CommandContext, index: &IndexOutcome) {
    match index {
        IndexOutcome::UpToDate
        | IndexOutcome::Busy
        | IndexOutcome::Updated { count: 0, .. }
        | IndexOutcome::Updated { rebuild_reason: None, .. } => {}
        IndexOutcome::Updated { count, rebuild_reason: Some(reason) } => {
            context.printer.note_line(&render::index_rebuilt(*reason, *count));
        }
        IndexOutcome::Failed(reason) => context.printer.warn(&render::index_failed(reason)),
    }
}

/// Runs a command. Without one it starts the terminal UI, or prints a short overview if nothing is synced.
pub(crate) fn run(context: &CommandContext, command: Option<Command>) -> Result<Exit, Failure> {
    let Some(command) = command else { return tui::run_if_synced(context).unwrap_or_else(|| overview::run(context)) };
    match command {
        Command::Init(args) => init::run(context, &args),
        Command::Demo(args) => demo::run(context, &args),
        Command::Install(args) => install::install(context, &args),
        Command::Uninstall(args) => install::uninstall(context, &args),
        Command::Sync(args) => sync::run(context, args),
        Command::Watch(args) => watch::run(context, &args),
        Command::Serve(args) => crate::serve::run(context, &args),
        Command::Mcp(args) => crate::mcp::run(context, &args),
        Command::Open(args) => open::run(context, &args),
        Command::Token(args) => token::run(context, &args),
        Command::Sessions(args) => sessions::run(context, &args),
        Command::Show(args) => show::run(context, &args),
        Command::Search(args) => search::run(context, &args),
        Command::Tui(args) => tui::run(context, &args),
        Command::Timeline(args) => timeline::run(context, &args),
        Command::Fix(args) => fix::run(context, &args),
        Command::Decisions(args) => decisions::run(context, &args),
        Command::Workflows(args) => workflows::run(context, &args),
        Command::Files(args) => files::run(context, &args),
        Command::Facts(args) => facts::run(context, &args),
        Command::Enrich(args) => enrich::run(context, &args),
        Command::Usage(args) => usage::run(context, &args),
        Command::Ask(args) => ask::run(context, &args),
        Command::Handoff(args) => ask::handoff(context, &args),
        Command::Export(args) => export::run(context, &args),
        Command::Import(args) => import::run(context, &args),
        Command::Resume(args) => resume::run(context, &args),
        Command::Session(command) | Command::FlatSession(command) => session::run(context, &command),
        Command::Debug(command) | Command::FlatDebug(command) => debug::run(context, &command),
        Command::Hook(args) => Ok(hook::run(context, &args)),
        Command::Admin(command) => admin::run(context, &command),
        Command::Store(command) => store::run(context, &command),
        Command::Thread(command) => thread::run(context, &command),
        Command::Status(json) => status::run(context, json),
        Command::Doctor(json) => doctor::run(context, json),
        Command::Forget(args) => forget::run(context, &args),
        Command::Rebuild(args) => sync::rebuild(context, args),
        Command::Config(command) => config::run(context, command),
        Command::Completions { shell } => manual::completions(context, shell),
        Command::Shell(args) => shell::run(context, &args),
        Command::Man => manual::man(context),
    }
}
