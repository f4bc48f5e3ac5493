//! The search page. Results update while typing.

use std::ops::Range;

use maud::{Markup, html};
use rethread_engine::{HitKind, HitWithExchange, SearchReport, SearchRequest, SessionScope};
use rethread_model::ToolStatus;
use serde::Deserialize;

use super::board::parse_agent;
use super::components::{
    OneLine, PageContext, day_field, empty_state, non_blank, nothing_synced, project, project_choices, reversed_dates,
    select_field,
};
use super::layout::{NavPage, WebPage};
use super::links::{link, to_line, to_session};
use super::viewer::Viewer;
use crate::render::{number, search_summary, session_label};
use crate::serve::{ApiError, ServerState};

/// Hits by default.
const DEFAULT_HITS: usize = 20;
/// Hits after "Show up to 100".
const MAX_HITS: usize = 100;

/// Query parameters of the search page.
#[derive(Debug, Default, Deserialize)]
pub(super) struct SearchPageParams {
    q: Option<String>,
    kind: Option<String>,
    agent: Option<String>,
    project: Option<String>,
    since: Option<String>,
    until: Option<String>,
    /// A span that ends now. A first day, in `since`, is preferred.
    when: Option<String>,
    more: Option<String>,
}

/// Choices of the time filter.
const TIME_CHOICES: [(&str, &str); 5] =
    [("", "any time"), ("1d", "last day"), ("7d", "last week"), ("30d", "last month"), ("365d", "last year")];

/// Example queries and what they do.
const SYNTAX_EXAMPLES: [(&str, &str); 6] = [
    ("why one cent too high", "a question in your own words"),
    ("\"exact words\"", "this exact phrase"),
    ("retry -cache", "without the word after the minus"),
    ("file:cart.rs", "episodes that touched a file"),
    ("kind:error agent:pi", "only errors of one agent"),
    ("migration last week", "a time"),
];

/// The empty result.
const NO_MATCHES: &str = "No matches. Try fewer or other words, or remove filters.";

pub(super) fn page(app: &Viewer<'_>, params: &SearchPageParams) -> Result<WebPage, ApiError> {
    let text = non_blank(params.q.as_ref()).unwrap_or_default().to_owned();
    let report = if text.is_empty() && !params.has_filter() {
        None
    } else {
        Some(app.engine.search().run(&params.request(&text)?)?)
    };
    let body = html! {
        h1.sr { "Search" }
        (form(app, params, &text)?)
        div.search-page {
            section.results id="results" aria-label="Results" {
                @match &report {
                    None => { (syntax_help()) }
                    Some(report) => { (results(app, params, report)?) }
                }
            }
            aside.preview-pane.script-only aria-label="Preview" tabindex="0" data-preview-pane {}
        }
    };
    let title = if text.is_empty() { "Search".to_owned() } else { format!("{text} · Search") };
    Ok(WebPage::new(title, NavPage::Search, body))
}

impl SearchPageParams {
    fn has_filter(&self) -> bool {
        [&self.kind, &self.agent, &self.project, &self.since, &self.until, &self.when]
            .iter()
            .any(|value| non_blank(value.as_ref()).is_some())
    }

    /// Searches by words only: typing must not cause model calls, and a GET never writes.
    fn request(&self, text: &str) -> Result<SearchRequest, ApiError> {
        let kind = non_blank(self.kind.as_ref()).map(str::parse::<HitKind>).transpose();
        let project = non_blank(self.project.as_ref());
        Ok(SearchRequest {
            text: text.to_owned(),
            scope: project.map_or(SessionScope::AllProjects, |path| SessionScope::Project(path.to_owned())),
            agent: parse_agent(self.agent.as_ref())?,
            kinds: kind.map_err(|error| ApiError::bad_request(error.to_string()))?.into_iter().collect(),
            since: non_blank(self.since.as_ref()).or(non_blank(self.when.as_ref())).map(str::to_owned),
            until: non_blank(self.until.as_ref()).map(str::to_owned),
            limit: if non_blank(self.more.as_ref()).is_some() { MAX_HITS } else { DEFAULT_HITS },
            read_only: true,
            ..SearchRequest::default()
        })
    }

    fn link_to_more(&self) -> String {
        let of = |value: &'_ Option<String>| non_blank(value.as_ref()).map(str::to_owned);
        let values = [
            ("q", of(&self.q)),
            ("kind", of(&self.kind)),
            ("agent", of(&self.agent)),
            ("project", of(&self.project)),
            ("since", of(&self.since)),
            ("until", of(&self.until)),
            ("when", of(&self.when)),
            ("more", Some("1".to_owned())),
        ];
        link("/search", &values.each_ref().map(|(name, value)| (*name, value.as_deref())))
    }
}

fn form(app: &ServerState, params: &SearchPageParams, text: &str) -> Result<Markup, ApiError> {
    let any = |word: &str| vec![(String::new(), word.to_owned())];
    let mut kinds = any("all kinds");
    kinds.extend(HitKind::ALL.iter().map(|kind| (kind.to_string(), kind.to_string())));
    let mut agents = any("all agents");
    agents.extend(app.engine.sessions().agents()?.iter().map(|agent| (agent.to_string(), agent.to_string())));
    let mut projects = any("all projects");
    projects.extend(project_choices(&app.engine.sessions().projects()?));
    let times = TIME_CHOICES.map(|(value, word)| (value.to_owned(), word.to_owned()));
    Ok(html! {
        form.search-form action="/search" role="search" data-search data-excludes="when since until" {
            label.big {
                span.sr { "Search all sessions" }
                input type="search" name="q" value=(OneLine(text)) placeholder="Search sessions" autocomplete="off"
                    spellcheck="false" autofocus[text.is_empty()] data-find aria-controls="results";
            }
            div.choices {
                (select_field("kind", "Kind", non_blank(params.kind.as_ref()), &kinds))
                (select_field("agent", "Agent", non_blank(params.agent.as_ref()), &agents))
                (select_field("project", "Project", non_blank(params.project.as_ref()), &projects))
                (select_field("when", "Time", non_blank(params.when.as_ref()), &times))
                (day_field("since", "From", params.since.as_ref()))
                (day_field("until", "To", params.until.as_ref()))
                button.plain.no-script { "Search" }
            }
        }
    })
}

/// The search syntax help.
fn syntax_help() -> Markup {
    html! {
        section.recent id="recent" hidden {
            h2 { "Recent searches" }
            ul {}
            button.plain.quiet type="button" data-clear-recent { "Clear" }
        }
        div.ways {
            h2 { "Search syntax" }
            dl {
                @for (typed, what) in SYNTAX_EXAMPLES {
                    dt { a href=(link("/search", &[("q", Some(typed))])) { code { (typed) } } }
                    dd { (what) }
                }
            }
            p.dim { kbd { "↓" } " selects the first result, " kbd { "Enter" } " opens it at its line." }
        }
    }
}

fn results(app: &ServerState, params: &SearchPageParams, report: &SearchReport) -> Result<Markup, ApiError> {
    let context = PageContext::new(app);
    if report.hits.is_empty() {
        let is_new = app.engine.sessions().projects()?.is_empty();
        return Ok(html! {
            @if is_new { (nothing_synced()) }
            @else {
                @let hint = reversed_dates(params.since.as_ref(), params.until.as_ref()).unwrap_or(NO_MATCHES);
                (empty_state("No results", &html! { p role="status" { (hint) } }))
                (syntax_help())
            }
        });
    }
    let is_more = report.matched > report.hits.len() as u64 && non_blank(params.more.as_ref()).is_none();
    Ok(html! {
        p.dim.sum role="status" { (search_summary(report)) }
        @if let Some(notice) = &report.notice { p.dim { (OneLine(notice)) } }
        @if let Some(degraded) = &report.degraded { p.careful { (OneLine(degraded)) } }
        @for group in by_session(&report.hits) { (hit_group(context, &group)) }
        @if is_more && report.hits.len() == DEFAULT_HITS { p.more { a.plain href=(params.link_to_more()) { "Show up to " (number(MAX_HITS as u64)) } } }
    })
}

/// The hits of each session, the session of the best hit first.
fn by_session(hits: &[HitWithExchange]) -> Vec<Vec<&HitWithExchange>> {
    let mut groups: Vec<Vec<&HitWithExchange>> = Vec::new();
    for found in hits {
        match groups.iter_mut().find(|group| group[0].hit.session.id == found.hit.session.id) {
            Some(group) => group.push(found),
            None => groups.push(vec![found]),
        }
    }
    groups
}

fn hit_group(context: PageContext<'_>, group: &[&HitWithExchange]) -> Markup {
    let best = &group[0].hit;
    let session = &best.session;
    html! {
        article.hit-group id={ "g-" (session.id) } {
            div.head {
                h2 { a href=(to_line(session.id, best.entry.location.line)) { (OneLine(session_label(session))) } }
                (context.ago(best.entry.at))
            }
            p.about {
                span { (session.agent.as_str()) }
                span { (project(session.project.as_deref().or(session.cwd.as_deref()))) }
                @if group.len() > 1 { span { (number(group.len() as u64)) " hits" } }
            }
            ol.hits { @for found in group { (hit(found)) } }
            @if !best.also_in.is_empty() {
                p.about.dim {
                    "also in "
                    @for (at, other) in best.also_in.iter().enumerate() {
                        @if at > 0 { ", " }
                        a href=(to_session(other.id)) { (OneLine(session_label(other))) }
                    }
                }
            }
        }
    }
}

fn hit(found: &HitWithExchange) -> Markup {
    let (hit, session) = (&found.hit, &found.hit.session);
    let line = hit.entry.location.line;
    let outcome = hit.entry.tool.as_ref().and_then(|tool| tool.outcome.as_ref());
    let is_failed = outcome.is_some_and(|outcome| outcome.status == ToolStatus::Error);
    html! {
        li.hit id={ "hit-" (session.id) "-" (hit.entry.seq) } data-item {
            a href=(to_line(session.id, line)) data-preview={ (to_session(session.id)) "/preview?line=" (line) } {
                span.badge.bad[is_failed] { (hit.kind.as_str()) @if is_failed { ", failed" } }
                span.snippet { (highlight(&hit.snippet.text, &hit.snippet.matches)) }
                span.line title="line" { (number(line)) }
            }
        }
    }
}

/// A text with its matches highlighted.
pub(super) fn highlight(text: &str, matches: &[Range<usize>]) -> Markup {
    let mut at = 0;
    let mut pieces = Vec::new();
    for range in matches {
        // Ranges should be sorted and valid; others are skipped.
        if range.start < at || !text.is_char_boundary(range.start) || !text.is_char_boundary(range.end) {
            continue;
        }
        pieces.push((&text[at..range.start], &text[range.clone()]));
        at = range.end;
    }
    html! {
        @for (before, word) in pieces { (TextFragment(before)) mark { (TextFragment(word)) } }
        (TextFragment(&text[at..]))
    }
}

/// Part of a line: escaped and neutralized like [`OneLine`], but with the white space at its ends.
struct TextFragment<'a>(&'a str);

impl maud::Render for TextFragment<'_> {
    fn render_to(&self, out: &mut String) {
        use std::fmt::Write;
        // Writing to a String cannot fail.
        let _ = maud::Escaper::new(out).write_str(&crate::render::sanitize(self.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_highlighted_and_text_is_escaped() {
        let check = |text: &str, ranges: &[Range<usize>], expect: &str| {
            assert_eq!(highlight(text, ranges).into_string(), expect);
        };
        check("a <b> c d", &[2..5, 8..9], "a <mark>&lt;b&gt;</mark> c <mark>d</mark>");
        check("äöü", &[0..2, 1..3, 4..6], "<mark>ä</mark>ö<mark>ü</mark>");
        check("\u{1b}]52;x", &[], "␛]52;x");
    }
}
