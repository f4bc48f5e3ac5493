//! Known fixes of an error as text: what helped first, then what did not.

use rethread_engine::{FactSource, Fix, FixReport, KnownError, SearchHit};
use rethread_model::{FactState, Timestamp};

use super::facts::{INDENT, indented, state_tone};
use super::format::{age, count, number};
use super::sessions::session_label;
use super::text_page::truncate_to_width;
use super::{TextPage, Tone, sanitize_line};

/// Maximum width of a session name.
const MAX_NAME_WIDTH: usize = 40;
/// Sources listed before the rest is only counted.
const MAX_SOURCES: usize = 2;

/// Renders every matching error with its fixes and failed attempts.
pub(crate) fn fix(page: &mut TextPage, report: &FixReport, now: Timestamp) {
    let with_fixes = report.errors.iter().filter(|error| !error.fixes.is_empty());
    for (at, error) in with_fixes.enumerate() {
        if at > 0 {
            page.end_line();
        }
        heading(page, error, now);
        for fix in &error.fixes.fixes {
            fix_block(page, fix, now);
        }
        if !error.fixes.failed_attempts.is_empty() {
            page.end_line().line(Tone::Error, "Did not help:");
        }
        for fix in &error.fixes.failed_attempts {
            fix_block(page, fix, now);
        }
    }
}

/// How often an error occurred, and when last.
fn occurrences(error: &KnownError, now: Timestamp) -> String {
    let last = error.last_source.as_ref();
    let place = last.map(|source| format!(", last at {}", source.citation())).unwrap_or_default();
    let ago = last.map(|source| ago(source.at, now)).unwrap_or_default();
    format!("{}{place} {ago}", count(error.occurrences.max(1), "time")).trim_end().to_owned()
}

/// The message if no fix is known.
pub(crate) fn no_fix_message(report: &FixReport, is_everywhere: bool, now: Timestamp) -> String {
    if let Some(error) = report.errors.first() {
        return format!("No known fix for this error. Seen {}.", occurrences(error, now));
    }
    let place = if is_everywhere { "" } else { " in this project" };
    format!("This error is not known ({}{place}).", count(report.known_errors, "known error"))
}

/// Lists sessions that have the words of an error without a known fix.
pub(crate) fn sessions_with_error(page: &mut TextPage, hits: &[SearchHit], now: Timestamp) {
    if hits.is_empty() {
        return;
    }
    page.line(Tone::Plain, "Sessions with these words:");
    for hit in hits {
        let name = truncate_to_width(&session_label(&hit.session), MAX_NAME_WIDTH);
        let citation = hit.session.citation(hit.entry.location.line);
        page.add(Tone::Plain, &" ".repeat(INDENT));
        page.row(&[(Tone::Plain, name), (Tone::Dim, ago(hit.entry.at, now)), (Tone::Dim, citation)], INDENT);
    }
}

fn heading(page: &mut TextPage, error: &KnownError, now: Timestamp) {
    for line in super::wrap::wrap(&sanitize_line(&error.line), page.width()) {
        page.line(Tone::Strong, &line);
    }
    let percent = (error.similarity * 100.0).round() as u64;
    let overlap = match &error.shared_code {
        Some(code) => format!("same code: {code}"),
        None if percent < 100 => format!("similar error, {percent} % word overlap"),
        None => String::new(),
    };
    let times =
        if error.occurrences > 0 { format!("seen {}", count(error.occurrences, "time")) } else { String::new() };
    let last = error.last_source.as_ref().map(|source| format!("last {}", ago(source.at, now))).unwrap_or_default();
    page.row(&[(Tone::Warning, overlap), (Tone::Dim, times), (Tone::Dim, last)], 0);
}

fn fix_block(page: &mut TextPage, fix: &Fix, now: Timestamp) {
    page.end_line();
    let state = match fix.state {
        FactState::Refuted => "did not help",
        state => state.as_str(),
    };
    let helped = if fix.succeeded > 0 { format!("helped {}×", number(fix.succeeded)) } else { String::new() };
    let failed = if fix.failed > 0 { format!("failed {}×", number(fix.failed)) } else { String::new() };
    let command =
        fix.command.as_deref().map(|command| format!("{} {command}", command_label(fix.state))).unwrap_or_default();
    let parts = [
        (state_tone(fix.state), state.to_owned()),
        (Tone::Success, helped),
        (Tone::Error, failed),
        (Tone::Dim, command),
    ];
    page.row(&parts, 0);
    indented(page, Tone::Plain, &fix.description, INDENT);
    if let Some(reason) = &fix.reason {
        indented(page, Tone::Plain, &format!("why: {reason}"), INDENT);
    }
    for source in fix.sources.iter().take(MAX_SOURCES) {
        source_line(page, source, now);
    }
    let more = fix.sources.len().saturating_sub(MAX_SOURCES);
    if more > 0 {
        indented(page, Tone::Dim, &format!("and {} more", number(more as u64)), INDENT);
    }
}

/// How the command of a fix relates to it: only a confirmed fix was verified by it.
pub(crate) fn command_label(state: FactState) -> &'static str {
    if state == FactState::Confirmed { "verified by" } else { "command:" }
}

fn source_line(page: &mut TextPage, source: &FactSource, now: Timestamp) {
    let name = source.session_name.as_deref().map(|name| truncate_to_width(name, MAX_NAME_WIDTH)).unwrap_or_default();
    let parts = [ago(source.at, now), source.agent.as_str().to_owned(), name, source.citation()];
    page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts.map(|part| (Tone::Dim, part)), INDENT);
}

fn ago(at: Option<Timestamp>, now: Timestamp) -> String {
    match age(at, now).as_str() {
        word @ ("just now" | "recently") => word.to_owned(),
        age => format!("{age} ago"),
    }
}
