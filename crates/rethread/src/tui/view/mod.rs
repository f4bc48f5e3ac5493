//! How the state looks: a function from state to frame. Draws only text that was sanitized before.

mod header;
mod help;
mod highlight;
mod list;
mod overlay;
mod preview;
mod status;
#[cfg(test)]
mod tests;
mod theme;
mod write;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Position;

use super::layout::{ScreenAreas, screen_areas};
use super::state::{Focus, Overlay, TuiState};
use theme::Theme;

pub(super) use help::max_help_scroll;
pub(super) use overlay::menu_item_at;
pub(super) use preview::preview_rows;

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, state: &TuiState) {
    let origin = frame.area().as_position();
    let cursor = draw_on(frame.buffer_mut(), state);
    if let Some(cursor) = cursor {
        frame.set_cursor_position(Position::new(origin.x + cursor.x, origin.y + cursor.y));
    }
}

/// Draws on a buffer, which may start below the top of the terminal. Returns where the cursor is, if it is shown.
fn draw_on(buffer: &mut Buffer, state: &TuiState) -> Option<Position> {
    let offset = buffer.area.as_position();
    let areas = screen_areas(state);
    let mut page = write::Canvas::new(buffer, offset, Theme::new(state.options.has_color));
    let query_cursor = header::draw(&mut page, state, &areas);
    draw_rules(&mut page, state, &areas);
    list::draw(&mut page, state, areas.list);
    let find_cursor = preview::draw(&mut page, state, areas.preview);
    status::draw(&mut page, state, areas.status);
    match &state.overlay {
        Some(Overlay::Help(scroll)) => help::draw(&mut page, state.size, *scroll),
        Some(Overlay::Menu(menu)) => overlay::draw_menu(&mut page, state.size, menu),
        Some(Overlay::Resume(question)) => overlay::draw_resume(&mut page, state.size, question),
        None => return find_cursor.or_else(|| query_cursor.filter(|_| state.focus == Focus::Query)),
    }
    None
}

/// The lines between the parts. The name of the part with the focus stands out.
fn draw_rules(page: &mut write::Canvas<'_>, state: &TuiState, areas: &ScreenAreas) {
    let theme = page.theme;
    let label = |page: &mut write::Canvas<'_>, x: u16, y: u16, text: &str, has_focus: bool| {
        let style = if has_focus { theme.accent() } else { theme.dim() };
        page.text(x, y, 30, &format!(" {text} "), style);
    };
    page.fill(areas.top_rule, "─", theme.dim());
    page.fill(areas.divider, if areas.divider.width == 1 { "│" } else { "─" }, theme.dim());
    let list_name = list::name(state);
    if areas.divider.width == 1 && !areas.top_rule.is_empty() {
        page.text(areas.divider.x, areas.top_rule.y, 1, "┬", theme.dim());
        label(page, areas.divider.x + 2, areas.top_rule.y, "Conversation", state.focus == Focus::Preview);
    } else if areas.divider.height == 1 {
        label(page, areas.divider.x + 1, areas.divider.y, "Conversation", state.focus == Focus::Preview);
    }
    if !areas.top_rule.is_empty() {
        let is_reading = areas.list.is_empty();
        let name = if is_reading { "Conversation" } else { list_name };
        label(page, areas.top_rule.x + 1, areas.top_rule.y, name, is_reading || state.focus == Focus::List);
    }
}
