//! How much of the transcripts is kept, by session type. The type is derived from counts only.

use rethread_store::WorkCounts;

/// A session with fewer than one tool call per this many messages is a chat.
const CHAT_MESSAGES_PER_CALL: u64 = 2;
/// A session with more tool calls per edit than this is research.
const MAX_CALLS_PER_EDIT: u64 = 10;
/// A session with at least this many edits after a failure may be debugging.
const MIN_FIX_EDITS: u64 = 2;
/// It is debugging if at least one in this many edits followed a failure.
const MAX_EDITS_PER_FIX: u64 = 8;

/// What a session was mostly about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SessionType {
    /// Tool calls, but hardly any edits.
    Research,
    /// Edits, mostly not after failures.
    Implementation,
    /// Edits that follow failed commands.
    Debugging,
    /// Few or no tool calls.
    Chat,
}

impl SessionType {
    /// All types, in display order.
    pub const ALL: [Self; 4] = [Self::Research, Self::Implementation, Self::Debugging, Self::Chat];

    /// The name used in tables and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Research => "research",
            Self::Implementation => "implementation",
            Self::Debugging => "debugging",
            Self::Chat => "chat",
        }
    }

    /// Classifies a session by its counts.
    pub fn classify(work: &WorkCounts) -> Self {
        if work.tool_calls * CHAT_MESSAGES_PER_CALL < work.messages {
            Self::Chat
        } else if work.fixes >= MIN_FIX_EDITS && work.fixes * MAX_EDITS_PER_FIX >= work.edits {
            Self::Debugging
        } else if work.edits > 0 && work.edits * MAX_CALLS_PER_EDIT >= work.tool_calls {
            Self::Implementation
        } else {
            Self::Research
        }
    }
}

/// How much of the transcripts is kept, summed over all sessions of one type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionTypeReduction {
    /// The session type.
    pub session_type: SessionType,
    /// Number of sessions.
    pub sessions: u64,
    /// Estimated tokens of their transcripts.
    pub raw_tokens: u64,
    /// Estimated tokens kept in the store.
    pub kept_tokens: u64,
    /// Median of the sessions' reductions, in percent.
    pub median_reduction: f64,
}

/// The share that is left out, in percent. 0 for an empty transcript.
pub(crate) fn reduction_percent(raw: u64, kept: u64) -> f64 {
    if raw == 0 { 0.0 } else { 100.0 - kept as f64 * 100.0 / raw as f64 }
}

/// Groups sessions by type. Types without sessions are left out.
pub(crate) fn reduction_by_type(sessions: &[WorkCounts]) -> Vec<SessionTypeReduction> {
    let mut all = Vec::new();
    for session_type in SessionType::ALL {
        let of_kind: Vec<&WorkCounts> =
            sessions.iter().filter(|work| SessionType::classify(work) == session_type).collect();
        let mut each: Vec<f64> =
            of_kind.iter().map(|work| reduction_percent(work.raw_tokens, work.kept_tokens)).collect();
        if let Some(median_reduction) = median(&mut each) {
            all.push(SessionTypeReduction {
                session_type,
                sessions: of_kind.len() as u64,
                raw_tokens: of_kind.iter().map(|work| work.raw_tokens).sum(),
                kept_tokens: of_kind.iter().map(|work| work.kept_tokens).sum(),
                median_reduction,
            });
        }
    }
    all
}

/// The middle value, or the mean of the two middle values.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(messages: u64, tool_calls: u64, edits: u64, fixes: u64, kind: SessionType) {
        let work = WorkCounts { messages, tool_calls, edits, fixes, ..WorkCounts::default() };
        assert_eq!(SessionType::classify(&work), kind, "{work:?}");
    }

    #[test]
    // L003-04
    fn a_session_is_classified_by_what_was_done_in_it() {
        check(4, 0, 0, 0, SessionType::Chat);
        check(9, 4, 2, 0, SessionType::Chat);
        check(8, 4, 0, 0, SessionType::Research);
        check(20, 21, 2, 0, SessionType::Research);
        check(20, 20, 2, 0, SessionType::Implementation);
        check(20, 20, 8, 1, SessionType::Implementation);
        check(20, 20, 8, 2, SessionType::Debugging);
        check(90, 90, 40, 4, SessionType::Implementation);
        check(0, 0, 0, 0, SessionType::Research);
    }

    #[test]
    // L003-04
    fn the_median_is_reported_beside_the_sum() {
        let talk = |raw_tokens, kept_tokens| WorkCounts { messages: 2, raw_tokens, kept_tokens, ..Default::default() };
        let kept = reduction_by_type(&[talk(100, 50), talk(1_000, 100), talk(100, 80), talk(0, 0)]);
        assert_eq!(kept.len(), 1);
        assert_eq!((kept[0].sessions, kept[0].raw_tokens, kept[0].kept_tokens), (4, 1_200, 230));
        assert!((kept[0].median_reduction - 35.0).abs() < 1e-9, "{kept:?}");
        assert_eq!(reduction_by_type(&[]), []);
    }
}
