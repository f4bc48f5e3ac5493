//! Usage as a bar chart: a self-contained SVG with light and dark colors and a text description.

use std::fmt::Write;

use rethread_engine::{PRICES_AS_OF, UsageGrouping, UsageReport, UsageTotals};
use unicode_width::UnicodeWidthStr;

use super::format::short_number;
use super::usage::{UsageMeasure, UsageRow, rough_cost, truncate_path, usage_measure, usage_rows};

const WIDTH: usize = 800;
const MARGIN: usize = 16;
const TOP: usize = 64;
const ROW_HEIGHT: usize = 26;
const BAR_HEIGHT: usize = 16;
/// Approximate width of a label character, in pixels.
const CHARACTER_WIDTH: usize = 7;
const MAX_LABEL_WIDTH: usize = 44;
/// Space for the value after the longest bar, in pixels.
const VALUE_WIDTH: usize = 100;

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-size:17px;font-weight:600}.note{fill:#59636e}\
.paper{fill:#ffffff}.bar{fill:#0969da}@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.note{fill:#9198a1}\
.paper{fill:#0d1117}.bar{fill:#4493f8}}";

/// The content of a chart; also used by the web UI.
pub(crate) struct BarChart {
    pub(crate) title: String,
    /// The total, and how it was calculated.
    pub(crate) note: String,
    pub(crate) rows: Vec<ChartBar>,
}

/// One bar; `share` is its length relative to the longest, 0 to 1.
pub(crate) struct ChartBar {
    pub(crate) label: String,
    pub(crate) value: String,
    pub(crate) share: f64,
}

pub(crate) fn usage_bars(report: &UsageReport, by: UsageGrouping) -> BarChart {
    let measure = usage_measure(report);
    let value = |used: &UsageTotals| match measure {
        UsageMeasure::Cost => rough_cost(used),
        UsageMeasure::Tokens => short_number(used.tokens.total()),
    };
    let what = match measure {
        UsageMeasure::Cost => "Agent cost",
        UsageMeasure::Tokens => "Agent tokens",
    };
    let bar = |row: UsageRow| ChartBar { value: value(&row.used), label: row.label, share: row.share };
    BarChart {
        title: format!("{what} by {}", by.as_str()),
        note: chart_note(report, &value(&report.total)),
        rows: usage_rows(report, by).into_iter().map(bar).collect(),
    }
}

/// The chart as an SVG file.
pub(crate) fn usage_chart(report: &UsageReport, by: UsageGrouping) -> String {
    let BarChart { title, note, rows } = usage_bars(report, by);
    let labels: Vec<String> = rows.iter().map(|row| truncate_path(&row.label, MAX_LABEL_WIDTH)).collect();
    let left = MARGIN + labels.iter().map(|label| label.width()).max().unwrap_or(0) * CHARACTER_WIDTH + 8;
    let longest = (WIDTH - MARGIN - VALUE_WIDTH).saturating_sub(left);
    let height = TOP + rows.len() * ROW_HEIGHT + MARGIN;
    let values: Vec<String> = labels.iter().zip(&rows).map(|(label, row)| format!("{label}: {}", row.value)).collect();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"title desc\">\n<title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n\
         <style>{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"{MARGIN}\" y=\"28\">{}</text>\n<text class=\"note\" x=\"{MARGIN}\" y=\"48\">{}</text>\n",
        escape_xml(&title),
        escape_xml(&format!("{note}. {}", values.join("; "))),
        escape_xml(&title),
        escape_xml(&note),
    );
    for (at, (row, label)) in rows.iter().zip(&labels).enumerate() {
        let top = TOP + at * ROW_HEIGHT;
        let (text, length) = (top + BAR_HEIGHT - 3, row.share * longest as f64);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{text}\">{}</text>\n\
             <rect class=\"bar\" x=\"{left}\" y=\"{top}\" width=\"{length:.1}\" height=\"{BAR_HEIGHT}\" rx=\"2\"/>\n\
             <text class=\"note\" x=\"{:.1}\" y=\"{text}\">{}</text>",
            escape_xml(label),
            left as f64 + length + 6.0,
            escape_xml(&row.value),
        );
    }
    out + "</svg>\n"
}

/// The total, and how it was calculated.
fn chart_note(report: &UsageReport, total: &str) -> String {
    let estimated = report.total.estimated_cost.map(|_| format!("~ estimated from list prices of {PRICES_AS_OF}"));
    let unknown = (report.total.unpriced_tokens > 0).then(|| {
        format!("excluding {} tokens of models without a known price", short_number(report.total.unpriced_tokens))
    });
    let parts = [Some(format!("total {total}")), estimated, unknown];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Escapes text for XML. Control characters were removed before.
fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
