//! Usage as a bar chart: one SVG file that stands alone, follows light and dark, and says in words what it shows.

use std::fmt::Write;

use rethread_engine::{PRICES_AS_OF, UsageBy, UsageReport, Used};
use unicode_width::UnicodeWidthStr;

use super::usage::{Measure, UsageRow, fit_end, measured, rough_cost, usage_rows};
use super::words::short_number;

const WIDTH: usize = 800;
const MARGIN: usize = 16;
const TOP: usize = 64;
const ROW: usize = 26;
const BAR: usize = 16;
/// About how wide a character of the labels is.
const CHARACTER: usize = 7;
const WIDEST_LABEL: usize = 44;
/// Room for the value behind the longest bar.
const VALUE: usize = 100;

const STYLE: &str = "\
text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-size:17px;font-weight:600}.note{fill:#59636e}\
.paper{fill:#ffffff}.bar{fill:#0969da}@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.note{fill:#9198a1}\
.paper{fill:#0d1117}.bar{fill:#4493f8}}";

/// What a chart shows, whoever draws it.
pub(crate) struct Bars {
    pub(crate) title: String,
    /// The sum, and what it rests on.
    pub(crate) note: String,
    pub(crate) rows: Vec<Bar>,
}

/// One bar: what it is of, what it stands for in words, and its part of the longest.
pub(crate) struct Bar {
    pub(crate) label: String,
    pub(crate) value: String,
    pub(crate) share: f64,
}

/// Usage as bars.
pub(crate) fn usage_bars(report: &UsageReport, by: UsageBy) -> Bars {
    let measure = measured(report);
    let value = |used: &Used| match measure {
        Measure::Cost => rough_cost(used),
        Measure::Tokens => short_number(used.tokens.total()),
    };
    let what = match measure {
        Measure::Cost => "Cost of agents' tokens",
        Measure::Tokens => "Agents' tokens",
    };
    let bar = |row: UsageRow| Bar { value: value(&row.used), label: row.label, share: row.share };
    Bars {
        title: format!("{what} by {}", by.as_str()),
        note: note(report, &value(&report.total)),
        rows: usage_rows(report, by).into_iter().map(bar).collect(),
    }
}

/// The chart as text of an SVG file.
pub(crate) fn usage_chart(report: &UsageReport, by: UsageBy) -> String {
    let Bars { title, note, rows } = usage_bars(report, by);
    let labels: Vec<String> = rows.iter().map(|row| fit_end(&row.label, WIDEST_LABEL)).collect();
    let left = MARGIN + labels.iter().map(|label| label.width()).max().unwrap_or(0) * CHARACTER + 8;
    let longest = (WIDTH - MARGIN - VALUE).saturating_sub(left);
    let height = TOP + rows.len() * ROW + MARGIN;
    let told: Vec<String> = labels.iter().zip(&rows).map(|(label, row)| format!("{label}: {}", row.value)).collect();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"title desc\">\n<title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n\
         <style>{STYLE}</style>\n<rect class=\"paper\" width=\"{WIDTH}\" height=\"{height}\"/>\n\
         <text class=\"title\" x=\"{MARGIN}\" y=\"28\">{}</text>\n<text class=\"note\" x=\"{MARGIN}\" y=\"48\">{}</text>\n",
        escaped(&title),
        escaped(&format!("{note}. {}", told.join("; "))),
        escaped(&title),
        escaped(&note),
    );
    for (at, (row, label)) in rows.iter().zip(&labels).enumerate() {
        let top = TOP + at * ROW;
        let (text, length) = (top + BAR - 3, row.share * longest as f64);
        // Writing to a text cannot fail.
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{text}\">{}</text>\n\
             <rect class=\"bar\" x=\"{left}\" y=\"{top}\" width=\"{length:.1}\" height=\"{BAR}\" rx=\"2\"/>\n\
             <text class=\"note\" x=\"{:.1}\" y=\"{text}\">{}</text>",
            escaped(label),
            left as f64 + length + 6.0,
            escaped(&row.value),
        );
    }
    out + "</svg>\n"
}

/// The sum, and what it rests on.
fn note(report: &UsageReport, total: &str) -> String {
    let estimated = report.total.estimated.map(|_| format!("~ estimated from list prices of {PRICES_AS_OF}"));
    let unknown = (report.total.unpriced_tokens > 0)
        .then(|| format!("without {} tokens of unknown models", short_number(report.total.unpriced_tokens)));
    let parts = [Some(format!("total {total}")), estimated, unknown];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Text that cannot end where it stands. Control characters are gone already.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
