//! The conversation itself: what was asked, said and done, each with its line.

use std::collections::HashMap;

use maud::{Markup, html};
use rethread_engine::Reading;
use rethread_model::{Entry, Outcome, Session, Speech, Status, ToolUse, clip};

use super::super::links::link;
use super::super::markdown::markdown;
use super::super::parts::{Here, Line, Text, count};
use super::{Wanted, shown};
use crate::render::{number, shortened};

/// More calls in a row than this are folded into one line.
const MOST_CALLS: usize = 5;
/// Characters of one text; whoever wants more asks for it in a terminal.
const LONGEST: usize = 30_000;
/// Characters of what a call was given and gave.
const LONGEST_DETAIL: usize = 8_000;

/// One thing after the other.
pub(super) fn talk(here: Here<'_>, reading: &Reading, wanted: &Wanted) -> Markup {
    let session = &reading.listed.session;
    let piece = &reading.piece;
    let cited = wanted.line.filter(|_| piece.middle.is_some());
    let reader = Reader { here, session, cited, middle: piece.middle, first_of_line: first_of_line(&piece.entries) };
    let (first, last) = shown(reading);
    html! {
        @if piece.has_earlier || wanted.is_everything() {
            nav.around aria-label="Earlier" {
                @if piece.has_earlier {
                    @let before = first.to_string();
                    a.plain href=(address(session, wanted, &[("from", Some("0"))])) { "From the beginning" }
                    a.plain rel="prev" href=(address(session, wanted, &[("until", Some(&before))])) { "Earlier" }
                }
                @if wanted.is_everything() { (other_view(session, wanted)) }
            }
        }
        @if piece.entries.is_empty() { p.dim { "Nothing was said here." } }
        div.entries data-from=(first) {
            @for (day, group) in by_day(here, groups(&piece.entries)) {
                @if let Some(day) = day { p.day { (day) } }
                (reader.group(group))
            }
        }
        @if piece.has_later {
            nav.around aria-label="Later" {
                @let next = (last + 1).to_string();
                a.plain rel="next" href=(address(session, wanted, &[("from", Some(&next))])) { "Later" }
                a.plain href=(address(session, wanted, &[])) { "To the end" }
                (other_view(session, wanted))
            }
        } @else {
            p.end id="end" { span.dim { "The end, as far as it was read." } (other_view(session, wanted)) }
        }
    }
}

fn address(session: &Session, wanted: &Wanted, query: &[(&str, Option<&str>)]) -> String {
    let all = [("all", wanted.is_everything().then_some("1"))];
    link(&format!("/sessions/{}", session.id), &[query, &all].concat())
}

/// From what is told to everything, and back.
fn other_view(session: &Session, wanted: &Wanted) -> Markup {
    let (told, everything) =
        if wanted.is_everything() { ("Only the conversation", None) } else { ("Show everything", Some("1")) };
    html! {
        a.plain.quiet href=(link(&format!("/sessions/{}", session.id), &[("all", everything)]))
            title="Thoughts, machine texts and branches that were left" { (told) }
    }
}

/// Entries that belong together: calls in a row; everything else stands alone.
fn groups(entries: &[Entry]) -> impl Iterator<Item = &[Entry]> {
    entries.chunk_by(|one, next| one.tool.is_some() && next.tool.is_some())
}

/// Groups, with the day before the first of each day.
fn by_day<'e>(
    here: Here<'_>,
    groups: impl Iterator<Item = &'e [Entry]>,
) -> impl Iterator<Item = (Option<String>, &'e [Entry])> {
    let mut last = None;
    groups.map(move |group| {
        let day = here.day(group[0].at);
        let is_new = day.is_some() && day != last;
        if is_new {
            last.clone_from(&day);
        }
        (day.filter(|_| is_new), group)
    })
}

/// A line may hold several entries; whoever jumps to it comes to the first of them.
fn first_of_line(entries: &[Entry]) -> HashMap<u64, u64> {
    let mut first = HashMap::new();
    for entry in entries {
        first.entry(entry.place.line).or_insert(entry.seq);
    }
    first
}

struct Reader<'a> {
    here: Here<'a>,
    session: &'a Session,
    /// The line that was asked for.
    cited: Option<u64>,
    /// The entry that stands there.
    middle: Option<u64>,
    first_of_line: HashMap<u64, u64>,
}

impl Reader<'_> {
    fn group(&self, group: &[Entry]) -> Markup {
        if group[0].tool.is_none() {
            return html! { @for entry in group { (self.said(entry)) } };
        }
        let holds_cited = group.iter().any(|entry| Some(entry.seq) == self.middle);
        let calls = html! { @for entry in group { @if let Some(tool) = &entry.tool { (self.call(entry, tool)) } } };
        html! {
            @if group.len() > MOST_CALLS {
                details.calls id={ "calls-" (group[0].seq) } open[holds_cited] data-fold {
                    summary { (summed(group)) }
                    (calls)
                }
            } @else {
                div.calls id={ "calls-" (group[0].seq) } { (calls) }
            }
        }
    }

    /// A text, as it was typed or as it was meant.
    fn said(&self, entry: &Entry) -> Markup {
        let (who, class) = speaker(entry.speech);
        let text = clip(&entry.text, LONGEST);
        let is_cut = text.len() < entry.text.len();
        html! {
            article class={ "entry " (class) @if entry.abandoned { " left" } } id={ "e-" (entry.seq) } data-item {
                (self.margin(entry))
                div.body {
                    p.who { (who) @if entry.abandoned { " · on a branch that was left" } }
                    @if matches!(class, "agent" | "summary") { div.md { (markdown(&text)) } }
                    @else { div.typed { (Text(&text)) } }
                    @if is_cut {
                        p.dim { "Cut here. " code { "rethread show " (self.session.citation(entry.place.line)) " --full" } " shows all." }
                    }
                }
            }
        }
    }

    /// The line and the hour, and where a citation jumps to.
    fn margin(&self, entry: &Entry) -> Markup {
        let line = entry.place.line;
        html! {
            div.margin {
                (self.anchor(entry))
                a.line href={ "#L" (line) } aria-label={ "Line " (line) } { (line) }
                (self.here.hour(entry.at))
            }
        }
    }

    /// Where a jump to a line ends. A line that was cited may hold no entry: then it ends at the one before.
    fn anchor(&self, entry: &Entry) -> Markup {
        let line = entry.place.line;
        let is_middle = Some(entry.seq) == self.middle;
        let cited = self.cited.filter(|cited| is_middle && *cited != line);
        html! {
            @if self.first_of_line.get(&line) == Some(&entry.seq) {
                span.anchor id={ "L" (line) } data-cited[is_middle && cited.is_none()] {}
            }
            @if let Some(cited) = cited { span.anchor id={ "L" (cited) } data-cited {} }
        }
    }

    /// A call: what it did on one line, and all that is known of it behind that.
    fn call(&self, entry: &Entry, tool: &ToolUse) -> Markup {
        let (how, told) = outcome(tool.outcome.as_ref());
        let target = shortened(&tool.target, self.session);
        let error = tool
            .outcome
            .as_ref()
            .filter(|outcome| outcome.status == Status::Error)
            .and_then(|one| one.error.as_deref());
        html! {
            details class={ "call " (how) @if entry.abandoned { " left" } } id={ "e-" (entry.seq) } data-item {
                summary {
                    (self.anchor(entry))
                    span.row {
                        span.tool { (Line(&tool.name)) }
                        span.target { (Line(clip(&target, 300))) }
                        span.outcome { (told) }
                        span.line { (entry.place.line) }
                    }
                    @if let Some(error) = error { span.error { (Line(clip(error, 500))) } }
                }
                (self.details(entry, tool))
            }
        }
    }

    fn details(&self, entry: &Entry, tool: &ToolUse) -> Markup {
        let outcome = tool.outcome.as_ref();
        let output = outcome.and_then(|outcome| outcome.output.as_deref());
        let line = entry.place.line;
        html! {
            dl {
                dt { "Line" }
                dd { a href={ "#L" (line) } { (line) } " " (self.here.hour(entry.at)) }
                @if let Some(script) = &tool.script { dt { "Command" } dd { pre { code { (Text(clip(script, LONGEST_DETAIL))) } } } }
                @else if !tool.target.is_empty() { dt { "On" } dd { code { (Text(clip(&tool.target, LONGEST_DETAIL))) } } }
                @if !tool.arguments.is_empty() { dt { "With" } dd { code { (Text(clip(&tool.arguments, LONGEST_DETAIL))) } } }
                @if let Some(outcome) = outcome {
                    dt { "Gave" }
                    dd {
                        (Line(&outcome.summary))
                        @if let Some(code) = outcome.exit_code { " · exit " (code) }
                    }
                    @if let Some(error) = &outcome.error { dt { "Error" } dd.error { (Text(error)) } }
                }
                @if let Some(output) = output { dt { "Output" } dd { pre { code { (Text(clip(output, LONGEST_DETAIL))) } } } }
            }
        }
    }
}

/// Many calls in few words.
fn summed(group: &[Entry]) -> Markup {
    let mut names: Vec<(&str, u64)> = Vec::new();
    for tool in group.iter().filter_map(|entry| entry.tool.as_ref()) {
        match names.iter_mut().find(|(name, _)| *name == tool.name) {
            Some((_, many)) => *many += 1,
            None => names.push((&tool.name, 1)),
        }
    }
    names.sort_by_key(|(_, many)| std::cmp::Reverse(*many));
    let is_failed = |entry: &&Entry| {
        entry.tool.as_ref().and_then(|tool| tool.outcome.as_ref()).is_some_and(|outcome| outcome.status.is_error())
    };
    let failed = group.iter().filter(is_failed).count() as u64;
    html! {
        span.sum { (count(group.len() as u64, "call")) }
        @for (name, many) in names.iter().take(4) { span.part { (Line(name)) " " span.number { (number(*many)) } } }
        @if names.len() > 4 { span.part { "…" } }
        @if failed > 0 { span.bad { (number(failed)) " failed" } }
        @if let Some(line) = group.first().map(|entry| entry.place.line) { span.line { (line) } }
    }
}

/// How a call went: for the style sheet, and in a few words.
fn outcome(outcome: Option<&Outcome>) -> (&'static str, String) {
    let Some(outcome) = outcome else { return ("pending", "no result yet".to_owned()) };
    match outcome.status {
        Status::Ok if outcome.lines > 1 => ("ok", count(outcome.lines, "line")),
        Status::Ok => ("ok", "ok".to_owned()),
        Status::Rejected => ("rejected", "refused".to_owned()),
        Status::Error => {
            ("failed", outcome.exit_code.map_or_else(|| "failed".to_owned(), |code| format!("exit {code}")))
        }
    }
}

fn speaker(speech: Speech) -> (&'static str, &'static str) {
    match speech {
        Speech::Prompt => ("You", "prompt"),
        Speech::Answer => ("You, answering", "prompt"),
        Speech::Task => ("Task", "prompt"),
        Speech::Shell => ("You, in the shell", "machine"),
        Speech::Note => ("You, noting", "machine"),
        Speech::Command => ("You, by command", "machine"),
        Speech::Said | Speech::Call => ("Agent", "agent"),
        Speech::Reasoning => ("Agent, thinking", "machine"),
        Speech::Failure => ("Failure", "failure"),
        Speech::Interruption => ("Interrupted", "failure"),
        Speech::Summary => ("Summary of what came before", "summary"),
        Speech::Recap => ("Recap", "summary"),
        Speech::Notice => ("Notice", "machine"),
        Speech::Injected => ("Added by an extension", "machine"),
    }
}
