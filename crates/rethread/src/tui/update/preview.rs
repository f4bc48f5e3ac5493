//! Loading, scrolling and searching the preview.

use rethread_engine::EntryRange;
use rethread_model::EntryKind;

use crate::render::Tone;
use crate::tui::effect::TuiEffect;
use crate::tui::layout::screen_areas;
use crate::tui::request::{PreviewDoc, PreviewRequest, PreviewStart, TonedLine};
use crate::tui::state::{PreviewFind, TuiState};
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

fn request(state: &mut TuiState, range: EntryRange, start: PreviewStart) -> Vec<TuiEffect> {
    let Some(subject) = state.list.selected_row().map(|row| row.subject.clone()) else { return Vec::new() };
    let number = state.next_request();
    state.preview.pending = Some(number);
    state.preview.pending_originals = None;
    let width = screen_areas(state).preview_columns();
    let is_unfolded = state.preview.is_unfolded;
    vec![TuiEffect::LoadPreview(PreviewRequest {
        number,
        subject,
        range,
        width,
        is_unfolded,
        has_originals: false,
        start,
    })]
}

/// Shows or hides arguments and output of tool calls.
pub(super) fn toggle_folding(state: &mut TuiState) -> Vec<TuiEffect> {
    state.preview.is_unfolded = !state.preview.is_unfolded;
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
    if state.preview.find.is_some() {
        find_again(state);
    }
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
    if state.preview.find.is_some() { find_again(state) } else { Vec::new() }
}

/// The first line shown of a part before its reader scrolls.
fn start_of(doc: &PreviewDoc, rows: usize) -> usize {
    let start = match (doc.start, doc.hit) {
        (PreviewStart::Hit, Some(hit)) => hit.saturating_sub(rows / 3),
        (PreviewStart::Hit | PreviewStart::Top, _) => 0,
        (PreviewStart::Bottom, _) => usize::MAX,
        (PreviewStart::Entry(seq), _) => row_of(doc, seq),
    };
    start.min(doc.lines.len().saturating_sub(rows))
}

/// The first line of an entry.
fn row_of(doc: &PreviewDoc, seq: u64) -> usize {
    doc.entries.iter().find(|(_, entry)| entry.seq == seq).map_or(0, |(row, _)| *row)
}

/// Opens the line for what to find.
pub(super) fn open_find(state: &mut TuiState) -> Vec<TuiEffect> {
    if state.preview.doc.is_some() {
        state.preview.find.get_or_insert_default().is_editing = true;
    }
    Vec::new()
}

/// Finds the text in the lines and shows the first place at or after the current one.
pub(super) fn find_again(state: &mut TuiState) -> Vec<TuiEffect> {
    let scroll = state.preview.scroll;
    let Some((find, doc)) = state.preview.find.as_mut().zip(state.preview.doc.as_ref()) else { return Vec::new() };
    find.hits = lines_with(doc, find.line.text());
    find.at = find.hits.partition_point(|row| *row < scroll).min(find.hits.len().saturating_sub(1));
    show_found(state)
}

/// Shows the next or previous place.
pub(super) fn find_next(state: &mut TuiState, is_next: bool) -> Vec<TuiEffect> {
    let Some(find) = state.preview.find.as_mut().filter(|find| !find.hits.is_empty()) else { return Vec::new() };
    let count = find.hits.len();
    find.at = (find.at + if is_next { 1 } else { count - 1 }) % count;
    show_found(state)
}

fn show_found(state: &mut TuiState) -> Vec<TuiEffect> {
    let rows = preview_rows(state);
    let Some(find) = &state.preview.find else { return Vec::new() };
    state.message = match &find.hits[..] {
        [] if find.line.is_empty() => None,
        [] => Some((Tone::Warning, "not found in the loaded part".to_owned())),
        hits => Some((Tone::Dim, format!("{} of {} matching lines", find.at + 1, hits.len()))),
    };
    if let Some(row) = current_hit(find) {
        let shown = state.preview.scroll..state.preview.scroll + rows;
        if !shown.contains(&row) {
            state.preview.scroll = row.saturating_sub(rows / 3);
        }
        limit_scroll(state);
    }
    Vec::new()
}

fn current_hit(find: &PreviewFind) -> Option<usize> {
    find.hits.get(find.at).copied()
}

/// The lines that contain a text, in any case.
fn lines_with(doc: &PreviewDoc, text: &str) -> Vec<usize> {
    let wanted = text.trim().to_lowercase();
    if wanted.is_empty() {
        return Vec::new();
    }
    let has = |line: &TonedLine| {
        let whole: String = line.iter().map(|(_, part)| part.as_str()).collect();
        whole.to_lowercase().contains(&wanted)
    };
    doc.lines.iter().enumerate().filter(|(_, line)| has(line)).map(|(row, _)| row).collect()
}
