//! What keys do. Chords always act; plain letters type while the query has the focus and act elsewhere.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use super::actions::{choose, open_copy, open_editor, open_export, open_filters};
use super::{find, list, open_help, overlay, preview};
use crate::tui::effect::{TuiEffect, TuiExit};
use crate::tui::filters::FilterKind;
use crate::tui::menu::MenuAction;
use crate::tui::query_line::QueryLine;
use crate::tui::state::{Focus, TuiState, TuiTab};

pub(super) fn press(state: &mut TuiState, key: KeyEvent) -> Vec<TuiEffect> {
    if key.kind == KeyEventKind::Release {
        return Vec::new();
    }
    state.message = None;
    if is_control(key) && key.code == KeyCode::Char('c') {
        return vec![TuiEffect::Leave(TuiExit::Interrupted)];
    }
    if let Some(effects) = overlay::press(state, key) {
        return effects;
    }
    if let Some(effects) = press_in_find(state, key) {
        return effects;
    }
    if state.list.is_outdated() && is_about_selection(state, key) {
        state.deferred.push(key);
        return Vec::new();
    }
    state.deferred.clear();
    press_chord(state, key).or_else(|| press_anywhere(state, key)).unwrap_or_else(|| match state.focus {
        Focus::Query => type_into_query(state, key),
        _ if is_control(key) || is_alt(key) => Vec::new(),
        Focus::List => press_in_list(state, key).unwrap_or_else(|| press_letter(state, key)),
        Focus::Preview => press_in_preview(state, key).unwrap_or_else(|| press_letter(state, key)),
    })
}

pub(super) fn is_control(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL)
}

pub(super) fn is_alt(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::ALT)
}

/// Whether the key moves the selection or acts on it. Typed right after a query, it means the list of that query.
fn is_about_selection(state: &TuiState, key: KeyEvent) -> bool {
    let is_letter_key = state.focus != Focus::Query && !is_control(key) && !is_alt(key);
    match key.code {
        KeyCode::Enter => true,
        KeyCode::Up | KeyCode::Down | KeyCode::PageUp | KeyCode::PageDown => state.focus != Focus::Preview,
        KeyCode::Char('y' | 'o' | 'n' | 'p' | 'j') if is_control(key) => true,
        KeyCode::Char('e') if is_alt(key) => true,
        KeyCode::Char('y' | 'o' | 'e') => is_letter_key,
        _ => false,
    }
}

/// Keys while the text to find is typed.
fn press_in_find(state: &mut TuiState, key: KeyEvent) -> Option<Vec<TuiEffect>> {
    let find = state.preview.find.as_mut().filter(|find| find.is_editing)?;
    match key.code {
        KeyCode::Enter => {
            find.is_editing = false;
            state.focus = Focus::Preview;
            Some(Vec::new())
        }
        KeyCode::Esc => {
            find::close(state);
            Some(Vec::new())
        }
        KeyCode::Down => Some(find::next(state, true)),
        KeyCode::Up => Some(find::next(state, false)),
        _ if edit(&mut find.line, key) => Some(find::typed(state)),
        _ => None,
    }
}

/// Ctrl and Alt, and function keys: the same with every focus.
fn press_chord(state: &mut TuiState, key: KeyEvent) -> Option<Vec<TuiEffect>> {
    let effects = match key.code {
        KeyCode::F(1) => open_help(state),
        KeyCode::Char(letter) if is_alt(key) => return press_alt(state, letter),
        KeyCode::Up if is_alt(key) || key.modifiers.contains(KeyModifiers::SHIFT) => preview::scroll_by(state, -1),
        KeyCode::Down if is_alt(key) || key.modifiers.contains(KeyModifiers::SHIFT) => preview::scroll_by(state, 1),
        KeyCode::Char(letter) if is_control(key) => match letter {
            // Users of fzf expect Ctrl-J to move down.
            'n' | 'j' => move_focused(state, 1),
            'p' => move_focused(state, -1),
            'g' => escape(state),
            'r' => {
                state.filters.cycle_project();
                list::load_list(state)
            }
            'y' => open_copy(state),
            'o' => open_editor(state),
            'f' => find::open(state),
            't' => preview::toggle_folding(state),
            'z' => vec![TuiEffect::Suspend],
            _ => return None,
        },
        _ => return None,
    };
    Some(effects)
}

fn press_alt(state: &mut TuiState, letter: char) -> Option<Vec<TuiEffect>> {
    let kind = match letter {
        '1'..='4' => return Some(open_tab_number(state, letter)),
        'f' => return Some(open_filters(state)),
        'e' => return Some(open_export(state)),
        'v' => return Some(preview::toggle_focused(state)),
        'p' => FilterKind::Project,
        'a' => FilterKind::Agent,
        't' => FilterKind::Time,
        'k' => FilterKind::Kind,
        's' => FilterKind::State,
        _ => return None,
    };
    Some(if kind.applies_to(state.tab) { overlay::act(state, MenuAction::OpenFilter(kind)) } else { Vec::new() })
}

/// Keys that are neither letters nor edit a line.
fn press_anywhere(state: &mut TuiState, key: KeyEvent) -> Option<Vec<TuiEffect>> {
    let effects = match key.code {
        KeyCode::Enter => choose(state),
        KeyCode::Tab => move_focus(state, 1),
        KeyCode::BackTab => move_focus(state, 2),
        KeyCode::Esc => escape(state),
        KeyCode::Up => move_focused(state, -1),
        KeyCode::Down => move_focused(state, 1),
        KeyCode::PageUp => page_focused(state, -1),
        KeyCode::PageDown => page_focused(state, 1),
        _ => return None,
    };
    Some(effects)
}

/// Closes what is open, else leaves.
fn escape(state: &mut TuiState) -> Vec<TuiEffect> {
    if find::close(state) { Vec::new() } else { vec![TuiEffect::Leave(TuiExit::Quit)] }
}

/// Letters that act on the selection.
fn press_letter(state: &mut TuiState, key: KeyEvent) -> Vec<TuiEffect> {
    let KeyCode::Char(letter) = key.code else { return Vec::new() };
    match letter {
        'q' => vec![TuiEffect::Leave(TuiExit::Quit)],
        '?' => open_help(state),
        'y' => open_copy(state),
        'o' => open_editor(state),
        'e' => open_export(state),
        'f' => open_filters(state),
        't' => preview::toggle_folding(state),
        'v' => preview::toggle_focused(state),
        '/' => find::open(state),
        'n' => find::next(state, true),
        'N' => find::next(state, false),
        'i' => {
            state.focus = Focus::Query;
            Vec::new()
        }
        '1'..='4' => open_tab_number(state, letter),
        _ => Vec::new(),
    }
}

fn press_in_list(state: &mut TuiState, key: KeyEvent) -> Option<Vec<TuiEffect>> {
    let effects = match key.code {
        KeyCode::Char('j') => list::move_by(state, 1),
        KeyCode::Char('k') => list::move_by(state, -1),
        KeyCode::Home | KeyCode::Char('g') => list::select(state, 0),
        KeyCode::End | KeyCode::Char('G') => list::select(state, usize::MAX),
        KeyCode::Left | KeyCode::Char('h') => list::open_tab(state, state.tab.step(TuiTab::ALL.len() - 1)),
        KeyCode::Right | KeyCode::Char('l') => list::open_tab(state, state.tab.step(1)),
        _ => return None,
    };
    Some(effects)
}

fn press_in_preview(state: &mut TuiState, key: KeyEvent) -> Option<Vec<TuiEffect>> {
    let effects = match key.code {
        KeyCode::Char('j') => preview::scroll_by(state, 1),
        KeyCode::Char('k') => preview::scroll_by(state, -1),
        KeyCode::Char(' ') => page_focused(state, 1),
        KeyCode::Char('b') => page_focused(state, -1),
        KeyCode::Home | KeyCode::Char('g') => preview::scroll_to_end(state, true),
        KeyCode::End | KeyCode::Char('G') => preview::scroll_to_end(state, false),
        KeyCode::Char(']') => preview::scroll_to_prompt(state, true),
        KeyCode::Char('[') => preview::scroll_to_prompt(state, false),
        _ => return None,
    };
    Some(effects)
}

fn type_into_query(state: &mut TuiState, key: KeyEvent) -> Vec<TuiEffect> {
    let before = state.query.text().to_owned();
    edit(&mut state.query, key);
    if state.query.text() == before { Vec::new() } else { list::load_list(state) }
}

/// Edits a line. Returns whether the key means something in a line.
fn edit(line: &mut QueryLine, key: KeyEvent) -> bool {
    match key.code {
        KeyCode::Char(letter) if is_control(key) => return edit_with_control(line, letter),
        KeyCode::Char('b') if is_alt(key) => line.move_word_left(),
        KeyCode::Char('d') if is_alt(key) => line.delete_word_after(),
        KeyCode::Left if is_alt(key) || is_control(key) => line.move_word_left(),
        KeyCode::Right if is_alt(key) || is_control(key) => line.move_word_right(),
        KeyCode::Backspace if is_alt(key) || is_control(key) => line.delete_word(),
        KeyCode::Char(letter) if !is_alt(key) => line.insert(letter.encode_utf8(&mut [0; 4])),
        KeyCode::Backspace => line.delete_before(),
        KeyCode::Delete => line.delete_after(),
        KeyCode::Left => line.move_left(),
        KeyCode::Right => line.move_right(),
        KeyCode::Home => line.move_to_start(),
        KeyCode::End => line.move_to_end(),
        _ => return false,
    }
    true
}

/// The keys of shells.
fn edit_with_control(line: &mut QueryLine, letter: char) -> bool {
    match letter {
        'u' => line.clear(),
        'w' => line.delete_word(),
        'k' => line.delete_rest(),
        'd' => line.delete_after(),
        // What some terminals send for Backspace.
        'h' => line.delete_before(),
        'a' => line.move_to_start(),
        'e' => line.move_to_end(),
        'b' => line.move_left(),
        _ => return false,
    }
    true
}

/// From the query to the list to the preview and back.
fn move_focus(state: &mut TuiState, steps: usize) -> Vec<TuiEffect> {
    const ORDER: [Focus; 3] = [Focus::Query, Focus::List, Focus::Preview];
    let at = ORDER.iter().position(|focus| *focus == state.focus).unwrap_or(0);
    state.focus = ORDER[(at + steps) % ORDER.len()];
    preview::limit_scroll(state);
    Vec::new()
}

fn move_focused(state: &mut TuiState, steps: isize) -> Vec<TuiEffect> {
    match state.focus {
        Focus::Preview => preview::scroll_by(state, steps),
        Focus::Query | Focus::List => list::move_by(state, steps),
    }
}

fn page_focused(state: &mut TuiState, direction: isize) -> Vec<TuiEffect> {
    match state.focus {
        Focus::Preview => {
            // One line stays, so that the reader finds the place.
            let rows = crate::tui::view::preview_rows(state).saturating_sub(1).max(1) as isize;
            preview::scroll_by(state, direction * rows)
        }
        Focus::Query | Focus::List => list::move_by(state, direction * list::page_rows(state)),
    }
}

fn open_tab_number(state: &mut TuiState, digit: char) -> Vec<TuiEffect> {
    let at = digit.to_digit(10).map_or(0, |digit| digit as usize).saturating_sub(1);
    list::open_tab(state, TuiTab::ALL[at % TuiTab::ALL.len()])
}
