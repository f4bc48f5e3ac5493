//! What keys do. Chords always act; plain letters type while the query has the focus and act elsewhere.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rethread_model::Entry;

use super::{list, open_help, overlay, preview};
use crate::cli::tui::PrintedChoice;
use crate::render::{Tone, powershell_resume_command, resume_command};
use crate::tui::effect::{TuiEffect, TuiExit};
use crate::tui::filters::FilterKind;
use crate::tui::menu::{Menu, MenuAction};
use crate::tui::query_line::QueryLine;
use crate::tui::state::{Focus, Overlay, TuiState, TuiTab};

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
    press_chord(state, key).or_else(|| press_anywhere(state, key)).unwrap_or_else(|| match state.focus {
        Focus::Query => type_into_query(state, key),
        Focus::List => press_in_list(state, key).unwrap_or_else(|| press_letter(state, key)),
        Focus::Preview => press_in_preview(state, key).unwrap_or_else(|| press_letter(state, key)),
    })
}

fn is_control(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL)
}

fn is_alt(key: KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::ALT)
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
            overlay::close_find(state);
            Some(Vec::new())
        }
        KeyCode::Down => Some(preview::find_next(state, true)),
        KeyCode::Up => Some(preview::find_next(state, false)),
        _ if edit(&mut find.line, key) => Some(preview::find_again(state)),
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
            'n' => move_focused(state, 1),
            'p' => move_focused(state, -1),
            'r' => {
                state.filters.cycle_project();
                list::load_list(state)
            }
            'y' => open_copy(state),
            'o' => open_editor(state),
            'f' => preview::open_find(state),
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
        KeyCode::Esc => {
            let was_open = overlay::close_find(state);
            if was_open { Vec::new() } else { vec![TuiEffect::Leave(TuiExit::Quit)] }
        }
        KeyCode::Up => move_focused(state, -1),
        KeyCode::Down => move_focused(state, 1),
        KeyCode::PageUp => page_focused(state, -1),
        KeyCode::PageDown => page_focused(state, 1),
        _ => return None,
    };
    Some(effects)
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
        '/' => preview::open_find(state),
        'n' => preview::find_next(state, true),
        'N' => preview::find_next(state, false),
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
        KeyCode::Char('u') if is_control(key) => line.clear(),
        KeyCode::Char('w') if is_control(key) => line.delete_word(),
        KeyCode::Char('a') if is_control(key) => line.move_to_start(),
        KeyCode::Char('e') if is_control(key) => line.move_to_end(),
        KeyCode::Backspace if is_alt(key) || is_control(key) => line.delete_word(),
        KeyCode::Char(letter) if !is_control(key) && !is_alt(key) => line.insert(letter.encode_utf8(&mut [0; 4])),
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

fn open_filters(state: &mut TuiState) -> Vec<TuiEffect> {
    state.overlay = Some(Overlay::Menu(Menu::filters(&state.filters, state.tab)));
    Vec::new()
}

fn open_copy(state: &mut TuiState) -> Vec<TuiEffect> {
    let Some(session) = selected_session(state) else { return Vec::new() };
    let text = state.list.selected_row().map_or("", |row| &row.subject.text);
    state.overlay = Some(Overlay::Menu(Menu::copy(&session, text)));
    Vec::new()
}

fn open_export(state: &mut TuiState) -> Vec<TuiEffect> {
    let Some(session) = selected_session(state) else { return Vec::new() };
    state.overlay = Some(Overlay::Menu(Menu::export(&session)));
    Vec::new()
}

/// Opens the transcript, after a question if the entry has files too.
fn open_editor(state: &mut TuiState) -> Vec<TuiEffect> {
    let Some(session) = selected_session(state) else { return Vec::new() };
    let entry = entry_in_view(state);
    let line = entry.map(|entry| entry.location.line);
    let menu = Menu::open(&session, entry, line.or(state.list.selected_row().and_then(|row| row.subject.line)));
    match menu.items.len() {
        0 => say(state, "this session has no file to open"),
        1 => menu.chosen().map_or_else(Vec::new, |chosen| overlay::act(state, chosen)),
        _ => {
            state.overlay = Some(Overlay::Menu(menu));
            Vec::new()
        }
    }
}

/// The entry of the hit, or the first one shown while the preview is being read.
fn entry_in_view(state: &TuiState) -> Option<&Entry> {
    let doc = state.doc_of_selection()?;
    let line = state.list.selected_row()?.subject.line;
    if state.focus != Focus::Preview
        && let Some(line) = line
    {
        return doc.entries.iter().map(|(_, entry)| entry).find(|entry| entry.location.line == line);
    }
    doc.entries.iter().find(|(row, _)| *row >= state.preview.scroll).map(|(_, entry)| entry)
}

fn selected_session(state: &mut TuiState) -> Option<rethread_model::Session> {
    let session = state.selected_session().cloned();
    if session.is_none() && state.list.selected_row().is_some() {
        say(state, "still loading");
    }
    session
}

fn say(state: &mut TuiState, text: &str) -> Vec<TuiEffect> {
    state.message = Some((Tone::Warning, text.to_owned()));
    Vec::new()
}

/// Enter: prints the choice, or shows the command that resumes the session.
fn choose(state: &mut TuiState) -> Vec<TuiEffect> {
    let Some(session) = selected_session(state) else { return Vec::new() };
    let command = match state.options.print {
        Some(PrintedChoice::PowerShell) => powershell_resume_command(&session),
        _ => resume_command(&session),
    };
    match (state.options.print, command) {
        (Some(PrintedChoice::Id), _) => vec![TuiEffect::Leave(TuiExit::Print(session.id.to_string()))],
        (Some(PrintedChoice::Command | PrintedChoice::PowerShell), Some(command)) => {
            vec![TuiEffect::Leave(TuiExit::Print(command))]
        }
        (None, Some(command)) => {
            state.overlay = Some(Overlay::Resume(Box::new(session), command));
            Vec::new()
        }
        (_, None) => {
            let text = format!("{} has no command to resume a session; y copies its ID", session.agent.label());
            say(state, &text)
        }
    }
}
