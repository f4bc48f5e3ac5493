//! `show`: prints the entries of one session.

use rethread_engine::{EngineError, ShowRequest};

use super::{CommandContext, Exit};
use crate::cli::sessions::ShowArgs;
use crate::failure::Failure;
use crate::json::{EpisodeListJson, SessionEventsJson, SessionLogJson};
use crate::render::{self, LogView, Tone};

/// Entries shown by default (E000-07).
const DEFAULT_LINES: u64 = 50;
/// Entries shown around a citation by default.
const LINES_AROUND: u64 = 20;

pub(crate) fn run(context: &CommandContext, args: &ShowArgs) -> Result<Exit, Failure> {
    if args.episodes {
        return show_episodes(context, args);
    }
    if args.events {
        return show_events(context, args);
    }
    let engine = context.engine()?;
    let request = ShowRequest { profile: args.profile, max_entries: Some(max_entries(args)), max_bytes: args.bytes };
    let log = match engine.sessions().show(&args.reference, request) {
        Ok(log) => log,
        Err(error) => {
            if matches!(error, EngineError::UnknownReference(_)) && !args.json.json {
                print_line(context, "No session log found.")?;
            }
            return Err(error.into());
        }
    };
    if log.entries.is_empty() && !args.json.json && log.cited_line.is_none() {
        // Hooks may have reported a session whose transcript was not read yet.
        return show_events(context, args);
    }
    let exit = if log.entries.is_empty() { Exit::Nothing } else { Exit::Done };
    if args.json.json {
        context.printer.json(&SessionLogJson::new(&log))?;
    } else if exit == Exit::Nothing {
        print_line(context, "No activity found.")?;
    } else {
        let mut page = context.printer.page();
        render::show(&mut page, &log, &LogView { zone: &context.zone, profile: args.profile });
        context.printer.answer(&page)?;
    }
    Ok(exit)
}

fn max_entries(args: &ShowArgs) -> u64 {
    let is_citation = args.reference.rsplit_once(':').is_some_and(|(_, line)| line.parse::<u64>().is_ok());
    args.lines.unwrap_or(match is_citation {
        // The engine needs a number around a citation, even for all entries.
        _ if args.full || args.bytes.is_some() => u64::MAX,
        true => LINES_AROUND,
        false => DEFAULT_LINES,
    })
}

fn show_events(context: &CommandContext, args: &ShowArgs) -> Result<Exit, Failure> {
    let found = context.engine()?.lifecycle().events(&args.reference)?;
    if args.json.json {
        context.printer.json(&SessionEventsJson::new(&found))?;
    } else if found.events.is_empty() {
        print_line(context, "No activity found.")?;
    } else {
        let mut page = context.printer.page();
        render::session_events(&mut page, &found, &context.zone);
        context.printer.answer(&page)?;
    }
    Ok(if found.events.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn show_episodes(context: &CommandContext, args: &ShowArgs) -> Result<Exit, Failure> {
    let (listed, episodes) = context.engine()?.sessions().episodes(&args.reference)?;
    if args.json.json {
        context.printer.json(&EpisodeListJson::new(&listed, &episodes))?;
    } else {
        let mut page = context.printer.page();
        for episode in &episodes {
            page.line(Tone::Strong, &episode.name).line(Tone::Plain, &episode.text).end_line();
        }
        context.printer.answer(&page)?;
    }
    Ok(if episodes.is_empty() { Exit::Nothing } else { Exit::Done })
}

fn print_line(context: &CommandContext, text: &str) -> Result<(), Failure> {
    let mut page = context.printer.page();
    page.line(Tone::Plain, text);
    Ok(context.printer.answer(&page)?)
}
