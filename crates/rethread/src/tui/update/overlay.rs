//! Keys while a menu, the list of keys or the question before resuming is open.

use crossterm::event::{KeyCode, KeyEvent};

use super::keys::{is_alt, is_control};
use super::list;
use crate::render::Tone;
use crate::tui::effect::{TuiEffect, TuiExit};
use crate::tui::menu::{Menu, MenuAction};
use crate::tui::state::{Overlay, ResumeQuestion, TuiState};
use crate::tui::view::max_help_scroll;

/// Lines that page keys scroll the list of keys.
const HELP_PAGE: usize = 10;
/// Items that page keys move in a menu.
const MENU_PAGE: isize = 10;

/// Takes the key if something is open.
pub(super) fn press(state: &mut TuiState, key: KeyEvent) -> Option<Vec<TuiEffect>> {
    let effects = match state.overlay.take()? {
        Overlay::Help(scroll) => {
            let last = max_help_scroll(state.size);
            state.overlay = scroll_help(scroll, key).map(|scroll| Overlay::Help(scroll.min(last)));
            Vec::new()
        }
        Overlay::Menu(menu) => press_in_menu(state, menu, key),
        Overlay::Resume(question) => press_in_question(state, question, key),
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

/// Starts the agent, or does something else with the session. Any other key changes nothing.
fn press_in_question(state: &mut TuiState, question: ResumeQuestion, key: KeyEvent) -> Vec<TuiEffect> {
    let is_chord = is_control(key) || is_alt(key);
    match (key.code, &question.command) {
        (KeyCode::Esc, _) => return Vec::new(),
        (KeyCode::Char('y'), Some(command)) if is_control(key) => {
            let effect = TuiEffect::Copy("resume command", command.clone());
            state.overlay = Some(Overlay::Resume(question));
            return vec![effect];
        }
        _ if is_chord => {}
        (KeyCode::Char('q' | 'n'), _) => return Vec::new(),
        (KeyCode::Char('c'), Some(command)) => return vec![TuiEffect::Copy("resume command", command.clone())],
        (KeyCode::Char('a'), _) => {
            state.overlay = Some(Overlay::Menu(Menu::hand_over(&question.session, &state.choices.startable)));
            return Vec::new();
        }
        (KeyCode::Enter | KeyCode::Char('y'), Some(_)) => {
            let effect = TuiEffect::Resume(question.session.clone());
            // Stays open in case the agent cannot be started.
            state.overlay = Some(Overlay::Resume(question));
            return vec![effect];
        }
        _ => {}
    }
    state.overlay = Some(Overlay::Resume(question));
    Vec::new()
}

fn press_in_menu(state: &mut TuiState, mut menu: Menu, key: KeyEvent) -> Vec<TuiEffect> {
    match key.code {
        KeyCode::Esc | KeyCode::Left => return Vec::new(),
        KeyCode::Enter | KeyCode::Right => {
            if let Some(chosen) = menu.chosen() {
                return act(state, chosen);
            }
        }
        KeyCode::Down => menu.move_by(1),
        KeyCode::Up => menu.move_by(-1),
        KeyCode::PageDown => menu.move_by(MENU_PAGE),
        KeyCode::PageUp => menu.move_by(-MENU_PAGE),
        KeyCode::Home => menu.move_by(isize::MIN),
        KeyCode::End => menu.move_by(isize::MAX),
        KeyCode::Char('n' | 'j') if is_control(key) => menu.move_by(1),
        KeyCode::Char('p') if is_control(key) => menu.move_by(-1),
        KeyCode::Char('g') if is_control(key) => return Vec::new(),
        KeyCode::Char('u') if is_control(key) => menu.narrow(None),
        KeyCode::Backspace => menu.widen(),
        _ if is_control(key) || is_alt(key) => {}
        KeyCode::Char(letter) if menu.narrows() => menu.narrow(Some(letter)),
        KeyCode::Char(letter) => match (menu.action_of(letter), letter) {
            (Some(action), _) => return act(state, action),
            (None, 'j') => menu.move_by(1),
            (None, 'k') => menu.move_by(-1),
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
        MenuAction::HandOver(session, agent) => vec![TuiEffect::Leave(TuiExit::HandOver(session, agent))],
    }
}
