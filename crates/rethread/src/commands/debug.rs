//! `debug`: what hooks inject and injected, what references expand to, and whether the store is consistent.

use std::time::Duration;

use rethread_engine::{InjectionExplanation, InjectionSection, ReferenceOutcome};

use super::{CommandContext, Exit};
use crate::cli::JsonArgs;
use crate::cli::debug::{ActivityArgs, DebugCommand, InjectArgs, ResolveArgs};
use crate::failure::Failure;
use crate::json;
use crate::render::{self, Tone};

/// More injections than are stored for one session, so that all are shown.
const MAX_HISTORY: u64 = 1_000;

pub(crate) fn run(context: &CommandContext, command: &DebugCommand) -> Result<Exit, Failure> {
    match command {
        DebugCommand::Inject(args) if args.history => injection_history(context, args),
        DebugCommand::Inject(args) => inject(context, args),
        DebugCommand::Activity(args) => activity(context, args),
        DebugCommand::Resolve(args) => resolve(context, args),
        DebugCommand::Verify(json) => verify(context, *json),
    }
}

fn activity(context: &CommandContext, args: &ActivityArgs) -> Result<Exit, Failure> {
    let activity = context.engine()?.awareness().activity(&args.session, args.peek)?;
    if args.json.json {
        context.printer.json(&json::AwarenessJson::from_activity(activity.as_ref()))?;
    } else if let Some(activity) = &activity {
        let mut page = context.printer.page();
        page.line(Tone::Plain, &activity.text);
        context.printer.answer(&page)?;
    }
    Ok(if activity.is_some() { Exit::Done } else { Exit::Nothing })
}

fn inject(context: &CommandContext, args: &InjectArgs) -> Result<Exit, Failure> {
    let explained = context.engine()?.awareness().explain(&args.session, &args.prompt)?;
    if args.json.json {
        context.printer.json(&json::AwarenessJson::from_explanation(&explained))?;
    } else {
        let mut page = context.printer.page();
        if let Some(composed) = &explained.composed {
            page.line(Tone::Plain, &composed.text);
        }
        if args.explain {
            explain(&mut page, &explained);
        }
        context.printer.answer(&page)?;
    }
    Ok(if explained.composed.is_some() { Exit::Done } else { Exit::Nothing })
}

fn explain(page: &mut render::TextPage, explained: &InjectionExplanation) {
    page.line(Tone::Dim, &format!("state: {}", render::state_name(explained.state)));
    let mut section = |label: &str, part: &InjectionSection| {
        page.line(Tone::Dim, &format!("{label} {}: {}", part.kind.as_str(), part.reason));
    };
    if let Some(composed) = &explained.composed {
        composed.sections.iter().for_each(|part| section("included", part));
        composed.left_out.iter().for_each(|part| section("left out (token budget)", part));
        page.line(Tone::Dim, &format!("about {} tokens", composed.tokens));
    }
    if !explained.session.entities.is_empty() {
        page.line(Tone::Dim, &format!("entities: {}", explained.session.entities.join(", ")));
    }
    for reason in &explained.skipped {
        page.line(Tone::Dim, &format!("skipped {reason}"));
    }
}

fn injection_history(context: &CommandContext, args: &InjectArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let injections = engine.awareness().injections(&args.session, MAX_HISTORY)?;
    if args.json.json {
        context.printer.json(&json::InjectionListJson::new(&injections))?;
    } else {
        let mut page = context.printer.page();
        for (at, injection) in injections.iter().enumerate() {
            if at > 0 {
                page.end_line();
            }
            let took = Duration::from_micros(injection.duration_micros).as_secs_f64() * 1000.0;
            let heading = format!(
                "{} · {} · {} bytes · {took:.1} ms",
                render::age(Some(injection.at), engine.now()),
                injection.event,
                injection.text.len()
            );
            page.line(Tone::Dim, &heading).line(Tone::Plain, &injection.text);
        }
        context.printer.answer(&page)?;
    }
    Ok(if injections.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn resolve(context: &CommandContext, args: &ResolveArgs) -> Result<Exit, Failure> {
    let found = context.engine()?.questions().references(&args.text.join(" "))?;
    if args.json.json {
        context.printer.json(&json::ResolvedReferencesJson::new(&found))?;
    } else if let Some(text) = &found.text {
        let mut page = context.printer.page();
        page.line(Tone::Plain, text);
        context.printer.answer(&page)?;
    } else {
        context.printer.note_line("No reference found.");
        context.printer.hint("write @@ and an ID, alias or name-with-dashes; `rethread sessions --for-ref` lists them");
    }
    let is_found = found.outcomes.iter().any(|(_, outcome)| matches!(outcome, ReferenceOutcome::Resolved(_)));
    Ok(if is_found { Exit::Done } else { Exit::Nothing })
}

fn verify(context: &CommandContext, json: JsonArgs) -> Result<Exit, Failure> {
    let report = context.engine()?.maintenance().verify()?;
    if json.json {
        context.printer.json(&json::VerifyReportJson::new(&report))?;
    } else {
        let mut page = context.printer.page();
        render::verify_report(&mut page, &report);
        context.printer.answer(&page)?;
    }
    if report.damage.is_empty() {
        return Ok(Exit::Done);
    }
    context.printer.hint("run `rethread rebuild`");
    Ok(Exit::Nothing)
}
