//! A failure as a person reads it: what, why, what next.

use rethread_model::Timestamp;

use super::sessions::{Row, table};
use super::{Page, Tone};
use crate::failure::Failure;

/// More sessions than this are only counted.
const MOST_CANDIDATES: usize = 10;

/// Puts a failure on the page, with the sessions to choose from where there are any.
pub(crate) fn failure(page: &mut Page, failure: &Failure, now: Timestamp) {
    labelled(page, Tone::Bad, "error: ", &failure.source.to_string());
    for cause in failure.causes() {
        labelled(page, Tone::Careful, "cause: ", &cause);
    }
    if !failure.candidates.is_empty() {
        let shown = failure.candidates.iter().take(MOST_CANDIDATES);
        let rows: Vec<Row> = shown.map(|session| Row::new(session, None, now)).collect();
        table(page, &rows, "  ");
        if failure.candidates.len() > MOST_CANDIDATES {
            page.line(Tone::Dim, &format!("  … and {} more", failure.candidates.len() - MOST_CANDIDATES));
        }
    }
    for hint in &failure.hints {
        labelled(page, Tone::Strong, "hint: ", hint);
    }
}

/// A label and a text whose further lines are indented.
fn labelled(page: &mut Page, tone: Tone, label: &str, text: &str) {
    page.add(tone, label).line(Tone::Plain, &text.trim_end().replace('\n', "\n  "));
}
