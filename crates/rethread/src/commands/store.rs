//! `store copy`: copies a store into an empty one.

use std::time::Instant;

use rethread_engine::StoreCopyRequest;

use super::{CommandContext, Exit};
use crate::cli::store::{StoreCommand, StoreCopyArgs};
use crate::failure::{Failure, FailureKind};
use crate::{json, render, shared_store};

pub(crate) fn run(context: &CommandContext, command: &StoreCommand) -> Result<Exit, Failure> {
    let StoreCommand::Copy(args) = command;
    copy(context, args)
}

fn copy(context: &CommandContext, args: &StoreCopyArgs) -> Result<Exit, Failure> {
    let from = shared_store::copy_end(&args.from, args.from_password_file.as_deref())?;
    let to = shared_store::copy_end(&args.to, args.to_password_file.as_deref())?;
    let request = StoreCopyRequest { from, to, migrates: args.migrate };
    let started = Instant::now();
    let copied = context.quiet_engine()?.maintenance().copy_store(&request, &mut |table| {
        if context.printer.verbosity() > 0 {
            context.printer.note_line(&format!("copied {} ({})", table.table, render::count(table.rows, "row")));
        }
    });
    let report = copied.map_err(|error| {
        let failure = Failure::from(error);
        let is_target_old =
            failure.kind == FailureKind::StoreOutdated && !args.migrate && request.to.location.is_on_server();
        if is_target_old { failure.hint("or add --migrate, if it is TO and no other node uses it") } else { failure }
    })?;
    let seconds = started.elapsed().as_secs_f64();
    if args.json.json {
        context.printer.json(&json::StoreCopyJson::new(&request, &report, seconds))?;
        return Ok(Exit::Done);
    }
    let mut page = context.printer.page();
    render::store_copy(&mut page, &request, &report, seconds);
    context.printer.answer(&page)?;
    if report.spaces.iter().any(|space| space.has_left_members) {
        context.printer.note_line("Members and tokens were not copied: their tokens are valid only in the space and on the server they were made for.");
    }
    Ok(Exit::Done)
}
