//! Commands and sequences of steps of a project as text, with success rates.

use rethread_engine::{CommandStats, StepSequence, Workflow};
use rethread_model::Timestamp;
use unicode_width::UnicodeWidthStr;

use super::facts::last_path_component;
use super::format::{age, count, number};
use super::text_page::truncate_to_width;
use super::{CellAlign, TextPage, Tone, sanitize_line};

/// Maximum width of a command in the table.
const WIDEST_COMMAND: usize = 32;
/// Maximum width and number of what worked instead of a command.
const WIDEST_ALTERNATIVE: usize = 100;
const MAX_ALTERNATIVES: usize = 2;

/// Renders the commands and sequences of each project.
pub(crate) fn workflows(page: &mut TextPage, found: &[Workflow], now: Timestamp, with_project: bool) {
    for (at, one) in found.iter().enumerate() {
        if at > 0 {
            page.end_line();
        }
        if with_project {
            page.line(Tone::Strong, &project_name(one.project.as_deref()));
        }
        commands(page, &one.commands, now);
        let mut is_first = one.commands.is_empty();
        for (heading, found) in [("SEQUENCES", &one.sequences), ("AFTER A FAILURE", &one.retries)] {
            if !found.is_empty() && !std::mem::take(&mut is_first) {
                page.end_line();
            }
            sequences(page, heading, found);
        }
    }
}

fn commands(page: &mut TextPage, commands: &[CommandStats], now: Timestamp) {
    if commands.is_empty() {
        return;
    }
    let name = |one: &CommandStats| truncate_to_width(&one.command, WIDEST_COMMAND);
    let width = commands.iter().map(|one| name(one).width()).max().unwrap_or(0).max("COMMAND".len());
    page.cell(Tone::Dim, "COMMAND", width, CellAlign::Left);
    for heading in ["RUNS", "SUCCESS", "LAST"] {
        page.cell(Tone::Dim, heading, 9, CellAlign::Right);
    }
    page.end_line();
    for one in commands {
        let tone = if one.usually_fails() { Tone::Error } else { Tone::Plain };
        page.cell(tone, &name(one), width, CellAlign::Left).cell(Tone::Plain, &number(one.runs()), 9, CellAlign::Right);
        page.cell(tone, &one.success_rate().map_or_else(|| "-".to_owned(), percent), 9, CellAlign::Right);
        page.cell(Tone::Dim, &age(one.last_source.at, now), 9, CellAlign::Right).end_line();
        let fails = if one.usually_fails() { "usually fails" } else { "" };
        let retried = if one.retried > 0 {
            format!("retried unchanged {}, {} succeeded", times(one.retried), number(one.retries_succeeded))
        } else {
            String::new()
        };
        let instead = one.alternatives.iter().take(MAX_ALTERNATIVES).map(|(what, often)| {
            format!("{} ({})", truncate_to_width(&sanitize_line(what), WIDEST_ALTERNATIVE), times(*often))
        });
        let notes: Vec<(Tone, String)> = [(Tone::Error, fails.to_owned()), (Tone::Dim, retried)]
            .into_iter()
            .chain(instead.map(|what| (Tone::Success, what)))
            .filter(|(_, text)| !text.is_empty())
            .collect();
        if !notes.is_empty() {
            page.add(Tone::Plain, "  ").row(&notes, 2);
        }
    }
}

fn sequences(page: &mut TextPage, heading: &str, sequences: &[StepSequence]) {
    if sequences.is_empty() {
        return;
    }
    page.line(Tone::Dim, heading);
    for one in sequences {
        let steps = one.steps.iter().map(|step| sanitize_line(step)).collect::<Vec<_>>().join(" → ");
        let parts = [
            (Tone::Plain, steps),
            (Tone::Dim, format!("{} in {}", times(one.count), count(one.session_count, "session"))),
            (Tone::Dim, one.success_rate().map(|share| format!("{} passed", percent(share))).unwrap_or_default()),
            (Tone::Dim, one.last_source.citation()),
        ];
        page.add(Tone::Plain, "  ").row(&parts, 2);
    }
}

/// The last part of the project's path.
fn project_name(project: Option<&str>) -> String {
    project.filter(|path| !path.is_empty()).map_or_else(|| "(no project)".to_owned(), last_path_component)
}

fn times(times: u64) -> String {
    format!("{}×", number(times))
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 100.0).round() as u64)
}
