//! Finding text in the conversation: in the lines that are loaded, and beyond them in the whole session.

use rethread_engine::EntryRange;

use super::preview;
use crate::render::{Tone, number};
use crate::tui::effect::TuiEffect;
use crate::tui::request::{FindRequest, FoundPlaces, PreviewDoc, PreviewStart, TonedLine};
use crate::tui::state::{PreviewFind, TuiState};
use crate::tui::view::preview_rows;

/// Opens the line for what to find.
pub(super) fn open(state: &mut TuiState) -> Vec<TuiEffect> {
    if state.preview.doc.is_some() {
        state.preview.find.get_or_insert_default().is_editing = true;
    }
    Vec::new()
}

/// Closes it. Returns whether it was open.
pub(super) fn close(state: &mut TuiState) -> bool {
    let was_open = state.preview.find.take().is_some();
    if was_open {
        preview::limit_scroll(state);
    }
    was_open
}

/// Finds the text that was typed, and asks for its places in the rest of the session.
pub(super) fn typed(state: &mut TuiState) -> Vec<TuiEffect> {
    find_again(state);
    let number = state.next_request();
    let Some((find, doc)) = state.preview.find.as_mut().zip(state.preview.doc.as_ref()) else { return Vec::new() };
    (find.places, find.more_places, find.pending) = (Vec::new(), 0, None);
    let is_whole = doc.earlier.is_none() && doc.later.is_none();
    if is_whole || find.line.is_empty() {
        return Vec::new();
    }
    find.pending = Some(number);
    let text = find.line.text().trim().to_owned();
    vec![TuiEffect::FindInSession(FindRequest { number, session: doc.session.id, text })]
}

/// Takes the places in the whole session. If the loaded part has none, the next one is shown.
pub(super) fn receive(state: &mut TuiState, found: FoundPlaces) -> Vec<TuiEffect> {
    let Some(find) = state.preview.find.as_mut().filter(|find| find.pending == Some(found.number)) else {
        return Vec::new();
    };
    (find.places, find.more_places, find.pending) = (found.lines, found.more, None);
    if find.hits.is_empty() {
        return show_place(state, true);
    }
    show_current(state);
    Vec::new()
}

/// Finds the text in the loaded lines and shows the first place at or after the current one.
pub(super) fn find_again(state: &mut TuiState) {
    let scroll = state.preview.scroll;
    let Some((find, doc)) = state.preview.find.as_mut().zip(state.preview.doc.as_ref()) else { return };
    find.hits = lines_with(doc, find.line.text());
    find.at = find.hits.partition_point(|row| *row < scroll).min(find.hits.len().saturating_sub(1));
    show_current(state);
}

/// Shows the next or previous place, in another part of the session if the loaded one has no further.
pub(super) fn next(state: &mut TuiState, is_next: bool) -> Vec<TuiEffect> {
    let Some(find) = state.preview.find.as_mut() else { return Vec::new() };
    let count = find.hits.len();
    let is_at_end = count == 0 || find.at == if is_next { count - 1 } else { 0 };
    if is_at_end && !find.places.is_empty() {
        return show_place(state, is_next);
    }
    if count > 0 {
        find.at = (find.at + if is_next { 1 } else { count - 1 }) % count;
        show_current(state);
    }
    Vec::new()
}

/// Loads the part around the nearest place outside of the loaded one; after the last place comes the first.
fn show_place(state: &mut TuiState, is_next: bool) -> Vec<TuiEffect> {
    let Some((find, doc)) = state.preview.find.as_mut().zip(state.preview.doc.as_ref()) else { return Vec::new() };
    let line_of = |entry: Option<&(usize, rethread_model::Entry)>| entry.map_or(0, |(_, entry)| entry.location.line);
    let (first, last) = (line_of(doc.entries.first()), line_of(doc.entries.last()));
    let outside = |line: &&u64| **line < first || **line > last;
    let place = if is_next {
        find.places.iter().find(|line| **line > last).or_else(|| find.places.iter().find(outside))
    } else {
        find.places.iter().rfind(|line| **line < first).or_else(|| find.places.iter().rfind(outside))
    };
    if let Some(line) = place.copied() {
        return preview::request(state, EntryRange::Around(line), PreviewStart::Line(line));
    }
    let count = find.hits.len();
    find.at = if count > 0 && !is_next { count - 1 } else { 0 };
    show_current(state);
    Vec::new()
}

fn show_current(state: &mut TuiState) {
    let rows = preview_rows(state);
    let Some(find) = &state.preview.find else { return };
    state.message = outcome(find);
    if let Some(row) = find.hits.get(find.at).copied() {
        let shown = state.preview.scroll..state.preview.scroll + rows;
        if !shown.contains(&row) {
            state.preview.scroll = row.saturating_sub(rows / 3);
        }
        preview::limit_scroll(state);
    }
}

/// What was found, in words.
fn outcome(find: &PreviewFind) -> Option<(Tone, String)> {
    let entries = find.places.len() as u64 + find.more_places;
    let in_session = match entries {
        0 => String::new(),
        1 => " · 1 entry of the session".to_owned(),
        _ => format!(" · {} entries of the session", number(entries)),
    };
    let found = match find.hits.len() {
        0 if find.line.is_empty() => return None,
        0 if find.pending.is_some() => return Some((Tone::Dim, "searching the session".to_owned())),
        0 if entries == 0 => return Some((Tone::Warning, "not found".to_owned())),
        0 => "in a folded part: t shows it".to_owned(),
        1 => "1 matching line".to_owned(),
        count => format!("{} of {} matching lines", find.at + 1, number(count as u64)),
    };
    Some((Tone::Dim, found + &in_session))
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
