//! `query_session`: answers a question about one session with the configured model, or quotes the best passages.

use rethread_engine::{AskError, AskRequest};

use super::ToolContext;
use crate::failure::Failure;
use crate::mcp::arguments::McpArguments;
use crate::render::{self, Tone};

/// MCP has no notion of an agent's turn: questions within one minute count as one turn (E001-14).
const TURN_MILLIS: i64 = 60_000;

/// Answers a question. If the model is unavailable, quotes passages instead and adds a note.
pub(super) fn ask(context: &ToolContext<'_>, arguments: &McpArguments) -> Result<String, Failure> {
    let minute = context.engine.now().as_millis() / TURN_MILLIS;
    let client = context.client.unwrap_or_default();
    let request = AskRequest {
        reference: arguments.text("session").to_owned(),
        question: arguments.text("question").to_owned(),
        turn: Some(format!("mcp {} {client:.40} {minute}", std::process::id())),
        ..AskRequest::default()
    };
    let mut page = ToolContext::page();
    let answered = match context.engine.questions().ask(&request) {
        Err(error) if is_model_error(&error) => {
            page.line(Tone::Plain, &format!("note: {}: {error}", error.code()));
            context.engine.questions().ask(&AskRequest { skip_model: true, ..request })?
        }
        answered => answered?,
    };
    render::answer(&mut page, &answered);
    if answered.model.is_some() {
        page.end_line().line(Tone::Plain, &format!("({})", render::model_and_cost(&answered)));
    }
    Ok(page.as_str().to_owned())
}

/// Whether quoting passages can still work after this error.
fn is_model_error(error: &AskError) -> bool {
    error.code().starts_with("QUERY_") || matches!(error, AskError::CallLimit { .. })
}
