//! Search: what was said and done, as one types.

use std::ops::Range;

use maud::{Markup, html};
use rethread_engine::{Kind, Recalled, Scope, SearchReport, SearchRequest};
use rethread_model::Status;
use serde::Deserialize;

use super::board::agent;
use super::links::{link, to_line};
use super::parts::{Here, Line, choice, given, last_part, never_read, nothing, project};
use super::shell::{Page, Place};
use crate::render::{name_of, number, summary};
use crate::serve::{App, Refusal};

/// Hits on a page.
const FEW: usize = 20;
/// And for whoever wants more.
const MANY: usize = 100;

/// What is wanted.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    q: Option<String>,
    kind: Option<String>,
    agent: Option<String>,
    project: Option<String>,
    since: Option<String>,
    more: Option<String>,
}

/// Spans of time that can be chosen.
const SINCE: [(&str, &str); 5] = [
    ("", "any time"),
    ("1d", "the last day"),
    ("7d", "the last week"),
    ("30d", "the last month"),
    ("365d", "the last year"),
];

/// What one can type, and what it does.
const WAYS: [(&str, &str); 6] = [
    ("why one cent too high", "a question, in any words"),
    ("\"exact words\"", "this very phrase"),
    ("retry -cache", "without the word after the dash"),
    ("file:cart.rs", "exchanges that touched a file"),
    ("kind:error agent:pi", "only errors, only of one agent"),
    ("migration last week", "when it was"),
];

/// What is told where nothing is found.
const NOTHING_FITS: &str = "Nothing fits. Fewer or other words may, or fewer filters.";

/// The search page.
pub(super) fn page(app: &App, wanted: &Wanted) -> Result<Page, Refusal> {
    let text = given(wanted.q.as_ref()).unwrap_or_default().to_owned();
    let report =
        if text.is_empty() && !wanted.has_filter() { None } else { Some(app.engine.search(&wanted.request(&text)?)?) };
    let body = html! {
        h1.sr { "Search" }
        (form(app, wanted, &text)?)
        div.search-page {
            section.results id="results" aria-label="What was found" {
                @match &report {
                    None => { (ways()) }
                    Some(report) => { (found(app, wanted, report)?) }
                }
            }
        }
    };
    let title = if text.is_empty() { "Search".to_owned() } else { format!("{text} · Search") };
    Ok(Page::new(title, Place::Search, body))
}

impl Wanted {
    fn has_filter(&self) -> bool {
        [&self.kind, &self.agent, &self.project, &self.since].iter().any(|value| given(value.as_ref()).is_some())
    }

    /// Only words are looked up: nobody asks a model for the meaning of half a word, and reading asks nobody anything.
    fn request(&self, text: &str) -> Result<SearchRequest, Refusal> {
        let kind = given(self.kind.as_ref()).map(str::parse::<Kind>).transpose();
        let project = given(self.project.as_ref());
        Ok(SearchRequest {
            text: text.to_owned(),
            scope: project.map_or(Scope::AllProjects, |path| Scope::Project(path.to_owned())),
            agent: agent(self.agent.as_ref())?,
            kinds: kind.map_err(|error| Refusal::bad(error.to_string()))?.into_iter().collect(),
            since: given(self.since.as_ref()).map(str::to_owned),
            limit: if given(self.more.as_ref()).is_some() { MANY } else { FEW },
            only_reads: true,
            ..SearchRequest::default()
        })
    }

    fn link_to_more(&self) -> String {
        let [q, kind, agent, project, since] =
            [&self.q, &self.kind, &self.agent, &self.project, &self.since].map(|value| given(value.as_ref()));
        link(
            "/search",
            &[("q", q), ("kind", kind), ("agent", agent), ("project", project), ("since", since), ("more", Some("1"))],
        )
    }
}

fn form(app: &App, wanted: &Wanted, text: &str) -> Result<Markup, Refusal> {
    let any = |word: &str| vec![(String::new(), word.to_owned())];
    let mut kinds = any("anything");
    kinds.extend(Kind::ALL.iter().map(|kind| (kind.to_string(), kind.to_string())));
    let mut agents = any("all agents");
    agents.extend(rethread_model::Agent::ALL.iter().map(|agent| (agent.to_string(), agent.to_string())));
    let mut projects = any("all projects");
    projects.extend(app.engine.projects()?.into_iter().map(|path| (path.clone(), last_part(&path).to_owned())));
    let times = SINCE.map(|(value, word)| (value.to_owned(), word.to_owned()));
    Ok(html! {
        form.search-form action="/search" role="search" data-search {
            label.big {
                span.sr { "Search all sessions" }
                input type="search" name="q" value=(Line(text)) placeholder="What was said and done" autocomplete="off"
                    spellcheck="false" autofocus[text.is_empty()] data-find aria-controls="results";
            }
            div.choices {
                (choice("kind", "Kind", given(wanted.kind.as_ref()), &kinds))
                (choice("agent", "Agent", given(wanted.agent.as_ref()), &agents))
                (choice("project", "Project", given(wanted.project.as_ref()), &projects))
                (choice("since", "Time", given(wanted.since.as_ref()), &times))
                button.plain.no-script { "Search" }
            }
        }
    })
}

/// What one can type.
fn ways() -> Markup {
    html! {
        div.ways {
            h2 { "What one can type" }
            dl {
                @for (typed, what) in WAYS {
                    dt { a href=(link("/search", &[("q", Some(typed))])) { code { (typed) } } }
                    dd { (what) }
                }
            }
            p.dim { kbd { "↓" } " goes to the first hit, " kbd { "Enter" } " opens it at its line." }
        }
    }
}

fn found(app: &App, wanted: &Wanted, report: &SearchReport) -> Result<Markup, Refusal> {
    let here = Here::of(app);
    if report.hits.is_empty() {
        let is_new = app.engine.projects()?.is_empty();
        return Ok(html! {
            @if is_new { (never_read()) }
            @else { (nothing("Nothing found", &html! { p role="status" { (NOTHING_FITS) } })) (ways()) }
        });
    }
    let is_more = report.matched > report.hits.len() as u64 && given(wanted.more.as_ref()).is_none();
    Ok(html! {
        p.dim.sum role="status" { (summary(report)) }
        @if let Some(degraded) = &report.degraded { p.careful { (Line(degraded)) } }
        ol.hits { @for found in &report.hits { (hit(here, found)) } }
        @if is_more && report.hits.len() == FEW { p.more { a.plain href=(wanted.link_to_more()) { "Up to " (number(MANY as u64)) } } }
    })
}

fn hit(here: Here<'_>, found: &Recalled) -> Markup {
    let (hit, session) = (&found.hit, &found.hit.session);
    let line = hit.entry.place.line;
    let outcome = hit.entry.tool.as_ref().and_then(|tool| tool.outcome.as_ref());
    let is_failed = outcome.is_some_and(|outcome| outcome.status == Status::Error);
    html! {
        li.hit id={ "hit-" (session.id) "-" (hit.entry.seq) } data-item {
            p.head {
                a href=(to_line(session.id, line)) { (Line(name_of(session))) }
                (here.ago(hit.entry.at))
            }
            p.snippet { (marked(&hit.snippet.text, &hit.snippet.matches)) }
            p.about {
                span.badge.bad[is_failed] { (hit.kind.as_str()) @if is_failed { ", failed" } }
                span { (session.agent.as_str()) }
                span { (project(session.project.as_deref().or(session.cwd.as_deref()))) }
                span { "line " (number(line)) }
            }
        }
    }
}

/// A text with what fits marked.
fn marked(text: &str, matches: &[Range<usize>]) -> Markup {
    let mut at = 0;
    let mut pieces = Vec::new();
    for range in matches {
        // Ranges come in order and inside the text; one that does not is passed over.
        if range.start < at || !text.is_char_boundary(range.start) || !text.is_char_boundary(range.end) {
            continue;
        }
        pieces.push((&text[at..range.start], &text[range.clone()]));
        at = range.end;
    }
    html! {
        @for (before, word) in pieces { (Piece(before)) mark { (Piece(word)) } }
        (Piece(&text[at..]))
    }
}

/// A piece of a line: harmless, and with the blanks at its ends, which one line would lose.
struct Piece<'a>(&'a str);

impl maud::Render for Piece<'_> {
    fn render_to(&self, out: &mut String) {
        use std::fmt::Write;
        // Writing to a text cannot fail.
        let _ = maud::Escaper::new(out).write_str(&crate::render::neutral(self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_marked_and_nothing_else_is() {
        let check =
            |text: &str, ranges: &[Range<usize>], expect: &str| assert_eq!(marked(text, ranges).into_string(), expect);
        check("a <b> c d", &[2..5, 8..9], "a <mark>&lt;b&gt;</mark> c <mark>d</mark>");
        check("äöü", &[0..2, 1..3, 4..6], "<mark>ä</mark>ö<mark>ü</mark>");
        check("\u{1b}]52;x", &[], "␛]52;x");
    }
}
