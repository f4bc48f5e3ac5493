//! `fix`: shows what fixed an error before, and what did not help.

use std::io::Read as _;

use rethread_engine::{FixReport, FixRequest, SessionScope};

use super::{CommandContext, Exit, explain_empty, scope};
use crate::cli::facts::FixArgs;
use crate::failure::{Failure, FailureKind};
use crate::json::FixReportJson;
use crate::render;

/// Bytes read from stdin. The error comes long before that.
const MAX_INPUT: u64 = 16 << 20;

pub(crate) fn run(context: &CommandContext, args: &FixArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let text = match args.error.as_slice() {
        [dash] if dash == "-" => read_stdin()?,
        words => words.join(" "),
    };
    if text.trim().is_empty() {
        return Err(Failure::new(FailureKind::Usage, "no error text given")
            .hint("pass the error line, or pipe the output into `rethread fix -`"));
    }
    let request = FixRequest { text, scope: scope(context, &engine, &args.scope)? };
    let report = engine.facts().fix(&request)?;
    let related = if report.is_empty() { engine.facts().sessions_with_error(&request)? } else { Vec::new() };
    if args.json.json {
        context.printer.json(&FixReportJson::new(&report, &related))?;
    } else if !report.is_empty() {
        let mut page = context.printer.page();
        render::fix(&mut page, &report, engine.now());
        context.printer.answer(&page)?;
        if let Some(citation) = best_citation(&report) {
            context.printer.hint(&format!("rethread show {citation}"));
        }
    }
    if !report.is_empty() {
        return Ok(Exit::Done);
    }
    let is_elsewhere = || {
        let everywhere = FixRequest { scope: SessionScope::AllProjects, ..request.clone() };
        Ok(!engine.facts().fix(&everywhere)?.is_empty())
    };
    let message = render::no_fix_message(&report, request.scope == SessionScope::AllProjects, engine.now());
    explain_empty(context, &engine, &request.scope, &message, is_elsewhere)?;
    if !args.json.json && !related.is_empty() {
        let mut page = context.printer.page();
        render::sessions_with_error(&mut page, &related, engine.now());
        context.printer.answer(&page)?;
    }
    Ok(Exit::Nothing)
}

/// The citation of the best fix, or of a failed attempt if there is no fix.
fn best_citation(report: &FixReport) -> Option<String> {
    let fixes = report.errors.iter().flat_map(|error| error.fixes.fixes.iter().chain(&error.fixes.failed_attempts));
    fixes.flat_map(|fix| &fix.sources).next().map(rethread_engine::FactSource::citation)
}

/// Invalid UTF-8 is replaced: build tools print such bytes, and they must not hide the error.
fn read_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(MAX_INPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
