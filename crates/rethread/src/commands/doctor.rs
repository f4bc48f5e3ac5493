//! `doctor`: checks the installation and suggests fixes.

use super::{CommandContext, Exit};
use crate::cli::JsonArgs;
use crate::failure::Failure;
use crate::json::DiagnosisJson;
use crate::render;

pub(crate) fn run(context: &CommandContext, json: JsonArgs) -> Result<Exit, Failure> {
    let diagnosis = context.quiet_engine()?.reports().doctor()?;
    if json.json {
        context.printer.json(&DiagnosisJson::new(&diagnosis))?;
    } else {
        let mut page = context.printer.page();
        render::diagnosis(&mut page, &diagnosis);
        context.printer.answer(&page)?;
    }
    Ok(if diagnosis.has_problems() { Exit::Nothing } else { Exit::Done })
}
