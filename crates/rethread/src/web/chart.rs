//! Bars and columns, drawn in parts of a hundred so that they fit any width.

use maud::{Markup, html};

use super::parts::Line;
use crate::render::{Bar, Bars};

/// The widest column, in percent: one day alone is no wall.
const WIDEST: f64 = 3.0;
/// Bars that are seen at once.
const MOST_BARS: usize = 10;
/// Labels below the columns.
const MOST_LABELS: usize = 6;

/// One column: what it is of, in short and in full, what it stands for, and its part of the highest.
pub(super) struct Column {
    pub(super) label: String,
    pub(super) value: String,
    pub(super) share: f64,
}

/// A bar that is this part of its place long.
pub(super) fn bar(share: f64) -> Markup {
    // The share of something that is nothing is no number.
    let percent = if share > 0.0 { (share * 100.0).clamp(0.6, 100.0) } else { 0.0 };
    html! {
        svg.bar aria-hidden="true" width="100%" height="4" {
            rect.ground width="100%" height="4" rx="2" {}
            rect.share width=(format!("{percent:.1}%")) height="4" rx="2" {}
        }
    }
}

/// Bars below each other, as a table; the last of many behind a fold.
pub(super) fn bars(title: &str, bars: &Bars) -> Markup {
    let (first, rest) = bars.rows.split_at(bars.rows.len().min(MOST_BARS));
    let is_twice = |row: &Bar| bars.rows.iter().filter(|other| short(&other.label) == short(&row.label)).count() > 1;
    let rows = |rows: &[Bar]| {
        html! {
            @for row in rows {
                tr data-item {
                    th scope="row" title=(row.label) { (Line(if is_twice(row) { &row.label } else { short(&row.label) })) (bar(row.share)) }
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

/// The end of a path says more than its beginning.
fn short(label: &str) -> &str {
    if label.starts_with('/') { super::parts::last_part(label) } else { label }
}

/// Columns beside each other, with the same as a table for those who do not see them.
pub(super) fn columns(title: &str, columns: &[Column]) -> Markup {
    let step = 100.0 / columns.len().max(1) as f64;
    let width = (step * 0.72).min(WIDEST);
    let every = columns.len().div_ceil(MOST_LABELS).max(1);
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

/// What stands at the edge stays inside.
fn anchor(at: f64) -> &'static str {
    match at {
        ..2.5 => "start",
        97.5.. => "end",
        _ => "middle",
    }
}
