//! `show`: prints the entries of one session.

use std::collections::HashMap;

use rethread_engine::{Engine, EngineError, OriginalEntry, OriginalProblem, SessionLog, ShowRequest};
use rethread_model::Entry;

use super::{CommandContext, Exit};
use crate::cli::sessions::ShowArgs;
use crate::failure::Failure;
use crate::json::{EpisodeListJson, SessionEventsJson, SessionLogJson};
use crate::render::{self, LogOriginals, LogView, Tone};

/// Entries shown by default (E000-07).
const DEFAULT_LINES: u64 = 50;
/// Entries shown around a citation by default.
const LINES_AROUND: u64 = 20;
/// Bytes of originals in one JSON object.
const MAX_JSON_BYTES: usize = 64 << 20;

type OriginalsBySeq = HashMap<u64, Result<OriginalEntry, OriginalProblem>>;

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
        let originals = if args.full { originals_for_json(&engine, &log)? } else { HashMap::new() };
        context.printer.json(&SessionLogJson::new(&log, &originals))?;
    } else if exit == Exit::Nothing {
        print_line(context, "No activity found.")?;
    } else {
        let mut page = context.printer.page();
        let mut originals = LogOriginals::unfolding(log.cited_line);
        if args.full {
            let mut add = |entry: &Entry, original| originals.add(entry, original);
            engine.sessions().originals(&log.listed.session, &log.entries, &mut add)?;
        }
        let view = LogView { zone: &context.zone, profile: args.profile, originals: &originals };
        render::show(&mut page, &log, &view);
        context.printer.answer(&page)?;
    }
    Ok(exit)
}

/// What the transcripts have about the entries. A session can have gigabytes, so that not all of it may fit.
fn originals_for_json(engine: &Engine, log: &SessionLog) -> Result<OriginalsBySeq, Failure> {
    let (mut found, mut bytes) = (HashMap::new(), 0);
    let mut add = |entry: &Entry, original: Result<OriginalEntry, OriginalProblem>| {
        bytes += original.as_ref().map_or(0, OriginalEntry::size);
        let original = if bytes > MAX_JSON_BYTES { Err(OriginalProblem::TooLarge) } else { original };
        found.insert(entry.seq, original);
    };
    engine.sessions().originals(&log.listed.session, &log.entries, &mut add)?;
    Ok(found)
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
