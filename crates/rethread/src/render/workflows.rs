//! How work is done in a project, for people.

use rethread_engine::{CommandUse, Pattern, Workflow};
use rethread_model::Timestamp;
use unicode_width::UnicodeWidthStr;

use super::facts::last_part;
use super::page::fit;
use super::words::{age, count, number};
use super::{Page, Side, Tone, single};

/// The widest command in a table.
const WIDEST_COMMAND: usize = 32;

/// Projects, each with its commands and sequences.
pub(crate) fn workflows(page: &mut Page, found: &[Workflow], now: Timestamp, with_project: bool) {
    for (at, one) in found.iter().enumerate() {
        if at > 0 {
            page.end();
        }
        if with_project {
            page.line(Tone::Strong, &one.project.as_deref().map_or("(no project)".to_owned(), last_part));
        }
        commands(page, &one.commands, now);
        let has_both = !one.commands.is_empty() && !one.patterns.is_empty();
        if has_both {
            page.end();
        }
        patterns(page, &one.patterns);
    }
}

fn commands(page: &mut Page, commands: &[CommandUse], now: Timestamp) {
    if commands.is_empty() {
        return;
    }
    let name = |one: &CommandUse| fit(&one.command, WIDEST_COMMAND);
    let width = commands.iter().map(|one| name(one).width()).max().unwrap_or(0).max("COMMAND".len());
    page.cell(Tone::Dim, "COMMAND", width, Side::Left);
    for heading in ["RUNS", "GOOD", "LAST"] {
        page.cell(Tone::Dim, heading, 7, Side::Right);
    }
    page.end();
    for one in commands {
        let tone = if one.usually_fails() { Tone::Bad } else { Tone::Plain };
        page.cell(tone, &name(one), width, Side::Left).cell(Tone::Plain, &number(one.runs()), 7, Side::Right);
        page.cell(tone, &one.success_rate().map_or_else(|| "-".to_owned(), percent), 7, Side::Right);
        page.cell(Tone::Dim, &age(one.last.at, now), 7, Side::Right).end();
        let fails = if one.usually_fails() { "usually fails" } else { "" };
        let retried = if one.retried > 0 {
            format!("tried again unchanged {}, {} went well", times(one.retried), number(one.retries_succeeded))
        } else {
            String::new()
        };
        let instead = one.instead.iter().map(|(what, often)| format!("{} ({})", single(what), times(*often)));
        let notes: Vec<(Tone, String)> = [(Tone::Bad, fails.to_owned()), (Tone::Dim, retried)]
            .into_iter()
            .chain(instead.map(|what| (Tone::Good, what)))
            .filter(|(_, text)| !text.is_empty())
            .collect();
        if !notes.is_empty() {
            page.add(Tone::Plain, "  ").row(&notes, 2);
        }
    }
}

fn patterns(page: &mut Page, patterns: &[Pattern]) {
    if patterns.is_empty() {
        return;
    }
    page.line(Tone::Dim, "SEQUENCES");
    for one in patterns {
        let sequence = one.commands.iter().map(|command| single(command)).collect::<Vec<_>>().join(" → ");
        let parts = [
            (Tone::Plain, sequence),
            (Tone::Dim, format!("{} in {}", times(one.times), count(one.sessions, "session"))),
            (Tone::Dim, format!("ends well {}", percent(one.success_rate()))),
            (Tone::Dim, one.last.citation()),
        ];
        page.add(Tone::Plain, "  ").row(&parts, 2);
    }
}

fn times(times: u64) -> String {
    format!("{}×", number(times))
}

fn percent(share: f64) -> String {
    format!("{} %", (share * 100.0).round() as u64)
}
