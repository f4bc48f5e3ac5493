//! Components shared by several pages.

use jiff::tz::TimeZone;
use maud::{Escaper, Markup, Render, html};
use rethread_engine::{FactSource, UsageTotals};
use rethread_model::{Session, SessionKind, SessionState, Timestamp, clip, is_unsafe_to_display};
use std::fmt::Write;

use super::links::{to_line, to_session};
use crate::render::{
    age, local_time, money, number, path_separators, project_names, sanitize, sanitize_line, session_label,
};
use crate::serve::ServerState;

/// Characters of a session name in a citation.
const MAX_NAME_CHARS: usize = 64;

/// Transcript text on one line: escaped, control characters neutralized, white space collapsed.
pub(super) struct OneLine<T>(pub(super) T);

/// Transcript text with its line breaks: escaped, control characters neutralized.
pub(super) struct MultiLine<T>(pub(super) T);

impl<T: AsRef<str>> Render for OneLine<T> {
    fn render_to(&self, out: &mut String) {
        // Writing to a String cannot fail.
        let _ = Escaper::new(out).write_str(&sanitize_line(self.0.as_ref()));
    }
}

impl<T: AsRef<str>> Render for MultiLine<T> {
    fn render_to(&self, out: &mut String) {
        let _ = Escaper::new(out).write_str(&sanitize(self.0.as_ref()));
    }
}

/// A stored value in an attribute that a form or script sends back: nothing is replaced, but characters that are unsafe to
/// display are written as character references.
pub(super) struct ExactValue<T>(pub(super) T);

impl<T: AsRef<str>> Render for ExactValue<T> {
    fn render_to(&self, out: &mut String) {
        for c in self.0.as_ref().chars() {
            // Writing to a String cannot fail.
            let _ = if is_unsafe_to_display(c) || matches!(c, '\n' | '\t') {
                write!(out, "&#{};", u32::from(c))
            } else {
                Escaper::new(out).write_char(c)
            };
        }
    }
}

/// Time and time zone of the rendered page.
#[derive(Clone, Copy)]
pub(super) struct PageContext<'a> {
    pub(super) now: Timestamp,
    pub(super) zone: &'a TimeZone,
    /// Whether the transcripts are on this machine.
    pub(super) has_transcripts: bool,
}

impl<'a> PageContext<'a> {
    pub(super) fn new(app: &'a ServerState) -> Self {
        let has_transcripts = !app.server.is_shared;
        Self { now: app.engine.now(), zone: app.engine.time_zone(), has_transcripts }
    }

    /// Age of a timestamp, with the full time as tooltip.
    pub(super) fn ago(self, at: Option<Timestamp>) -> Markup {
        html! {
            @if let Some(moment_of) = at {
                time datetime=(moment_of) title=(local_time(at, self.zone)) data-age { (age(at, self.now)) }
            } @else {
                span.dim { "unknown time" }
            }
        }
    }

    /// The same within a sentence ("3h ago").
    pub(super) fn since(self, at: Option<Timestamp>) -> Markup {
        let text = age(at, self.now);
        let text = if text.ends_with(['m', 'h', 'd']) { format!("{text} ago") } else { text };
        html! { @if let Some(moment_of) = at { time datetime=(moment_of) title=(local_time(at, self.zone)) data-age="ago" { (text) } } }
    }

    /// Time of day, with the date as tooltip.
    pub(super) fn time_of_day(self, at: Option<Timestamp>) -> Markup {
        let text = local_time(at, self.zone);
        let hour = text.split_once(' ').map_or("", |(_, hour)| hour);
        html! { @if let Some(at) = at { time datetime=(at) title=(text) { (hour) } } }
    }

    /// The day in the time zone of the user.
    pub(super) fn date(self, at: Option<Timestamp>) -> Option<jiff::civil::Date> {
        let at = jiff::Timestamp::from_millisecond(at?.as_millis()).ok()?;
        Some(at.to_zoned(self.zone.clone()).date())
    }

    /// Date with weekday.
    pub(super) fn day(self, at: Option<Timestamp>) -> Option<String> {
        let at = jiff::Timestamp::from_millisecond(at?.as_millis()).ok()?;
        Some(at.to_zoned(self.zone.clone()).strftime("%A, %-d %B %Y").to_string())
    }
}

/// A state as an icon and a word; the icon differs by shape, not only by color.
pub(super) fn state(state: SessionState) -> Markup {
    let word = crate::render::state_name(state);
    html! { span class={ "state " (word) } { i aria-hidden="true" {} (word) } }
}

pub(super) fn session_link(session: &Session) -> Markup {
    let child = if session.kind == SessionKind::Child { "↳ " } else { "" };
    html! { a href=(to_session(session.id)) { (child) (OneLine(session_label(session))) } }
}

/// The last part of a path, with the full path as tooltip.
pub(super) fn project(path: Option<&str>) -> Markup {
    html! {
        @if let Some(path) = path { span title=(OneLine(path).render()) { (OneLine(last_part(path))) } }
        @else { span.dim { "no project" } }
    }
}

/// The values and names of a project picker.
pub(super) fn project_choices(paths: &[String]) -> Vec<(String, String)> {
    let names = project_names(&paths.iter().map(String::as_str).collect::<Vec<_>>());
    paths.iter().cloned().zip(names).collect()
}

/// The last part of a path. A text that is not an absolute path stays whole.
pub(super) fn last_part(path: &str) -> &str {
    let separators = path_separators(path);
    let part = path.trim_end_matches(separators).rsplit(separators).next();
    part.filter(|part| !part.is_empty()).unwrap_or(path)
}

/// A citation: a link that jumps to the line.
pub(super) fn citation(context: PageContext<'_>, source: &FactSource) -> Markup {
    html! {
        p.cited {
            a.cite href=(to_line(source.session, source.line)) {
                (OneLine(clip(source.session_name.as_deref().unwrap_or("unnamed session"), MAX_NAME_CHARS)))
            }
            " " span.dim { "line " (number(source.line)) " · " (source.agent.as_str()) " · " (context.since(source.at)) }
        }
    }
}

/// Several citations; all but the first are folded.
pub(super) fn citations(context: PageContext<'_>, sources: &[FactSource]) -> Markup {
    const MAX_CITATIONS: usize = 20;
    html! {
        @if let Some((first, others)) = sources.split_first() {
            (citation(context, first))
            @if !others.is_empty() {
                details.more {
                    summary { (number(others.len() as u64)) " more" }
                    @for source in others.iter().take(MAX_CITATIONS) { (citation(context, source)) }
                    @if others.len() > MAX_CITATIONS { p.dim { "… and " (number((others.len() - MAX_CITATIONS) as u64)) " more" } }
                }
            }
        }
    }
}

/// The known cost, with its origin and what it leaves out as tooltip. Short, for tables.
pub(super) fn cost(used: &UsageTotals) -> Markup {
    cost_after(used, "~")
}

/// The same where there is room.
pub(super) fn long_cost(used: &UsageTotals) -> Markup {
    cost_after(used, "about ")
}

fn cost_after(used: &UsageTotals, estimated: &str) -> Markup {
    html! {
        @if let Some(known) = used.cost() {
            @let is_estimated = used.estimated_cost.is_some();
            @let origin = if is_estimated { "estimated from list prices" } else { "as recorded by the agent" };
            span.cost title={
                (origin)
                @if used.unpriced_tokens > 0 { ", excludes " (count(used.unpriced_tokens, "token")) " without a known price" }
            } { @if is_estimated { (estimated) } (money(known)) }
        }
    }
}

pub(super) fn count(amount: u64, noun: &str) -> String {
    crate::render::count(amount, noun)
}

/// A command with a copy button.
pub(super) fn command(text: &str) -> Markup {
    html! {
        span.command {
            code { (text) }
            button.icon.copy type="button" data-copy hidden aria-label={ "Copy " (OneLine(text)) } { "Copy" }
        }
    }
}

/// An empty state: what is missing, and what to do.
pub(super) fn empty_state(title: &str, about: &Markup) -> Markup {
    html! {
        section.nothing {
            (super::layout::logo())
            h2 { (title) }
            (about)
        }
    }
}

/// The empty state before the first sync.
pub(super) fn nothing_synced() -> Markup {
    empty_state(
        "Nothing yet",
        &html! {
            p { "Rethread reads the transcripts that your coding agents already write. Nothing synced yet." }
            ol {
                li { (command("rethread init")) span.dim { "finds your agents, installs hooks and syncs all transcripts" } }
                li { (command("rethread demo")) span.dim { "shows what it does, in a temporary home" } }
                li { (command("rethread doctor")) span.dim { "checks the installation and suggests fixes" } }
            }
            p.dim { "This page updates after the first sync. See " a href="/health" { "Health" } " for details." }
        },
    )
}

/// A date. Other times, which links may contain, are kept but not shown.
pub(super) fn day_field(name: &str, label: &str, value: Option<&String>) -> Markup {
    html! {
        label.choice {
            span { (label) }
            input type="date" name=(name) value=(OneLine(non_blank(value).unwrap_or_default())) data-submit;
        }
    }
}

/// A hint if the first day of a range is after the last one.
pub(super) fn reversed_dates(since: Option<&String>, until: Option<&String>) -> Option<&'static str> {
    let day = |value| non_blank(value).and_then(|value| value.parse::<jiff::civil::Date>().ok());
    let (first, last) = (day(since)?, day(until)?);
    (first > last).then_some("The first day is after the last one: swap From and To.")
}

/// A select field.
pub(super) fn select_field(name: &str, label: &str, chosen: Option<&str>, options: &[(String, String)]) -> Markup {
    html! {
        label.choice {
            span { (label) }
            select name=(name) data-submit {
                @for (value, text) in options {
                    option value=(ExactValue(value)) selected[chosen.unwrap_or_default() == value] { (OneLine(text)) }
                }
            }
        }
    }
}

/// Tabs; the flag marks the current one.
pub(super) fn tabs(label: &str, tabs: &[(String, Markup, bool)]) -> Markup {
    html! {
        nav.tabs aria-label=(label) {
            @for (address, text, is_here) in tabs {
                a href=(address) aria-current=[is_here.then_some("true")] { (text) }
            }
        }
    }
}

pub(super) fn headings(names: &[&str]) -> Markup {
    html! { thead { tr { @for name in names { th scope="col" { (name) } } } } }
}

/// A reason, unless the text already contains it.
pub(super) fn reason(reason: Option<&String>, shown: &str) -> Markup {
    let new = reason.filter(|reason| !shown.contains(reason.as_str()));
    html! { @if let Some(reason) = new { p.why { "Because " (OneLine(reason)) } } }
}

/// A trimmed parameter; `None` if blank.
pub(super) fn non_blank(value: Option<&String>) -> Option<&str> {
    value.map(|value| value.trim()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_are_shortened() {
        let check = |path: &str, expect: &str| assert_eq!(last_part(path), expect);
        check("/home/dev/shop/", "shop");
        check("~/shop", "shop");
        check("C:\\Users\\dev\\shop", "shop");
        check("c:/dev/shop", "shop");
        check("=HYPERLINK(\"http://evil\",\"x\")", "=HYPERLINK(\"http://evil\",\"x\")");
        check("/", "/");
    }

    #[test]
    fn exact_values_keep_every_character_and_show_none_that_is_unsafe() {
        let shown = |value: &str| html! { i title=(ExactValue(value)) {} }.into_string();
        assert_eq!(shown("a  \u{202e}\"<b>\n"), "<i title=\"a  &#8238;&quot;&lt;b&gt;&#10;\"></i>");
    }

    #[test]
    fn reversed_dates_are_noticed() {
        let check =
            |since: &str, until: &str| reversed_dates(Some(&since.to_owned()), Some(&until.to_owned())).is_some();
        assert!(check("2026-02-02", "2026-02-01") && !check("2026-02-01", "2026-02-01") && !check("7d", "2026-02-01"));
    }
}
