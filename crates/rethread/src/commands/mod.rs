//! One file per verb: decode what was asked, make one call to the engine, render what comes back.

mod ask;
pub(crate) mod card;
mod config;
mod decisions;
mod enrich;
mod facts;
mod files;
mod fix;
mod forget;
mod health;
mod hook;
mod init;
mod install;
mod life;
mod manual;
mod open;
mod resolve;
mod search;
pub(crate) mod sessions;
pub(crate) mod show;
mod status;
pub(crate) mod sync;
mod thread;
mod timeline;
mod token;
mod usage;
mod watch;
mod workflows;

use jiff::tz::TimeZone;
use rethread_engine::{Engine, Environment, Indexed, Scope};

use crate::cli::{Command, Place};
use crate::demo;
use crate::failure::Failure;
use crate::printer::Printer;
use crate::render::{self, Tone};

/// What a command has to work with.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) printer: Printer,
    pub(crate) zone: TimeZone,
}

/// How a command ended that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or found.
    Done,
    /// Nothing was found, or something is not well.
    Nothing,
    /// Somebody stopped it.
    Stopped,
    /// It failed and said so itself, beside its answer.
    Told(u8),
}

impl Exit {
    /// What the process ends with.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Nothing => 1,
            // As shells say it of a program that was interrupted.
            Exit::Stopped => 130,
            Exit::Told(code) => code,
        }
    }
}

impl Context {
    /// The engine for this world; what it passed over in the configuration is told.
    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        let engine = self.quiet_engine()?;
        let mut page = self.printer.side_page();
        for problem in engine.config().problems() {
            page.add(Tone::Careful, "warning: ").line(Tone::Plain, &format!("{}: {}", problem.place, problem.message));
        }
        self.printer.note(&page);
        Ok(engine)
    }

    /// The engine for this world, for commands that tell about the configuration themselves.
    fn quiet_engine(&self) -> Result<Engine, Failure> {
        let engine = Engine::open(self.environment.clone())?;
        if self.printer.verbosity() > 1 {
            self.printer.note_line(&format!("home {}", engine.folder().display()));
            self.printer.note_line(&format!("config {}", engine.config().path().display()));
        }
        Ok(engine)
    }
}

/// Where to look: in all projects, in that at a path, or in that of the current directory.
fn scope(engine: &Engine, place: &Place) -> Scope {
    match &place.project {
        _ if place.all_projects => Scope::AllProjects,
        Some(path) => engine.project_at(path),
        None => engine.current_project(),
    }
}

/// Says where something could be known when nothing is known here.
fn explain_unknown(
    context: &Context,
    engine: &Engine,
    scope: &Scope,
    said: &str,
    is_known_elsewhere: impl FnOnce() -> Result<bool, Failure>,
) -> Result<(), Failure> {
    context.printer.note_line(said);
    if *scope != Scope::AllProjects && is_known_elsewhere()? {
        context.printer.hint("something is known in other projects: add --all-projects");
        return Ok(());
    }
    match engine.status()?.statistics {
        None => context.printer.hint("nothing was read yet: rethread init"),
        Some(all) if all.entries == 0 => context.printer.hint("nothing was read yet: rethread sync"),
        Some(_) => {}
    }
    Ok(())
}

/// Says on the side what had to be done to the index before anything could be found.
fn tell_index(context: &Context, index: &Indexed) {
    match index {
        Indexed::Nothing
        | Indexed::Busy
        | Indexed::Episodes { count: 0, .. }
        | Indexed::Episodes { anew: None, .. } => {}
        Indexed::Episodes { count, anew: Some(why) } => context.printer.note_line(&render::remade(*why, *count)),
        Indexed::Failed(why) => context.printer.warn(&render::index_failed(why)),
    }
}

/// Does what a command asks for.
pub(crate) fn run(context: &Context, command: Command) -> Result<Exit, Failure> {
    match command {
        Command::Init(request) => init::run(context, &request),
        Command::Demo(request) => demo::run(context, &request),
        Command::Install(request) => install::install(context, &request),
        Command::Uninstall(request) => install::uninstall(context, &request),
        Command::Sync(request) => sync::run(context, request),
        Command::Watch(request) => watch::run(context, &request),
        Command::Serve(request) => crate::serve::run(context, &request),
        Command::Mcp(request) => crate::mcp::run(context, &request),
        Command::Open(request) => open::run(context, &request),
        Command::Token(request) => token::run(context, &request),
        Command::Sessions(request) => sessions::run(context, &request),
        Command::Show(request) => show::run(context, &request),
        Command::Search(request) => search::run(context, &request),
        Command::Timeline(request) => timeline::run(context, &request),
        Command::Fix(request) => fix::run(context, &request),
        Command::Decisions(request) => decisions::run(context, &request),
        Command::Workflows(request) => workflows::run(context, &request),
        Command::Files(request) => files::run(context, &request),
        Command::Facts(request) => facts::run(context, &request),
        Command::Enrich(request) => enrich::run(context, &request),
        Command::Usage(request) => usage::run(context, &request),
        Command::Resolve(request) => resolve::run(context, &request),
        Command::Ask(request) => ask::run(context, &request),
        Command::Handoff(request) => ask::handoff(context, &request),
        Command::Activity(request) => life::activity(context, &request),
        Command::Inject(request) => life::inject(context, &request),
        Command::Resume(request) => life::resume(context, &request),
        Command::Card(request) => card::run(context, &request),
        Command::Task(request) => life::task(context, &request),
        Command::Note(request) => life::note(context, &request),
        Command::Name(request) => life::name(context, &request),
        Command::Alias(request) => life::alias(context, &request),
        Command::Pause(request) => life::pause(context, &request),
        Command::End(request) => life::end(context, &request),
        Command::Hook(request) => Ok(hook::run(context, &request)),
        Command::Thread(request) => thread::run(context, &request),
        Command::Status(json) => status::run(context, json),
        Command::Doctor(json) => health::doctor(context, json),
        Command::Verify(json) => health::verify(context, json),
        Command::Forget(request) => forget::run(context, &request),
        Command::Rebuild(request) => sync::rebuild(context, request),
        Command::Config(request) => config::run(context, request),
        Command::Completions { shell } => manual::completions(context, shell),
        Command::Man => manual::man(context),
    }
}
