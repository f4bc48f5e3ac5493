//! How events change the state. Pure: what must happen outside is returned as effects.

mod actions;
mod answers;
mod find;
mod keys;
mod list;
mod mouse;
mod overlay;
mod preview;
#[cfg(test)]
mod tests;

use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Size;

use super::effect::TuiEffect;
use super::request::WorkerAnswer;
use super::state::{Focus, Overlay, TuiState, TuiTab};

pub(super) use list::load_list;

/// Something that happened.
#[derive(Debug)]
pub(super) enum TuiEvent {
    Key(KeyEvent),
    Mouse(MouseEvent),
    Paste(String),
    Resize(Size),
    Answer(WorkerAnswer),
    /// Some seconds passed.
    Tick,
}

/// Changes the state and returns what to do next.
pub(super) fn update(state: &mut TuiState, event: TuiEvent) -> Vec<TuiEffect> {
    match event {
        TuiEvent::Key(key) => keys::press(state, key),
        TuiEvent::Mouse(mouse) => mouse::mouse(state, mouse),
        TuiEvent::Paste(text) => paste(state, &text),
        TuiEvent::Resize(size) => resize(state, size),
        TuiEvent::Answer(answer) => answers::receive(state, answer),
        TuiEvent::Tick => match state.tab {
            TuiTab::Live if state.list.pending.is_none() => list::refresh(state),
            _ => Vec::new(),
        },
    }
}

/// Pasted text goes where typed text would go, and always to a line: letters that act must not come from a clipboard.
fn paste(state: &mut TuiState, text: &str) -> Vec<TuiEffect> {
    if state.overlay.is_some() {
        return Vec::new();
    }
    if let Some(find) = state.preview.find.as_mut().filter(|find| find.is_editing) {
        find.line.insert(text);
        return find::typed(state);
    }
    state.focus = Focus::Query;
    state.query.insert(text);
    list::load_list(state)
}

/// The preview is wrapped to its width, so it is loaded again.
fn resize(state: &mut TuiState, size: Size) -> Vec<TuiEffect> {
    let columns = super::layout::screen_areas(state).preview_columns();
    state.size = size;
    list::keep_selection_visible(state);
    preview::limit_scroll(state);
    if super::layout::screen_areas(state).preview_columns() == columns {
        return Vec::new();
    }
    preview::load_again(state)
}

/// Shows the list of keys.
fn open_help(state: &mut TuiState) -> Vec<TuiEffect> {
    state.overlay = Some(Overlay::Help(0));
    Vec::new()
}
