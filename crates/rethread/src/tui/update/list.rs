//! Loading the list and moving its selection.

use super::preview;
use crate::tui::effect::TuiEffect;
use crate::tui::layout::screen_areas;
use crate::tui::request::ListRequest;
use crate::tui::state::{RowList, TuiState, TuiTab};

/// Hits that are loaded first: few are read, and each costs time while typing.
const FIRST_HITS: usize = 60;
/// Other rows that are loaded first.
const FIRST_ROWS: usize = 200;
/// At the end of the list, twice as many rows are loaded, this often.
const MAX_EXTENSIONS: u32 = 6;

/// Loads the list for the current query, tab and filters.
pub(in crate::tui) fn load_list(state: &mut TuiState) -> Vec<TuiEffect> {
    state.list.times_extended = 0;
    request(state, false)
}

/// Loads it again because what is stored may have changed.
pub(super) fn refresh(state: &mut TuiState) -> Vec<TuiEffect> {
    request(state, true)
}

fn request(state: &mut TuiState, keeps_selection: bool) -> Vec<TuiEffect> {
    let number = state.next_request();
    state.list.pending = Some(number);
    state.list.keeps_selection = keeps_selection;
    vec![TuiEffect::LoadList(ListRequest {
        number,
        tab: state.tab,
        query: state.query.text().trim().to_owned(),
        filters: state.filters.clone(),
        limit: first_rows(state) << state.list.times_extended.min(MAX_EXTENSIONS),
    })]
}

fn first_rows(state: &TuiState) -> usize {
    let lists_hits = state.tab == TuiTab::Search && !state.query.is_empty();
    if lists_hits { FIRST_HITS } else { FIRST_ROWS }
}

pub(super) fn open_tab(state: &mut TuiState, tab: TuiTab) -> Vec<TuiEffect> {
    if state.tab == tab {
        return Vec::new();
    }
    state.tab = tab;
    state.list = RowList::default();
    state.preview.doc = None;
    state.preview.find = None;
    load_list(state)
}

/// Selects the row `steps` below the selected one.
pub(super) fn move_by(state: &mut TuiState, steps: isize) -> Vec<TuiEffect> {
    let to = state.list.selected.saturating_add_signed(steps);
    select(state, to)
}

/// Selects a row and loads its preview. At the end of the list, more rows are loaded.
pub(super) fn select(state: &mut TuiState, row: usize) -> Vec<TuiEffect> {
    let last = state.list.rows.len().saturating_sub(1);
    let row = row.min(last);
    let mut effects = Vec::new();
    if row != state.list.selected {
        state.list.selected = row;
        keep_selection_visible(state);
        effects = preview::load(state);
    }
    if row == last && state.list.has_more && state.list.pending.is_none() {
        state.list.times_extended += 1;
        effects.extend(refresh(state));
    }
    effects
}

/// Rows of a page of the list.
pub(super) fn page_rows(state: &TuiState) -> isize {
    screen_areas(state).visible_items() as isize
}

/// Scrolls so that the selected row is shown.
pub(super) fn keep_selection_visible(state: &mut TuiState) {
    let visible = screen_areas(state).visible_items();
    let list = &mut state.list;
    list.selected = list.selected.min(list.rows.len().saturating_sub(1));
    list.first = list.first.min(list.selected).max((list.selected + 1).saturating_sub(visible));
}
