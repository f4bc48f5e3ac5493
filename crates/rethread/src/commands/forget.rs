//! `forget`: shows what would go, asks, and tells what went and what is left.

use rethread_engine::{ForgetTarget, Forgotten};

use super::{Context, Exit};
use crate::cli::forget::Forget;
use crate::failure::{Failure, Kind};
use crate::json;
use crate::render;

/// Forgets for good, or shows what would be forgotten.
pub(crate) fn run(context: &Context, request: &Forget) -> Result<Exit, Failure> {
    let is_nothing_named = request.references.is_empty()
        && request.project.is_none()
        && request.before.is_none()
        && request.matching.is_none();
    if is_nothing_named {
        let failure = Failure::new(Kind::Usage, "nothing is named that should be forgotten");
        return Err(failure.hint("name sessions (REF…), or say --project PATH, --before WHEN or --matching TEXT"));
    }
    let may_ask = context.printer.can_ask() && !request.json.json;
    if !request.dry_run && !request.yes && !may_ask {
        let failure = Failure::new(Kind::Usage, "nobody can be asked whether to forget this for good");
        return Err(failure.hint("look first: --dry-run; then say so: --yes"));
    }
    let engine = context.engine()?;
    if !request.dry_run {
        engine.wipe_forgotten()?;
    }
    let target = target(request);
    if request.dry_run || !request.yes {
        let plan = engine.forget_dry_run(&target)?;
        tell(context, request, &plan, true)?;
        if request.dry_run || plan.is_nothing() {
            return Ok(if plan.is_nothing() { Exit::Nothing } else { Exit::Done });
        }
        if !context.printer.confirm("Forget all of this for good?")? {
            context.printer.note_line("Nothing was forgotten.");
            return Ok(Exit::Done);
        }
    }
    let forgotten = engine.forget(&target)?;
    tell(context, request, &forgotten, false)?;
    if forgotten.left().next().is_some() {
        return Ok(Exit::Told(3));
    }
    Ok(if forgotten.is_nothing() { Exit::Nothing } else { Exit::Done })
}

fn target(request: &Forget) -> ForgetTarget {
    match (&request.project, &request.before, &request.matching) {
        (Some(path), ..) => ForgetTarget::Project(path.clone()),
        (_, Some(moment), _) => ForgetTarget::Before(moment.clone()),
        (.., Some(text)) => ForgetTarget::Matching(text.clone()),
        _ => ForgetTarget::Sessions(request.references.clone()),
    }
}

fn tell(context: &Context, request: &Forget, forgotten: &Forgotten, is_plan: bool) -> Result<(), Failure> {
    if request.json.json {
        context.printer.json(&json::Forgotten::new(forgotten, is_plan))?;
    } else {
        let mut page = context.printer.page();
        render::forgotten(&mut page, forgotten, is_plan);
        context.printer.answer(&page)?;
    }
    if forgotten.is_nothing() {
        context.printer.note_line("There is nothing to forget.");
    } else if is_plan && request.dry_run {
        context.printer.note_line("Nothing was changed.");
    }
    for left in forgotten.left() {
        context.printer.warn(&format!("it is still in: {} ({})", left.place, left.left));
    }
    if forgotten.left().next().is_some() {
        context.printer.hint("stop other rethread processes and run it again; paths are forgotten with --project");
    }
    Ok(())
}
