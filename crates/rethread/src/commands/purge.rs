//! `uninstall --all --purge`: asks, deletes the memory, and lists what was removed.

use rethread_engine::{Engine, PurgeReport};

use super::{CommandContext, Exit};
use crate::cli::install::UninstallArgs;
use crate::failure::{Failure, FailureKind};
use crate::json::PurgeReportJson;
use crate::render::{CellAlign, Tone, bytes, count};

/// Whether to go on. Asks before anything is changed.
pub(super) fn is_confirmed(context: &CommandContext, engine: &Engine, args: &UninstallArgs) -> Result<bool, Failure> {
    let plan = engine.maintenance().plan_purge()?;
    if args.yes {
        return Ok(true);
    }
    if !context.printer.can_ask() || args.json.json {
        let failure = Failure::new(FailureKind::Usage, "confirmation needed, but there is no terminal: use --yes");
        return Err(failure.hint("to keep a copy: rethread export --all-projects --output sessions.jsonl"));
    }
    let printer = &context.printer;
    let folder = plan.folder.display();
    printer.note_line(&format!("This deletes {} in {folder} for good.", count(plan.sessions, "session")));
    if plan.threads > 0 {
        printer.note_line(&format!("{} with it, of which there is no other copy.", count(plan.threads, "thread")));
    }
    printer.hint("to keep a copy: rethread export --all-projects --output sessions.jsonl");
    let is_confirmed = printer.confirm("Delete the memory?")?;
    if !is_confirmed {
        printer.note_line("Nothing was changed.");
    }
    Ok(is_confirmed)
}

/// Deletes the memory and prints a receipt.
pub(super) fn run(context: &CommandContext, engine: &Engine, args: &UninstallArgs) -> Result<Exit, Failure> {
    let report = engine.maintenance().purge()?;
    if args.json.json {
        context.printer.json(&PurgeReportJson::new(&report))?;
        return Ok(Exit::Done);
    }
    print_receipt(context, &report)?;
    for path in &report.kept {
        context.printer.warn(&format!("kept {}: it is not of Rethread", path.display()));
    }
    Ok(Exit::Done)
}

fn print_receipt(context: &CommandContext, report: &PurgeReport) -> Result<(), Failure> {
    let mut page = context.printer.page();
    page.line(Tone::Strong, &format!("Removed from {}", report.folder.display()));
    let width = report.removed.iter().map(|item| item.name.chars().count()).max().unwrap_or(0);
    for item in &report.removed {
        page.add(Tone::Plain, "  ").cell(Tone::Plain, &item.name, width + 2, CellAlign::Left);
        page.cell(Tone::Plain, &bytes(item.bytes), 9, CellAlign::Right);
        page.line(Tone::Dim, &format!("  {}", count(item.files, "file")));
    }
    let total: u64 = report.removed.iter().map(|item| item.bytes).sum();
    let what = format!("{} and {}", count(report.sessions, "session"), count(report.threads, "thread"));
    page.line(Tone::Plain, &format!("{what}, {} in total.", bytes(total)));
    Ok(context.printer.answer(&page)?)
}
