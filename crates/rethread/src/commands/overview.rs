//! `rethread` without a verb: what is stored, what is running, and three commands that fit. Creates nothing.

use std::fs::{File, TryLockError};
use std::time::SystemTime;

use rethread_engine::{BoardRequest, Engine, ListedSession, SessionListRequest};
use rethread_model::Timestamp;

use super::{CommandContext, Exit, print_suggestions, short_id};
use crate::failure::Failure;
use crate::render::{CellAlign, TextPage, Tone, count, number};

const LABEL_WIDTH: usize = 13;
/// Suggestions shown at the end.
const SUGGESTIONS: usize = 3;
/// A store that was not updated for this long, in hours, makes `sync` the first suggestion.
const STALE_HOURS: i64 = 24;

pub(crate) fn run(context: &CommandContext) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let mut page = context.printer.page();
    page.add(Tone::Strong, &format!("Rethread {}", env!("CARGO_PKG_VERSION")));
    page.line(Tone::Plain, " · session memory for AI coding agents").end_line();
    let suggestions = if engine.has_store() { print_state(&mut page, &engine)? } else { print_unsynced(&mut page) };
    page.end_line();
    print_suggestions(&mut page, &suggestions);
    let all = "`rethread --help` lists all commands.";
    let tui = if engine.has_store() { "`rethread tui` searches and reads sessions in the terminal. " } else { "" };
    page.end_line().line(Tone::Dim, &format!("{tui}{all}"));
    context.printer.answer(&page)?;
    Ok(Exit::Done)
}

type Suggestions = Vec<(String, &'static str)>;

fn print_unsynced(page: &mut TextPage) -> Suggestions {
    page.line(Tone::Plain, "Nothing synced yet. Run `rethread init` to read the transcripts of your agents.");
    vec![
        ("rethread init".to_owned(), "find agents, install hooks and sync; asks first"),
        ("rethread demo".to_owned(), "see how it works, without touching your data"),
        ("rethread doctor".to_owned(), "show where Rethread looks for transcripts"),
    ]
}

fn print_state(page: &mut TextPage, engine: &Engine) -> Result<Suggestions, Failure> {
    // Before the store is opened: closing it may write what other processes left in the write-ahead log.
    let updated = last_update(engine);
    let all = engine.sessions().board(&BoardRequest::default())?;
    let mut agents = Vec::new();
    for agent in &all.all_agents {
        let board = engine.sessions().board(&BoardRequest { agent: Some(*agent), ..BoardRequest::default() })?;
        agents.push(format!("{agent} ({})", number(board.states.total())));
    }
    let total = all.states.total();
    if total > 0 {
        row(page, "Agents", &agents.join(", "));
    }
    let here = SessionListRequest {
        scope: engine.sessions().current_project(),
        limit: Some(1),
        ..SessionListRequest::default()
    };
    let newest_here = engine.sessions().list(&here)?.pop();
    let mut sessions = number(total);
    if total > 0 {
        let projects = count(all.all_projects.len() as u64, "project");
        let here = if newest_here.is_none() { ", none in this one" } else { "" };
        let active = if all.states.active > 0 { format!(", {} active", all.states.active) } else { String::new() };
        sessions = format!("{sessions} in {projects}{here}{active}");
    }
    row(page, "Sessions", &sessions);
    let entries = engine.reports().status()?.statistics.map_or(0, |statistics| statistics.entries);
    row(page, "Entries", &number(entries));
    row(page, "Last update", &updated.map_or_else(|| "unknown".to_owned(), |at| ago(at, engine.now())));
    let server = engine.server().running_info();
    let url = server.as_ref().and_then(|server| server.get("url")?.as_str());
    row(page, "Server", url.unwrap_or("not running"));
    let is_watching = is_watched(engine);
    row(page, "Watch", if is_watching { "running" } else { "not running" });
    let is_stale = updated.is_some_and(|at| engine.now().millis_since(at) > STALE_HOURS * 3_600_000);
    let mut out = suggestions(engine, total, newest_here.as_ref())?;
    if url.is_some() {
        out.insert(0, ("rethread open".to_owned(), "open the web UI in your browser"));
    } else if total > 0 && is_stale && !is_watching {
        out.insert(0, ("rethread sync".to_owned(), "read what your agents wrote since"));
    }
    out.truncate(SUGGESTIONS);
    Ok(out)
}

fn suggestions(engine: &Engine, total: u64, newest_here: Option<&ListedSession>) -> Result<Suggestions, Failure> {
    let mut out = Suggestions::new();
    if total == 0 {
        out.push(("rethread doctor".to_owned(), "show where Rethread looks for transcripts"));
        out.push(("rethread sync".to_owned(), "read new transcript entries"));
        out.push(("rethread demo".to_owned(), "see how it works, without touching your data"));
        return Ok(out);
    }
    if let Some(listed) = newest_here {
        out.push(("rethread resume".to_owned(), "see where the newest session here left off"));
        out.push(("rethread search 'why did it fail'".to_owned(), "search this project"));
        out.push((format!("rethread show {}", short_id(listed)), "show the newest session here"));
    } else {
        out.push(("rethread sessions --all-projects".to_owned(), "list all sessions"));
        out.push(("rethread search --all-projects 'why did it fail'".to_owned(), "search all projects"));
        let newest = engine.sessions().list(&SessionListRequest { limit: Some(1), ..SessionListRequest::default() })?;
        if let Some(listed) = newest.first() {
            out.push((format!("rethread show {}", short_id(listed)), "show the newest session"));
        }
    }
    Ok(out)
}

fn row(page: &mut TextPage, label: &str, text: &str) {
    page.add(Tone::Plain, "  ").cell(Tone::Dim, label, LABEL_WIDTH, CellAlign::Left).line(Tone::Plain, text);
}

/// When the store was last written. Syncs that find nothing new write nothing.
fn last_update(engine: &Engine) -> Option<Timestamp> {
    let at = engine.location().written_at()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(Timestamp::from_millis(i64::try_from(at.as_millis()).ok()?))
}

/// Whether a process holds the lock of `rethread watch`, which `rethread serve` takes too.
fn is_watched(engine: &Engine) -> bool {
    let Ok(file) = File::open(engine.folder().join("watch.lock")) else { return false };
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// `just now`, `5 minutes ago`, `1 day ago`.
fn ago(at: Timestamp, now: Timestamp) -> String {
    let minutes = u64::try_from(now.millis_since(at) / 60_000).unwrap_or(0);
    match minutes {
        0 => "just now".to_owned(),
        1..60 => format!("{} ago", count(minutes, "minute")),
        60..1440 => format!("{} ago", count(minutes / 60, "hour")),
        _ => format!("{} ago", count(minutes / 1440, "day")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_written_out() {
        let now = Timestamp::from_millis(1_000 * 86_400_000);
        let check = |minutes: i64, expect: &str| {
            assert_eq!(ago(Timestamp::from_millis(now.as_millis() - minutes * 60_000), now), expect);
        };
        check(-5, "just now");
        check(0, "just now");
        check(1, "1 minute ago");
        check(119, "1 hour ago");
        check(275 * 1440, "275 days ago");
    }
}
