//! `find_fix`: what helped against an error before, and what did not.

use rethread_engine::{FixRequest, Scope};

use super::Desk;
use crate::failure::{Failure, Kind};
use crate::mcp::arguments::Arguments;
use crate::render::{self, Tone};

/// Looks an error up.
pub(super) fn fix(desk: &Desk<'_>, arguments: &Arguments) -> Result<String, Failure> {
    let text = arguments.text("error");
    if text.is_empty() {
        return Err(Failure::new(Kind::Usage, "there is no error to look up").hint("give the line that names it"));
    }
    let wanted = FixRequest { text: text.to_owned(), scope: desk.scope(arguments) };
    let report = desk.engine.fix(&wanted)?;
    let mut page = Desk::page();
    if !report.is_empty() {
        render::fix(&mut page, &report, desk.engine.now());
        return Ok(page.as_str().to_owned());
    }
    if let Some(why) = desk.not_begun() {
        return Ok(why.to_owned());
    }
    let is_everywhere = wanted.scope == Scope::AllProjects;
    page.line(Tone::Plain, &render::not_fixed(&report, is_everywhere, desk.engine.now()));
    let everywhere = FixRequest { scope: Scope::AllProjects, ..wanted };
    if !is_everywhere && !desk.engine.fix(&everywhere)?.is_empty() {
        page.line(Tone::Plain, "Something is known in other projects: everywhere=true.");
    }
    Ok(page.as_str().to_owned())
}
