//! What fixed an error, for people: what helped first, then what did not.

use rethread_engine::{Fix, FixReport, KnownError, Source};
use rethread_model::{FactState, Timestamp};

use super::facts::{INDENT, indented, state_tone};
use super::page::fit;
use super::words::{age, count, number};
use super::{Page, Tone, single};

/// The widest name of a session beside a fix.
const WIDEST_NAME: usize = 40;
/// More sources than this are only counted.
const MOST_SOURCES: usize = 2;

/// Every error that fits, with what is known against it.
pub(crate) fn fix(page: &mut Page, report: &FixReport, now: Timestamp) {
    let told = report.errors.iter().filter(|error| !error.fixes.is_empty());
    for (at, error) in told.enumerate() {
        if at > 0 {
            page.end();
        }
        heading(page, error, now);
        for fix in &error.fixes.fixes {
            remedy(page, fix, now);
        }
        if !error.fixes.dead_ends.is_empty() {
            page.end().line(Tone::Bad, "Did not help:");
        }
        for fix in &error.fixes.dead_ends {
            remedy(page, fix, now);
        }
    }
}

/// How often an error was met, and when last.
fn seen(error: &KnownError, now: Timestamp) -> String {
    let last = error.last.as_ref();
    let place = last.map(|source| format!(", last at {}", source.citation())).unwrap_or_default();
    let ago = last.map(|source| ago(source.at, now)).unwrap_or_default();
    format!("{}{place} {ago}", count(error.seen.max(1), "time")).trim_end().to_owned()
}

/// What is said where nothing is known to have fixed an error.
pub(crate) fn not_fixed(report: &FixReport, is_everywhere: bool, now: Timestamp) -> String {
    if let Some(error) = report.errors.first() {
        return format!("Nothing is known to have fixed that error. It was met {}.", seen(error, now));
    }
    let place = if is_everywhere { "" } else { " in this project" };
    let are = if report.known == 1 { "is" } else { "are" };
    format!("Nothing is known about that error; {} {are} known{place}.", count(report.known, "error"))
}

fn heading(page: &mut Page, error: &KnownError, now: Timestamp) {
    for line in super::wrap::wrap(&single(&error.line), page.width()) {
        page.line(Tone::Strong, &line);
    }
    let percent = (error.likeness * 100.0).round() as u64;
    let alike = if percent < 100 { format!("alike by {percent} % of the words") } else { String::new() };
    let met = if error.seen > 0 { format!("met {}", count(error.seen, "time")) } else { String::new() };
    let last = error.last.as_ref().map(|source| format!("last {}", ago(source.at, now))).unwrap_or_default();
    page.row(&[(Tone::Careful, alike), (Tone::Dim, met), (Tone::Dim, last)], 0);
}

fn remedy(page: &mut Page, fix: &Fix, now: Timestamp) {
    page.end();
    let state = match fix.state {
        FactState::Refuted => "dead end",
        state => state.as_str(),
    };
    let helped = if fix.succeeded > 0 { format!("helped {}×", number(fix.succeeded)) } else { String::new() };
    let failed = if fix.failed > 0 { format!("failed {}×", number(fix.failed)) } else { String::new() };
    let command = fix.command.as_deref().map(|command| format!("shown by {command}")).unwrap_or_default();
    let parts =
        [(state_tone(fix.state), state.to_owned()), (Tone::Good, helped), (Tone::Bad, failed), (Tone::Dim, command)];
    page.row(&parts, 0);
    indented(page, Tone::Plain, &fix.what, INDENT);
    if let Some(reason) = &fix.reason {
        indented(page, Tone::Plain, &format!("why: {reason}"), INDENT);
    }
    for source in fix.sources.iter().take(MOST_SOURCES) {
        place(page, source, now);
    }
    let more = fix.sources.len().saturating_sub(MOST_SOURCES);
    if more > 0 {
        indented(page, Tone::Dim, &format!("and {} more", number(more as u64)), INDENT);
    }
}

fn place(page: &mut Page, source: &Source, now: Timestamp) {
    let name = source.session_name.as_deref().map(|name| fit(name, WIDEST_NAME)).unwrap_or_default();
    let parts = [ago(source.at, now), source.agent.as_str().to_owned(), name, source.citation()];
    page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts.map(|part| (Tone::Dim, part)), INDENT);
}

fn ago(at: Option<Timestamp>, now: Timestamp) -> String {
    match age(at, now).as_str() {
        word @ ("just now" | "recently") => word.to_owned(),
        age => format!("{age} ago"),
    }
}
