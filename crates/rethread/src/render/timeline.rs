//! The timeline as text: episodes by day, each with prompt, actions and citation.

use jiff::tz::TimeZone;
use rethread_engine::{Timeline, TimelineEpisode};
use rethread_model::{SessionKind, Timestamp, first_line};
use unicode_width::UnicodeWidthStr;

use super::format::count;
use super::sessions::{project_name, session_label};
use super::show::relative_path;
use super::text_page::truncate_to_width;
use super::{TextPage, Tone, sanitize_line};

/// Indentation of the text below the session name.
const INDENT: usize = "  12:34  ".len();
/// Files listed before the rest is only counted.
const MAX_FILES: usize = 3;
/// Marks the episode given with `--around`.
const ANCHOR_MARK: &str = "▸ ";

/// Renders episodes, each day under its date.
pub(crate) fn timeline(page: &mut TextPage, line: &Timeline, zone: &TimeZone, with_project: bool) {
    let mut last = None;
    for happened in &line.episodes {
        let at = happened.episode.started_at;
        let day = local_time(at, zone, "%Y-%m-%d, %A").unwrap_or_else(|| "time unknown".to_owned());
        if last.as_ref() != Some(&day) {
            if last.is_some() {
                page.end_line();
            }
            page.line(Tone::Strong, &day);
            last = Some(day);
        }
        page.end_line();
        let time = local_time(at, zone, "%H:%M").unwrap_or_else(|| "     ".to_owned());
        episode_block(page, happened, &time, with_project);
    }
}

fn episode_block(page: &mut TextPage, happened: &TimelineEpisode, time: &str, with_project: bool) {
    let session = &happened.session;
    let project = if with_project { format!(" · {}", project_name(session)) } else { String::new() };
    let agent = session.agent.as_str();
    let max_width = page.width().map_or(usize::MAX, |width| width.saturating_sub(INDENT));
    let child = if session.kind == SessionKind::Child { "↳ " } else { "" };
    let name = truncate_to_width(
        &format!("{child}{}", session_label(session)),
        max_width.saturating_sub(agent.len() + 2 + project.width()),
    );
    if happened.is_anchor {
        page.add(Tone::Match, ANCHOR_MARK);
    } else {
        page.add(Tone::Plain, "  ");
    }
    page.add(Tone::Plain, time).add(Tone::Plain, "  ").add(Tone::Dim, agent).add(Tone::Plain, "  ");
    page.add(Tone::Strong, &name).line(Tone::Dim, &project);
    let indent = " ".repeat(INDENT);
    let prompt = happened.prompt.as_deref().map(first_line).filter(|line| !line.is_empty());
    let answer = happened.answer.as_deref().map(first_line).filter(|line| !line.is_empty());
    let (tone, text) = match (prompt, answer) {
        (Some(prompt), _) => (Tone::Plain, prompt),
        (None, Some(answer)) => (Tone::Dim, answer),
        (None, None) => (Tone::Dim, "(no messages)"),
    };
    page.add(Tone::Plain, &indent).line(tone, &truncate_to_width(text, max_width));
    page.add(Tone::Plain, &indent).row(&episode_details(happened), INDENT);
}

/// Counts, edited files and the citation.
fn episode_details(happened: &TimelineEpisode) -> Vec<(Tone, String)> {
    let episode = &happened.episode;
    let unless_none = |amount: u64, noun: &str| if amount > 0 { count(amount, noun) } else { String::new() };
    let left = if episode.is_abandoned { "abandoned branch" } else { "" };
    vec![
        (Tone::Dim, unless_none(episode.tool_calls, "call")),
        (Tone::Error, unless_none(episode.tool_errors, "error")),
        (Tone::Dim, edited_files(happened)),
        (Tone::Dim, left.to_owned()),
        (Tone::Dim, happened.session.citation(episode.lines.0)),
    ]
}

fn edited_files(happened: &TimelineEpisode) -> String {
    let files = &happened.edited;
    if files.is_empty() {
        return String::new();
    }
    let named = files.iter().take(MAX_FILES).map(|file| relative_path(&sanitize_line(file), &happened.session));
    let named = named.collect::<Vec<_>>().join(", ");
    let more = files.len().saturating_sub(MAX_FILES);
    if more > 0 { format!("edited {named} and {more} more") } else { format!("edited {named}") }
}

fn local_time(at: Option<Timestamp>, zone: &TimeZone, format: &str) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(at?.as_millis()).ok()?;
    Some(at.to_zoned(zone.clone()).strftime(format).to_string())
}
