//! Compression table: how much of the transcripts is kept, by type of session.

use rethread_engine::SessionTypeReduction;

use super::format::{number, reduction_percent};
use super::{CellAlign, TextPage, Tone};

const COLUMN_WIDTHS: [usize; 6] = [15, 10, 14, 14, 10, 10];
/// The columns dropped on a narrow terminal, in this order.
const DROPPED_FIRST: [usize; 3] = [5, 1, 2];

/// Renders raw and kept tokens of each type, and the total.
pub(crate) fn reduction_table(page: &mut TextPage, kinds: &[SessionTypeReduction]) {
    if kinds.is_empty() {
        return;
    }
    let headings = ["SESSION TYPE", "SESSIONS", "RAW TOKENS", "KEPT TOKENS", "FILTERED", "MEDIAN"];
    table_line(page, Tone::Dim, &headings.map(str::to_owned));
    let mut sums = (0, 0, 0);
    for kind in kinds {
        let numbers = (kind.sessions, kind.raw_tokens, kind.kept_tokens);
        sums = (sums.0 + numbers.0, sums.1 + numbers.1, sums.2 + numbers.2);
        row(page, Tone::Plain, kind.session_type.as_str(), numbers, Some(kind.median_reduction));
    }
    if kinds.len() > 1 {
        row(page, Tone::Strong, "all", sums, None);
    }
}

fn row(page: &mut TextPage, tone: Tone, name: &str, (sessions, raw, kept): (u64, u64, u64), median: Option<f64>) {
    let percent = |percent: Option<f64>| percent.map_or_else(|| "–".to_owned(), |percent| format!("{percent:.1} %"));
    let median = if name == "all" { String::new() } else { percent(median) };
    let left_out = percent(reduction_percent(raw, kept));
    table_line(page, tone, &[name.to_owned(), number(sessions), number(raw), number(kept), left_out, median]);
}

fn table_line(page: &mut TextPage, tone: Tone, cells: &[String; 6]) {
    let shown = visible_columns(page.width());
    for (at, (cell, width)) in cells.iter().zip(COLUMN_WIDTHS).enumerate().filter(|(at, _)| shown.contains(at)) {
        let side = if at == 0 { CellAlign::Left } else { CellAlign::Right };
        page.cell(tone, cell, width, side);
    }
    page.end_line();
}

/// The columns that fit.
fn visible_columns(width: Option<usize>) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..COLUMN_WIDTHS.len()).collect();
    for dispensable in DROPPED_FIRST {
        let needed: usize = shown.iter().map(|at| COLUMN_WIDTHS[*at]).sum();
        if width.is_some_and(|width| width < needed) {
            shown.retain(|at| *at != dispensable);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use rethread_model::Agent;

    use super::*;

    #[test]
    fn narrow_terminal_gets_fewer_columns() {
        for (width, columns) in [(None, 6), (Some(72), 5), (Some(40), 3)] {
            let mut page = TextPage::new(false, width);
            row(&mut page, Tone::Plain, Agent::Pi.as_str(), (1, 2_000_000, 1000), Some(99.0));
            let line = page.as_str().trim_end();
            assert_eq!(line.replace(" %", "%").split_whitespace().count(), columns, "{line}");
            assert!(line.len() <= 80 && width.is_none_or(|width| line.len() <= width), "{line}");
        }
    }
}
