//! Loading and scrolling the preview.

use rethread_engine::EntryRange;
use rethread_model::EntryKind;

use super::find;
use crate::tui::effect::TuiEffect;
use crate::tui::layout::screen_areas;
use crate::tui::request::{PreviewDoc, PreviewRequest, PreviewStart};
use crate::tui::state::TuiState;
use crate::tui::view::preview_rows;

/// Loads the preview of the selected row, from its hit.
pub(super) fn load(state: &mut TuiState) -> Vec<TuiEffect> {
    state.preview.find = None;
    let Some(subject) = state.list.selected_row().map(|row| &row.subject) else {
        state.preview.doc = None;
        state.preview.pending = None;
        state.preview.pending_originals = None;
        return Vec::new();
    };
    let range = match (subject.line, subject.is_running) {
        (Some(line), _) => EntryRange::Around(line),
        (None, true) => EntryRange::Last,
        (None, false) => EntryRange::From(0),
    };
    let start = if subject.line.is_none() && subject.is_running { PreviewStart::Bottom } else { PreviewStart::Hit };
    request(state, range, start)
}

/// Loads the same part again: the width or the detail changed.
pub(super) fn load_again(state: &mut TuiState) -> Vec<TuiEffect> {
    let scroll = state.preview.scroll;
    let Some(doc) = state.doc_of_selection() else { return load(state) };
    let shown = doc.entries.partition_point(|(row, _)| *row <= scroll).saturating_sub(1);
    match (doc.entries.first(), doc.entries.get(shown)) {
        (Some((row, first)), Some((_, shown))) => {
            // Above the entries is what is known about a fix or decision.
            let start = if scroll < *row { PreviewStart::Top } else { PreviewStart::Entry(shown.seq) };
            request(state, EntryRange::From(first.seq), start)
        }
        _ => load(state),
    }
}

pub(super) fn request(state: &mut TuiState, range: EntryRange, start: PreviewStart) -> Vec<TuiEffect> {
    let Some(subject) = state.list.selected_row().map(|row| row.subject.clone()) else { return Vec::new() };
    let number = state.next_request();
    state.preview.pending = Some(number);
    state.preview.pending_originals = None;
    let width = screen_areas(state).preview_columns();
    vec![TuiEffect::LoadPreview(PreviewRequest {
        number,
        subject,
        range,
        width,
        is_unfolded: state.preview.is_unfolded,
        has_originals: false,
        is_focused: state.preview.is_focused,
        start,
    })]
}

/// Shows or hides arguments and output of tool calls.
pub(super) fn toggle_folding(state: &mut TuiState) -> Vec<TuiEffect> {
    state.preview.is_unfolded = !state.preview.is_unfolded;
    load_again(state)
}

/// Shows everything, or only prompts and the last answer to each.
pub(super) fn toggle_focused(state: &mut TuiState) -> Vec<TuiEffect> {
    state.preview.is_focused = !state.preview.is_focused;
    load_again(state)
}

/// Scrolls by lines. At an end of the loaded part, the next one is loaded.
pub(super) fn scroll_by(state: &mut TuiState, lines: isize) -> Vec<TuiEffect> {
    let before = state.preview.scroll;
    state.preview.scroll = before.saturating_add_signed(lines);
    limit_scroll(state);
    if state.preview.scroll != before || state.preview.pending.is_some() {
        return Vec::new();
    }
    let Some(doc) = state.doc_of_selection() else { return Vec::new() };
    match (lines < 0, doc.earlier, doc.later) {
        (true, Some(range), _) => request(state, range, PreviewStart::Bottom),
        (false, _, Some(range)) => request(state, range, PreviewStart::Top),
        _ => Vec::new(),
    }
}

/// Scrolls to the start or the end of the session.
pub(super) fn scroll_to_end(state: &mut TuiState, is_start: bool) -> Vec<TuiEffect> {
    let Some(doc) = state.doc_of_selection() else { return Vec::new() };
    let (beyond, range, start) = if is_start {
        (doc.earlier, EntryRange::From(0), PreviewStart::Top)
    } else {
        (doc.later, EntryRange::Last, PreviewStart::Bottom)
    };
    if beyond.is_some() {
        return request(state, range, start);
    }
    state.preview.scroll = if is_start { 0 } else { usize::MAX };
    limit_scroll(state);
    Vec::new()
}

/// Scrolls to the next or previous prompt.
pub(super) fn scroll_to_prompt(state: &mut TuiState, is_next: bool) -> Vec<TuiEffect> {
    let at = state.preview.scroll;
    let Some(doc) = &state.preview.doc else { return Vec::new() };
    let is_prompt = |kind| matches!(kind, EntryKind::Prompt | EntryKind::Task);
    let mut prompts = doc.entries.iter().filter(|(_, entry)| is_prompt(entry.kind)).map(|(row, _)| *row);
    let found = if is_next { prompts.find(|row| *row > at) } else { prompts.rev().find(|row| *row < at) };
    match found {
        Some(row) => {
            state.preview.scroll = row;
            limit_scroll(state);
            Vec::new()
        }
        None => scroll_by(state, if is_next { isize::MAX } else { isize::MIN }),
    }
}

/// Keeps the last page full.
pub(super) fn limit_scroll(state: &mut TuiState) {
    let lines = state.preview.doc.as_ref().map_or(0, |doc| doc.lines.len());
    state.preview.scroll = state.preview.scroll.min(lines.saturating_sub(preview_rows(state)));
}

/// Shows a part that was loaded, from where reading starts, and asks for its diffs and outputs.
pub(super) fn receive(state: &mut TuiState, mut doc: PreviewDoc) -> Vec<TuiEffect> {
    let more = doc.more.take();
    state.preview.pending = None;
    state.preview.pending_originals = more.as_ref().map(|request| request.number);
    state.preview.doc = Some(doc);
    let rows = preview_rows(state);
    state.preview.scroll = state.preview.doc.as_ref().map_or(0, |doc| start_of(doc, rows));
    find::find_again(state);
    more.map(|request| TuiEffect::LoadPreview(*request)).into_iter().collect()
}

/// Shows the same part with diffs and outputs. What the reader scrolled to stays at the top.
pub(super) fn receive_originals(state: &mut TuiState, doc: PreviewDoc) -> Vec<TuiEffect> {
    state.preview.pending_originals = None;
    let rows = preview_rows(state);
    let scroll = state.preview.scroll;
    state.preview.scroll = match &state.preview.doc {
        Some(before) if scroll != start_of(before, rows) => {
            let at = before.entries.partition_point(|(row, _)| *row <= scroll).saturating_sub(1);
            let place = before.entries.get(at).map(|(row, entry)| (entry.seq, scroll.saturating_sub(*row)));
            place.map_or(scroll, |(seq, below)| row_of(&doc, seq) + below)
        }
        _ => start_of(&doc, rows),
    };
    state.preview.doc = Some(doc);
    limit_scroll(state);
    find::find_again(state);
    Vec::new()
}

/// The first line shown of a part before its reader scrolls.
fn start_of(doc: &PreviewDoc, rows: usize) -> usize {
    let start = match (doc.start, doc.hit) {
        (PreviewStart::Hit, Some(hit)) => hit.saturating_sub(rows / 3),
        (PreviewStart::Hit | PreviewStart::Top, _) => 0,
        (PreviewStart::Bottom, _) => usize::MAX,
        (PreviewStart::Entry(seq), _) => row_of(doc, seq),
        (PreviewStart::Line(line), _) => {
            let entry = doc.entries.iter().rev().find(|(_, entry)| entry.location.line <= line);
            entry.map_or(0, |(row, _)| row.saturating_sub(rows / 3))
        }
    };
    start.min(doc.lines.len().saturating_sub(rows))
}

/// The first line of an entry.
fn row_of(doc: &PreviewDoc, seq: u64) -> usize {
    doc.entries.iter().find(|(_, entry)| entry.seq == seq).map_or(0, |(row, _)| *row)
}
