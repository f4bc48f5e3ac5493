//! Joins and splits the two parts of a summary: the history, and the beginning of a split turn.

const SEPARATOR: &str = "---\n\n**Turn Context (split turn):**";

pub(crate) fn merge(history: &str, turn: &str) -> String {
    format!("{}\n\n{SEPARATOR}\n\n{}", history.trim_end(), turn.trim())
}

/// Reverses [`merge`].
pub(crate) fn split(summary: &str) -> (&str, Option<&str>) {
    match summary.rsplit_once(SEPARATOR) {
        Some((history, turn)) => (history.trim(), Some(turn.trim())),
        None => (summary.trim(), None),
    }
}
