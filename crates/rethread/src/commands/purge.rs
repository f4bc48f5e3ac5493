//! `uninstall --all --purge`: asks, deletes the memory, and lists what was removed.

use rethread_engine::{Engine, PurgeReport};

use rethread_model::quote_for_shell;

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
        let threads = count(plan.threads, "thread");
        printer.note_line(&format!("It also deletes {threads}, which exist nowhere else."));
    }
    if engine.server().running_info().is_some() {
        printer.note_line("It also stops the server.");
    }
    printer.hint("to keep a copy: rethread export --all-projects --output sessions.jsonl");
    let is_confirmed = printer.confirm("Delete the memory?")?;
    if !is_confirmed {
        printer.note_line("Nothing was changed.");
    }
    Ok(is_confirmed)
}

/// Stops the server, deletes the memory and prints a receipt.
pub(super) fn run(context: &CommandContext, engine: &Engine, args: &UninstallArgs) -> Result<Exit, Failure> {
    engine.server().stop()?;
    let report = engine.maintenance().purge()?;
    if args.json.json {
        context.printer.json(&PurgeReportJson::new(&report))?;
    } else {
        print_receipt(context, &report)?;
    }
    for path in &report.kept {
        context.printer.warn(&format!("kept {}: not created by Rethread", path.display()));
    }
    for (path, reason) in &report.failed {
        context.printer.warn(&format!("cannot remove {}: {reason}", path.display()));
    }
    let programs = programs(context, engine);
    if !programs.is_empty() {
        context.printer.hint(&format!("the program itself stays; to remove it: rm {}", programs.join(" ")));
    }
    let is_done = report.failed.is_empty();
    Ok(if is_done { Exit::Done } else { Exit::Reported(FailureKind::StoreDisk.exit_code()) })
}

/// This program, and its copy for hooks.
fn programs(context: &CommandContext, engine: &Engine) -> Vec<String> {
    let mut paths: Vec<_> =
        context.environment.binary.clone().into_iter().chain(engine.install().program_path()).collect();
    paths.retain(|path| path.is_file());
    paths.dedup();
    paths.iter().map(|path| quote_for_shell(&path.display().to_string())).collect()
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
