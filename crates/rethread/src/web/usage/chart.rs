//! Cost or tokens by day or month, stacked by model, with axes and the same numbers as a table.

use std::collections::BTreeMap;

use jiff::civil::Date;
use maud::{Markup, html};
use rethread_engine::{NanoUsd, UsageDetails, UsageOfDay, UsageReport};
use rethread_model::Timestamp;

use super::super::board::short_model;
use super::super::chart::{StackedColumn, stacked};
use crate::render::{UsageMeasure, money, short_number, usage_measure};
use crate::serve::ServerState;

/// Most days drawn as days; a longer range is drawn as months.
const MAX_DAY_COLUMNS: usize = 92;
/// Models with a color of their own; the others share one.
const MAX_SERIES: usize = 6;

pub(super) fn by_day(app: &ServerState, details: &UsageDetails) -> Markup {
    let Some(range) = date_range(app, &details.report) else { return html! {} };
    let measure = usage_measure(&details.report);
    let series = top_models(details, measure);
    let is_by_month = is_by_month(range);
    let columns = columns(range, details, &series, measure);
    let title = format!("{} by {}", measure_label(measure), if is_by_month { "month" } else { "day" });
    let value = |amount: u64| match measure {
        UsageMeasure::Cost => money(NanoUsd::new(amount)),
        UsageMeasure::Tokens => short_number(amount),
    };
    let undated = details.days.iter().filter(|used| used.day.is_none());
    let undated = undated.fold(0_u64, |sum, used| sum.saturating_add(self::amount(used, measure)));
    html! {
        (stacked(&title, &series, &columns, &value))
        @if undated > 0 { p.dim { "The chart excludes " (value(undated)) " of messages without a time." } }
    }
}

fn measure_label(measure: UsageMeasure) -> &'static str {
    match measure {
        UsageMeasure::Cost => "Cost",
        UsageMeasure::Tokens => "Tokens",
    }
}

fn amount(used: &UsageOfDay, measure: UsageMeasure) -> u64 {
    match measure {
        UsageMeasure::Cost => used.totals.cost().map_or(0, NanoUsd::get),
        UsageMeasure::Tokens => used.totals.tokens.total(),
    }
}

/// Short names of the models with the largest amounts, and one name for the rest.
fn top_models(details: &UsageDetails, measure: UsageMeasure) -> Vec<String> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for used in &details.days {
        *sums.entry(model_name(used)).or_default() += amount(used, measure);
    }
    let mut models: Vec<(String, u64)> = sums.into_iter().filter(|(_, sum)| *sum > 0).collect();
    models.sort_by_key(|(_, sum)| std::cmp::Reverse(*sum));
    let has_more = models.len() > MAX_SERIES;
    let named = models.into_iter().take(MAX_SERIES).map(|(name, _)| name);
    named.chain(has_more.then(|| "other models".to_owned())).collect()
}

fn model_name(used: &UsageOfDay) -> String {
    used.model.as_deref().map_or_else(|| "unknown model".to_owned(), short_model)
}

fn is_by_month((first, last): (Date, Date)) -> bool {
    first.until(last).map_or(0, |span| span.get_days()) as usize >= MAX_DAY_COLUMNS
}

/// First and last day of the chart: the chosen period, or the days with usage.
fn date_range(app: &ServerState, report: &UsageReport) -> Option<(Date, Date)> {
    let civil = |at: Timestamp| {
        let at = jiff::Timestamp::from_millisecond(at.as_millis()).ok()?;
        Some(at.to_zoned(app.engine.time_zone().clone()).date())
    };
    let days: Vec<Date> = report.groups.iter().filter_map(|group| group.key.as_deref()?.parse().ok()).collect();
    let (first, last) = (*days.first()?, *days.last()?);
    Some((report.from.and_then(civil).unwrap_or(first), civil(app.engine.now()).map_or(last, |today| today.max(last))))
}

/// One column per day or month, without gaps.
fn columns(
    (first, last): (Date, Date),
    details: &UsageDetails,
    series: &[String],
    measure: UsageMeasure,
) -> Vec<StackedColumn> {
    let by_month = is_by_month((first, last));
    let start = |day: Date| if by_month { day.first_of_month() } else { day };
    let label = |day: Date| day.strftime(if by_month { "%b %Y" } else { "%-d %b" }).to_string();
    let mut columns: BTreeMap<Date, Vec<u64>> = BTreeMap::new();
    for day in first.series(jiff::Span::new().days(1)).take_while(|day| *day <= last) {
        columns.entry(start(day)).or_insert_with(|| vec![0; series.len()]);
    }
    for used in &details.days {
        let day = used.day.as_deref().and_then(|day| day.parse::<Date>().ok());
        let name = model_name(used);
        let at = series.iter().position(|one| *one == name).or_else(|| series.len().checked_sub(1));
        if let Some((parts, at)) = day.and_then(|day| columns.get_mut(&start(day))).zip(at) {
            parts[at] = parts[at].saturating_add(amount(used, measure));
        }
    }
    columns.into_iter().map(|(day, parts)| StackedColumn { label: label(day), parts }).collect()
}
