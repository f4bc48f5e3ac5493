//! `card`: what a session was about, by rules or by a model.

use rethread_engine::{ChatError, Engine, EngineError, Refresh, Refreshed};

use super::{Context, Exit};
use crate::cli::card::Card;
use crate::failure::{Failure, Kind};
use crate::{json, render};

/// Shows the card of the session a reference means, and has it written first if that is wanted.
pub(crate) fn run(context: &Context, request: &Card) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let reference = &request.session.reference;
    if request.dry_run {
        return would_ask(context, &engine, request);
    }
    if request.refresh {
        let refreshed = engine.refresh_card(reference, request.model.as_deref(), request.force)?;
        return told(context, &engine, request, refreshed);
    }
    let card = if request.export {
        let (card, path) = engine.export_card(reference)?;
        context.printer.note_line(&format!("written to {}", path.display()));
        card
    } else {
        engine.card(reference)?
    };
    show(context, &engine, request, &card, None)?;
    Ok(Exit::Done)
}

fn show(
    context: &Context,
    engine: &Engine,
    request: &Card,
    card: &rethread_engine::Card,
    refreshed: Option<json::RefreshedCard>,
) -> Result<(), Failure> {
    if let Some(path) = &card.damaged {
        context.printer.warn(&format!("{} is damaged and counts as missing", path.display()));
    }
    if request.json.json {
        context.printer.json(&json::Card::new(card, refreshed))?;
    } else {
        let mut page = context.printer.page();
        render::card(&mut page, card, engine.now());
        context.printer.answer(&page)?;
    }
    Ok(())
}

/// Shows the card as it is now, and says how the asking went.
fn told(context: &Context, engine: &Engine, request: &Card, refreshed: Refreshed) -> Result<Exit, Failure> {
    let Refreshed { card, outcome, cost } = refreshed;
    let told = json::RefreshedCard::new(&outcome, cost);
    show(context, engine, request, &card, Some(told))?;
    let printer = &context.printer;
    match outcome {
        Refresh::Made { .. } => {
            let by = card.made_by.as_deref().unwrap_or_default();
            printer.note_line(&format!("written by {} for {}", render::single(by), render::cost(cost)));
        }
        Refresh::NotDue { new, needed } => {
            printer.note_line(&format!("not due: {new} of {needed} new prompts"));
            printer.hint("--force has it written all the same");
            return Ok(Exit::Nothing);
        }
        _ => {}
    }
    let about_card = match outcome {
        Refresh::Off(_) => Some("the card above was made by rules or is an older one"),
        Refresh::NoModel(_) => Some("the card above was made without asking one"),
        Refresh::Invalid(_) => Some("try another one with --model"),
        _ => None,
    };
    let Some(mut failure) = failure_of(outcome) else { return Ok(Exit::Done) };
    failure.hints.extend(about_card.map(str::to_owned));
    let mut page = printer.side_page();
    render::failure(&mut page, &failure, engine.now());
    printer.complain(&page);
    Ok(Exit::Told(failure.kind.exit_code()))
}

/// Why no card was written; nothing where one was, or where none was due.
pub(crate) fn failure_of(outcome: Refresh) -> Option<Failure> {
    Some(match outcome {
        Refresh::Made { .. } | Refresh::NotDue { .. } => return None,
        Refresh::Busy => {
            Failure::new(Kind::CardBusy, "another process is having this card written").hint("look again in a moment")
        }
        Refresh::Off(why) => Failure::new(Kind::BadConfig, format!("no model writes cards: {why}")),
        Refresh::NoModel(error) => EngineError::from(error).into(),
        Refresh::Refused(refusal) => EngineError::from(ChatError::Budget(refusal)).into(),
        Refresh::Invalid(why) => Failure::new(Kind::Model, format!("the model's answers are no card: {why}")),
        Refresh::Failed(error) => Failure::from(EngineError::from(error)).hint("it is not tried again by itself"),
    })
}

fn would_ask(context: &Context, engine: &Engine, request: &Card) -> Result<Exit, Failure> {
    let plan = engine.refresh_card_dry_run(&request.session.reference, request.model.as_deref())?;
    if request.json.json {
        context.printer.json(&json::Card::planned(&plan))?;
    } else {
        let mut page = context.printer.page();
        render::would_ask_for_card(&mut page, &plan);
        context.printer.answer(&page)?;
    }
    Ok(Exit::Done)
}
