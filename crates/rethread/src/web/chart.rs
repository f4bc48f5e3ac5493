//! Bar and column charts as SVG, in percent so that they fit any width.

use maud::{Markup, html};

use super::components::OneLine;
use crate::render::{BarChart, ChartBar};

/// Widest column in percent, so that a single day does not fill the chart.
const MAX_COLUMN_PERCENT: f64 = 3.0;
/// Bars shown before the rest is folded.
const MAX_BARS: usize = 10;
/// Most labels below the columns.
const MAX_LABELS: usize = 6;

/// One column; `share` is its height relative to the highest, 0 to 1.
pub(super) struct ChartColumn {
    pub(super) label: String,
    pub(super) value: String,
    pub(super) share: f64,
}

/// A bar of this length, 0 to 1.
pub(super) fn bar(share: f64) -> Markup {
    // A share of zero in total is NaN, which is not greater than 0.
    let percent = if share > 0.0 { (share * 100.0).clamp(0.6, 100.0) } else { 0.0 };
    html! {
        svg.bar aria-hidden="true" width="100%" height="4" {
            rect.ground width="100%" height="4" rx="2" {}
            rect.share width=(format!("{percent:.1}%")) height="4" rx="2" {}
        }
    }
}

/// A table of bars; many rows are folded.
pub(super) fn bars(title: &str, bars: &BarChart) -> Markup {
    let (first, rest) = bars.rows.split_at(bars.rows.len().min(MAX_BARS));
    let is_twice = |row: &ChartBar| {
        bars.rows.iter().filter(|other| short_label(&other.label) == short_label(&row.label)).count() > 1
    };
    let rows = |rows: &[ChartBar]| {
        html! {
            @for row in rows {
                tr data-item {
                    th scope="row" title=(row.label) { (OneLine(if is_twice(row) { &row.label } else { short_label(&row.label) })) (bar(row.share)) }
                    td { (row.value) }
                }
            }
        }
    };
    html! {
        table.bars {
            caption { (title) }
            thead.sr { tr { th scope="col" { (title) } th scope="col" { "Amount" } } }
            tbody { (rows(first)) }
        }
        @if !rest.is_empty() {
            details.more {
                summary { "and " (rest.len()) " more" }
                table.bars { thead.sr { tr { th scope="col" { (title) } th scope="col" { "Amount" } } } tbody { (rows(rest)) } }
            }
        }
    }
}

/// The last part of a path, which says more than its beginning.
fn short_label(label: &str) -> &str {
    if label.starts_with('/') { super::components::last_part(label) } else { label }
}

/// A column chart, with the same data as a table for screen readers.
pub(super) fn columns(title: &str, columns: &[ChartColumn]) -> Markup {
    let step = 100.0 / columns.len().max(1) as f64;
    let width = (step * 0.72).min(MAX_COLUMN_PERCENT);
    let every = columns.len().div_ceil(MAX_LABELS).max(1);
    html! {
        figure.columns-chart {
            figcaption { (title) }
            svg role="img" aria-label=(title) width="100%" height="180" {
                line.ground x1="0" x2="100%" y1="156" y2="156" {}
                @for (at, column) in columns.iter().enumerate() {
                    @let middle = step * (at as f64 + 0.5);
                    @let height = if column.share > 0.0 { (column.share * 140.0).max(1.5) } else { 0.0 };
                    g {
                        title { (column.label) ": " (column.value) }
                        rect.ground.hit x=(percent(middle - step / 2.0)) y="8" width=(percent(step)) height="148" {}
                        rect.share x=(percent(middle - width / 2.0)) y=(format!("{:.1}", 156.0 - height)) width=(percent(width))
                            height=(format!("{height:.1}")) rx="1.5" {}
                    }
                    @if at % every == 0 { text x=(percent(middle)) y="174" text-anchor=(anchor(middle)) { (column.label) } }
                }
            }
            details.more {
                summary { "As a table" }
                table.plain-table {
                    thead { tr { th scope="col" { "When" } th scope="col" { "Amount" } } }
                    tbody { @for column in columns { tr { th scope="row" { (column.label) } td { (column.value) } } } }
                }
            }
        }
    }
}

fn percent(part: f64) -> String {
    format!("{part:.2}%")
}

/// Labels at the edges stay inside the chart.
fn anchor(at: f64) -> &'static str {
    match at {
        ..2.5 => "start",
        97.5.. => "end",
        _ => "middle",
    }
}
