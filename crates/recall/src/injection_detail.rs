//! How much an injection says: three levels, each with limits on items and tokens.

use crate::recent_memory::MAX_RECENT_MEMORIES;

/// How detailed the sections of an injection are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InjectionDetail {
    /// The few newest items, shortened.
    Minimal,
    /// The default.
    Normal,
    /// More and longer items, also tools and entities.
    Verbose,
}

/// Limits of the sections at one level of detail. Counts are maximum numbers of items, lengths are in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DetailLimits {
    pub(crate) files: usize,
    pub(crate) hot_entries: usize,
    pub(crate) notes: usize,
    /// Tools and entities; 0 leaves them out.
    pub(crate) names: usize,
    pub(crate) resume_events: usize,
    pub(crate) resume_files: usize,
    pub(crate) item_chars: usize,
    pub(crate) note_chars: usize,
    /// Tokens of the whole `[SESSION CONTEXT]` block.
    pub(crate) context_tokens: u64,
    pub(crate) memory_prompt_chars: usize,
    pub(crate) memory_text_chars: usize,
}

impl InjectionDetail {
    /// Maximum number of memories injected with one prompt.
    pub const fn max_memories(self) -> usize {
        match self {
            Self::Minimal => 1,
            Self::Normal | Self::Verbose => MAX_RECENT_MEMORIES,
        }
    }

    pub(crate) const fn limits(self) -> DetailLimits {
        const NORMAL: DetailLimits = DetailLimits {
            files: 5,
            hot_entries: 5,
            notes: 5,
            names: 0,
            resume_events: 5,
            resume_files: 3,
            item_chars: 100,
            note_chars: 300,
            context_tokens: 700,
            memory_prompt_chars: 80,
            memory_text_chars: 220,
        };
        match self {
            Self::Minimal => DetailLimits {
                files: 3,
                hot_entries: 2,
                notes: 2,
                resume_events: 2,
                resume_files: 2,
                item_chars: 60,
                note_chars: 150,
                context_tokens: 200,
                memory_prompt_chars: 50,
                memory_text_chars: 100,
                ..NORMAL
            },
            Self::Normal => NORMAL,
            Self::Verbose => DetailLimits {
                files: 10,
                hot_entries: 10,
                names: 10,
                resume_events: 8,
                resume_files: 5,
                item_chars: 140,
                context_tokens: 900,
                memory_prompt_chars: 120,
                memory_text_chars: 400,
                ..NORMAL
            },
        }
    }
}

impl DetailLimits {
    /// The same limits with one item less in every list, for a text that is too long. `None` if no list can shrink.
    pub(crate) fn with_fewer_items(self) -> Option<Self> {
        let fewer = Self {
            files: self.files.saturating_sub(1),
            hot_entries: self.hot_entries.saturating_sub(1),
            notes: self.notes.saturating_sub(1).max(1),
            names: self.names.saturating_sub(1),
            resume_events: self.resume_events.saturating_sub(1),
            resume_files: self.resume_files.saturating_sub(1),
            ..self
        };
        (fewer != self).then_some(fewer)
    }
}
