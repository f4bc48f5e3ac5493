//! The summary of the beginning of a turn whose end is kept, below the summary of all before it.

const MARK: &str = "---\n\n**Turn Context (split turn):**";

/// Both together.
pub(crate) fn merged(history: &str, turn: &str) -> String {
    format!("{}\n\n{MARK}\n\n{}", history.trim_end(), turn.trim())
}

/// What [`merged`] put together.
pub(crate) fn parted(summary: &str) -> (&str, Option<&str>) {
    match summary.rsplit_once(MARK) {
        Some((history, turn)) => (history.trim(), Some(turn.trim())),
        None => (summary.trim(), None),
    }
}
