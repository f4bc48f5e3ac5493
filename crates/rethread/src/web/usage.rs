//! Usage: what the agents' tokens cost, by day, agent, model and project, and what we spent ourselves.

use jiff::civil::Date;
use maud::{Markup, html};
use rethread_engine::{Kept, OwnUsage, PRICES_AS_OF, Scope, UsageBy, UsageGroup, UsageReport, UsageRequest, Used};
use rethread_model::Timestamp;
use serde::Deserialize;

use super::board::agent;
use super::chart::{Column, bar, bars, columns};
use super::parts::{Line, choice, count, given, headings, last_part, never_read};
use super::shell::{Page, Place};
use crate::render::{
    Measure, ledger_cost, limits, measured, money, number, reduction, rough_cost, short_number, usage_bars,
};
use crate::serve::{App, Refusal};

/// Spans of time that can be chosen; the second is what one sees first.
const SINCE: [(&str, &str); 5] = [
    ("7d", "the last week"),
    ("30d", "the last month"),
    ("90d", "three months"),
    ("365d", "a year"),
    ("all", "all of it"),
];
const USUAL: &str = "30d";
/// Days that are drawn one by one; of more, months are.
const MOST_DAYS: usize = 92;

/// What is wanted.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Wanted {
    since: Option<String>,
    project: Option<String>,
    agent: Option<String>,
}

impl Wanted {
    fn since(&self) -> &str {
        given(self.since.as_ref()).unwrap_or(USUAL)
    }

    fn request(&self, by: UsageBy) -> Result<UsageRequest, Refusal> {
        let project = given(self.project.as_ref());
        Ok(UsageRequest {
            scope: project.map_or(Scope::AllProjects, |path| Scope::Project(path.to_owned())),
            by,
            agent: agent(self.agent.as_ref())?,
            since: Some(self.since()).filter(|since| *since != "all").map(str::to_owned),
            until: None,
        })
    }
}

/// The usage page.
pub(super) fn page(app: &App, wanted: &Wanted) -> Result<Page, Refusal> {
    let days = app.engine.usage(&wanted.request(UsageBy::Day)?)?;
    let of = |by| Ok::<_, Refusal>((by, app.engine.usage(&wanted.request(by)?)?));
    let others = [of(UsageBy::Agent)?, of(UsageBy::Model)?, of(UsageBy::Project)?];
    let is_new = app.engine.projects()?.is_empty();
    let body = html! {
        h1.sr { "Usage" }
        @if is_new { (never_read()) }
        @else {
            (filters(app, wanted)?)
            (totals(&days))
            @if days.groups.is_empty() { p.dim { "No tokens were used in this time." } }
            @else {
                @let range = days_of(app, &days);
                (columns(&format!("{} by {}", what(&days), if is_by_month(range) { "month" } else { "day" }), &in_time(range, &days)))
                div.spread.three {
                    @for (by, report) in &others { section { (bars(&format!("By {}", by.as_str()), &usage_bars(report, *by))) } }
                }
                (footnotes(&days.total))
            }
            div.columns.two { (own(&days.own)) (kept(&days.kept)) }
        }
    };
    Ok(Page::new("Usage", Place::Usage, body))
}

fn filters(app: &App, wanted: &Wanted) -> Result<Markup, Refusal> {
    let times = SINCE.map(|(value, word)| (value.to_owned(), word.to_owned()));
    let mut projects = vec![(String::new(), "all projects".to_owned())];
    projects.extend(app.engine.projects()?.into_iter().map(|path| (path.clone(), last_part(&path).to_owned())));
    let mut agents = vec![(String::new(), "all agents".to_owned())];
    agents.extend(rethread_model::Agent::ALL.iter().map(|agent| (agent.to_string(), agent.to_string())));
    Ok(html! {
        div.filters {
            h2 { "Usage" }
            form action="/usage" data-filters {
                (choice("since", "Time", Some(wanted.since()), &times))
                (choice("project", "Project", given(wanted.project.as_ref()), &projects))
                (choice("agent", "Agent", given(wanted.agent.as_ref()), &agents))
                button.plain.no-script { "Show" }
            }
        }
    })
}

fn totals(report: &UsageReport) -> Markup {
    let tokens = report.total.tokens;
    let read = tokens.input + tokens.cache_read + tokens.cache_write;
    let cached =
        if read > 0 { format!("{:.0} %", tokens.cache_read as f64 * 100.0 / read as f64) } else { "–".to_owned() };
    let cost = if report.total.cost().is_some() { rough_cost(&report.total) } else { "–".to_owned() };
    let all = [
        ("Cost", cost),
        ("Messages", number(report.total.messages)),
        ("Output", short_number(tokens.output)),
        ("Input", short_number(read)),
        ("From the cache", cached),
    ];
    html! { dl.totals { @for (name, value) in all { div { dt { (name) } dd { (value) } } } } }
}

fn what(report: &UsageReport) -> &'static str {
    match measured(report) {
        Measure::Cost => "Cost",
        Measure::Tokens => "Tokens",
    }
}

fn is_by_month(days: Option<(Date, Date)>) -> bool {
    days.is_some_and(|(first, last)| first.until(last).map_or(0, |span| span.get_days()) as usize >= MOST_DAYS)
}

/// The first and the last day that are looked at: of the wanted time, else those on which something was used.
fn days_of(app: &App, report: &UsageReport) -> Option<(Date, Date)> {
    let civil = |at: Timestamp| {
        let at = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
        Some(at.to_zoned(app.engine.zone().clone()).date())
    };
    let day = |group: &UsageGroup| group.key.as_deref()?.parse::<Date>().ok();
    let days: Vec<Date> = report.groups.iter().filter_map(day).collect();
    let (first, last) = (*days.first()?, *days.last()?);
    Some((report.from.and_then(civil).unwrap_or(first), civil(app.engine.now()).map_or(last, |today| today.max(last))))
}

/// Days or months without a gap, each with what it took.
fn in_time(range: Option<(Date, Date)>, report: &UsageReport) -> Vec<Column> {
    let Some((first, last)) = range else { return Vec::new() };
    let by_month = is_by_month(range);
    let name =
        |day: Date| if by_month { day.strftime("%b %Y").to_string() } else { day.strftime("%-d %b").to_string() };
    let mut all: Vec<(String, Used)> = Vec::new();
    for day in first.series(jiff::Span::new().days(1)).take_while(|day| *day <= last) {
        let name = name(day);
        if all.last().is_none_or(|(last, _)| *last != name) {
            all.push((name, Used::default()));
        }
        let key = day.to_string();
        let group = report.groups.iter().find(|group| group.key.as_deref() == Some(key.as_str()));
        if let (Some(group), Some((_, used))) = (group, all.last_mut()) {
            used.add(&group.used);
        }
    }
    let measure = measured(report);
    let amount = |used: &Used| match measure {
        Measure::Cost => used.cost().map_or(0, rethread_engine::NanoUsd::get),
        Measure::Tokens => used.tokens.total(),
    };
    let most = all.iter().map(|(_, used)| amount(used)).max().unwrap_or(0).max(1) as f64;
    let value = |used: &Used| match (measure, used.messages) {
        (_, 0) => "nothing".to_owned(),
        (Measure::Cost, _) => rough_cost(used),
        (Measure::Tokens, _) => short_number(used.tokens.total()),
    };
    let column =
        |(label, used): (String, Used)| Column { label, value: value(&used), share: amount(&used) as f64 / most };
    all.into_iter().map(column).collect()
}

/// Where the costs come from, and what they lack.
fn footnotes(total: &Used) -> Markup {
    html! {
        p.dim {
            @if let Some(sum) = total.noted { (money(sum)) " as the agents noted it. " }
            @if let Some(sum) = total.estimated { (money(sum)) " estimated from list prices of " (PRICES_AS_OF) "." }
            @if total.unpriced_tokens > 0 { " Without " (count(total.unpriced_tokens, "token")) " of models whose price is not known." }
        }
    }
}

/// What we asked of models ourselves, and what we may.
fn own(own: &OwnUsage) -> Markup {
    let today: u64 = own.today.iter().map(|sum| sum.spending.cost_nanos).sum();
    let limit = own.budget.daily_usd.map_or(0, rethread_engine::NanoUsd::get);
    html! {
        section {
            h2 { "Rethread's own requests" }
            p { (sentence(&limits(&own.budget))) }
            @if limit > 0 {
                p.dim { "Spent today: " (money(rethread_engine::NanoUsd::new(today))) }
                (bar(today as f64 / limit as f64))
            }
            @if own.requests.is_empty() { p.dim { "Nothing was sent to a model in this time." } }
            @else {
                table.plain-table {
                    (headings(&["Purpose", "Model", "Requests", "Tokens", "Cost"]))
                    tbody {
                        @for sum in &own.requests {
                            tr {
                                th scope="row" {
                                    (Line(&sum.purpose))
                                    @if sum.failed > 0 { " " span.bad { (number(sum.failed)) " failed" } }
                                }
                                td { (Line(&sum.model)) }
                                td { (number(sum.spending.requests)) }
                                td { (short_number(sum.spending.tokens)) }
                                td { (ledger_cost(sum)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// How much of the transcripts is kept.
fn kept(kinds: &[Kept]) -> Markup {
    html! {
        section {
            h2 { "What is kept of transcripts" }
            @if kinds.is_empty() { p.dim { "Nothing was read in this time." } }
            @else {
                table.plain-table {
                    (headings(&["Sessions of", "How many", "Raw", "Kept", "Left out"]))
                    tbody {
                        @for kind in kinds {
                            tr {
                                th scope="row" { (kind.kind.as_str()) }
                                td { (number(kind.sessions)) }
                                td { (short_number(kind.raw_tokens)) }
                                td { (short_number(kind.kept_tokens)) }
                                @let left_out = reduction(kind.raw_tokens, kind.kept_tokens);
                                td { (left_out.map_or_else(|| "–".to_owned(), |percent| format!("{percent:.0} %"))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Words that begin a sentence and end it.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
