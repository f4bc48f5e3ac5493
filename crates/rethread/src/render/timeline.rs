//! Exchanges by day: when, who, what was asked, and in short what was done.

use jiff::tz::TimeZone;
use rethread_engine::{Happened, Timeline};
use rethread_model::{SessionKind, Timestamp, first_line};
use unicode_width::UnicodeWidthStr;

use super::page::fit;
use super::sessions::{name_of, project_name};
use super::show::shortened;
use super::words::count;
use super::{Page, Tone, single};

/// Where the text of an exchange begins: below its session.
const INDENT: usize = "  12:34  ".len();
/// More files than this are only counted.
const MOST_FILES: usize = 3;
/// What stands before the exchange that was asked about.
const ANCHOR: &str = "▸ ";

/// Puts exchanges on the page, each day under its date; with their projects where there may be several.
pub(crate) fn timeline(page: &mut Page, line: &Timeline, zone: &TimeZone, with_project: bool) {
    let mut last = None;
    for happened in &line.episodes {
        let at = happened.episode.started_at;
        let day = local(at, zone, "%Y-%m-%d, %A").unwrap_or_else(|| "time unknown".to_owned());
        if last.as_ref() != Some(&day) {
            if last.is_some() {
                page.end();
            }
            page.line(Tone::Strong, &day);
            last = Some(day);
        }
        page.end();
        let time = local(at, zone, "%H:%M").unwrap_or_else(|| "     ".to_owned());
        block(page, happened, &time, with_project);
    }
}

fn block(page: &mut Page, happened: &Happened, time: &str, with_project: bool) {
    let session = &happened.session;
    let project = if with_project { format!(" · {}", project_name(session)) } else { String::new() };
    let agent = session.agent.as_str();
    let room = page.width().map_or(usize::MAX, |width| width.saturating_sub(INDENT));
    let child = if session.kind == SessionKind::Child { "↳ " } else { "" };
    let name = fit(&format!("{child}{}", name_of(session)), room.saturating_sub(agent.len() + 2 + project.width()));
    if happened.is_anchor {
        page.add(Tone::Match, ANCHOR);
    } else {
        page.add(Tone::Plain, "  ");
    }
    page.add(Tone::Plain, time).add(Tone::Plain, "  ").add(Tone::Dim, agent).add(Tone::Plain, "  ");
    page.add(Tone::Strong, &name).line(Tone::Dim, &project);
    let indent = " ".repeat(INDENT);
    let asked = happened.prompt.as_deref().map(first_line).filter(|line| !line.is_empty());
    let said = happened.answer.as_deref().map(first_line).filter(|line| !line.is_empty());
    let (tone, text) = match (asked, said) {
        (Some(asked), _) => (Tone::Plain, asked),
        (None, Some(said)) => (Tone::Dim, said),
        (None, None) => (Tone::Dim, "(nothing was said)"),
    };
    page.add(Tone::Plain, &indent).line(tone, &fit(text, room));
    page.add(Tone::Plain, &indent).row(&done(happened), INDENT);
}

/// What was done, and where to read it.
fn done(happened: &Happened) -> Vec<(Tone, String)> {
    let episode = &happened.episode;
    let unless_none = |amount: u64, noun: &str| if amount > 0 { count(amount, noun) } else { String::new() };
    let left = if episode.abandoned { "left branch" } else { "" };
    vec![
        (Tone::Dim, unless_none(episode.tool_calls, "call")),
        (Tone::Bad, unless_none(episode.tool_errors, "error")),
        (Tone::Dim, edited(happened)),
        (Tone::Dim, left.to_owned()),
        (Tone::Dim, happened.session.citation(episode.lines.0)),
    ]
}

fn edited(happened: &Happened) -> String {
    let files = &happened.edited;
    if files.is_empty() {
        return String::new();
    }
    let named = files.iter().take(MOST_FILES).map(|file| shortened(&single(file), &happened.session));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = files.len().saturating_sub(MOST_FILES);
    if more > 0 { format!("edited {named} and {more} more") } else { format!("edited {named}") }
}

fn local(at: Option<Timestamp>, zone: &TimeZone, format: &str) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(at?.as_millis()).ok()?;
    Some(at.to_zoned(zone.clone()).strftime(format).to_string())
}
