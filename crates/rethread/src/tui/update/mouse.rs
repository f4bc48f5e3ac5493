//! Clicks select, the wheel scrolls what is under the pointer.

use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Position;

use super::{list, overlay, preview};
use crate::tui::effect::TuiEffect;
use crate::tui::layout::{ITEM_ROWS, chip_places, screen_areas, tab_places};
use crate::tui::menu::MenuAction;
use crate::tui::state::{Focus, Overlay, TuiState};
use crate::tui::view::{max_help_scroll, menu_item_at};

/// Lines that one step of the wheel scrolls the preview.
const WHEEL_LINES: isize = 3;

pub(super) fn mouse(state: &mut TuiState, event: MouseEvent) -> Vec<TuiEffect> {
    let at = Position::new(event.column, event.row);
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => click(state, at),
        MouseEventKind::ScrollUp => wheel(state, at, -1),
        MouseEventKind::ScrollDown => wheel(state, at, 1),
        _ => Vec::new(),
    }
}

fn wheel(state: &mut TuiState, at: Position, direction: isize) -> Vec<TuiEffect> {
    match &mut state.overlay {
        Some(Overlay::Help(scroll)) => {
            *scroll = scroll.saturating_add_signed(direction * WHEEL_LINES).min(max_help_scroll(state.size));
        }
        Some(Overlay::Menu(menu)) => menu.move_by(direction),
        Some(Overlay::Resume(..)) => {}
        None => return wheel_below(state, at, direction),
    }
    Vec::new()
}

fn wheel_below(state: &mut TuiState, at: Position, direction: isize) -> Vec<TuiEffect> {
    if screen_areas(state).preview.contains(at) {
        preview::scroll_by(state, direction * WHEEL_LINES)
    } else {
        list::move_by(state, direction)
    }
}

fn click(state: &mut TuiState, at: Position) -> Vec<TuiEffect> {
    state.message = None;
    if let Some(open) = state.overlay.take() {
        return click_overlay(state, open, at);
    }
    let areas = screen_areas(state);
    if let Some((tab, _)) = tab_places(areas.tabs).into_iter().find(|(_, place)| place.contains(at)) {
        return list::open_tab(state, tab);
    }
    let chips = chip_places(state, &areas);
    if let Some((kind, ..)) = chips.into_iter().find(|(_, _, place)| place.contains(at)) {
        return overlay::act(state, MenuAction::OpenFilter(kind));
    }
    if areas.query.contains(at) {
        state.focus = Focus::Query;
    } else if areas.preview.contains(at) {
        state.focus = Focus::Preview;
    } else if areas.list.contains(at) {
        state.focus = Focus::List;
        let row = state.list.first + usize::from((at.y - areas.list.y) / ITEM_ROWS);
        if row < state.list.rows.len() {
            return list::select(state, row);
        }
    }
    Vec::new()
}

/// Outside of what is open, a click closes it.
fn click_overlay(state: &mut TuiState, open: Overlay, at: Position) -> Vec<TuiEffect> {
    match open {
        Overlay::Menu(menu) => match menu_item_at(state.size, &menu, at) {
            Some(item) => menu.shown().nth(item).map_or_else(Vec::new, |item| overlay::act(state, item.action.clone())),
            None => Vec::new(),
        },
        Overlay::Help(_) | Overlay::Resume(..) => Vec::new(),
    }
}
