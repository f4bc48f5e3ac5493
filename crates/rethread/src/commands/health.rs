//! `doctor` and `verify`: what is well, what is not.

use super::{Context, Exit};
use crate::cli::Json;
use crate::failure::Failure;
use crate::json::{Diagnosed, Verified};
use crate::render;

/// Looks at sources, store and configuration.
pub(crate) fn doctor(context: &Context, json: Json) -> Result<Exit, Failure> {
    let diagnosis = context.quiet_engine()?.doctor()?;
    if json.json {
        context.printer.json(&Diagnosed::new(&diagnosis))?;
    } else {
        let mut page = context.printer.page();
        render::diagnosis(&mut page, &diagnosis);
        context.printer.answer(&page)?;
    }
    Ok(if diagnosis.is_ill() { Exit::Nothing } else { Exit::Done })
}

/// Checks that what is stored agrees with itself.
pub(crate) fn verify(context: &Context, json: Json) -> Result<Exit, Failure> {
    let report = context.engine()?.verify()?;
    if json.json {
        context.printer.json(&Verified::new(&report))?;
    } else {
        let mut page = context.printer.page();
        render::verified(&mut page, &report);
        context.printer.answer(&page)?;
    }
    if report.damage.is_empty() {
        return Ok(Exit::Done);
    }
    context.printer.hint("`rethread rebuild` derives everything again");
    Ok(Exit::Nothing)
}
