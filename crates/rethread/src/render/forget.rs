//! Text output of `rethread forget`: the sessions, then how much was removed where.

use rethread_engine::ForgetReport;
use rethread_model::{Session, short_id};

use super::format::{count, number};
use super::text_page::truncate_to_width;
use super::{CellAlign, TextPage, Tone};

/// Sessions listed before the rest is only counted.
const MAX_SESSIONS: usize = 20;
/// Columns before the name of a session.
const NAME_COLUMN: usize = 25;
/// Width of the number column.
const NUMBER_WIDTH: usize = 9;

/// Renders what was erased, or would be if `is_plan`.
pub(crate) fn forget_report(page: &mut TextPage, forgotten: &ForgetReport, is_plan: bool) {
    if forgotten.is_empty() {
        return;
    }
    let verb = if is_plan { "would be forgotten" } else { "forgotten" };
    sessions(page, &forgotten.sessions, verb);
    sessions(page, &forgotten.partial_sessions, if is_plan { "would lose episodes or names" } else { "shortened" });
    if !forgotten.threads.is_empty() {
        let threads = count(forgotten.threads.len() as u64, "thread");
        let note = "stored only by rethread: there is no other copy";
        page.line(Tone::Warning, &format!("{threads} {verb} ({note})"));
    }
    for removed in &forgotten.removed {
        page.cell(Tone::Plain, &number(removed.count), NUMBER_WIDTH, CellAlign::Right).add(Tone::Plain, "  ");
        page.add(Tone::Plain, removed.place);
        match (is_plan, removed.remaining) {
            (true, _) => page.end_line(),
            (false, 0) => page.line(Tone::Dim, ", none left"),
            (false, left) => page.line(Tone::Error, &format!(", {} left", number(left))),
        };
    }
    if is_plan {
        remaining(page, forgotten);
    } else {
        let kept_out = count(forgotten.tombstones, "tombstone");
        let verb = if forgotten.tombstones == 1 { "keeps" } else { "keep" };
        page.line(Tone::Plain, &format!("{kept_out} {verb} sync from reading it again · {:.1} s", forgotten.seconds));
    }
}

/// What contains the text and would not be removed.
fn remaining(page: &mut TextPage, forgotten: &ForgetReport) {
    for (place, count) in &forgotten.retained {
        page.cell(Tone::Warning, &number(*count), NUMBER_WIDTH, CellAlign::Right).add(Tone::Plain, "  ");
        page.line(Tone::Warning, &format!("{place} would remain; use --project to remove them"));
    }
}

fn sessions(page: &mut TextPage, sessions: &[Session], verb: &str) {
    if sessions.is_empty() {
        return;
    }
    page.line(Tone::Strong, &format!("{} {verb}", count(sessions.len() as u64, "session")));
    for session in sessions.iter().take(MAX_SESSIONS) {
        let id = session.id.to_string();
        page.add(Tone::Plain, "  ").add(Tone::Dim, short_id(&id)).add(Tone::Plain, "  ");
        page.cell(Tone::Plain, session.agent.as_str(), 13, CellAlign::Left);
        let width = page.width().map_or(usize::MAX, |width| width.saturating_sub(NAME_COLUMN));
        page.line(Tone::Plain, &truncate_to_width(session.name.as_deref().unwrap_or_default(), width));
    }
    if sessions.len() > MAX_SESSIONS {
        page.line(Tone::Dim, &format!("  … and {} more", sessions.len() - MAX_SESSIONS));
    }
}
