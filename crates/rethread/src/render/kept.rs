//! How much of the transcripts is kept, by type of session.

use rethread_engine::Kept;

use super::words::{number, reduction};
use super::{Page, Side, Tone};

const WIDTHS: [usize; 6] = [15, 10, 14, 14, 10, 10];

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
    for (at, (cell, width)) in cells.iter().zip(WIDTHS).enumerate() {
        let side = if at == 0 { Side::Left } else { Side::Right };
        page.cell(tone, cell, width, side);
    }
    page.end();
}
