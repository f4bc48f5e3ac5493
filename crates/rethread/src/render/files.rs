//! The history of a file as text, newest episode first, each with its prompt.

use jiff::tz::TimeZone;
use rethread_engine::{FileAction, FileHistory, FileTouch};
use unicode_width::UnicodeWidthStr;

use super::decisions::decision;
use super::facts::{INDENT, indented, last_path_component, predicate_phrase};
use super::format::{local_time, number};
use super::text_page::truncate_to_width;
use super::{TextPage, Tone, sanitize_line};

/// Maximum width of a session name.
const MAX_NAME_WIDTH: usize = 48;

/// Renders what was done to a file, then its fixes and decisions.
pub(crate) fn file_history(page: &mut TextPage, found: &FileHistory, zone: &TimeZone, with_project: bool) {
    let mut names = found.names.iter();
    page.add(Tone::Strong, &sanitize_line(names.next().map_or("", String::as_str)));
    let others: Vec<String> = names.map(|name| sanitize_line(name)).collect();
    let also = if others.is_empty() { String::new() } else { format!("  also {}", others.join(", ")) };
    page.line(Tone::Dim, &also);
    for touch in &found.touches {
        page.end_line();
        touch_block(page, touch, found, zone, with_project);
    }
    if !found.fixes.is_empty() {
        page.end_line().line(Tone::Strong, "Errors fixed here");
    }
    for (error, fix) in &found.fixes {
        indented(page, Tone::Plain, error, INDENT);
        let parts = [fix.state.as_str().to_owned(), fix.description.clone(), first_citation(&fix.sources)];
        page.add(Tone::Plain, "    ").row(&parts.map(|part| (Tone::Dim, part)), INDENT + 2);
    }
    if !found.decisions.is_empty() {
        page.end_line().line(Tone::Strong, "Decisions about this file");
    }
    for one in &found.decisions {
        decision(page, one, zone, with_project);
    }
}

fn touch_block(page: &mut TextPage, touch: &FileTouch, found: &FileHistory, zone: &TimeZone, with_project: bool) {
    let source = &touch.source;
    let tone = if touch.is_change() { Tone::Success } else { Tone::Dim };
    let session_actions =
        touch.actions.iter().map(|one_action| action_text(one_action, found)).collect::<Vec<_>>().join(", ");
    page.add(Tone::Dim, &local_time(touch.last_at, zone)).add(Tone::Plain, "  ").line(tone, &session_actions);
    let max_width = page.width().map_or(usize::MAX, |width| width.saturating_sub(INDENT));
    if let Some(why) = &touch.prompt {
        page.add(Tone::Plain, &" ".repeat(INDENT))
            .line(Tone::Plain, &truncate_to_width(why, max_width.max("…".width())));
    }
    let name = source.session_name.as_deref().map(|name| truncate_to_width(name, MAX_NAME_WIDTH)).unwrap_or_default();
    let project = source.project.as_deref().filter(|_| with_project).map(last_path_component).unwrap_or_default();
    let parts = [source.agent.as_str().to_owned(), name, project, source.citation()];
    page.add(Tone::Plain, &" ".repeat(INDENT)).row(&parts.map(|part| (Tone::Dim, part)), INDENT);
}

/// An action, with the name the file had at that time if it differs.
fn action_text(one_action: &FileAction, found: &FileHistory) -> String {
    let times = if one_action.count > 1 { format!(" {}×", number(one_action.count)) } else { String::new() };
    let is_other = found.names.first().is_some_and(|name| *name != one_action.name);
    let name = if is_other || one_action.renamed_to.is_some() {
        format!(" {}", sanitize_line(&one_action.name))
    } else {
        String::new()
    };
    let to = one_action.renamed_to.as_deref().map(|to| format!(" to {}", sanitize_line(to))).unwrap_or_default();
    format!("{}{name}{to}{times}", predicate_phrase(one_action.predicate))
}

fn first_citation(sources: &[rethread_engine::FactSource]) -> String {
    sources.first().map(rethread_engine::FactSource::citation).unwrap_or_default()
}
