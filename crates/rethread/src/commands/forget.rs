//! `forget`: shows what would be erased, asks, erases, and reports what is left.

use rethread_engine::{ForgetReport, ForgetTarget};

use super::{CommandContext, Exit};
use crate::cli::forget::ForgetArgs;
use crate::failure::{Failure, FailureKind};
use crate::json;
use crate::render;

pub(crate) fn run(context: &CommandContext, args: &ForgetArgs) -> Result<Exit, Failure> {
    let has_target =
        !args.references.is_empty() || args.project.is_some() || args.before.is_some() || args.matching.is_some();
    if !has_target {
        let failure = Failure::new(FailureKind::Usage, "no sessions, project, time or text given");
        return Err(failure.hint("pass sessions (REF…), --project PATH, --before WHEN or --matching TEXT"));
    }
    let can_ask = context.printer.can_ask() && !args.json.json;
    if !args.dry_run && !args.yes && !can_ask {
        let failure = Failure::new(FailureKind::Usage, "confirmation needed, but there is no terminal: use --yes");
        return Err(failure.hint("use --dry-run first to see what would be erased"));
    }
    let engine = context.engine()?;
    if !args.dry_run {
        engine.forget().wipe()?;
    }
    let target = target(args);
    if args.dry_run || !args.yes {
        let plan = engine.forget().plan(&target)?;
        print(context, args, &plan, true)?;
        if args.dry_run || plan.is_empty() {
            return Ok(if plan.is_empty() { Exit::Nothing } else { Exit::Done });
        }
        if !confirm(context, &plan)? {
            context.printer.note_line("Nothing was erased.");
            return Ok(Exit::Done);
        }
    }
    let forgotten = engine.forget().run(&target)?;
    print(context, args, &forgotten, false)?;
    if let Some(folder) = engine.maintenance().set_aside_folder() {
        let folder = folder.display();
        context.printer.warn(&format!("earlier stores in {folder} may still contain it; delete them by hand"));
    }
    if forgotten.remaining().next().is_some() {
        return Ok(Exit::Reported(3));
    }
    Ok(if forgotten.is_empty() { Exit::Nothing } else { Exit::Done })
}

/// One session needs a `y`; several need their number.
fn confirm(context: &CommandContext, plan: &ForgetReport) -> Result<bool, Failure> {
    let sessions = plan.sessions.len() + plan.partial_sessions.len();
    Ok(match sessions {
        0 | 1 => context.printer.confirm("Erase this for good?")?,
        _ => context.printer.confirm_number(&format!("Erase this from {sessions} sessions for good?"), sessions)?,
    })
}

fn target(args: &ForgetArgs) -> ForgetTarget {
    match (&args.project, &args.before, &args.matching) {
        (Some(path), ..) => ForgetTarget::Project(path.clone()),
        (_, Some(moment), _) => ForgetTarget::Before(moment.clone()),
        (.., Some(text)) => ForgetTarget::Matching(text.clone()),
        _ => ForgetTarget::Sessions(args.references.clone()),
    }
}

fn print(context: &CommandContext, args: &ForgetArgs, forgotten: &ForgetReport, is_plan: bool) -> Result<(), Failure> {
    if args.json.json {
        context.printer.json(&json::ForgetReportJson::new(forgotten, is_plan))?;
    } else {
        let mut page = context.printer.page();
        render::forget_report(&mut page, forgotten, is_plan);
        context.printer.answer(&page)?;
    }
    if forgotten.is_empty() {
        context.printer.note_line("Nothing matches.");
    } else if is_plan && args.dry_run {
        context.printer.note_line("Nothing was changed.");
    }
    for left in forgotten.remaining() {
        context.printer.warn(&format!("still found in {} ({})", left.place, left.remaining));
    }
    if forgotten.remaining().next().is_some() {
        context.printer.hint("stop other rethread processes and run it again; use --project to erase paths");
    }
    Ok(())
}
