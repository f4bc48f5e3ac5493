//! `install` and `uninstall`: adds or removes hooks, an extension, a plugin or a service, and shows the change.

use rethread_engine::{DiffLine, Engine, FileChange, HostInstaller, InstallLocation, InstallPlan, InstallScope};
use rethread_model::{Agent, quote_for_shell};

use super::{CommandContext, Exit, install_all};
use crate::cli::install::{InstallArgs, InstallPlaceArgs, InstallTarget, UninstallArgs};
use crate::failure::{Failure, FailureKind};
use crate::json;
use crate::render::{TextPage, Tone};

/// Starts the service now and at each login.
const START_SERVICE: &str = if cfg!(target_os = "macos") {
    "launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/dev.rethread.serve.plist"
} else {
    "systemctl --user daemon-reload && systemctl --user enable --now rethread"
};
/// Stops a service whose file was removed.
pub(super) const STOP_SERVICE: &str = if cfg!(target_os = "macos") {
    "if it is running: launchctl bootout gui/$(id -u)/dev.rethread.serve"
} else {
    "if it is running: systemctl --user disable --now rethread; systemctl --user daemon-reload"
};

pub(crate) fn install(context: &CommandContext, args: &InstallArgs) -> Result<Exit, Failure> {
    let Some(agent) = args.place.agent else { return install_all::install(context, args) };
    let place = place(&args.place, agent, args.mcp)?;
    let engine = context.engine()?;
    let plan = engine.install().plan(&place)?;
    if args.json.json {
        if !args.print {
            engine.install().apply(&plan)?;
        }
        context.printer.json(&json::InstallReportJson::new(agent, Some(&plan), !args.print))?;
        return Ok(Exit::Done);
    }
    if plan.is_empty() {
        context.printer.note_line(&format!(
            "{} already {}; nothing to change.",
            installed_what(&place),
            location(&plan)
        ));
        return Ok(Exit::Done);
    }
    show(context, &plan, args.print, |_| true)?;
    if !is_confirmed(context, args, &plan)? {
        return Ok(Exit::Done);
    }
    engine.install().apply(&plan)?;
    print_next_steps(context, &engine, &place, &plan);
    Ok(Exit::Done)
}

/// Whether to apply a plan that was shown. Says so if not.
pub(super) fn is_confirmed(context: &CommandContext, args: &InstallArgs, plan: &InstallPlan) -> Result<bool, Failure> {
    let is_confirmed = !args.print && (args.yes || plan.program.is_none() || confirm_copy(context)?);
    if !is_confirmed {
        context.printer.note_line("Nothing was changed.");
    }
    Ok(is_confirmed)
}

/// A program in a build directory is copied, because hooks must outlive `cargo clean`. Without a terminal the copy is
/// made, like every other change of `install`.
fn confirm_copy(context: &CommandContext) -> Result<bool, Failure> {
    if !context.printer.can_ask() {
        return Ok(true);
    }
    context.printer.note_line("This program is in a build directory, so hooks need a copy that stays.");
    let is_confirmed = context.printer.confirm("Make the copy and the changes above?")?;
    if !is_confirmed {
        context.printer.hint("install Rethread yourself, for example with `cargo install`, then run it from there");
    }
    Ok(is_confirmed)
}

pub(crate) fn uninstall(context: &CommandContext, args: &UninstallArgs) -> Result<Exit, Failure> {
    let Some(agent) = args.place.agent.filter(|_| !args.purge) else { return install_all::uninstall(context, args) };
    let place = place(&args.place, agent, false)?;
    let engine = context.engine()?;
    let plan = engine.install().plan_removal(&place)?;
    if let Some(plan) = &plan {
        if !args.json.json {
            show(context, plan, false, |_| true)?;
        }
        engine.install().apply(plan)?;
    }
    if args.json.json {
        context.printer.json(&json::InstallReportJson::new(agent, plan.as_ref(), true))?;
    } else if plan.is_some() {
        print_removed(context, &place);
    } else {
        context.printer.note_line("Rethread is not installed here; nothing to change.");
    }
    Ok(if plan.is_some() { Exit::Done } else { Exit::Nothing })
}

/// Says what is gone. The files were listed before.
fn print_removed(context: &CommandContext, place: &InstallLocation) {
    let printer = &context.printer;
    match place {
        InstallLocation::Host { host, .. } => {
            printer.note_line(&format!("Removed Rethread from {}.", host.agent.label()));
        }
        InstallLocation::Plugin(_) => {
            printer.note_line("Removed the plugin.");
            printer.hint("if Claude Code still uses it: claude plugin uninstall rethread@rethread; claude plugin marketplace remove rethread");
        }
        InstallLocation::Service => {
            printer.note_line("Removed the service.");
            printer.hint(STOP_SERVICE);
        }
    }
}

fn place(args: &InstallPlaceArgs, agent: InstallTarget, with_mcp: bool) -> Result<InstallLocation, Failure> {
    let scope = if args.project { InstallScope::Project } else { InstallScope::User };
    match (agent, &args.plugin) {
        (InstallTarget::Host(host), Some(folder)) if host.agent == Agent::ClaudeCode => {
            Ok(InstallLocation::Plugin(folder.clone()))
        }
        (InstallTarget::Host(host), None) => Ok(InstallLocation::Host { host, scope, with_mcp }),
        (InstallTarget::Service, None) if with_mcp => {
            Err(Failure::new(FailureKind::Usage, "a service has no MCP server to set up: run without --mcp"))
        }
        (InstallTarget::Service, None) if !args.project => Ok(InstallLocation::Service),
        (InstallTarget::Service, None) => Err(Failure::new(
            FailureKind::Usage,
            "a service cannot be installed for one project: run without --project",
        )),
        (other, Some(_)) => {
            let failure = Failure::new(FailureKind::Usage, "--plugin works only with claude-code");
            Err(failure.hint(format!("run: rethread install {}", other.name())))
        }
    }
}

fn print_next_steps(context: &CommandContext, engine: &Engine, place: &InstallLocation, plan: &InstallPlan) {
    let printer = &context.printer;
    print_program(context, engine, plan);
    match place {
        InstallLocation::Host { host, scope, with_mcp } => {
            let what = installed_what(place);
            let pronoun = if what.ends_with("are") { "them" } else { "it" };
            printer.note_line(&format!("{what} installed. New sessions use {pronoun}."));
            print_host_hints(context, engine, host, *scope, *with_mcp);
            if *scope == InstallScope::Project {
                hint_if_tracked(context, engine, plan);
            }
        }
        InstallLocation::Plugin(folder) => {
            let folder = context.environment.cwd.join(folder);
            printer.note_line("The plugin is written. Add it to Claude Code:");
            printer.note_line(&format!(
                "  claude plugin marketplace add {}",
                quote_for_shell(&folder.display().to_string())
            ));
            printer.note_line("  claude plugin install rethread@rethread");
        }
        InstallLocation::Service => {
            printer.note_line("The service is installed. Start it now and at each login:");
            printer.note_line(&format!("  {START_SERVICE}"));
        }
    }
}

/// What the user should do or know after a host was installed.
pub(super) fn print_host_hints(
    context: &CommandContext,
    engine: &Engine,
    host: &HostInstaller,
    scope: InstallScope,
    with_mcp: bool,
) {
    if let Some(note) = host.note(scope) {
        context.printer.hint(note);
    }
    let agent = host.agent;
    if agent.is_opt_in() && !engine.settings().intake.agents.contains(&agent) {
        let why = format!("{} also has private conversations, so it is left out of the memory for now", agent.label());
        context.printer.hint(&format!("{why}; to use it: rethread config set intake.agents +{agent}"));
    }
    if !with_mcp && host.agent == Agent::ClaudeCode {
        let project = if scope == InstallScope::Project { " --project" } else { "" };
        let hint = format!("to add the MCP tools as well: rethread install {}{project} --mcp", host.agent);
        context.printer.hint(&hint);
    }
}

/// Prints where the copy of this program is, and whether a shell finds it.
pub(super) fn print_program(context: &CommandContext, engine: &Engine, plan: &InstallPlan) {
    let Some(copy) = &plan.program else { return };
    context.printer.note_line(&format!("Installed rethread as {}.", copy.to.display()));
    if let Some(folder) = copy.to.parent().filter(|folder| !engine.install().is_on_path(folder)) {
        context.printer.hint(&format!("add {} to your PATH to run it by name", folder.display()));
    }
}

/// Warns about files with a personal path that git does not ignore.
fn hint_if_tracked(context: &CommandContext, engine: &Engine, plan: &InstallPlan) {
    let program = engine.install().program_path().map(|path| path.display().to_string()).unwrap_or_default();
    let has_path = |file: &&FileChange| file.after.as_ref().is_some_and(|text| text.contains(&program));
    for file in plan.changes().filter(has_path) {
        let ignored = std::process::Command::new("git")
            .args(["-C"])
            .arg(&context.environment.cwd)
            .args(["check-ignore", "--quiet", "--"])
            .arg(&file.path)
            .stderr(std::process::Stdio::null())
            .status();
        // 1 means that the file is not ignored; everything else that there is no git or no repository.
        if ignored.is_ok_and(|status| status.code() == Some(1)) {
            let path = file.path.strip_prefix(&context.environment.cwd).unwrap_or(&file.path);
            let hint = format!("{} contains the path of your program: add it to .gitignore", path.display());
            context.printer.hint(&hint);
        }
    }
}

fn installed_what(place: &InstallLocation) -> String {
    match place {
        InstallLocation::Host { host, with_mcp, .. } => {
            let server = if *with_mcp && host.has_hooks() { "the MCP server" } else { "" };
            let skill = if host.has_skill() { "the skill" } else { "" };
            let parts = [&format!("the {}", host.component), server, skill];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            let list = match parts.as_slice() {
                [first, second, third] => format!("{first}, {second} and {third}"),
                others => others.join(" and "),
            };
            let verb = if parts.len() == 1 && host.component != "hooks" { "is" } else { "are" };
            format!("T{} {verb}", &list[1..])
        }
        InstallLocation::Plugin(_) => "The plugin is".to_owned(),
        InstallLocation::Service => "The service is".to_owned(),
    }
}

/// The path of the only file. Several files were already shown one by one.
fn location(plan: &InstallPlan) -> String {
    match plan.files.as_slice() {
        [file] => format!("in {}", file.path.display()),
        _ => "installed".to_owned(),
    }
}

/// Prints the changes. Files of our own are only listed, unless their text was asked for.
pub(super) fn show(
    context: &CommandContext,
    plan: &InstallPlan,
    with_text: bool,
    is_selected: impl Fn(&FileChange) -> bool,
) -> Result<(), Failure> {
    let mut page = context.printer.page();
    if let Some(copy) = &plan.program {
        page.line(Tone::Strong, &format!("{} (copy of {})", copy.to.display(), copy.from.display()));
    }
    plan.changes().filter(|file| is_selected(file)).for_each(|file| print_change(&mut page, file, with_text));
    Ok(context.printer.answer(&page)?)
}

fn print_change(page: &mut TextPage, file: &FileChange, with_text: bool) {
    let suffix = match (&file.before, &file.after) {
        (None, _) => " (new)",
        (_, None) => " (removed)",
        _ => "",
    };
    page.line(Tone::Strong, &format!("{}{suffix}", file.path.display()));
    if !with_text && (file.is_own || file.after.is_none()) {
        return;
    }
    for line in file.diff() {
        match line {
            DiffLine::Unchanged(text) => page.line(Tone::Plain, &format!("  {text}")),
            DiffLine::Added(text) => page.line(Tone::Success, &format!("+ {text}")),
            DiffLine::Removed(text) => page.line(Tone::Error, &format!("- {text}")),
            DiffLine::Skipped(_) => page.line(Tone::Dim, "  …"),
        };
    }
}
