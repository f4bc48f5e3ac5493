//! `activity`, `inject`, `resume`, `task`, `pause`, `end`, `note`, `alias`: what sessions know, by hand.

use std::time::Duration;

use rethread_engine::{Explained, ListRequest, Part};

use super::{Context, Exit};
use crate::cli::life::{Activity, Inject, Named, Resume, Said};
use crate::failure::Failure;
use crate::json;
use crate::render::{self, Tone};

/// More texts than are kept of one session.
const MOST_TOLD: u64 = 1_000;

/// What the other sessions did.
pub(crate) fn activity(context: &Context, request: &Activity) -> Result<Exit, Failure> {
    let told = context.engine()?.activity(&request.session, request.peek)?;
    if request.json.json {
        context.printer.json(&json::Awareness::activity(told.as_ref()))?;
    } else if let Some(told) = &told {
        let mut page = context.printer.page();
        page.line(Tone::Plain, &told.text);
        context.printer.answer(&page)?;
    }
    Ok(if told.is_some() { Exit::Done } else { Exit::Nothing })
}

/// What the prompt hook would add, and why.
pub(crate) fn inject(context: &Context, request: &Inject) -> Result<Exit, Failure> {
    if request.told {
        return told(context, request);
    }
    let told = context.engine()?.explain(&request.session, &request.prompt)?;
    if request.json.json {
        context.printer.json(&json::Awareness::explained(&told))?;
    } else {
        let mut page = context.printer.page();
        if let Some(composed) = &told.composed {
            page.line(Tone::Plain, &composed.text);
        }
        if request.explain {
            explain(&mut page, &told);
        }
        context.printer.answer(&page)?;
    }
    Ok(if told.composed.is_some() { Exit::Done } else { Exit::Nothing })
}

/// What a session was told up to now.
fn told(context: &Context, request: &Inject) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let told = engine.told_to(&request.session, MOST_TOLD)?;
    if request.json.json {
        context.printer.json(&json::Injections::new(&told))?;
    } else {
        let mut page = context.printer.page();
        for (at, one) in told.iter().enumerate() {
            if at > 0 {
                page.end();
            }
            let took = Duration::from_micros(one.micros).as_secs_f64() * 1000.0;
            let about = format!(
                "{} · {} · {} bytes · {took:.1} ms",
                render::age(Some(one.at), engine.now()),
                one.event,
                one.text.len()
            );
            page.line(Tone::Dim, &about).line(Tone::Plain, &one.text);
        }
        context.printer.answer(&page)?;
    }
    Ok(if told.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn explain(page: &mut render::Page, told: &Explained) {
    page.line(Tone::Dim, &format!("state: {}", render::state(told.state)));
    let mut part = |word: &str, part: &Part| {
        page.line(Tone::Dim, &format!("{word} {}: {}", part.kind.as_str(), part.reason));
    };
    if let Some(composed) = &told.composed {
        composed.parts.iter().for_each(|one| part("told", one));
        composed.left_out.iter().for_each(|one| part("no room for", one));
        page.line(Tone::Dim, &format!("about {} tokens", composed.tokens));
    }
    if !told.session.entities.is_empty() {
        page.line(Tone::Dim, &format!("about: {}", told.session.entities.join(", ")));
    }
    for silent in &told.silent {
        page.line(Tone::Dim, &format!("silent about {silent}"));
    }
}

/// The words that greet a session, and how to go on with it.
pub(crate) fn resume(context: &Context, request: &Resume) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let found = if let Some(reference) = &request.reference {
        Some(engine.resolve(reference)?)
    } else {
        let newest = ListRequest { scope: engine.current_project(), limit: Some(1), ..ListRequest::default() };
        engine.sessions(&newest)?.pop()
    };
    let Some(listed) = found else {
        context.printer.note_line("There is no session here.");
        return Ok(Exit::Nothing);
    };
    let text = engine.resume_text(&listed.session.id.to_string())?;
    let mut page = context.printer.page();
    page.line(Tone::Plain, &text);
    context.printer.answer(&page)?;
    if let Some(command) = render::resume_command(&listed.session) {
        context.printer.hint(&command);
    }
    Ok(Exit::Done)
}

/// What a session is working on.
pub(crate) fn task(context: &Context, request: &Said) -> Result<Exit, Failure> {
    context.engine()?.set_task(&request.session.reference, &request.text)?;
    Ok(Exit::Done)
}

/// Something a session should remember for a day.
pub(crate) fn note(context: &Context, request: &Said) -> Result<Exit, Failure> {
    context.engine()?.add_note(&request.session.reference, &request.text)?;
    Ok(Exit::Done)
}

/// A name, whatever the agent calls it.
pub(crate) fn name(context: &Context, request: &Said) -> Result<Exit, Failure> {
    context.engine()?.set_name(&request.session.reference, &request.text)?;
    Ok(Exit::Done)
}

/// A short name of one's own.
pub(crate) fn alias(context: &Context, request: &Said) -> Result<Exit, Failure> {
    context.engine()?.set_alias(&request.session.reference, &request.text)?;
    Ok(Exit::Done)
}

/// Pauses a session.
pub(crate) fn pause(context: &Context, request: &Named) -> Result<Exit, Failure> {
    if context.engine()?.pause_session(&request.reference)? {
        return Ok(Exit::Done);
    }
    Ok(has_ended(context))
}

/// Ends a session.
pub(crate) fn end(context: &Context, request: &Named) -> Result<Exit, Failure> {
    let Some(ended) = context.engine()?.end_session(&request.reference)? else { return Ok(has_ended(context)) };
    if let Some(path) = ended.archive {
        context.printer.note_line(&format!("archived in {}", path.display()));
    }
    Ok(Exit::Done)
}

fn has_ended(context: &Context) -> Exit {
    context.printer.note_line("The session has ended already. A prompt in it begins a new period of work.");
    Exit::Nothing
}
