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

/// Height of the columns, in pixels.
const PLOT_HEIGHT: f64 = 180.0;
/// The color of the last series and of all after it.
const LAST_COLOR: usize = 6;

/// One column: an amount for each series.
pub(super) struct StackedColumn {
    pub(super) label: String,
    pub(super) parts: Vec<u64>,
}

impl StackedColumn {
    fn total(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(*part))
    }

    /// Series, top and height of each box, from the ground up.
    fn boxes(&self, top: u64) -> Vec<(usize, f64, f64)> {
        let mut ground = PLOT_HEIGHT;
        let parts = self.parts.iter().enumerate().filter(|(_, part)| **part > 0);
        let boxes = parts.map(|(at, part)| {
            let height = (*part as f64 / top.max(1) as f64 * PLOT_HEIGHT).max(0.8);
            ground -= height;
            (at, ground.max(0.0), height)
        });
        boxes.collect()
    }
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

/// A column chart with an axis, stacked by series, and the same data as a table. `value` writes an amount.
pub(super) fn stacked(
    title: &str,
    series: &[String],
    columns: &[StackedColumn],
    value: &impl Fn(u64) -> String,
) -> Markup {
    let top = round_up(columns.iter().map(StackedColumn::total).max().unwrap_or(0));
    let step = 100.0 / columns.len().max(1) as f64;
    let width = (step * 0.72).min(MAX_COLUMN_PERCENT);
    let every = columns.len().div_ceil(MAX_LABELS).max(1);
    html! {
        figure.columns-chart {
            figcaption { (title) }
            div.chart {
                div.axis aria-hidden="true" { @for tick in [top, top / 2, 0] { span { (value(tick)) } } }
                svg role="img" aria-label=(title) width="100%" height="204" {
                    @for y in [0.5, 90.0, PLOT_HEIGHT] { line.grid x1="0" x2="100%" y1=(y) y2=(y) {} }
                    @for (at, column) in columns.iter().enumerate() {
                        @let middle = step * (at as f64 + 0.5);
                        g {
                            title { (column.label) ": " (value(column.total())) (parts_text(column, series, value)) }
                            rect.ground.hit x=(percent(middle - step / 2.0)) y="0" width=(percent(step)) height=(PLOT_HEIGHT) {}
                            @for (of, y, height) in column.boxes(top) {
                                rect class={ "s" (of.min(LAST_COLOR)) } x=(percent(middle - width / 2.0)) y=(format!("{y:.1}")) width=(percent(width)) height=(format!("{height:.1}")) {}
                            }
                        }
                        @if at % every == 0 { text.half[at / every % 2 == 1] x=(percent(middle)) y="199" text-anchor=(anchor(middle)) { (column.label) } }
                    }
                }
            }
            ul.legend {
                @for (at, name) in series.iter().enumerate() {
                    li { svg width="11" height="11" aria-hidden="true" { rect class={ "s" (at.min(LAST_COLOR)) } width="11" height="11" rx="2" {} } (OneLine(name)) }
                }
            }
            details.more {
                summary { "As a table" }
                (as_table(title, series, columns, value))
            }
        }
    }
}

fn parts_text(column: &StackedColumn, series: &[String], value: &impl Fn(u64) -> String) -> Markup {
    html! {
        @for (name, part) in series.iter().zip(&column.parts).filter(|(_, part)| **part > 0) { "\n" (OneLine(name)) ": " (value(*part)) }
    }
}

fn as_table(title: &str, series: &[String], columns: &[StackedColumn], value: &impl Fn(u64) -> String) -> Markup {
    html! {
        div.hours-box tabindex="0" role="region" aria-label={ (title) " as a table" } {
            table.plain-table {
                thead { tr { th scope="col" { "When" } th scope="col" { "All" } @for name in series { th scope="col" { (OneLine(name)) } } } }
                tbody {
                    @for column in columns.iter().filter(|column| column.total() > 0) {
                        tr { th scope="row" { (column.label) } td { (value(column.total())) } @for part in &column.parts { td { (value(*part)) } } }
                    }
                }
            }
        }
    }
}

/// The next larger 1, 2 or 5 times a power of ten, so that the axis has round numbers.
fn round_up(amount: u64) -> u64 {
    let mut step = 1_u64;
    loop {
        for factor in [1, 2, 5] {
            let rounded = step.saturating_mul(factor);
            if rounded >= amount.max(2) {
                return rounded;
            }
        }
        step = step.saturating_mul(10);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_ends_at_a_round_number() {
        assert_eq!([0, 3, 5, 11, 99, 100, 101].map(round_up), [2, 5, 5, 20, 100, 100, 200]);
        assert_eq!(round_up(u64::MAX), u64::MAX);
    }

    #[test]
    fn boxes_are_stacked_without_gaps() {
        let column = StackedColumn { label: String::new(), parts: vec![50, 0, 25] };
        assert_eq!(column.boxes(100), [(0, 90.0, 90.0), (2, 45.0, 45.0)]);
    }
}
