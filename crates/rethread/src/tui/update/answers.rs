//! What workers send.

use super::{find, keys, list, preview};
use crate::render::Tone;
use crate::tui::effect::TuiEffect;
use crate::tui::request::{LoadedList, WorkerAnswer};
use crate::tui::state::{TuiState, TuiTab};

pub(super) fn receive(state: &mut TuiState, answer: WorkerAnswer) -> Vec<TuiEffect> {
    match answer {
        WorkerAnswer::List(loaded) if state.list.pending == Some(loaded.number) => receive_list(state, loaded),
        WorkerAnswer::Preview(doc) if state.preview.pending == Some(doc.number) => preview::receive(state, doc),
        WorkerAnswer::Preview(doc) if state.preview.pending_originals == Some(doc.number) => {
            preview::receive_originals(state, doc)
        }
        WorkerAnswer::Found(found) => find::receive(state, found),
        WorkerAnswer::Choices(choices) => {
            state.choices = choices;
            Vec::new()
        }
        WorkerAnswer::Exported(written) => {
            let tone = if written.is_ok() { Tone::Success } else { Tone::Error };
            state.message = Some((tone, written.unwrap_or_else(|problem| problem)));
            Vec::new()
        }
        WorkerAnswer::MemoryDeleted => {
            state.message = Some((Tone::Warning, "the memory was deleted; to start again: rethread init".to_owned()));
            list::refresh(state)
        }
        WorkerAnswer::Failed { number, message } => fail(state, number, message),
        // Typing loads the list anyway.
        WorkerAnswer::StoreChanged if state.list.pending.is_none() => list::refresh(state),
        // An answer to an older request, or a crash, which ends the loop.
        _ => Vec::new(),
    }
}

fn receive_list(state: &mut TuiState, loaded: LoadedList) -> Vec<TuiEffect> {
    let mut effects = show_list(state, loaded);
    for key in std::mem::take(&mut state.deferred) {
        effects.extend(keys::press(state, key));
    }
    effects
}

fn show_list(state: &mut TuiState, loaded: LoadedList) -> Vec<TuiEffect> {
    let before = state.list.selected_row().cloned();
    let same = before.as_ref().filter(|_| state.list.keeps_selection);
    let kept = same.and_then(|before| loaded.rows.iter().position(|row| row.is_same(before)));
    let list = &mut state.list;
    list.rows = loaded.rows;
    list.selected = kept.unwrap_or(0);
    list.first = if kept.is_some() { list.first } else { 0 };
    (list.summary, list.empty_note) = (loaded.summary, loaded.empty_note);
    (list.notice, list.words) = (loaded.notice, loaded.words);
    (list.pending, list.is_loaded, list.has_more) = (None, true, loaded.has_more);
    list::keep_selection_visible(state);
    let is_same = |after: &crate::tui::row::ListRow| before.as_ref().is_some_and(|before| before.is_same(after));
    let shows_selection = state.doc_of_selection().is_some() && state.list.selected_row().is_some_and(is_same);
    if !shows_selection {
        return preview::load(state);
    }
    let is_at_end = state.preview.scroll >= {
        let lines = state.preview.doc.as_ref().map_or(0, |doc| doc.lines.len());
        lines.saturating_sub(crate::tui::view::preview_rows(state))
    };
    // Follows a session that is being written, unless its reader scrolled up.
    let follows = state.tab == TuiTab::Live && is_at_end && state.preview.find.is_none();
    if follows { preview::load(state) } else { Vec::new() }
}

fn fail(state: &mut TuiState, number: u64, message: String) -> Vec<TuiEffect> {
    let is_list = state.list.pending == Some(number);
    if is_list {
        state.list.pending = None;
        state.list.is_loaded = true;
        state.deferred.clear();
    } else if state.preview.pending == Some(number) {
        state.preview.pending = None;
        // The session may have been forgotten.
        state.preview.doc = None;
    } else if state.preview.pending_originals == Some(number) {
        state.preview.pending_originals = None;
    } else {
        return Vec::new();
    }
    state.message = Some((Tone::Error, message));
    Vec::new()
}
