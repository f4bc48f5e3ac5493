//! `resolve`: what `@@…` in a text means.

use rethread_engine::Outcome;

use super::{Context, Exit};
use crate::cli::ask::Resolve;
use crate::failure::Failure;
use crate::json;
use crate::render::Tone;

/// Shows what the references in a text would bring.
pub(crate) fn run(context: &Context, request: &Resolve) -> Result<Exit, Failure> {
    let found = context.engine()?.resolve_references(&request.text.join(" "))?;
    if request.json.json {
        context.printer.json(&json::Resolved::new(&found))?;
    } else if let Some(text) = &found.text {
        let mut page = context.printer.page();
        page.line(Tone::Plain, text);
        context.printer.answer(&page)?;
    } else {
        context.printer.note_line("No reference found.");
        context
            .printer
            .hint("a reference is @@ and an id, an alias or a name in one word: rethread sessions --for-ref");
    }
    let is_found = found.outcomes.iter().any(|(_, outcome)| matches!(outcome, Outcome::Resolved(_)));
    Ok(if is_found { Exit::Done } else { Exit::Nothing })
}
