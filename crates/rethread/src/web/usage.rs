//! The usage page: the agents' tokens and cost by day, agent, model and project, and Rethread's own model spending.

use jiff::civil::Date;
use maud::{Markup, html};
use rethread_engine::{
    OwnUsage, PRICES_AS_OF, SessionScope, SessionTypeReduction, UsageGroup, UsageGrouping, UsageReport, UsageRequest,
    UsageTotals,
};
use rethread_model::Timestamp;
use serde::Deserialize;

use super::board::parse_agent;
use super::chart::{ChartColumn, bar, bars, columns};
use super::components::{OneLine, count, headings, non_blank, nothing_synced, project_choices, select_field};
use super::layout::{NavPage, WebPage};
use super::viewer::Viewer;
use crate::render::{
    UsageMeasure, budget_limits, ledger_cost, money, number, reduction_percent, rough_cost, short_number, usage_bars,
    usage_measure,
};
use crate::serve::{ApiError, ServerState};

/// Choices of the time filter.
const TIME_CHOICES: [(&str, &str); 5] = [
    ("7d", "last week"),
    ("30d", "last month"),
    ("90d", "last 3 months"),
    ("365d", "last year"),
    (ALL_TIME, "all time"),
];
const DEFAULT_SINCE: &str = "30d";
/// The time filter that excludes nothing.
const ALL_TIME: &str = "all";
/// Most days drawn as days; a longer range is drawn as months.
const MAX_DAY_COLUMNS: usize = 92;

/// Query parameters of the usage page.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct UsagePageParams {
    since: Option<String>,
    project: Option<String>,
    agent: Option<String>,
}

impl UsagePageParams {
    fn since(&self) -> &str {
        non_blank(self.since.as_ref()).unwrap_or(DEFAULT_SINCE)
    }

    fn request(&self, group_by: UsageGrouping) -> Result<UsageRequest, ApiError> {
        let project = non_blank(self.project.as_ref());
        Ok(UsageRequest {
            scope: project.map_or(SessionScope::AllProjects, |path| SessionScope::Project(path.to_owned())),
            group_by,
            agent: parse_agent(self.agent.as_ref())?,
            since: Some(self.since()).filter(|since| *since != ALL_TIME).map(str::to_owned),
            until: None,
        })
    }
}

pub(super) fn page(app: &Viewer<'_>, params: &UsagePageParams) -> Result<WebPage, ApiError> {
    let mut params = params.clone();
    let mut days = app.engine.reports().usage(&params.request(UsageGrouping::Day)?)?;
    // The user did not choose the default period, so it must not hide what there is.
    let is_widened = days.groups.is_empty() && non_blank(params.since.as_ref()).is_none();
    if is_widened {
        params.since = Some(ALL_TIME.to_owned());
        days = app.engine.reports().usage(&params.request(UsageGrouping::Day)?)?;
    }
    let params = &params;
    let of = |by| Ok::<_, ApiError>((by, app.engine.reports().usage(&params.request(by)?)?));
    let others = [of(UsageGrouping::Agent)?, of(UsageGrouping::Model)?, of(UsageGrouping::Project)?];
    let is_new = app.engine.sessions().projects()?.is_empty();
    let body = html! {
        h1.sr { "Usage" }
        @if is_new { (nothing_synced()) }
        @else {
            (filters(app, params)?)
            (totals(&days))
            @if days.groups.is_empty() { p.dim { "No tokens used in this period." } }
            @else {
                @if is_widened { p.dim { "No tokens used in the last month: showing all time." } }
                @let range = date_range(app, &days);
                (columns(&format!("{} by {}", measure_label(&days), if is_by_month(range) { "month" } else { "day" }), &usage_columns(range, &days)))
                div.spread.three {
                    @for (by, report) in &others { section { (bars(&format!("By {}", by.as_str()), &usage_bars(report, *by))) } }
                }
                (footnotes(&days.total))
            }
            div.columns.two { (own_usage(&days.own)) (compression(&days.reductions)) }
        }
    };
    Ok(WebPage::new("Usage", NavPage::Usage, body))
}

fn filters(app: &ServerState, params: &UsagePageParams) -> Result<Markup, ApiError> {
    let times = TIME_CHOICES.map(|(value, word)| (value.to_owned(), word.to_owned()));
    let mut projects = vec![(String::new(), "all projects".to_owned())];
    projects.extend(project_choices(&app.engine.sessions().projects()?));
    let mut agents = vec![(String::new(), "all agents".to_owned())];
    agents.extend(app.engine.sessions().agents()?.iter().map(|agent| (agent.to_string(), agent.to_string())));
    Ok(html! {
        div.filters {
            h2 { "Usage" }
            form action="/usage" data-filters {
                (select_field("since", "Time", Some(params.since()), &times))
                (select_field("project", "Project", non_blank(params.project.as_ref()), &projects))
                (select_field("agent", "Agent", non_blank(params.agent.as_ref()), &agents))
                button.plain.no-script { "Show" }
            }
        }
    })
}

fn totals(report: &UsageReport) -> Markup {
    let tokens = report.total.tokens;
    let cost = if report.total.cost().is_some() { rough_cost(&report.total) } else { "–".to_owned() };
    let all = [
        ("Cost", cost),
        ("Messages", number(report.total.messages)),
        ("Input", short_number(tokens.input)),
        ("Output", short_number(tokens.output)),
        ("Cache reads", short_number(tokens.cache_read)),
        ("Cache writes", short_number(tokens.cache_write)),
    ];
    html! { dl.totals { @for (name, value) in all { div { dt { (name) } dd { (value) } } } } }
}

fn measure_label(report: &UsageReport) -> &'static str {
    match usage_measure(report) {
        UsageMeasure::Cost => "Cost",
        UsageMeasure::Tokens => "Tokens",
    }
}

fn is_by_month(days: Option<(Date, Date)>) -> bool {
    days.is_some_and(|(first, last)| first.until(last).map_or(0, |span| span.get_days()) as usize >= MAX_DAY_COLUMNS)
}

/// First and last day of the chart: the chosen period, or the days with usage.
fn date_range(app: &ServerState, report: &UsageReport) -> Option<(Date, Date)> {
    let civil = |at: Timestamp| {
        let at = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
        Some(at.to_zoned(app.engine.time_zone().clone()).date())
    };
    let day = |group: &UsageGroup| group.key.as_deref()?.parse::<Date>().ok();
    let days: Vec<Date> = report.groups.iter().filter_map(day).collect();
    let (first, last) = (*days.first()?, *days.last()?);
    Some((report.from.and_then(civil).unwrap_or(first), civil(app.engine.now()).map_or(last, |today| today.max(last))))
}

/// Usage per day or month, without gaps.
fn usage_columns(range: Option<(Date, Date)>, report: &UsageReport) -> Vec<ChartColumn> {
    let Some((first, last)) = range else { return Vec::new() };
    let by_month = is_by_month(range);
    let name =
        |day: Date| if by_month { day.strftime("%b %Y").to_string() } else { day.strftime("%-d %b").to_string() };
    let mut all: Vec<(String, UsageTotals)> = Vec::new();
    for day in first.series(jiff::Span::new().days(1)).take_while(|day| *day <= last) {
        let name = name(day);
        if all.last().is_none_or(|(last, _)| *last != name) {
            all.push((name, UsageTotals::default()));
        }
        let key = day.to_string();
        let group = report.groups.iter().find(|group| group.key.as_deref() == Some(key.as_str()));
        if let (Some(group), Some((_, used))) = (group, all.last_mut()) {
            used.add(&group.totals);
        }
    }
    let measure = usage_measure(report);
    let amount = |used: &UsageTotals| match measure {
        UsageMeasure::Cost => used.cost().map_or(0, rethread_engine::NanoUsd::get),
        UsageMeasure::Tokens => used.tokens.total(),
    };
    let largest = all.iter().map(|(_, used)| amount(used)).max().unwrap_or(0).max(1) as f64;
    let value = |used: &UsageTotals| match (measure, used.messages) {
        (_, 0) => "none".to_owned(),
        (UsageMeasure::Cost, _) => rough_cost(used),
        (UsageMeasure::Tokens, _) => short_number(used.tokens.total()),
    };
    let column = |(label, used): (String, UsageTotals)| ChartColumn {
        label,
        value: value(&used),
        share: amount(&used) as f64 / largest,
    };
    all.into_iter().map(column).collect()
}

/// Where the costs come from, and which tokens have no price.
fn footnotes(total: &UsageTotals) -> Markup {
    html! {
        p.dim {
            @if let Some(sum) = total.stated_cost { (money(sum)) " as recorded by the agents. " }
            @if let Some(sum) = total.estimated_cost { (money(sum)) " estimated from list prices of " (PRICES_AS_OF) "." }
            @if total.unpriced_tokens > 0 { " Excludes " (count(total.unpriced_tokens, "token")) " of models without a known price." }
        }
    }
}

/// Rethread's own model requests, and their budget.
fn own_usage(own: &OwnUsage) -> Markup {
    let today: u64 = own.today.iter().map(|sum| sum.spending.cost_nanos).sum();
    let limit = own.budget.daily_usd.map_or(0, rethread_engine::NanoUsd::get);
    html! {
        section {
            h2 { "Rethread's own model requests" }
            p { (sentence(&budget_limits(&own.budget))) }
            @if limit > 0 {
                p.dim { "Spent today: " (money(rethread_engine::NanoUsd::new(today))) }
                (bar(today as f64 / limit as f64))
            }
            @if own.requests.is_empty() { p.dim { "No model requests in this period." } }
            @else {
                table.plain-table {
                    (headings(&["Purpose", "Model", "Requests", "Tokens", "Cost"]))
                    tbody {
                        @for sum in &own.requests {
                            tr {
                                th scope="row" {
                                    (OneLine(&sum.purpose))
                                    @if sum.failed_requests > 0 { " " span.bad { (number(sum.failed_requests)) " failed" } }
                                }
                                td { (OneLine(&sum.model)) }
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

/// How much smaller memory is than the transcripts.
fn compression(kinds: &[SessionTypeReduction]) -> Markup {
    html! {
        section {
            h2 { "Compression" }
            @if kinds.is_empty() { p.dim { "No transcripts in this period." } }
            @else {
                table.plain-table {
                    (headings(&["Session kind", "Sessions", "Raw tokens", "Kept tokens", "Filtered out"]))
                    tbody {
                        @for kind in kinds {
                            tr {
                                th scope="row" { (kind.session_type.as_str()) }
                                td { (number(kind.sessions)) }
                                td { (short_number(kind.raw_tokens)) }
                                td { (short_number(kind.kept_tokens)) }
                                @let left_out = reduction_percent(kind.raw_tokens, kind.kept_tokens);
                                td { (left_out.map_or_else(|| "–".to_owned(), |percent| format!("{percent:.0} %"))) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Capitalizes the first letter and adds a period.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}
