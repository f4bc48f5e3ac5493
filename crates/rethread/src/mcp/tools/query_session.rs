//! `query_session`: answers a question about one session with the configured model, or quotes the best passages.

use rethread_engine::{AskError, AskRequest};

use super::ToolContext;
use crate::failure::Failure;
use crate::mcp::arguments::McpArguments;
use crate::render::{self, Tone};

/// If the caller's turn is unknown, questions within one minute count as one turn (E001-14).
const TURN_MILLIS: i64 = 60_000;

/// Answers a question. If the model is unavailable, quotes passages instead and adds a note.
pub(super) fn ask(context: &ToolContext<'_>, arguments: &McpArguments) -> Result<String, Failure> {
    let request = AskRequest {
        reference: arguments.text("session").to_owned(),
        question: arguments.text("question").to_owned(),
        asker: context.asker()?.cloned(),
        turn: Some(current_turn(context)?),
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

/// The turn in which a question is asked, as far as it is known.
pub(super) fn current_turn(context: &ToolContext<'_>) -> Result<String, Failure> {
    let turn = context.asker()?.map(|asker| context.engine.awareness().turn_of(asker)).transpose()?.flatten();
    Ok(turn.unwrap_or_else(|| current_minute(context)))
}

fn current_minute(context: &ToolContext<'_>) -> String {
    let minute = context.engine.now().as_millis() / TURN_MILLIS;
    format!("mcp {} {:.40} {minute}", std::process::id(), context.client.unwrap_or_default())
}

/// Whether quoting passages can still work after this error.
pub(super) fn is_model_error(error: &AskError) -> bool {
    error.code().starts_with("QUERY_") || matches!(error, AskError::CallLimit { .. })
}
