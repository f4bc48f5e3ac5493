//! `install` and `uninstall`: adds or removes hooks, an extension, a plugin or a service, and shows the change.

use rethread_engine::{DiffLine, FileChange, InstallLocation, InstallPlan, InstallScope};

use super::{CommandContext, Exit};
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
const STOP_SERVICE: &str = if cfg!(target_os = "macos") {
    "if it is running: launchctl bootout gui/$(id -u)/dev.rethread.serve"
} else {
    "if it is running: systemctl --user disable --now rethread; systemctl --user daemon-reload"
};

pub(crate) fn install(context: &CommandContext, args: &InstallArgs) -> Result<Exit, Failure> {
    let place = place(&args.place)?;
    let engine = context.engine()?;
    let plan = engine.plan_install(&place)?;
    if args.json.json {
        if !args.print {
            engine.apply_install_plan(&plan)?;
        }
        context.printer.json(&json::InstallReportJson::new(args.place.agent, Some(&plan), !args.print))?;
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
    show(context, &plan)?;
    if args.print {
        context.printer.note_line("Nothing was changed.");
        return Ok(Exit::Done);
    }
    engine.apply_install_plan(&plan)?;
    print_next_steps(context, &place, &plan);
    Ok(Exit::Done)
}

pub(crate) fn uninstall(context: &CommandContext, args: &UninstallArgs) -> Result<Exit, Failure> {
    let place = place(&args.place)?;
    let engine = context.engine()?;
    let plan = engine.plan_uninstall(&place)?;
    if let Some(plan) = &plan {
        if !args.json.json {
            show(context, plan)?;
        }
        engine.apply_install_plan(plan)?;
    }
    if args.json.json {
        context.printer.json(&json::InstallReportJson::new(args.place.agent, plan.as_ref(), true))?;
    } else if let Some(plan) = &plan {
        context.printer.note_line(&format!("Removed. {} no longer {}.", installed_what(&place), location(plan)));
        match place {
            InstallLocation::Plugin(_) => context.printer.hint("if Claude Code still uses it: claude plugin uninstall rethread@rethread; claude plugin marketplace remove rethread"),
            InstallLocation::Service => context.printer.hint(STOP_SERVICE),
            InstallLocation::ClaudeCode(_) | InstallLocation::Pi(_) => {}
        }
    } else {
        context.printer.note_line("Rethread is not installed here; nothing to change.");
    }
    Ok(if plan.is_some() { Exit::Done } else { Exit::Nothing })
}

fn place(args: &InstallPlaceArgs) -> Result<InstallLocation, Failure> {
    let owner = if args.project { InstallScope::Project } else { InstallScope::User };
    match (args.agent, &args.plugin) {
        (InstallTarget::ClaudeCode, Some(folder)) => Ok(InstallLocation::Plugin(folder.clone())),
        (InstallTarget::ClaudeCode, None) => Ok(InstallLocation::ClaudeCode(owner)),
        (InstallTarget::Pi, None) => Ok(InstallLocation::Pi(owner)),
        (InstallTarget::Service, None) if !args.project => Ok(InstallLocation::Service),
        (InstallTarget::Service, None) => {
            Err(Failure::new(FailureKind::Usage, "a service cannot be installed for one project: drop --project"))
        }
        (other, Some(_)) => {
            let failure = Failure::new(FailureKind::Usage, "--plugin works only with claude-code");
            Err(failure.hint(format!("run: rethread install {}", other.name())))
        }
    }
}

fn print_next_steps(context: &CommandContext, place: &InstallLocation, plan: &InstallPlan) {
    let printer = &context.printer;
    match place {
        InstallLocation::ClaudeCode(owner) => {
            printer.note_line(&format!("The hooks are {}; new sessions use them.", location(plan)));
            // Claude Code stores MCP servers in its state file, which only Claude Code should write.
            let scope = if *owner == InstallScope::User { "user" } else { "local" };
            let binary = context.environment.binary.as_ref().map_or("rethread".into(), |path| path.to_string_lossy());
            let add = format!("claude mcp add --scope {scope} rethread -- {} mcp", quoted(&binary));
            printer.hint(&format!("to add the MCP tools as well: {add}"));
        }
        InstallLocation::Pi(owner) => {
            printer.note_line("The extension and the skill are installed; new sessions use them.");
            if *owner == InstallScope::Project {
                printer.hint("pi reads them only in projects you trust: confirm when it asks, or use /trust");
            }
        }
        InstallLocation::Plugin(folder) => {
            let folder = context.environment.cwd.join(folder);
            printer.note_line("The plugin is written. Add it to Claude Code:");
            printer.note_line(&format!("  claude plugin marketplace add {}", quoted(&folder.display().to_string())));
            printer.note_line("  claude plugin install rethread@rethread");
        }
        InstallLocation::Service => {
            printer.note_line("The service is installed. Start it now and at each login:");
            printer.note_line(&format!("  {START_SERVICE}"));
        }
    }
}

/// Quotes a path for a shell.
fn quoted(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    if is_plain { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

fn installed_what(place: &InstallLocation) -> &'static str {
    match place {
        InstallLocation::ClaudeCode(_) => "The hooks are",
        InstallLocation::Plugin(_) => "The plugin is",
        InstallLocation::Pi(_) => "The extension and the skill are",
        InstallLocation::Service => "The service is",
    }
}

/// The path of the only file. Several files were already shown one by one.
fn location(plan: &InstallPlan) -> String {
    match plan.files.as_slice() {
        [file] => format!("in {}", file.path.display()),
        _ => "installed".to_owned(),
    }
}

fn show(context: &CommandContext, plan: &InstallPlan) -> Result<(), Failure> {
    let mut page = context.printer.page();
    plan.changes().for_each(|file| print_change(&mut page, file));
    Ok(context.printer.answer(&page)?)
}

fn print_change(page: &mut TextPage, file: &FileChange) {
    let suffix = match (&file.before, &file.after) {
        (None, _) => " (new)",
        (_, None) => " (removed)",
        _ => "",
    };
    page.line(Tone::Strong, &format!("{}{suffix}", file.path.display()));
    for line in file.diff() {
        match line {
            DiffLine::Unchanged(text) => page.line(Tone::Plain, &format!("  {text}")),
            DiffLine::Added(text) => page.line(Tone::Success, &format!("+ {text}")),
            DiffLine::Removed(text) => page.line(Tone::Error, &format!("- {text}")),
            DiffLine::Skipped(_) => page.line(Tone::Dim, "  …"),
        };
    }
}
