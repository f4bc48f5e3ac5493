//! How much of the transcripts is kept, by what a session was mostly about. The rules only count.

use rethread_store::SessionWork;

/// A session with fewer tool calls for a message than one in so many is talk.
const MESSAGES_A_CALL: u64 = 2;
/// A session with more tool calls for an edit than this looked around.
const CALLS_AN_EDIT: u64 = 10;
/// From so many failures that were followed by an edit on, a session may have been about failures.
const FEWEST_MENDS: u64 = 2;
/// And it was if one edit in so many followed a failure.
const EDITS_A_MEND: u64 = 8;

/// What a session was mostly about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkKind {
    /// Looking: tools, but hardly any edits.
    Research,
    /// Building: edits.
    Implementation,
    /// Mending: commands that fail, then edits.
    Debugging,
    /// Talking: few tools or none.
    Chat,
}

impl WorkKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Research, Self::Implementation, Self::Debugging, Self::Chat];

    /// The name in tables and JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Research => "research",
            Self::Implementation => "implementation",
            Self::Debugging => "debugging",
            Self::Chat => "chat",
        }
    }

    /// What a session with these numbers was about.
    pub fn of(work: &SessionWork) -> Self {
        if work.tool_calls * MESSAGES_A_CALL < work.messages {
            Self::Chat
        } else if work.mends >= FEWEST_MENDS && work.mends * EDITS_A_MEND >= work.edits {
            Self::Debugging
        } else if work.edits > 0 && work.edits * CALLS_AN_EDIT >= work.tool_calls {
            Self::Implementation
        } else {
            Self::Research
        }
    }
}

/// How much of the transcripts is kept, of all sessions of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kept {
    /// The kind.
    pub kind: WorkKind,
    /// How many sessions.
    pub sessions: u64,
    /// Estimated tokens of their transcripts.
    pub raw_tokens: u64,
    /// Estimated tokens of what is kept.
    pub kept_tokens: u64,
    /// What is left out of the middle one of them, in percent.
    pub median_reduction: f64,
}

/// What is left out, in percent; nothing where there was nothing.
pub(crate) fn reduction(raw: u64, kept: u64) -> f64 {
    if raw == 0 { 0.0 } else { 100.0 - kept as f64 * 100.0 / raw as f64 }
}

/// The sessions by what they were about; kinds without a session are left out.
pub(crate) fn by_kind(sessions: &[SessionWork]) -> Vec<Kept> {
    let mut all = Vec::new();
    for kind in WorkKind::ALL {
        let of_kind: Vec<&SessionWork> = sessions.iter().filter(|work| WorkKind::of(work) == kind).collect();
        let mut each: Vec<f64> = of_kind.iter().map(|work| reduction(work.raw_tokens, work.kept_tokens)).collect();
        if let Some(median_reduction) = median(&mut each) {
            all.push(Kept {
                kind,
                sessions: of_kind.len() as u64,
                raw_tokens: of_kind.iter().map(|work| work.raw_tokens).sum(),
                kept_tokens: of_kind.iter().map(|work| work.kept_tokens).sum(),
                median_reduction,
            });
        }
    }
    all
}

/// The middle value, or the mean of the two in the middle.
fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(messages: u64, tool_calls: u64, edits: u64, mends: u64, kind: WorkKind) {
        let work = SessionWork { messages, tool_calls, edits, mends, ..SessionWork::default() };
        assert_eq!(WorkKind::of(&work), kind, "{work:?}");
    }

    #[test]
    fn l003_04_sessions_are_told_apart_by_what_was_done_in_them() {
        check(4, 0, 0, 0, WorkKind::Chat);
        check(9, 4, 2, 0, WorkKind::Chat);
        check(8, 4, 0, 0, WorkKind::Research);
        check(20, 21, 2, 0, WorkKind::Research);
        check(20, 20, 2, 0, WorkKind::Implementation);
        check(20, 20, 8, 1, WorkKind::Implementation);
        check(20, 20, 8, 2, WorkKind::Debugging);
        check(90, 90, 40, 4, WorkKind::Implementation);
        check(0, 0, 0, 0, WorkKind::Research);
    }

    #[test]
    fn l003_04_the_middle_session_is_told_beside_the_sum() {
        let talk = |raw_tokens, kept_tokens| SessionWork { messages: 2, raw_tokens, kept_tokens, ..Default::default() };
        let kept = by_kind(&[talk(100, 50), talk(1_000, 100), talk(100, 80), talk(0, 0)]);
        assert_eq!(kept.len(), 1);
        assert_eq!((kept[0].sessions, kept[0].raw_tokens, kept[0].kept_tokens), (4, 1_200, 230));
        assert!((kept[0].median_reduction - 35.0).abs() < 1e-9, "{kept:?}");
        assert_eq!(by_kind(&[]), []);
    }
}
