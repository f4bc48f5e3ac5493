//! `query_session`: an answer about one session, by the configured model or by quoting what fits best.

use rethread_engine::{AskError, AskRequest};

use super::Desk;
use crate::failure::Failure;
use crate::mcp::arguments::Arguments;
use crate::render::{self, Tone};

/// The protocol knows no turns of an agent; what is asked within a minute counts as asked in one (E001-14).
const TURN_MILLIS: i64 = 60_000;

/// Answers a question. Where the model may not or cannot be asked, passages are quoted instead, and this is said.
pub(super) fn ask(desk: &Desk<'_>, arguments: &Arguments) -> Result<String, Failure> {
    let minute = desk.engine.now().as_millis() / TURN_MILLIS;
    let client = desk.client.unwrap_or_default();
    let wanted = AskRequest {
        reference: arguments.text("session").to_owned(),
        question: arguments.text("question").to_owned(),
        turn: Some(format!("mcp {} {client:.40} {minute}", std::process::id())),
        ..AskRequest::default()
    };
    let mut page = Desk::page();
    let asked = match desk.engine.ask(&wanted) {
        Err(error) if is_of_the_model(&error) => {
            page.line(Tone::Plain, &format!("note: {}: {error}", error.code()));
            desk.engine.ask(&AskRequest { without_model: true, ..wanted })?
        }
        asked => asked?,
    };
    render::answered(&mut page, &asked);
    if asked.model.is_some() {
        page.end().line(Tone::Plain, &format!("({})", render::price_of(&asked)));
    }
    Ok(page.as_str().to_owned())
}

/// Whether passages can be quoted although there is no answer.
fn is_of_the_model(error: &AskError) -> bool {
    error.code().starts_with("QUERY_") || matches!(error, AskError::CallLimit { .. })
}
