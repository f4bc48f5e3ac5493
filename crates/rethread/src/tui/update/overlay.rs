//! Keys while a menu, the list of keys or the question before resuming is open.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{list, preview};
use crate::render::Tone;
use crate::tui::effect::{TuiEffect, TuiExit};
use crate::tui::menu::{Menu, MenuAction};
use crate::tui::state::{Overlay, TuiState};
use crate::tui::view::max_help_scroll;

/// Lines that page keys scroll the list of keys.
const HELP_PAGE: usize = 10;

/// Takes the key if something is open.
pub(super) fn press(state: &mut TuiState, key: KeyEvent) -> Option<Vec<TuiEffect>> {
    let effects = match state.overlay.take()? {
        Overlay::Help(scroll) => {
            let last = max_help_scroll(state.size);
            state.overlay = scroll_help(scroll, key).map(|scroll| Overlay::Help(scroll.min(last)));
            Vec::new()
        }
        Overlay::Menu(menu) => press_in_menu(state, menu, key),
        Overlay::Resume(session, command) => match key.code {
            KeyCode::Enter | KeyCode::Char('y') => vec![TuiEffect::Leave(TuiExit::Resume(session))],
            KeyCode::Esc | KeyCode::Char('q' | 'n') => Vec::new(),
            _ => {
                state.overlay = Some(Overlay::Resume(session, command));
                Vec::new()
            }
        },
    };
    Some(effects)
}

/// The new position, or `None` to close the list of keys.
fn scroll_help(scroll: usize, key: KeyEvent) -> Option<usize> {
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => Some(scroll + 1),
        KeyCode::Up | KeyCode::Char('k') => Some(scroll.saturating_sub(1)),
        KeyCode::PageDown | KeyCode::Char(' ') => Some(scroll + HELP_PAGE),
        KeyCode::PageUp => Some(scroll.saturating_sub(HELP_PAGE)),
        _ => None,
    }
}

fn press_in_menu(state: &mut TuiState, mut menu: Menu, key: KeyEvent) -> Vec<TuiEffect> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Esc | KeyCode::Left => return Vec::new(),
        KeyCode::Enter | KeyCode::Right => return menu.chosen().map_or_else(Vec::new, |chosen| act(state, chosen)),
        KeyCode::Down => menu.select_next(),
        KeyCode::Up => menu.select_previous(),
        KeyCode::Char('n') if is_control => menu.select_next(),
        KeyCode::Char('p') if is_control => menu.select_previous(),
        KeyCode::Char(letter) => match (menu.action_of(letter), letter) {
            (Some(action), _) => return act(state, action),
            (None, 'j') => menu.select_next(),
            (None, 'k') => menu.select_previous(),
            (None, 'q') => return Vec::new(),
            _ => {}
        },
        _ => {}
    }
    state.overlay = Some(Overlay::Menu(menu));
    Vec::new()
}

/// Does what an item of a menu stands for.
pub(super) fn act(state: &mut TuiState, action: MenuAction) -> Vec<TuiEffect> {
    match action {
        MenuAction::OpenFilter(kind) => {
            state.overlay = Some(Overlay::Menu(Menu::filter_values(kind, &state.filters, &state.choices)));
            Vec::new()
        }
        MenuAction::ChangeFilter(change) => {
            state.filters.apply(change);
            list::load_list(state)
        }
        MenuAction::ClearFilters => {
            state.filters.clear();
            list::load_list(state)
        }
        MenuAction::Copy(what, text) => vec![TuiEffect::Copy(what, text)],
        MenuAction::Open(target) => vec![TuiEffect::Open(target)],
        MenuAction::Export(session, format) => {
            state.message = Some((Tone::Dim, "exporting".to_owned()));
            vec![TuiEffect::Export(session, format)]
        }
    }
}

/// Closes what is open; the first thing that Esc does.
pub(super) fn close_find(state: &mut TuiState) -> bool {
    let was_open = state.preview.find.take().is_some();
    if was_open {
        preview::limit_scroll(state);
    }
    was_open
}
