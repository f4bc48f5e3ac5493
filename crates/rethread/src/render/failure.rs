//! Failures as text: error, causes, candidates, hints.

use rethread_model::Timestamp;

use super::sessions::{SessionTableRow, session_table};
use super::{TextPage, Tone};
use crate::failure::Failure;

/// Candidates listed before the rest is only counted.
const MAX_CANDIDATES: usize = 10;

/// Renders a failure, with the sessions that an ambiguous reference matches.
pub(crate) fn failure(page: &mut TextPage, failure: &Failure, now: Timestamp) {
    labeled_line(page, Tone::Error, "error: ", &failure.source.to_string());
    for cause in failure.causes() {
        labeled_line(page, Tone::Warning, "cause: ", &cause);
    }
    if !failure.candidates.is_empty() {
        let shown = failure.candidates.iter().take(MAX_CANDIDATES);
        let rows: Vec<SessionTableRow> = shown.map(|session| SessionTableRow::new(session, None, now)).collect();
        session_table(page, &rows, "  ");
        if failure.candidates.len() > MAX_CANDIDATES {
            page.line(Tone::Dim, &format!("  … and {} more", failure.candidates.len() - MAX_CANDIDATES));
        }
    }
    for hint in &failure.hints {
        labeled_line(page, Tone::Strong, "hint: ", hint);
    }
}

/// Renders a label and a text whose further lines are indented.
fn labeled_line(page: &mut TextPage, tone: Tone, label: &str, text: &str) {
    page.add(tone, label).line(Tone::Plain, &text.trim_end().replace('\n', "\n  "));
}
