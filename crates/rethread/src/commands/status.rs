//! `status`: shows counts, sizes and index state.

use super::{CommandContext, Exit, NEVER_SYNCED};
use crate::cli::JsonArgs;
use crate::failure::Failure;
use crate::json::StatusJson;
use crate::render;

pub(crate) fn run(context: &CommandContext, json: JsonArgs) -> Result<Exit, Failure> {
    let status = context.engine()?.reports().status()?;
    if json.json {
        context.printer.json(&StatusJson::new(&status))?;
        return Ok(Exit::Done);
    }
    let mut page = context.printer.page();
    render::status(&mut page, &status);
    context.printer.answer(&page)?;
    if status.statistics.is_none() {
        context.printer.hint(NEVER_SYNCED);
    }
    Ok(Exit::Done)
}
