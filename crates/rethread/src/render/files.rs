//! The story of a file, for people: newest first, each exchange with what it was for.

use jiff::tz::TimeZone;
use rethread_engine::{Deed, FileHistory, Touch};
use unicode_width::UnicodeWidthStr;

use super::decisions::decision;
use super::facts::{INDENT, indented, last_part, spoken};
use super::page::fit;
use super::words::{moment, number};
use super::{Page, Tone, single};

/// The widest name of a session.
const WIDEST_NAME: usize = 48;

/// What was done to a file, then what else is known of it.
pub(crate) fn file_history(page: &mut Page, found: &FileHistory, zone: &TimeZone, with_project: bool) {
    let mut names = found.names.iter();
    page.add(Tone::Strong, &single(names.next().map_or("", String::as_str)));
    let others: Vec<String> = names.map(|name| single(name)).collect();
    let also = if others.is_empty() { String::new() } else { format!("  also {}", others.join(", ")) };
    page.line(Tone::Dim, &also);
    for touch in &found.touches {
        page.end();
        touched(page, touch, found, zone, with_project);
    }
    if !found.fixes.is_empty() {
        page.end().line(Tone::Strong, "Errors that were fixed here");
    }
    for (error, fix) in &found.fixes {
        indented(page, Tone::Plain, error, INDENT);
        let parts = [fix.state.as_str().to_owned(), fix.what.clone(), citation(&fix.sources)];
        page.add(Tone::Plain, "    ").row(&parts.map(|part| (Tone::Dim, part)), INDENT + 2);
    }
    if !found.decisions.is_empty() {
        page.end().line(Tone::Strong, "Decisions that name it");
    }
    for one in &found.decisions {
        decision(page, one, zone, with_project);
    }
}

fn touched(page: &mut Page, touch: &Touch, found: &FileHistory, zone: &TimeZone, with_project: bool) {
    let source = &touch.source;
    let tone = if touch.changed() { Tone::Good } else { Tone::Dim };
    let deeds = touch.deeds.iter().map(|deed| told(deed, found)).collect::<Vec<_>>().join(", ");
    page.add(Tone::Dim, &moment(touch.last_at, zone)).add(Tone::Plain, "  ").line(tone, &deeds);
    let room = page.width().map_or(usize::MAX, |width| width.saturating_sub(INDENT));
    if let Some(why) = &touch.why {
        page.add(Tone::Plain, &" ".repeat(INDENT)).line(Tone::Plain, &fit(why, room.max("…".width())));
    }
    let name = source.session_name.as_deref().map(|name| fit(name, WIDEST_NAME)).unwrap_or_default();
    let project = source.project.as_deref().filter(|_| with_project).map(last_part).unwrap_or_default();
    let parts = [source.agent.as_str().to_owned(), name, project, source.citation()];
    page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts.map(|part| (Tone::Dim, part)), INDENT);
}

/// What was done, with the name the file had then where that is another one.
fn told(deed: &Deed, found: &FileHistory) -> String {
    let times = if deed.times > 1 { format!(" {}×", number(deed.times)) } else { String::new() };
    let is_other = found.names.first().is_some_and(|name| *name != deed.name);
    let name = if is_other || deed.renamed_to.is_some() { format!(" {}", single(&deed.name)) } else { String::new() };
    let to = deed.renamed_to.as_deref().map(|to| format!(" to {}", single(to))).unwrap_or_default();
    format!("{}{name}{to}{times}", spoken(deed.predicate))
}

fn citation(sources: &[rethread_engine::Source]) -> String {
    sources.first().map(rethread_engine::Source::citation).unwrap_or_default()
}
