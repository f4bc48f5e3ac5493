//! `session_activity`: what other sessions do. Nobody's watermark moves.

use rethread_engine::Scope;

use super::{Desk, place};
use crate::failure::Failure;
use crate::mcp::arguments::Arguments;
use crate::render::{self, Tone};

/// Tells what other sessions did: those a session does not know of yet, or in the last hour.
pub(super) fn activity(desk: &Desk<'_>, arguments: &Arguments) -> Result<String, Failure> {
    let mut page = Desk::page();
    if let Some(session) = arguments.optional_text("session") {
        // Who is not known must not make a store by asking.
        let id = desk.engine.resolve(session)?.session.id.to_string();
        let told = desk.engine.activity(&id, true)?;
        let text = told.map_or_else(|| "Nothing is new to that session.".to_owned(), |told| told.text);
        page.line(Tone::Plain, &text);
        return Ok(page.as_str().to_owned());
    }
    let live = desk.engine.live_activity(desk.scope)?;
    let Some(activity) = live.activity else {
        let nothing = || format!("No session did anything in {} in the last hour.", place(desk.scope));
        return Ok(desk.not_begun().map_or_else(nothing, str::to_owned));
    };
    page.line(Tone::Plain, &activity.text).end();
    page.line(Tone::Plain, "Sessions of the last hour; one of them may be yours:");
    render::sessions(&mut page, &live.sessions, desk.engine.now(), *desk.scope == Scope::AllProjects);
    Ok(page.as_str().to_owned())
}
