//! Small things that many pages are made of.

use jiff::tz::TimeZone;
use maud::{Escaper, Markup, Render, html};
use rethread_engine::{Source, Used};
use rethread_model::{Session, SessionKind, State, Timestamp, clip};
use std::fmt::Write;

use super::links::{to_line, to_session};
use crate::render::{age, moment, name_of, neutral, number, rough_cost, single};
use crate::serve::App;

/// Characters of a session's name where it is only mentioned.
const NAME: usize = 64;

/// Foreign text on one line.
pub(super) struct Line<T>(pub(super) T);

/// Foreign text with its line breaks.
pub(super) struct Text<T>(pub(super) T);

impl<T: AsRef<str>> Render for Line<T> {
    fn render_to(&self, out: &mut String) {
        // Writing to a text cannot fail.
        let _ = Escaper::new(out).write_str(&single(self.0.as_ref()));
    }
}

impl<T: AsRef<str>> Render for Text<T> {
    fn render_to(&self, out: &mut String) {
        let _ = Escaper::new(out).write_str(&neutral(self.0.as_ref()));
    }
}

/// When and where a page is made.
#[derive(Clone, Copy)]
pub(super) struct Here<'a> {
    pub(super) now: Timestamp,
    pub(super) zone: &'a TimeZone,
}

impl<'a> Here<'a> {
    pub(super) fn of(app: &'a App) -> Self {
        Self { now: app.engine.now(), zone: app.engine.zone() }
    }

    /// How long ago something was; the moment itself for whoever asks.
    pub(super) fn ago(self, at: Option<Timestamp>) -> Markup {
        html! {
            @if let Some(moment_of) = at {
                time datetime=(moment_of) title=(moment(at, self.zone)) data-age { (age(at, self.now)) }
            } @else {
                span.dim { "at an unknown time" }
            }
        }
    }

    /// The same as part of a sentence.
    pub(super) fn since(self, at: Option<Timestamp>) -> Markup {
        let told = age(at, self.now);
        let told = if told.ends_with(['m', 'h', 'd']) { format!("{told} ago") } else { told };
        html! { @if let Some(moment_of) = at { time datetime=(moment_of) title=(moment(at, self.zone)) data-age="ago" { (told) } } }
    }

    /// The hour of a moment; the day for whoever asks.
    pub(super) fn hour(self, at: Option<Timestamp>) -> Markup {
        let told = moment(at, self.zone);
        let hour = told.split_once(' ').map_or("", |(_, hour)| hour);
        html! { @if let Some(at) = at { time datetime=(at) title=(told) { (hour) } } }
    }

    /// The day of a moment, as people say it.
    pub(super) fn day(self, at: Option<Timestamp>) -> Option<String> {
        let at = jiff::Timestamp::from_millisecond(at?.as_millis()).ok()?;
        Some(at.to_zoned(self.zone.clone()).strftime("%A, %-d %B %Y").to_string())
    }
}

/// A state as a sign and a word; the sign alone tells it by its shape.
pub(super) fn state(state: State) -> Markup {
    let word = crate::render::state(state);
    html! { span class={ "state " (word) } { i aria-hidden="true" {} (word) } }
}

/// The name of a session, as a link to it.
pub(super) fn session_link(session: &Session) -> Markup {
    let child = if session.kind == SessionKind::Child { "↳ " } else { "" };
    html! { a href=(to_session(session.id)) { (child) (Line(name_of(session))) } }
}

/// The last part of a path, with the whole of it for whoever asks.
pub(super) fn project(path: Option<&str>) -> Markup {
    html! {
        @if let Some(path) = path { span title=(Line(path).render()) { (Line(last_part(path))) } }
        @else { span.dim { "no project" } }
    }
}

/// The last part of a path.
pub(super) fn last_part(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().filter(|part| !part.is_empty()).unwrap_or(path)
}

/// Where something stands: a link that jumps to the line.
pub(super) fn cited(here: Here<'_>, source: &Source) -> Markup {
    html! {
        p.cited {
            a.cite href=(to_line(source.session, source.line)) {
                (Line(clip(source.session_name.as_deref().unwrap_or("a session without a name"), NAME)))
            }
            " " span.dim { "line " (number(source.line)) " · " (source.agent.as_str()) " · " (here.since(source.at)) }
        }
    }
}

/// Several places, the first of them told and the others behind it.
pub(super) fn all_cited(here: Here<'_>, sources: &[Source]) -> Markup {
    const MOST: usize = 20;
    html! {
        @if let Some((first, others)) = sources.split_first() {
            (cited(here, first))
            @if !others.is_empty() {
                details.more {
                    summary { "and " (count(others.len() as u64, "place")) " more" }
                    @for source in others.iter().take(MOST) { (cited(here, source)) }
                    @if others.len() > MOST { p.dim { "… and " (number((others.len() - MOST) as u64)) " others" } }
                }
            }
        }
    }
}

/// A cost as far as it is known; what it rests on for whoever asks.
pub(super) fn cost(used: &Used) -> Markup {
    html! {
        @if used.cost().is_some() {
            @let about = if used.estimated.is_some() { "estimated from list prices" } else { "as the agent noted it" };
            span.cost title=(about) { (rough_cost(used)) }
        }
    }
}

/// A number of things.
pub(super) fn count(amount: u64, noun: &str) -> String {
    crate::render::count(amount, noun)
}

/// A command to be typed, that can be copied.
pub(super) fn command(text: &str) -> Markup {
    html! {
        span.command {
            code { (Line(text)) }
            button.icon.copy type="button" data-copy hidden aria-label={ "Copy " (Line(text)) } { "Copy" }
        }
    }
}

/// What is told where there is nothing: what it would be, and what to do.
pub(super) fn nothing(title: &str, about: &Markup) -> Markup {
    html! {
        section.nothing {
            (super::shell::sign())
            h2 { (title) }
            (about)
        }
    }
}

/// What to do where nothing was ever read.
pub(super) fn never_read() -> Markup {
    nothing(
        "Nothing yet",
        &html! {
            p { "Rethread reads the transcripts that your coding agents already write. Nothing was read so far." }
            ol {
                li { (command("rethread init")) span.dim { "finds your agents, adds the hooks, reads everything once" } }
                li { (command("rethread demo")) span.dim { "shows what it does, in a scene that leaves nothing behind" } }
                li { (command("rethread doctor")) span.dim { "says where it looks, and what is missing" } }
            }
            p.dim { "This page fills itself as soon as something is read. " a href="/health" { "Health" } " tells more." }
        },
    )
}

/// One of several choices, as a field of a form.
pub(super) fn choice(name: &str, label: &str, chosen: Option<&str>, options: &[(String, String)]) -> Markup {
    html! {
        label.choice {
            span { (label) }
            select name=(name) data-submit {
                @for (value, text) in options {
                    option value=(Line(value).render()) selected[chosen.unwrap_or_default() == value] { (Line(text)) }
                }
            }
        }
    }
}

/// Links to several views of the same thing; one of them is chosen.
pub(super) fn tabs(label: &str, tabs: &[(String, Markup, bool)]) -> Markup {
    html! {
        nav.tabs aria-label=(label) {
            @for (address, text, is_here) in tabs {
                a href=(address) aria-current=[is_here.then_some("true")] { (text) }
            }
        }
    }
}

/// The headings of a table.
pub(super) fn headings(names: &[&str]) -> Markup {
    html! { thead { tr { @for name in names { th scope="col" { (name) } } } } }
}

/// A reason, unless it was said already.
pub(super) fn because(reason: Option<&String>, said: &str) -> Markup {
    let new = reason.filter(|reason| !said.contains(reason.as_str()));
    html! { @if let Some(reason) = new { p.why { "Because " (Line(reason)) } } }
}

/// A value that was given and is not empty.
pub(super) fn given(value: Option<&String>) -> Option<&str> {
    value.map(|value| value.trim()).filter(|value| !value.is_empty())
}
