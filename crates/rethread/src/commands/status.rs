//! `status`: sizes and counts.

use super::{Context, Exit};
use crate::cli::Json;
use crate::failure::Failure;
use crate::json::Stated;
use crate::render;

/// Shows how much there is, and how much was left out.
pub(crate) fn run(context: &Context, json: Json) -> Result<Exit, Failure> {
    let status = context.engine()?.status()?;
    if json.json {
        context.printer.json(&Stated::new(&status))?;
        return Ok(Exit::Done);
    }
    let mut page = context.printer.page();
    render::status(&mut page, &status);
    context.printer.answer(&page)?;
    if status.statistics.is_none() {
        context.printer.hint("nothing was read yet: rethread init");
    }
    Ok(Exit::Done)
}
