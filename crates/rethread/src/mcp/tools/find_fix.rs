//! `find_fix`: what fixed an error before, and what did not.

use rethread_engine::{FixRequest, SessionScope};

use super::ToolContext;
use crate::failure::{Failure, FailureKind};
use crate::mcp::arguments::McpArguments;
use crate::render::{self, Tone};

pub(super) fn fix(context: &ToolContext<'_>, arguments: &McpArguments) -> Result<String, Failure> {
    let text = arguments.text("error");
    if text.is_empty() {
        return Err(Failure::new(FailureKind::Usage, "error is empty").hint("pass the line that names the error"));
    }
    let request = FixRequest { text: text.to_owned(), scope: context.scope(arguments) };
    let report = context.engine.facts().fix(&request)?;
    let mut page = ToolContext::page();
    if !report.is_empty() {
        render::fix(&mut page, &report, context.engine.now());
        return Ok(page.as_str().to_owned());
    }
    if let Some(why) = context.not_synced_message() {
        return Ok(why.to_owned());
    }
    let is_everywhere = request.scope == SessionScope::AllProjects;
    page.line(Tone::Plain, &render::no_fix_message(&report, is_everywhere, context.engine.now()));
    let related = context.engine.facts().sessions_with_error(&request)?;
    let everywhere = FixRequest { scope: SessionScope::AllProjects, ..request };
    if !is_everywhere && !context.engine.facts().fix(&everywhere)?.is_empty() {
        page.line(Tone::Plain, "Other projects have fixes: pass everywhere=true.");
    }
    render::sessions_with_error(&mut page, &related, context.engine.now());
    Ok(page.as_str().to_owned())
}
