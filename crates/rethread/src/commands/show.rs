//! `show`: the log of one session.

use rethread_engine::{EngineError, ShowRequest};

use super::{Context, Exit};
use crate::cli::Show;
use crate::failure::Failure;
use crate::json::{Exchanges, Shown};
use crate::render::{self, Reader, Tone};

/// How many entries are shown unless somebody asks for more or less (E000-07).
const USUAL_LINES: u64 = 50;
/// And how many around a line that was cited.
const LINES_AROUND: u64 = 20;

/// Shows the last entries of the session a reference means.
pub(crate) fn run(context: &Context, request: &Show) -> Result<Exit, Failure> {
    if request.episodes {
        return episodes(context, request);
    }
    let engine = context.engine()?;
    let wanted = ShowRequest { profile: request.profile, lines: Some(lines(request)), bytes: request.bytes };
    let log = match engine.show(&request.reference, wanted) {
        Ok(log) => log,
        Err(error) => {
            if matches!(error, EngineError::UnknownReference(_)) && !request.json.json {
                say(context, "No session log found.")?;
            }
            return Err(error.into());
        }
    };
    let exit = if log.entries.is_empty() { Exit::Nothing } else { Exit::Done };
    if request.json.json {
        context.printer.json(&Shown::new(&log))?;
    } else if exit == Exit::Nothing {
        say(context, "No activity found.")?;
    } else {
        let mut page = context.printer.page();
        render::show(&mut page, &log, &Reader { zone: &context.zone, profile: request.profile });
        context.printer.answer(&page)?;
    }
    Ok(exit)
}

/// How many entries are wanted.
fn lines(request: &Show) -> u64 {
    let is_citation = request.reference.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u64>().is_ok());
    request.lines.unwrap_or(match is_citation {
        // Around a citation a number is needed even for all of them.
        _ if request.full || request.bytes.is_some() => u64::MAX,
        true => LINES_AROUND,
        false => USUAL_LINES,
    })
}

/// Shows the session exchange by exchange, as plain text.
fn episodes(context: &Context, request: &Show) -> Result<Exit, Failure> {
    let (listed, episodes) = context.engine()?.episodes(&request.reference)?;
    if request.json.json {
        context.printer.json(&Exchanges::new(&listed, &episodes))?;
    } else {
        let mut page = context.printer.page();
        for one in &episodes {
            page.line(Tone::Strong, &one.name).line(Tone::Plain, &one.text).end();
        }
        context.printer.answer(&page)?;
    }
    Ok(if episodes.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn say(context: &Context, text: &str) -> Result<(), Failure> {
    let mut page = context.printer.page();
    page.line(Tone::Plain, text);
    Ok(context.printer.answer(&page)?)
}
