//! When a thread is shortened, and how much of it stays.

/// When a thread is shortened, and how much of it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionSettings {
    /// Whether it happens without being asked for.
    pub enabled: bool,
    /// Tokens of the window that stay free for the answer.
    pub reserve_tokens: u64,
    /// Tokens of the newest messages that stay as they are.
    pub keep_recent_tokens: u64,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self { enabled: true, reserve_tokens: 16_384, keep_recent_tokens: 20_000 }
    }
}

impl CompactionSettings {
    /// The same for a small window: at most a quarter of it is reserved and at most a third is kept, so that something
    /// is gained.
    #[must_use]
    pub fn within(self, window: u64) -> Self {
        Self {
            reserve_tokens: self.reserve_tokens.min(window / 4),
            keep_recent_tokens: self.keep_recent_tokens.min(window / 3),
            ..self
        }
    }

    /// Whether a context of that many tokens leaves too little of the window.
    pub fn is_due(&self, context_tokens: u64, window: u64) -> bool {
        self.enabled && context_tokens > window.saturating_sub(self.reserve_tokens)
    }

    /// Tokens a summary may have: four fifths of what is reserved for an answer.
    pub(crate) fn summary_tokens(&self) -> u64 {
        (self.reserve_tokens / 5 * 4).max(SMALLEST_SUMMARY)
    }
}

/// Below this not even the headings and one line for each would fit.
const SMALLEST_SUMMARY: u64 = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s004_17_it_is_due_when_the_reserve_is_touched() {
        let settings = CompactionSettings::default();
        let check = |tokens, window, expect| assert_eq!(settings.is_due(tokens, window), expect, "{tokens}");
        check(200_000 - 16_384, 200_000, false);
        check(200_000 - 16_383, 200_000, true);
        check(1, 1000, true);
        assert!(!CompactionSettings { enabled: false, ..settings }.is_due(u64::MAX, 1));
    }

    #[test]
    fn s004_16_small_windows_reserve_and_keep_a_part() {
        let small = CompactionSettings::default().within(12_000);
        assert_eq!((small.reserve_tokens, small.keep_recent_tokens), (3_000, 4_000));
        assert_eq!(CompactionSettings::default().within(200_000), CompactionSettings::default());
    }
}
