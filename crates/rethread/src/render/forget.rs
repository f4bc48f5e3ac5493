//! What was forgotten, or would be: sessions, then places with how much there was.

use rethread_engine::Forgotten;
use rethread_model::Session;

use super::words::{count, number};
use super::{Page, Side, Tone};

/// Sessions that are named before the rest is only counted.
const MOST_SESSIONS: usize = 20;
/// The width of the longest number that is likely.
const NUMBER: usize = 9;

/// Puts it on the page.
pub(crate) fn forgotten(page: &mut Page, forgotten: &Forgotten, is_plan: bool) {
    if forgotten.is_nothing() {
        return;
    }
    let verb = if is_plan { "would be forgotten" } else { "forgotten" };
    sessions(page, &forgotten.sessions, verb);
    sessions(page, &forgotten.shortened, if is_plan { "would lose exchanges or names" } else { "shortened" });
    if !forgotten.threads.is_empty() {
        let threads = count(forgotten.threads.len() as u64, "thread");
        let whose = "kept by rethread alone, with logs nobody else has";
        page.line(Tone::Careful, &format!("{threads} {verb}, {whose}"));
    }
    for removed in &forgotten.removed {
        page.cell(Tone::Plain, &number(removed.count), NUMBER, Side::Right).add(Tone::Plain, "  ");
        page.add(Tone::Plain, removed.place);
        match (is_plan, removed.left) {
            (true, _) => page.end(),
            (false, 0) => page.line(Tone::Dim, ", none left"),
            (false, left) => page.line(Tone::Bad, &format!(", {} left", number(left))),
        };
    }
    if is_plan {
        staying(page, forgotten);
    } else {
        let kept_out = count(forgotten.tombstones, "tombstone");
        let verb = if forgotten.tombstones == 1 { "keeps" } else { "keep" };
        page.line(Tone::Plain, &format!("{kept_out} {verb} it from coming back · {:.1} s", forgotten.seconds));
    }
}

/// What has the text and would stay.
fn staying(page: &mut Page, forgotten: &Forgotten) {
    for (place, count) in &forgotten.staying {
        page.cell(Tone::Careful, &number(*count), NUMBER, Side::Right).add(Tone::Plain, "  ");
        page.line(Tone::Careful, &format!("{place} would stay; --project forgets them"));
    }
}

fn sessions(page: &mut Page, sessions: &[Session], verb: &str) {
    if sessions.is_empty() {
        return;
    }
    page.line(Tone::Strong, &format!("{} {verb}", count(sessions.len() as u64, "session")));
    for session in sessions.iter().take(MOST_SESSIONS) {
        let id = session.id.to_string();
        page.add(Tone::Plain, "  ").add(Tone::Dim, &id[..10]).add(Tone::Plain, "  ");
        page.cell(Tone::Plain, session.agent.as_str(), 13, Side::Left);
        page.line(Tone::Plain, session.name.as_deref().unwrap_or_default());
    }
    if sessions.len() > MOST_SESSIONS {
        page.line(Tone::Dim, &format!("  … and {} more", sessions.len() - MOST_SESSIONS));
    }
}
