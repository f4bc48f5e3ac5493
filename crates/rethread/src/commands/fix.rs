//! `fix`: what fixed an error before, and what did not.

use std::io::Read as _;

use rethread_engine::{FixReport, FixRequest, Scope};

use super::{Context, Exit, explain_unknown, scope};
use crate::cli::facts::Fix;
use crate::failure::{Failure, Kind};
use crate::json::Fixed;
use crate::render;

/// More of a pasted output is not read: what went wrong is told long before.
const LONGEST_INPUT: u64 = 16 << 20;

/// Looks an error up.
pub(crate) fn run(context: &Context, request: &Fix) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let text = match request.error.as_slice() {
        [dash] if dash == "-" => standard_text()?,
        words => words.join(" "),
    };
    if text.trim().is_empty() {
        return Err(Failure::new(Kind::Usage, "there is no error to look up")
            .hint("give a line of it, or pipe the output into `rethread fix -`"));
    }
    let wanted = FixRequest { text, scope: scope(&engine, &request.place) };
    let report = engine.fix(&wanted)?;
    if request.json.json {
        context.printer.json(&Fixed::new(&report))?;
    } else if !report.is_empty() {
        let mut page = context.printer.page();
        render::fix(&mut page, &report, engine.now());
        context.printer.answer(&page)?;
        if let Some(source) = best(&report) {
            context.printer.hint(&format!("rethread show {source}"));
        }
    }
    if !report.is_empty() {
        return Ok(Exit::Done);
    }
    let elsewhere = || {
        let everywhere = FixRequest { scope: Scope::AllProjects, ..wanted.clone() };
        Ok(!engine.fix(&everywhere)?.is_empty())
    };
    let said = render::not_fixed(&report, wanted.scope == Scope::AllProjects, engine.now());
    explain_unknown(context, &engine, &wanted.scope, &said, elsewhere)?;
    Ok(Exit::Nothing)
}

/// Where the best fix stands.
fn best(report: &FixReport) -> Option<String> {
    let fixes = report.errors.iter().flat_map(|error| error.fixes.fixes.iter().chain(&error.fixes.dead_ends));
    fixes.flat_map(|fix| &fix.sources).next().map(rethread_engine::Source::citation)
}

/// What was pasted. Terminals and build tools print bytes that are no text, which must not hide the error.
fn standard_text() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(LONGEST_INPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
