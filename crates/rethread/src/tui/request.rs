//! What the interface asks its workers for, and what they answer.

use rethread_engine::EntryRange;
use rethread_model::{Agent, Entry, Session, SessionId};

use super::TuiTab;
use super::filters::Filters;
use super::row::{ListRow, RowSubject};
use crate::render::Tone;

/// A list to load. Answers to older requests are ignored.
#[derive(Clone, Debug)]
pub(super) struct ListRequest {
    pub(super) number: u64,
    pub(super) tab: TuiTab,
    pub(super) query: String,
    pub(super) filters: Filters,
    /// Rows at most.
    pub(super) limit: usize,
}

/// A preview to load.
#[derive(Clone, Debug)]
pub(super) struct PreviewRequest {
    pub(super) number: u64,
    pub(super) subject: RowSubject,
    pub(super) range: EntryRange,
    /// Columns of a line.
    pub(super) width: usize,
    /// Whether tool calls are shown with arguments and output.
    pub(super) is_unfolded: bool,
    /// Whether diffs and outputs are read from the transcript, which takes longer.
    pub(super) has_originals: bool,
    /// Whether only prompts and the last answer to each are shown.
    pub(super) is_focused: bool,
    pub(super) start: PreviewStart,
}

/// A text to find in all entries of a session.
#[derive(Clone, Debug)]
pub(super) struct FindRequest {
    pub(super) number: u64,
    pub(super) session: SessionId,
    pub(super) text: String,
}

/// Where a session has a text.
#[derive(Clone, Debug, Default)]
pub(super) struct FoundPlaces {
    pub(super) number: u64,
    /// Transcript lines of the first entries, in order.
    pub(super) lines: Vec<u64>,
    /// How many more entries have it.
    pub(super) more: u64,
}

/// Which part of a loaded preview is shown first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PreviewStart {
    /// The line of the hit, or the start of the session.
    Hit,
    Top,
    Bottom,
    /// The entry with this seq, which was shown first before.
    Entry(u64),
    /// The entry at this line of the transcript.
    Line(u64),
}

/// A loaded list.
#[derive(Clone, Debug, Default)]
pub(super) struct LoadedList {
    pub(super) number: u64,
    pub(super) rows: Vec<ListRow>,
    /// Counts and time, at the top right.
    pub(super) summary: String,
    /// Shown if there are no rows.
    pub(super) empty_note: String,
    /// How the query was read, or what could not be searched.
    pub(super) notice: Option<String>,
    /// Words to highlight in the preview, in lower case.
    pub(super) words: Vec<String>,
    /// Whether there are more rows than the limit.
    pub(super) has_more: bool,
}

/// A line of text in parts with a tone.
pub(super) type TonedLine = Vec<(Tone, String)>;

/// A loaded preview, wrapped to the requested width.
#[derive(Clone, Debug)]
pub(super) struct PreviewDoc {
    pub(super) number: u64,
    pub(super) session: Box<Session>,
    /// Stays at the top while the rest scrolls.
    pub(super) header: Vec<TonedLine>,
    pub(super) lines: Vec<TonedLine>,
    /// The first line of each entry, with the entry.
    pub(super) entries: Vec<(usize, Entry)>,
    /// The line of the hit.
    pub(super) hit: Option<usize>,
    /// Ranges to load for entries before and after those shown.
    pub(super) earlier: Option<EntryRange>,
    pub(super) later: Option<EntryRange>,
    pub(super) start: PreviewStart,
    /// The same part with diffs and outputs, if that would show more.
    pub(super) more: Option<Box<PreviewRequest>>,
    /// Whether the session runs somewhere now.
    pub(super) is_live: bool,
}

/// What menus offer.
#[derive(Clone, Debug, Default)]
pub(super) struct MenuChoices {
    pub(super) agents: Vec<Agent>,
    pub(super) projects: Vec<String>,
    /// Agents that are installed and can continue the work of another one.
    pub(super) startable: Vec<Agent>,
}

/// What a worker sends.
#[derive(Debug)]
pub(super) enum WorkerAnswer {
    List(LoadedList),
    Preview(PreviewDoc),
    Choices(MenuChoices),
    Found(FoundPlaces),
    /// A request failed. The number is that of the request.
    Failed {
        number: u64,
        message: String,
    },
    /// A session was written to a file, or why not, as shown to the user.
    Exported(Result<String, String>),
    /// Any process changed what is stored.
    StoreChanged,
    /// The whole memory was deleted while the interface was open.
    MemoryDeleted,
    /// A worker panicked.
    Crashed,
}
