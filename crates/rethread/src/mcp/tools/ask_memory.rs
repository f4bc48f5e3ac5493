//! `ask_memory`: answers a question from all past sessions, with the configured model or from facts and passages.

use rethread_engine::{AskRequest, SessionScope};

use super::ToolContext;
use super::query_session::{current_turn, is_model_error};
use crate::failure::Failure;
use crate::mcp::arguments::McpArguments;
use crate::render::{self, Tone};

/// Answers a question. If the model is unavailable, answers without it and adds a note.
pub(super) fn ask(context: &ToolContext<'_>, arguments: &McpArguments) -> Result<String, Failure> {
    let request = AskRequest {
        question: arguments.text("question").to_owned(),
        asker: context.asker()?.cloned(),
        turn: Some(current_turn(context)?),
        ..AskRequest::default()
    };
    let scope = context.scope(arguments);
    let questions = context.engine.questions();
    let mut page = ToolContext::page();
    let answered = match questions.ask_project(&request, &scope) {
        Err(error) if is_model_error(&error) => {
            page.line(Tone::Plain, &format!("note: {}: {error}", error.code()));
            questions.ask_project(&AskRequest { skip_model: true, ..request.clone() }, &scope)?
        }
        answered => answered?,
    };
    if let Some(why) = context.not_synced_message() {
        return Ok(why.to_owned());
    }
    render::project_answer(&mut page, &answered);
    if answered.model.is_some() {
        page.end_line().line(Tone::Plain, &format!("({})", render::project_model_and_cost(&answered)));
    }
    if answered.answer.is_empty() && scope != SessionScope::AllProjects {
        let everywhere = AskRequest { skip_model: true, ..request };
        if !questions.ask_project(&everywhere, &SessionScope::AllProjects)?.answer.is_empty() {
            page.line(Tone::Plain, "Other projects have an answer: pass everywhere=true.");
        }
    }
    Ok(page.as_str().to_owned())
}
