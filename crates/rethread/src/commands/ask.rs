//! `ask` and `handoff`: what a session knows, and what its successor needs.

use rethread_engine::AskRequest;

use super::{Context, Exit};
use crate::cli::ask::{Ask, Handoff};
use crate::failure::Failure;
use crate::{json, render};

/// Answers a question about a session.
pub(crate) fn run(context: &Context, request: &Ask) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let wanted = AskRequest {
        reference: request.session.reference.clone(),
        question: request.question.join(" "),
        model: request.model.clone(),
        without_model: request.no_model,
        turn: request.turn.clone(),
        max_bytes: None,
        timeout: None,
    };
    if request.dry_run {
        let plan = engine.ask_dry_run(&wanted)?;
        if request.json.json {
            context.printer.json(&json::WouldAsk::new(&plan))?;
        } else {
            let mut page = context.printer.page();
            render::would_ask(&mut page, &plan);
            context.printer.answer(&page)?;
        }
        return Ok(Exit::Done);
    }
    let asked = engine.ask(&wanted)?;
    let is_found = !(asked.answer.is_extractive && asked.answer.citations.is_empty());
    if request.json.json {
        context.printer.json(&json::Answered::new(&asked))?;
    } else {
        let mut page = context.printer.page();
        render::answered(&mut page, &asked);
        context.printer.answer(&page)?;
        context.printer.note_line(&format!("\n{}", render::price_of(&asked)));
        if let Some(first) = asked.answer.citations.first() {
            context.printer.hint(&format!("rethread show {}", asked.listed.session.citation(first.line)));
        }
    }
    Ok(if is_found { Exit::Done } else { Exit::Nothing })
}

/// Tells what somebody who goes on with a session's work has to know.
pub(crate) fn handoff(context: &Context, request: &Handoff) -> Result<Exit, Failure> {
    let made = context.engine()?.handoff(&request.session.reference)?;
    if request.json.json {
        context.printer.json(&json::HandedOff::new(&made))?;
    } else {
        let mut page = context.printer.page();
        page.add(render::Tone::Plain, &made.text);
        context.printer.answer(&page)?;
    }
    Ok(Exit::Done)
}
