//! Settings for when a thread is compacted and how much of it is kept.

/// When a thread is compacted and how much of it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionSettings {
    /// Whether compaction runs automatically.
    pub enabled: bool,
    /// Tokens of the context window reserved for the answer.
    pub reserve_tokens: u64,
    /// Tokens of the newest messages that are kept unchanged.
    pub keep_recent_tokens: u64,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self { enabled: true, reserve_tokens: 16_384, keep_recent_tokens: 20_000 }
    }
}

impl CompactionSettings {
    /// Adapts the settings to a small window: reserves at most a quarter and keeps at most a third of it, so that a
    /// compaction gains something.
    #[must_use]
    pub fn for_window(self, window: u64) -> Self {
        Self {
            reserve_tokens: self.reserve_tokens.min(window / 4),
            keep_recent_tokens: self.keep_recent_tokens.min(window / 3),
            ..self
        }
    }

    /// Whether a context of that size reaches into the reserved part of the window.
    pub fn is_due(&self, context_tokens: u64, window: u64) -> bool {
        self.enabled && context_tokens > window.saturating_sub(self.reserve_tokens)
    }

    /// Token limit of a summary: four fifths of the reserve.
    pub(crate) fn max_summary_tokens(&self) -> u64 {
        (self.reserve_tokens / 5 * 4).max(MIN_SUMMARY_TOKENS)
    }
}

/// Minimum token limit of a summary. Less would not hold the headings and one line each.
const MIN_SUMMARY_TOKENS: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compaction_is_due_when_the_reserve_is_touched() {
        // S004-17
        let settings = CompactionSettings::default();
        let check = |tokens, window, expect| assert_eq!(settings.is_due(tokens, window), expect, "{tokens}");
        check(200_000 - 16_384, 200_000, false);
        check(200_000 - 16_383, 200_000, true);
        check(1, 1000, true);
        assert!(!CompactionSettings { enabled: false, ..settings }.is_due(u64::MAX, 1));
    }

    #[test]
    fn small_windows_reserve_and_keep_a_part() {
        // S004-16
        let small = CompactionSettings::default().for_window(12_000);
        assert_eq!((small.reserve_tokens, small.keep_recent_tokens), (3_000, 4_000));
        assert_eq!(CompactionSettings::default().for_window(200_000), CompactionSettings::default());
    }
}
