//! The usage page: the agents' tokens and cost by day, agent, model and project, and Rethread's own model spending.

mod chart;
mod export;
mod hours;
mod sessions;

use maud::{Markup, html};
use rethread_engine::{
    OwnUsage, PRICES_AS_OF, SessionScope, SessionTypeReduction, TopSessions, UsageDetails, UsageGrouping, UsageReport,
    UsageRequest, UsageTotals,
};
use serde::Deserialize;

use super::board::parse_agent;
use super::chart::{bar, bars};
use super::components::{
    OneLine, count, day_field, headings, long_cost, non_blank, nothing_synced, project_choices, reversed_dates,
    select_field,
};
use super::layout::{NavPage, WebPage};
use super::links::link;
use super::viewer::Viewer;
use crate::render::{budget_limits, ledger_cost, money, number, reduction_percent, short_number, usage_bars};
use crate::serve::{ApiError, ServerState};

pub(super) use export::export;

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
/// Sessions in the list of the top ones.
const MAX_SESSIONS: usize = 12;

/// Query parameters of the usage page.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct UsagePageParams {
    since: Option<String>,
    /// First and last day. They are preferred to `since`.
    from: Option<String>,
    until: Option<String>,
    project: Option<String>,
    agent: Option<String>,
    /// What the top sessions are sorted by.
    top: Option<String>,
}

impl UsagePageParams {
    fn since(&self) -> &str {
        non_blank(self.since.as_ref()).unwrap_or(DEFAULT_SINCE)
    }

    /// Whether the user chose days.
    fn has_days(&self) -> bool {
        non_blank(self.from.as_ref()).or(non_blank(self.until.as_ref())).is_some()
    }

    /// A page with the same filters, and another order of the top sessions.
    fn link(&self, path: &str, top: Option<&str>) -> String {
        let of = |value: &'_ Option<String>| non_blank(value.as_ref()).map(str::to_owned);
        let values = [
            ("since", (!self.has_days()).then(|| self.since().to_owned())),
            ("from", of(&self.from)),
            ("until", of(&self.until)),
            ("project", of(&self.project)),
            ("agent", of(&self.agent)),
            ("top", top.map(str::to_owned)),
        ];
        link(path, &values.each_ref().map(|(name, value)| (*name, value.as_deref())))
    }

    fn request(&self) -> Result<UsageRequest, ApiError> {
        let project = non_blank(self.project.as_ref());
        Ok(UsageRequest {
            scope: project.map_or(SessionScope::AllProjects, |path| SessionScope::Project(path.to_owned())),
            group_by: UsageGrouping::Day,
            agent: parse_agent(self.agent.as_ref())?,
            since: match non_blank(self.from.as_ref()) {
                Some(day) => Some(day.to_owned()),
                None => Some(self.since()).filter(|since| *since != ALL_TIME && !self.has_days()).map(str::to_owned),
            },
            until: non_blank(self.until.as_ref()).map(str::to_owned),
        })
    }
}

pub(super) fn page(app: &Viewer<'_>, params: &UsagePageParams) -> Result<WebPage, ApiError> {
    let (params, details, is_widened) = read(app, params)?;
    let is_new = app.engine.sessions().projects()?.is_empty();
    let report = &details.report;
    let body = html! {
        h1.sr { "Usage" }
        @if is_new { (nothing_synced()) }
        @else {
            (filters(app, &params)?)
            (totals(report))
            @if report.groups.is_empty() { p.dim { (reversed_dates(params.from.as_ref(), params.until.as_ref()).unwrap_or("No tokens used in this period.")) } }
            @else {
                @if is_widened { p.dim { "No tokens used in the last month: showing all time." } }
                (chart::by_day(app, &details))
                p.more { a.plain href=(params.link("/usage/export.csv", None)) download { "Download as CSV" } }
                div.columns.usage-more { (sessions::top(&params, &details)?) (hours::activity(&details)) }
                div.spread.three.usage-more {
                    @for (by, groups) in details.groups.iter().filter(|(by, _)| *by != UsageGrouping::Day) {
                        section { (bars(&format!("By {}", by.as_str()), &usage_bars(&UsageReport { groups: groups.clone(), ..report.clone() }, *by))) }
                    }
                }
                (footnotes(&report.total))
            }
            div.columns.two { (own_usage(&report.own)) (compression(&report.reductions)) }
        }
    };
    Ok(WebPage::new("Usage", NavPage::Usage, body))
}

/// The usage of the chosen period; of all time if the user chose none and there is nothing in the default one.
fn read(app: &ServerState, params: &UsagePageParams) -> Result<(UsagePageParams, UsageDetails, bool), ApiError> {
    let reports = app.engine.reports();
    let top = TopSessions { limit: MAX_SESSIONS, by: sessions::rank(params)? };
    let details = reports.usage_details(&params.request()?, top)?;
    if !details.report.groups.is_empty() || params.has_days() || non_blank(params.since.as_ref()).is_some() {
        return Ok((params.clone(), details, false));
    }
    let wide = UsagePageParams { since: Some(ALL_TIME.to_owned()), ..params.clone() };
    let details = reports.usage_details(&wide.request()?, top)?;
    Ok((wide, details, true))
}

fn filters(app: &ServerState, params: &UsagePageParams) -> Result<Markup, ApiError> {
    let mut times: Vec<_> = TIME_CHOICES.map(|(value, word)| (value.to_owned(), word.to_owned())).into();
    if params.has_days() {
        times.insert(0, (String::new(), "chosen days".to_owned()));
    }
    let time = if params.has_days() { "" } else { params.since() };
    let mut projects = vec![(String::new(), "all projects".to_owned())];
    projects.extend(project_choices(&app.engine.sessions().projects()?));
    let mut agents = vec![(String::new(), "all agents".to_owned())];
    agents.extend(app.engine.sessions().agents()?.iter().map(|agent| (agent.to_string(), agent.to_string())));
    Ok(html! {
        div.filters {
            h2 { "Usage" }
            form action="/usage" data-filters data-excludes="since from until" {
                @if let Some(top) = non_blank(params.top.as_ref()) { input type="hidden" name="top" value=(OneLine(top)); }
                (select_field("since", "Time", Some(time), &times))
                (day_field("from", "From", params.from.as_ref()))
                (day_field("until", "To", params.until.as_ref()))
                (select_field("project", "Project", non_blank(params.project.as_ref()), &projects))
                (select_field("agent", "Agent", non_blank(params.agent.as_ref()), &agents))
                button.plain.no-script { "Show" }
            }
        }
    })
}

fn totals(report: &UsageReport) -> Markup {
    let tokens = report.total.tokens;
    let all = [
        ("Messages", number(report.total.messages)),
        ("Input", short_number(tokens.input)),
        ("Output", short_number(tokens.output)),
        ("Cache reads", short_number(tokens.cache_read)),
        ("Cache writes", short_number(tokens.cache_write)),
    ];
    html! {
        dl.totals {
            div { dt { "Cost" } dd { @if report.total.cost().is_some() { (long_cost(&report.total)) } @else { "–" } } }
            @for (name, value) in all { div { dt { (name) } dd { (value) } } }
        }
    }
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
