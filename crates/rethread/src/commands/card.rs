//! `session card`: shows the card of a session, or lets a model write it.

use rethread_engine::{CardRefresh, CardRefreshOutcome, ChatError, Engine, EngineError};

use super::{CommandContext, Exit};
use crate::cli::session::CardArgs;
use crate::failure::{Failure, FailureKind};
use crate::{json, render};

pub(crate) fn run(context: &CommandContext, args: &CardArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let reference = &args.session.reference;
    if args.dry_run {
        return dry_run(context, &engine, args);
    }
    if args.refresh {
        let refreshed = engine.cards().refresh(reference, args.model.as_deref(), args.force)?;
        return show_refreshed(context, &engine, args, refreshed);
    }
    let card = if args.export {
        let (card, path) = engine.cards().export(reference)?;
        context.printer.note_line(&format!("wrote {}", path.display()));
        card
    } else {
        engine.cards().get(reference)?
    };
    show(context, &engine, args, &card, None)?;
    Ok(Exit::Done)
}

fn show(
    context: &CommandContext,
    engine: &Engine,
    args: &CardArgs,
    card: &rethread_engine::SessionCard,
    refreshed: Option<json::CardRefreshJson>,
) -> Result<(), Failure> {
    if let Some(path) = &card.damaged_file {
        context.printer.warn(&format!("ignored damaged card file {}", path.display()));
    }
    if args.json.json {
        context.printer.json(&json::CardJson::new(card, refreshed))?;
    } else {
        let mut page = context.printer.page();
        render::card(&mut page, card, engine.now());
        context.printer.answer(&page)?;
    }
    Ok(())
}

/// Prints the current card, whatever the model did, and then the outcome of the request.
fn show_refreshed(
    context: &CommandContext,
    engine: &Engine,
    args: &CardArgs,
    refreshed: CardRefresh,
) -> Result<Exit, Failure> {
    let CardRefresh { card, outcome, cost } = refreshed;
    let refreshed = json::CardRefreshJson::new(&outcome, cost);
    show(context, engine, args, &card, Some(refreshed))?;
    let printer = &context.printer;
    match outcome {
        CardRefreshOutcome::Written { .. } => {
            let model = card.model.as_deref().unwrap_or_default();
            printer.note_line(&format!("written by {} for {}", render::sanitize_line(model), render::cost(cost)));
        }
        CardRefreshOutcome::NotDue { new_prompts: new, needed_prompts: needed } => {
            printer.note_line(&format!("not due yet: {new} of {needed} new prompts"));
            printer.hint("use --force to refresh it now");
            return Ok(Exit::Nothing);
        }
        _ => {}
    }
    let hint = match outcome {
        CardRefreshOutcome::Disabled(_) => Some("the card above was generated without a model, or is an older one"),
        CardRefreshOutcome::NoModel(_) => Some("the card above was generated without a model"),
        CardRefreshOutcome::InvalidAnswer(_) => Some("try another model with --model"),
        _ => None,
    };
    let Some(mut failure) = failure_of(outcome) else { return Ok(Exit::Done) };
    failure.hints.extend(hint.map(str::to_owned));
    let mut page = printer.side_page();
    render::failure(&mut page, &failure, engine.now());
    printer.error(&page);
    Ok(Exit::Reported(failure.kind.exit_code()))
}

/// The error for a refresh that wrote no card. None if it wrote one or was not due.
pub(crate) fn failure_of(outcome: CardRefreshOutcome) -> Option<Failure> {
    Some(match outcome {
        CardRefreshOutcome::Written { .. } | CardRefreshOutcome::NotDue { .. } => return None,
        CardRefreshOutcome::Busy => {
            Failure::new(FailureKind::CardBusy, "another process is refreshing this card").hint("try again in a moment")
        }
        CardRefreshOutcome::Disabled(reason) => {
            Failure::new(FailureKind::InvalidConfig, format!("cards are not written by a model: {reason}"))
        }
        CardRefreshOutcome::NoModel(error) => EngineError::from(error).into(),
        CardRefreshOutcome::OverBudget(refusal) => EngineError::from(ChatError::Budget(refusal)).into(),
        CardRefreshOutcome::InvalidAnswer(reason) => {
            Failure::new(FailureKind::Model, format!("the model returned an invalid card: {reason}"))
        }
        CardRefreshOutcome::Failed(error) => {
            Failure::from(EngineError::from(error)).hint("it is not retried automatically")
        }
    })
}

fn dry_run(context: &CommandContext, engine: &Engine, args: &CardArgs) -> Result<Exit, Failure> {
    let plan = engine.cards().plan_refresh(&args.session.reference, args.model.as_deref())?;
    if args.json.json {
        context.printer.json(&json::CardJson::from_plan(&plan))?;
    } else {
        let mut page = context.printer.page();
        render::card_plan(&mut page, &plan);
        context.printer.answer(&page)?;
    }
    Ok(Exit::Done)
}
