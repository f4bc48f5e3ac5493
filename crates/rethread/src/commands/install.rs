//! `install` and `uninstall`: hooks in an agent's settings, shown before they are written.

use rethread_engine::{DiffLine, SettingsChange, SettingsOf};

use super::{Context, Exit};
use crate::cli::install::{Install, Uninstall};
use crate::cli::life::HookAgent;
use crate::failure::Failure;
use crate::render::{Page, Tone};

/// Adds our hooks.
pub(crate) fn install(context: &Context, request: &Install) -> Result<Exit, Failure> {
    let HookAgent::ClaudeCode = request.agent;
    let engine = context.engine()?;
    let change = engine.plan_install(whose(request.project))?;
    let path = change.path.display();
    if change.is_empty() {
        context.printer.note_line(&format!("The hooks are already in {path}; nothing to change."));
        return Ok(Exit::Done);
    }
    show(context, &change)?;
    if request.print {
        context.printer.note_line("Nothing was changed.");
        return Ok(Exit::Done);
    }
    engine.change_settings(&change)?;
    context.printer.note_line(&format!("The hooks are in {path}; sessions that start from now on use them."));
    Ok(Exit::Done)
}

/// Takes our hooks out again.
pub(crate) fn uninstall(context: &Context, request: &Uninstall) -> Result<Exit, Failure> {
    let HookAgent::ClaudeCode = request.agent;
    let engine = context.engine()?;
    let Some(change) = engine.plan_uninstall(whose(request.project))? else {
        context.printer.note_line("There are no hooks of rethread in these settings; nothing to change.");
        return Ok(Exit::Nothing);
    };
    show(context, &change)?;
    engine.change_settings(&change)?;
    context.printer.note_line(&format!("The hooks are no longer in {}.", change.path.display()));
    Ok(Exit::Done)
}

fn whose(project: bool) -> SettingsOf {
    if project { SettingsOf::Project } else { SettingsOf::User }
}

fn show(context: &Context, change: &SettingsChange) -> Result<(), Failure> {
    let mut page = context.printer.page();
    let what = match (&change.before, &change.after) {
        (None, _) => " (new)",
        (_, None) => " (removed)",
        _ => "",
    };
    page.line(Tone::Strong, &format!("{}{what}", change.path.display()));
    change.diff().iter().for_each(|line| put(&mut page, line));
    Ok(context.printer.answer(&page)?)
}

fn put(page: &mut Page, line: &DiffLine) {
    match line {
        DiffLine::Kept(text) => page.line(Tone::Plain, &format!("  {text}")),
        DiffLine::Added(text) => page.line(Tone::Good, &format!("+ {text}")),
        DiffLine::Removed(text) => page.line(Tone::Bad, &format!("- {text}")),
        DiffLine::Skipped(_) => page.line(Tone::Dim, "  …"),
    };
}
