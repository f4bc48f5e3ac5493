//! The state of the terminal interface. Changed only by `update`, shown only by `view`.

use crossterm::event::KeyEvent;
use ratatui::layout::Size;
use rethread_model::Session;

use super::filters::Filters;
use super::menu::Menu;
use super::query_line::QueryLine;
use super::request::{MenuChoices, PreviewDoc};
use super::row::ListRow;
use crate::cli::tui::PrintedChoice;
use crate::render::Tone;

/// What is listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum TuiTab {
    /// Hits, or the newest sessions while the query is empty.
    #[default]
    Search,
    Fixes,
    Decisions,
    /// Sessions that were active in the last hour.
    Live,
}

impl TuiTab {
    pub(super) const ALL: [TuiTab; 4] = [TuiTab::Search, TuiTab::Fixes, TuiTab::Decisions, TuiTab::Live];

    pub(super) const fn label(self) -> &'static str {
        match self {
            TuiTab::Search => "Search",
            TuiTab::Fixes => "Fixes",
            TuiTab::Decisions => "Decisions",
            TuiTab::Live => "Live",
        }
    }

    /// The tab `steps` to the right; the first follows the last.
    pub(super) fn step(self, steps: usize) -> TuiTab {
        let at = TuiTab::ALL.iter().position(|tab| *tab == self).unwrap_or(0);
        TuiTab::ALL[(at + steps) % TuiTab::ALL.len()]
    }
}

/// Where plain letters go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Focus {
    #[default]
    Query,
    List,
    Preview,
}

/// How the interface was started.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TuiOptions {
    pub(super) print: Option<PrintedChoice>,
    pub(super) has_color: bool,
}

/// What lies above the rest and takes all keys.
#[derive(Clone, Debug)]
pub(super) enum Overlay {
    /// The list of keys, with the number of lines scrolled.
    Help(usize),
    Menu(Menu),
    Resume(ResumeQuestion),
}

/// The question before an agent is started.
#[derive(Clone, Debug)]
pub(super) struct ResumeQuestion {
    pub(super) session: Box<Session>,
    /// The command line, if the agent can resume the session by its id.
    pub(super) command: Option<String>,
    /// Why the agent cannot be started.
    pub(super) problem: Option<String>,
    /// Whether the session runs somewhere now.
    pub(super) is_live: bool,
}

/// The list and what is selected in it.
#[derive(Clone, Debug, Default)]
pub(super) struct RowList {
    pub(super) rows: Vec<ListRow>,
    pub(super) selected: usize,
    /// The first row shown.
    pub(super) first: usize,
    pub(super) summary: String,
    pub(super) empty_note: String,
    pub(super) notice: Option<String>,
    pub(super) words: Vec<String>,
    /// The request that is being answered.
    pub(super) pending: Option<u64>,
    /// Whether the answer keeps the selected row, if it has it.
    pub(super) keeps_selection: bool,
    pub(super) is_loaded: bool,
    /// Whether there are more rows than were loaded.
    pub(super) has_more: bool,
    /// How often more rows were asked for.
    pub(super) times_extended: u32,
}

impl RowList {
    /// Whether the rows belong to an earlier query, tab or filter.
    pub(super) fn is_outdated(&self) -> bool {
        self.pending.is_some() && !self.keeps_selection
    }

    pub(super) fn selected_row(&self) -> Option<&ListRow> {
        self.rows.get(self.selected)
    }
}

/// The text that is looked for in the preview.
#[derive(Clone, Debug, Default)]
pub(super) struct PreviewFind {
    pub(super) line: QueryLine,
    /// Whether keys go to it.
    pub(super) is_editing: bool,
    /// The lines that have it.
    pub(super) hits: Vec<usize>,
    /// Index of the current one of `hits`.
    pub(super) at: usize,
    /// The request for places in the whole session.
    pub(super) pending: Option<u64>,
    /// Transcript lines of the entries of the session that have it, in order.
    pub(super) places: Vec<u64>,
    /// How many more entries have it.
    pub(super) more_places: u64,
}

/// The conversation beside the list.
#[derive(Clone, Debug, Default)]
pub(super) struct Preview {
    pub(super) doc: Option<PreviewDoc>,
    /// Number of lines above the first one shown.
    pub(super) scroll: usize,
    pub(super) pending: Option<u64>,
    /// The request for diffs and outputs of what is shown.
    pub(super) pending_originals: Option<u64>,
    pub(super) find: Option<PreviewFind>,
    pub(super) is_unfolded: bool,
    /// Whether only prompts and the last answer to each are shown.
    pub(super) is_focused: bool,
}

/// Everything that the screen depends on.
#[derive(Clone, Debug, Default)]
pub(super) struct TuiState {
    pub(super) tab: TuiTab,
    pub(super) focus: Focus,
    pub(super) query: QueryLine,
    pub(super) filters: Filters,
    pub(super) list: RowList,
    pub(super) preview: Preview,
    pub(super) overlay: Option<Overlay>,
    /// What the last key did, until the next one.
    pub(super) message: Option<(Tone, String)>,
    pub(super) size: Size,
    pub(super) options: TuiOptions,
    pub(super) choices: MenuChoices,
    /// Keys that wait for the list of the query that was typed before them.
    pub(super) deferred: Vec<KeyEvent>,
    /// Number of the last request.
    pub(super) last_request: u64,
}

impl TuiState {
    /// Whether a worker is expected to answer.
    pub(super) fn is_waiting(&self) -> bool {
        self.list.pending.is_some() || self.preview.pending.is_some() || self.preview.pending_originals.is_some()
    }

    /// Whether the preview belongs to the selected row.
    pub(super) fn doc_of_selection(&self) -> Option<&PreviewDoc> {
        let row = self.list.selected_row()?;
        self.preview.doc.as_ref().filter(|doc| doc.session.id == row.subject.session)
    }

    /// The selected session, as far as it is loaded.
    pub(super) fn selected_session(&self) -> Option<&Session> {
        let row = self.list.selected_row()?;
        row.subject.stored.as_deref().or_else(|| self.doc_of_selection().map(|doc| &*doc.session))
    }

    pub(super) fn next_request(&mut self) -> u64 {
        self.last_request += 1;
        self.last_request
    }
}
