//! `install` and `uninstall`: what makes an agent call us, shown before it is written.

use rethread_engine::{DiffLine, FileChange, Place, Plan, SettingsOf};

use super::{Context, Exit};
use crate::cli::install::{Install, Target, Uninstall, Where};
use crate::failure::{Failure, Kind};
use crate::json;
use crate::render::{Page, Tone};

/// Lets the system run the service that was just put there.
const START_SERVICE: &str = if cfg!(target_os = "macos") {
    "launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/dev.rethread.serve.plist"
} else {
    "systemctl --user daemon-reload && systemctl --user enable --now rethread"
};
/// The other way round, for one whose file is gone.
const STOP_SERVICE: &str = if cfg!(target_os = "macos") {
    "if it runs: launchctl bootout gui/$(id -u)/dev.rethread.serve"
} else {
    "if it runs: systemctl --user disable --now rethread; systemctl --user daemon-reload"
};

/// Lets an agent call us.
pub(crate) fn install(context: &Context, request: &Install) -> Result<Exit, Failure> {
    let place = place(&request.place)?;
    let engine = context.engine()?;
    let plan = engine.plan_install(&place)?;
    if request.json.json {
        if !request.print {
            engine.carry_out(&plan)?;
        }
        context.printer.json(&json::Installed::new(request.place.agent, Some(&plan), !request.print))?;
        return Ok(Exit::Done);
    }
    if plan.is_empty() {
        context.printer.note_line(&format!("{} already {}; nothing to change.", what(&place), listed(&plan)));
        return Ok(Exit::Done);
    }
    show(context, &plan)?;
    if request.print {
        context.printer.note_line("Nothing was changed.");
        return Ok(Exit::Done);
    }
    engine.carry_out(&plan)?;
    tell(context, &place, &plan);
    Ok(Exit::Done)
}

/// Takes it out again.
pub(crate) fn uninstall(context: &Context, request: &Uninstall) -> Result<Exit, Failure> {
    let place = place(&request.place)?;
    let engine = context.engine()?;
    let plan = engine.plan_uninstall(&place)?;
    if let Some(plan) = &plan {
        if !request.json.json {
            show(context, plan)?;
        }
        engine.carry_out(plan)?;
    }
    if request.json.json {
        context.printer.json(&json::Installed::new(request.place.agent, plan.as_ref(), true))?;
    } else if let Some(plan) = &plan {
        context.printer.note_line(&format!("{} no longer {}.", what(&place), listed(plan)));
        match place {
            Place::Plugin(_) => context.printer.hint("if Claude Code uses it: claude plugin uninstall rethread@rethread; claude plugin marketplace remove rethread"),
            Place::Service => context.printer.hint(STOP_SERVICE),
            Place::ClaudeCode(_) | Place::Pi(_) => {}
        }
    } else {
        context.printer.note_line("There is nothing of rethread here; nothing to change.");
    }
    Ok(if plan.is_some() { Exit::Done } else { Exit::Nothing })
}

fn place(request: &Where) -> Result<Place, Failure> {
    let whose = if request.project { SettingsOf::Project } else { SettingsOf::User };
    match (request.agent, &request.plugin) {
        (Target::ClaudeCode, Some(folder)) => Ok(Place::Plugin(folder.clone())),
        (Target::ClaudeCode, None) => Ok(Place::ClaudeCode(whose)),
        (Target::Pi, None) => Ok(Place::Pi(whose)),
        (Target::Service, None) if !request.project => Ok(Place::Service),
        (Target::Service, None) => Err(Failure::new(Kind::Usage, "a service is the user's, not a project's")),
        (other, Some(_)) => {
            let failure = Failure::new(Kind::Usage, "only Claude Code takes plugins from a folder");
            Err(failure.hint(format!("run: rethread install {}", other.name())))
        }
    }
}

/// Says what is there now, and what to do with it.
fn tell(context: &Context, place: &Place, plan: &Plan) {
    let printer = &context.printer;
    match place {
        Place::ClaudeCode(whose) => {
            printer.note_line(&format!("The hooks are {}; sessions that start from now on use them.", listed(plan)));
            // Where Claude Code keeps its servers it also keeps its state, which is its own to write.
            let scope = if *whose == SettingsOf::User { "user" } else { "local" };
            let binary = context.environment.binary.as_ref().map_or("rethread".into(), |path| path.to_string_lossy());
            let add = format!("claude mcp add --scope {scope} rethread -- {} mcp", quoted(&binary));
            printer.hint(&format!("to give its models the memory as tools too: {add}"));
        }
        Place::Pi(whose) => {
            printer.note_line("The extension and the skill are there; sessions that start from now on use them.");
            if *whose == SettingsOf::Project {
                printer.hint("pi reads them only in projects you trust: say so when it asks, or with /trust");
            }
        }
        Place::Plugin(folder) => {
            let folder = context.environment.cwd.join(folder);
            printer.note_line("The plugin is there. Let Claude Code use it:");
            printer.note_line(&format!("  claude plugin marketplace add {}", quoted(&folder.display().to_string())));
            printer.note_line("  claude plugin install rethread@rethread");
        }
        Place::Service => {
            printer.note_line("The service is there. Start it now and whenever you log in:");
            printer.note_line(&format!("  {START_SERVICE}"));
        }
    }
}

/// As a shell reads it.
fn quoted(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    if is_plain { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

fn what(place: &Place) -> &'static str {
    match place {
        Place::ClaudeCode(_) => "The hooks are",
        Place::Plugin(_) => "The plugin is",
        Place::Pi(_) => "The extension and the skill are",
        Place::Service => "The service is",
    }
}

/// Where the only file is; several were shown one by one.
fn listed(plan: &Plan) -> String {
    match plan.files.as_slice() {
        [file] => format!("in {}", file.path.display()),
        _ => "there".to_owned(),
    }
}

fn show(context: &Context, plan: &Plan) -> Result<(), Failure> {
    let mut page = context.printer.page();
    plan.changes().for_each(|file| put(&mut page, file));
    Ok(context.printer.answer(&page)?)
}

fn put(page: &mut Page, file: &FileChange) {
    let what = match (&file.before, &file.after) {
        (None, _) => " (new)",
        (_, None) => " (removed)",
        _ => "",
    };
    page.line(Tone::Strong, &format!("{}{what}", file.path.display()));
    for line in file.diff() {
        match line {
            DiffLine::Kept(text) => page.line(Tone::Plain, &format!("  {text}")),
            DiffLine::Added(text) => page.line(Tone::Good, &format!("+ {text}")),
            DiffLine::Removed(text) => page.line(Tone::Bad, &format!("- {text}")),
            DiffLine::Skipped(_) => page.line(Tone::Dim, "  …"),
        };
    }
}
