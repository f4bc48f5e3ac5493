//! How much of the transcripts is kept, by type of session.

use rethread_engine::Kept;

use super::words::{number, reduction};
use super::{Page, Side, Tone};

const WIDTHS: [usize; 6] = [15, 10, 14, 14, 10, 10];
/// The columns that a narrow page goes without, one after the other.
const DISPENSABLE: [usize; 3] = [5, 1, 2];

/// Raw and kept tokens of each type, and all together.
pub(crate) fn kept(page: &mut Page, kinds: &[Kept]) {
    if kinds.is_empty() {
        return;
    }
    let headings = ["TYPE OF SESSION", "SESSIONS", "RAW TOKENS", "KEPT TOKENS", "LEFT OUT", "MEDIAN"];
    line(page, Tone::Dim, &headings.map(str::to_owned));
    let mut sums = (0, 0, 0);
    for kind in kinds {
        let numbers = (kind.sessions, kind.raw_tokens, kind.kept_tokens);
        sums = (sums.0 + numbers.0, sums.1 + numbers.1, sums.2 + numbers.2);
        row(page, Tone::Plain, kind.kind.as_str(), numbers, Some(kind.median_reduction));
    }
    if kinds.len() > 1 {
        row(page, Tone::Strong, "all", sums, None);
    }
}

fn row(page: &mut Page, tone: Tone, name: &str, (sessions, raw, kept): (u64, u64, u64), median: Option<f64>) {
    let percent = |percent: Option<f64>| percent.map_or_else(|| "–".to_owned(), |percent| format!("{percent:.1} %"));
    let median = if name == "all" { String::new() } else { percent(median) };
    let left_out = percent(reduction(raw, kept));
    line(page, tone, &[name.to_owned(), number(sessions), number(raw), number(kept), left_out, median]);
}

fn line(page: &mut Page, tone: Tone, cells: &[String; 6]) {
    let shown = columns(page.width());
    for (at, (cell, width)) in cells.iter().zip(WIDTHS).enumerate().filter(|(at, _)| shown.contains(at)) {
        let side = if at == 0 { Side::Left } else { Side::Right };
        page.cell(tone, cell, width, side);
    }
    page.end();
}

/// The columns for which there is room.
fn columns(width: Option<usize>) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..WIDTHS.len()).collect();
    for dispensable in DISPENSABLE {
        let needed: usize = shown.iter().map(|at| WIDTHS[*at]).sum();
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
    fn a_narrow_page_has_fewer_columns() {
        for (width, columns) in [(None, 6), (Some(72), 5), (Some(40), 3)] {
            let mut page = Page::new(false, width);
            row(&mut page, Tone::Plain, Agent::Pi.as_str(), (1, 2_000_000, 1000), Some(99.0));
            let line = page.as_str().trim_end();
            assert_eq!(line.replace(" %", "%").split_whitespace().count(), columns, "{line}");
            assert!(line.len() <= 80 && width.is_none_or(|width| line.len() <= width), "{line}");
        }
    }
}
