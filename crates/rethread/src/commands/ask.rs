//! `ask` answers a question about a session; `handoff` writes a note for continuing it elsewhere.

use rethread_engine::AskRequest;

use super::{CommandContext, Exit};
use crate::cli::ask::{AskArgs, HandoffArgs};
use crate::failure::Failure;
use crate::{json, render};

pub(crate) fn run(context: &CommandContext, args: &AskArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let request = AskRequest {
        reference: args.session.reference.clone(),
        question: args.question.join(" "),
        model: args.model.clone(),
        skip_model: args.no_model,
        asker: None,
        turn: args.turn.clone(),
        max_bytes: None,
        timeout: None,
    };
    if args.dry_run {
        let plan = engine.questions().plan(&request)?;
        if args.json.json {
            context.printer.json(&json::AskPlanJson::new(&plan))?;
        } else {
            let mut page = context.printer.page();
            render::ask_plan(&mut page, &plan);
            context.printer.answer(&page)?;
        }
        return Ok(Exit::Done);
    }
    let report = engine.questions().ask(&request)?;
    let is_found = !(report.answer.is_extractive && report.answer.citations.is_empty());
    if args.json.json {
        context.printer.json(&json::AnswerJson::new(&report))?;
    } else {
        let mut page = context.printer.page();
        render::answer(&mut page, &report);
        context.printer.answer(&page)?;
        context.printer.note_line(&format!("\n{}", render::model_and_cost(&report)));
        if let Some(first) = report.answer.citations.first() {
            context.printer.hint(&format!("rethread show {}", report.listed.session.citation(first.line)));
        }
    }
    Ok(if is_found { Exit::Done } else { Exit::Nothing })
}

pub(crate) fn handoff(context: &CommandContext, args: &HandoffArgs) -> Result<Exit, Failure> {
    let handoff = context.engine()?.questions().handoff(&args.session.reference)?;
    if args.json.json {
        context.printer.json(&json::HandoffJson::new(&handoff))?;
    } else {
        let mut page = context.printer.page();
        page.add(render::Tone::Plain, &handoff.text);
        context.printer.answer(&page)?;
    }
    Ok(Exit::Done)
}
